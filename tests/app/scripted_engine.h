// An engine without physics for tests of the program: every solid slides with a constant acceleration.
#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <thread>
#include <utility>

#include "gpu/core/device_lost.h"
#include "gpu/engine.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {

class ScriptedEngine final : public Engine {
 public:
  struct Script {
    Vec<double, 3> acceleration{0, 0, 0};     // [m/s^2]
    int fails_at = -1;                        // frame whose step throws
    int loses_device_at = -1;                 // frame whose step loses the device
    int nan_at = -1;                          // frame with a NaN in its report
    int inverted_at = -1;                     // frame that reports inverted elements
    int intersects_at = -1;                   // frame that reports an intersection, if these are checked
    int waits_for_cancel_at = -1;             // frame whose step ends only when cancelled
    int hangs_at = -1;                        // frame whose step does not end even when cancelled
    std::function<void()> when_waiting = {};  // called once by such a step
    int out_of_memory_at = -1;
    bool refuses_load = false;
    int converges_from = 1;                       // frame of the first step that converges
    bool runs_out_of_time = false;                // a time budget ends the steps that do not converge
    double overlap = -1;                          // of every step, if it is checked
    bool traces = false;                          // if tracing is on
    std::function<ContactProblem()> freeze = {};  // empty: there is no contact problem
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
  void set_cancel(const std::atomic<bool>* flag) override { cancel_ = flag; }

  StepReport step() override {
    const double begin = trace_clock();
    if (state_.frame + 1 == script_.loses_device_at) lost_ = true;
    if (lost_) throw DeviceLost("made up");
    const int frame = state_.frame + 1;
    if (script_.when_waiting && (frame == script_.hangs_at || frame == script_.waits_for_cancel_at))
      script_.when_waiting();
    while (state_.frame + 1 == script_.hangs_at) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (state_.frame + 1 == script_.waits_for_cancel_at) {
      if (cancel_ && *cancel_) throw StepInterrupted();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (state_.frame + 1 == script_.out_of_memory_at) throw std::bad_alloc();
    if (state_.frame + 1 == script_.fails_at) throw SimulationError("NaN at node 3 of 'box'");
    const double dt = params_.dt;
    ++state_.frame;
    state_.time += dt;
    for (std::size_t i = 0; i < state_.positions.size(); ++i) {
      if (!model_.objects[model_.node_object[i]].is_solid()) continue;
      state_.velocities[i] += dt * script_.acceleration;
      state_.positions[i] += dt * state_.velocities[i];
    }
    StepReport report;
    report.frame = state_.frame;
    report.time = state_.time;
    report.converged = state_.frame >= script_.converges_from;
    report.stopped_by_budget = !report.converged && script_.runs_out_of_time;
    report.stop_reason = report.converged ? "converged" : "iteration cap";
    report.newton_iterations = 2;
    report.pcg_iterations = 10;
    report.newton.resize(2);
    report.contacts = 5;
    report.memory_bytes = 1000 * state_.positions.size();
    report.gap_min = 1e-3 / state_.frame;
    report.inverted = state_.frame == script_.inverted_at ? 7 : 0;
    report.intersections = params_.check_intersections ? (state_.frame == script_.intersects_at ? 3 : 0) : -1;
    if (params_.check_intersections && script_.overlap >= 0) {
      report.intersections = -1;
      report.overlap = script_.overlap / state_.frame;
      report.overlap_of = "'box' in 'wall'";
    }
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
  const std::atomic<bool>* cancel_ = nullptr;
  bool tracing_ = false, lost_ = false;
};

}  // namespace stickslip
