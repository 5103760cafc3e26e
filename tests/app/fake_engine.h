// An engine without physics: every step lifts all nodes by a centimetre. Tests can replace its responses and
// the effect of a step.
#pragma once

#include <atomic>
#include <functional>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"

namespace stickslip::test {

class FakeEngine final : public Engine {
 public:
  std::function<void(int frame)> on_step = [](int) {};
  std::function<void(const Model&)> on_load = [](const Model&) {};
  std::function<void(const Params&)> on_params = [](const Params&) {};
  std::function<void()> on_snapshot = [] {};
  std::function<ContactProblem()> on_freeze = []() -> ContactProblem {
    throw std::logic_error("the last step was no contact problem");
  };
  std::function<void(StepReport&)> on_report = [](StepReport&) {};
  /// Contact solve records of steps of models with rigid bodies.
  std::function<ContactSolveRecord(const LabParams&)> on_solve = [](const LabParams& params) {
    ContactSolveRecord solve;
    solve.tolerance = params.tolerance;
    solve.residual = 0.5 * params.tolerance;
    solve.iterations = 12;
    solve.blocks = 5;
    solve.nu = 1.25;
    return solve;
  };

  /// Changes the state at the end of a step.
  std::function<void(State&)> on_state = [](State&) {};

  /// Answer to an offer of shared memory; if it agrees, it writes into host memory.
  std::function<Sharing(const PositionTarget&)> on_share = [](const PositionTarget&) -> Sharing {
    return {ShareKind::staged, "a fake shares nothing"};
  };
  std::function<void(std::size_t slot, std::uint64_t value)> on_publish = [](std::size_t, std::uint64_t) {};
  std::optional<DeviceUuid> device;
  const std::atomic<bool>* cancel = nullptr;
  std::string note;                     // on the loaded model
  std::vector<ContactRecord> contacts;  // of every snapshot

  void load(const Model& model) override {
    on_load(model);
    model_ = model;
    materials_ = model.materials;
    reset();
  }
  std::string load_note() const override { return note; }
  void reset() override {
    state_ = {0, 0, model_.positions, model_.velocities};
    for (const Body& body : model_.bodies) state_.bodies.push_back({body.pose, body.velocity, body.spin});
  }
  void set_params(const Params& params) override {
    on_params(params);
    params_ = params;
  }
  const Params& params() const override { return params_; }
  void set_contact_params(const LabParams& params) override { contact_params_ = params; }
  const LabParams& contact_params() const override { return contact_params_; }
  void set_materials(const std::vector<Material>& materials) override { materials_ = materials; }
  const std::vector<Material>& materials() const override { return materials_; }
  void set_half_space_mu(std::size_t index, double mu) override { model_.half_spaces.at(index).mu = mu; }
  void set_drag(const std::optional<Drag>& drag) override { drag_ = drag; }
  void set_cancel(const std::atomic<bool>* flag) override { cancel = flag; }
  void set_tracing(bool on) override { tracing_ = on; }
  StepReport step() override {
    on_step(state_.frame);
    ++state_.frame;
    state_.time += params_.dt;
    for (auto& x : state_.positions) x[1] += 0.01;
    for (BodyState& body : state_.bodies) body.pose.x[1] += 0.01;
    on_state(state_);
    StepReport report;
    report.frame = state_.frame;
    report.time = state_.time;
    report.gravity_energy = drag_ ? drag_->target[1] : params_.gravity;
    if (!model_.bodies.empty()) {
      report.contact_solve = on_solve(contact_params_);
      report.contacts = 4;
    }
    on_report(report);
    if (tracing_) report.trace = {{"step", 0, state_.time - params_.dt, state_.time}};
    return report;
  }
  void snapshot(Snapshot& out) override {
    on_snapshot();
    out.frame = state_.frame;
    out.time = state_.time;
    out.positions.clear();
    out.contacts.clear();
    out.poses.clear();
    for (const BodyState& body : state_.bodies) out.poses.push_back(body.pose);
    if (out.wants_contacts) out.contacts = contacts;
    if (!out.wants_positions) return;
    for (const auto& x : state_.positions) out.positions.push_back(x.cast<float>());
  }
  std::optional<DeviceUuid> device_uuid() const override { return device; }
  Sharing share(PositionTarget target) override {
    const Sharing sharing = on_share(target);
    target_ = std::move(target);
    return sharing;
  }
  PublishedBox publish(std::size_t slot, std::uint64_t value) override {
    on_publish(slot, value);
    auto* nodes = reinterpret_cast<Vec<float, 3>*>(target_.host + slot * target_.stride);
    PublishedBox box = PublishedBox::empty();
    for (const std::int32_t i : target_.framed) box = merge(box, state_.positions[i].cast<float>());
    for (std::size_t i = 0; i < target_.nodes; ++i) nodes[i] = state_.positions[i].cast<float>();
    return box;
  }
  State state() override { return state_; }
  void set_state(const State& state) override { state_ = state; }
  ContactProblem freeze() override { return on_freeze(); }

 private:
  Model model_;
  State state_;
  Params params_;
  LabParams contact_params_ = stepping_lab_params();
  bool tracing_ = false;
  std::vector<Material> materials_;
  std::optional<Drag> drag_;
  PositionTarget target_;
};

/// Two tetrahedra of edge 1 m, "low" at the origin and "high" five metres above it, over a floor.
inline Scene two_tets(const std::string& name, const std::string& /*variant*/ = {}) {
  Scene scene;
  scene.name = name;
  Model& model = scene.model;
  model.material_names = {"soft", "hard"};
  model.materials = {Material{}, Material{}};
  const std::vector<Vec4i> tets{{0, 1, 2, 3}};
  for (const double y : {0.0, 5.0}) {
    const std::vector<Vec<double, 3>> nodes{{0, y, 0}, {1, y, 0}, {0, y + 1, 0}, {0, y, 1}};
    add_solid(model, y > 0 ? "high" : "low", nodes, tets, y > 0 ? 1 : 0);
  }
  model.half_spaces.push_back({{0, 1, 0}, -1.0, 0.3});
  finalize(model);
  return scene;
}

}  // namespace stickslip::test
