// An engine without physics for tests of the program: every solid slides with a constant acceleration.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "gpu/core/device_lost.h"
#include "gpu/engine.h"

namespace stickslip {

class ScriptedEngine final : public Engine {
 public:
  struct Script {
    Vec<double, 3> acceleration{0, 0, 0};  // [m/s^2]
    int fails_at = -1;                     // frame whose step throws
    int loses_device_at = -1;              // frame whose step loses the device
    int nan_at = -1;                       // frame whose report holds a NaN
    int inverted_at = -1;                  // frame that reports elements inside out
    int intersects_at = -1;                // frame that reports an intersection, when they are checked
    bool refuses_load = false;
    bool traces = false;                          // when asked to
    std::function<ContactProblem()> freeze = {};  // none: there is no contact problem
  };

  explicit ScriptedEngine(Script script) : script_(std::move(script)) {}

  void load(const Model& model) override {
    if (script_.refuses_load) throw std::invalid_argument("objects 'a' and 'b' intersect at the start");
    model_ = model;
    reset();
  }
  void reset() override { state_ = {0, 0, model_.positions, model_.velocities}; }
  void set_params(const Params& params) override { params_ = params; }
  const Params& params() const override { return params_; }
  void set_contact_params(const LabParams& params) override { contact_params_ = params; }
  const LabParams& contact_params() const override { return contact_params_; }
  void set_materials(const std::vector<Material>& materials) override { model_.materials = materials; }
  const std::vector<Material>& materials() const override { return model_.materials; }
  void set_half_space_mu(std::size_t index, double mu) override { model_.half_spaces.at(index).mu = mu; }
  void set_drag(const std::optional<Drag>&) override {}
  void set_tracing(bool on) override { tracing_ = on && script_.traces; }

  StepReport step() override {
    const double begin = trace_clock();
    if (state_.frame + 1 == script_.loses_device_at) lost_ = true;
    if (lost_) throw DeviceLost("made up");
    if (state_.frame + 1 == script_.fails_at) throw SimulationError("NaN at node 3 of 'box'");
    const double dt = params_.dt;
    ++state_.frame;
    state_.time += dt;
    for (std::size_t i = 0; i < state_.positions.size(); ++i) {
      if (model_.objects[model_.node_object[i]].tet_begin == model_.objects[model_.node_object[i]].tet_end)
        continue;
      state_.velocities[i] += dt * script_.acceleration;
      state_.positions[i] += dt * state_.velocities[i];
    }
    StepReport report;
    report.frame = state_.frame;
    report.time = state_.time;
    report.converged = true;
    report.stop_reason = "converged";
    report.newton_iterations = 2;
    report.pcg_iterations = 10;
    report.newton.resize(2);
    report.contacts = 5;
    report.memory_bytes = 1000 * state_.positions.size();
    report.gap_min = 1e-3 / state_.frame;
    report.inverted = state_.frame == script_.inverted_at ? 7 : 0;
    report.intersections = params_.check_intersections ? (state_.frame == script_.intersects_at ? 3 : 0) : -1;
    report.kinetic_energy =
        state_.frame == script_.nan_at ? std::numeric_limits<double>::quiet_NaN() : 1.0 / state_.frame;
    if (tracing_) report.trace = {{"step", 0, begin, trace_clock()}};
    return report;
  }

  void snapshot(Snapshot& out) override {
    out.frame = state_.frame;
    out.time = state_.time;
    out.positions.clear();
    for (const auto& p : state_.positions) out.positions.push_back(p.cast<float>());
    out.contacts.clear();
  }
  State state() override {
    if (lost_) throw DeviceLost("made up");
    return state_;
  }
  void set_state(const State& state) override { state_ = state; }
  ContactProblem freeze() override {
    if (!script_.freeze) throw std::logic_error("the last step was no contact problem");
    return script_.freeze();
  }

 private:
  Script script_;
  Model model_;
  Params params_;
  LabParams contact_params_ = stepping_lab_params();
  State state_;
  bool tracing_ = false, lost_ = false;
};

}  // namespace stickslip
