// Engine on one backend: owns the model, the state and the time stepper; translates between host and backend
// types.
#include "gpu/engine_backend.h"

#include "gpu/core/device.h"
#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "gpu/model/overlap_check.h"
#include "gpu/position_writer.cuh"
#include "gpu/rigid/rigid_stepper.cuh"
#include "gpu/step/time_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

class BackendEngine final : public Engine {
 public:
  explicit BackendEngine(int threads) : ctx_(threads) {}

  void load(const Model& model) override {
    Model next = model;
    for (std::size_t i = 0; i < next.half_spaces.size(); ++i) {
      const double length = norm(next.half_spaces[i].normal);
      if (!(length > 0))
        throw std::invalid_argument("half-space " + std::to_string(i) + " has a zero normal");
    }
    check_solver(params_, next);
    model_ = std::move(next);
    writer_.reset();
    overlap_check_.reset();
    forget_memory_peak();
    materials_ = model_.materials;
    load_note_.clear();
    if (is_rigid()) {
      state_.x.resize(ctx_, model_.node_count());
      state_.v.resize(ctx_, model_.node_count());
      device_.node_count = model_.node_count();
      rigid_.load(ctx_, model_);
      reset();
      load_note_ = describe(rigid_.find_overlaps(ctx_, model_, params_), model_);
      ctx_.free_scratch();
      return;
    }
    device_.upload(ctx_, model_);
    stepper_.load(ctx_, model_, device_);
    reset();
    stepper_.check_start(ctx_, model_, device_, state_);
    ctx_.free_scratch();  // loading sorts whole meshes, a step only contacts
  }

  std::string load_note() const override { return load_note_; }

  void reset() override {
    State start;
    start.positions = model_.positions;
    start.velocities = model_.velocities;
    for (const Body& body : model_.bodies) start.bodies.push_back({body.pose, body.velocity, body.spin});
    set_state(start);
  }

  void set_params(const Params& params) override {
    if (model_.node_count() > 0) check_solver(params, model_);
    params_ = params;
    rigid_.wake();
  }
  const Params& params() const override { return params_; }

  void set_contact_params(const LabParams& params) override { contact_params_ = params; }
  const LabParams& contact_params() const override { return contact_params_; }

  void set_materials(const std::vector<Material>& materials) override {
    if (materials.size() != materials_.size())
      throw std::invalid_argument("set_materials: the model has " + std::to_string(materials_.size()) +
                                  " materials");
    materials_ = materials;
    model_.materials = materials;
    update_materials();
  }
  const std::vector<Material>& materials() const override { return materials_; }

  void set_half_space_mu(std::size_t index, double mu) override {
    model_.half_spaces.at(index).mu = mu;
    update_materials();
  }

  void set_drag(const std::optional<Drag>& drag) override { drag_ = drag; }

  void set_cancel(const std::atomic<bool>* flag) override {
    stepper_.set_cancel(flag);
    rigid_.set_cancel(flag);
  }

  StepReport step() override {
    const Counters before = ctx_.counters();
    if (trace_) trace_->begin_step();
    StepReport report = step_or_explain();
    report.counters = ctx_.counters() - before;
    report.memory_bytes = memory_use().peak;
    if (trace_) report.trace = trace_->take();
    return report;
  }

  void set_tracing(bool on) override {
    if (on && !trace_) trace_ = std::make_unique<Trace>(ctx_);
    if (!on) trace_.reset();
  }

  void snapshot(Snapshot& out) override {
    out.frame = state_.frame;
    out.time = state_.time;
    const std::size_t n = out.wants_positions ? device_.node_count : 0;
    out.positions.resize(n);
    if (n > 0) {
      snapshot_.resize(ctx_, n);
      const Vec3* x = state_.x.data();
      Vec3f* target = snapshot_.data();
      convert_positions(x, target, n);
      copy_to_host(ctx_, out.positions.data(), target, n);
    }
    out.contacts.clear();
    if (is_rigid()) {
      if (out.wants_contacts) rigid_.contact_records(ctx_, model_, params_.dt, out.contacts);
      out.asleep = rigid_.asleep(ctx_);
      return;
    }
    out.asleep.clear();
    if (out.wants_contacts) stepper_.contact_records(ctx_, device_, params_, state_, out.contacts);
  }

  std::optional<DeviceUuid> device_uuid() const override { return STICKSLIP_BACKEND::device_uuid(); }

  Sharing share(PositionTarget target) override {
    if (target.nodes == 0 || target.nodes != device_.node_count)
      throw std::invalid_argument("share: the model has " + std::to_string(device_.node_count) + " nodes");
    writer_.reset();
    try {
      writer_.emplace(ctx_, std::move(target));
    } catch (const std::exception& error) {
      return {ShareKind::staged, error.what()};
    }
    return {writer_->kind(), ""};
  }

  PublishedBox publish(std::size_t slot, std::uint64_t value) override {
    if (!writer_) return Engine::publish(slot, value);
    return writer_->write(ctx_, state_.x.data(), slot, value);
  }

  State state() override {
    State out;
    out.frame = state_.frame;
    out.time = state_.time;
    for (const Vec3& x : state_.x.download(ctx_)) out.positions.push_back(x.cast<double>());
    for (const Vec3& v : state_.v.download(ctx_)) out.velocities.push_back(v.cast<double>());
    if (!is_rigid()) return out;
    const auto poses = rigid_.bodies().pose.download(ctx_);
    const auto velocities = rigid_.bodies().velocity.download(ctx_);
    const auto spins = rigid_.bodies().spin.download(ctx_);
    for (std::size_t b = 0; b < poses.size(); ++b) out.bodies.push_back({poses[b], velocities[b], spins[b]});
    return out;
  }

  void set_state(const State& state) override {
    if (is_rigid()) return set_bodies(state);
    check_nodes(state);
    std::vector<Vec3> x, v;
    for (const auto& p : state.positions) x.push_back(p.cast<Real>());
    for (const auto& p : state.velocities) v.push_back(p.cast<Real>());
    state_.x.upload(ctx_, x);
    state_.v.upload(ctx_, v);
    stepper_.follow_control_nodes(ctx_, state_);
    state_.frame = state.frame;
    state_.time = state.time;
    device_.forget_acting(ctx_);
    device_.select_acting(ctx_, model_, state_.time, params_.dt, state_.x.data());
    stepper_.forget_history();
  }

  ContactProblem freeze() override {
    if (!is_rigid()) throw std::logic_error("freeze: the scene has no velocity-level contact problem");
    return rigid_.freeze(ctx_);
  }

  void convert_positions(const Vec3* x, Vec3f* target, std::size_t n) {
    launch(ctx_, n, [=] SS_LAMBDA(std::size_t i) { target[i] = x[i].cast<float>(); });
  }

 private:
  bool is_rigid() const { return !model_.bodies.empty(); }

  static void check_solver(const Params& params, const Model& model) {
    const bool velocity = params.solver == SolverKind::velocity;
    if (velocity == !model.bodies.empty()) return;
    throw std::invalid_argument(velocity ? "solver = velocity moves rigid bodies, and the scene has none"
                                         : "rigid bodies are moved by solver = velocity only");
  }

  void check_nodes(const State& state) const {
    if (state.positions.size() != model_.node_count() || state.velocities.size() != model_.node_count())
      throw std::invalid_argument("set_state: the model has " + std::to_string(model_.node_count()) +
                                  " nodes");
  }

  StepReport step_or_explain() {
    try {
      return traced_step();
    } catch (const std::bad_alloc& error) {
      throw SimulationError(std::string(error.what()) + " in step " + std::to_string(state_.frame + 1) +
                            "; the state is back at the end of the step before");
    }
  }

  StepReport traced_step() {
    const Span span(ctx_, "step");
    return is_rigid() ? rigid_step() : stepper_.step(ctx_, model_, device_, params_, drag_, state_);
  }

  StepReport rigid_step() {
    StepReport report = rigid_.step(ctx_, model_, params_, contact_params_, drag_, state_.frame, state_.time);
    state_.frame = report.frame;
    state_.time = report.time;
    place_nodes();
    if (params_.check_intersections) check_overlap(report);
    return report;
  }

  void check_overlap(StepReport& report) {
    const Span span(ctx_, "overlap check");
    if (!overlap_check_) overlap_check_.emplace(model_);
    std::vector<Vec<double, 3>> positions;
    for (const Vec3& x : state_.x.download(ctx_)) positions.push_back(x.cast<double>());
    const MeshOverlap overlap = overlap_check_->deepest(positions);
    report.overlap = overlap.depth;
    report.overlap_of = describe(overlap, model_);
  }

  void place_nodes() {
    const Span span(ctx_, "place nodes");
    rigid_.bodies().place_nodes(ctx_, state_.x.data());
    rigid_.bodies().node_velocities(ctx_, state_.v.data());
    rigid_.solids().place_nodes(ctx_, state_.x.data(), state_.v.data());
  }

  void set_bodies(const State& state) {
    if (state.bodies.size() != model_.bodies.size())
      throw std::invalid_argument("set_state: the model has " + std::to_string(model_.bodies.size()) +
                                  " rigid bodies");
    std::vector<Pose> poses;
    std::vector<Vec<double, 3>> velocities, spins;
    for (const BodyState& body : state.bodies) {
      poses.push_back(body.pose);
      velocities.push_back(body.velocity);
      spins.push_back(body.spin);
    }
    rigid_.bodies().pose.upload(ctx_, poses);
    rigid_.bodies().velocity.upload(ctx_, velocities);
    rigid_.bodies().spin.upload(ctx_, spins);
    if (!rigid_.solids().empty()) {
      check_nodes(state);
      rigid_.solids().set_state(ctx_, state.positions, state.velocities, state.time, params_.dt);
    }
    state_.frame = state.frame;
    state_.time = state.time;
    place_nodes();
    rigid_.forget_history();
  }

  void update_materials() {
    if (is_rigid()) {
      rigid_.wake();
      return rigid_.set_materials(ctx_, model_);
    }
    device_.upload_materials(ctx_, model_);
    stepper_.set_materials(ctx_, model_);
  }

  Context ctx_;
  std::unique_ptr<Trace> trace_;
  Model model_;
  std::vector<Material> materials_;
  std::string load_note_;
  Params params_;
  LabParams contact_params_ = stepping_lab_params();
  std::optional<Drag> drag_;
  DeviceModel device_;
  DeviceState state_;
  TimeStepper stepper_;
  RigidStepper rigid_;
  std::optional<OverlapCheck> overlap_check_;
  Buffer<Vec3f> snapshot_;
  std::optional<PositionWriter> writer_;
};

}  // namespace

std::unique_ptr<Engine> make_backend_engine(int threads) { return std::make_unique<BackendEngine>(threads); }

BackendInfo backend_info() {
  const DeviceInfo device = query_device();
  constexpr Backend backend = STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu;
  return {backend, STICKSLIP_ON_CUDA ? "cuda" : "cpu", device.device, device.available, device.reason};
}

}  // namespace stickslip::STICKSLIP_BACKEND
