// Engine on one backend: owns the model and the stepper for `solver`.
#include "gpu/engine_backend.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/core/device.h"
#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "gpu/position_writer.cuh"
#include "gpu/step/move_apart.cuh"
#include "gpu/step/stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Of launch.
struct ToFloat {
  const Vec3* from;
  Vec3f* to;
  SS_HD void operator()(std::size_t i) const { to[i] = from[i].cast<float>(); }
};

class BackendEngine final : public Engine {
 public:
  explicit BackendEngine(int threads) : ctx_(threads) {}

  void load(const Model& model) override {
    for (std::size_t i = 0; i < model.half_spaces.size(); ++i)
      if (!(norm(model.half_spaces[i].normal) > 0))
        throw std::invalid_argument("half-space " + std::to_string(i) + " has a zero normal");
    refuse(model, params_);
    stepper_.reset();  // it refers to model_
    model_ = model;
    has_solids_ = std::ranges::any_of(model_.objects, &Object::is_movable);
    writer_.reset();
    forget_memory_peak();
    load_note_.clear();
    stepper_ = new_stepper(params_);
    family_ = stepper_family(params_.solver);
    reset();
    load_note_ = stepper_->check_start(params_);
    ctx_.free_scratch();  // loading sorts whole meshes, steps only contacts
  }

  std::string load_note() const override { return load_note_; }

  void reset() override {
    State start;
    start.positions = model_.positions;
    start.velocities = model_.velocities;
    for (const Body& body : model_.bodies) start.bodies.push_back({body.pose, body.velocity, body.spin});
    stepper_->set_state(start, params_);
    recent_.forget();
    remember();
  }

  void set_params(const Params& params) override {
    if (stepper_) {
      refuse(model_, params);
      if (stepper_family(params.solver) != stepper_family(params_.solver)) switch_stepper(params);
      stepper_->wake();
    }
    params_ = params;
  }
  const Params& params() const override { return params_; }

  void set_contact_params(const LabParams& params) override { contact_params_ = params; }
  const LabParams& contact_params() const override { return contact_params_; }

  void set_materials(const std::vector<Material>& materials) override {
    if (materials.size() != model_.materials.size())
      throw std::invalid_argument("set_materials: the model has " + std::to_string(model_.materials.size()) +
                                  " materials");
    std::vector<Material> before = std::exchange(model_.materials, materials);
    if (!stepper_) return;
    if (const auto refused = stepper_refusal(model_, params_)) {
      model_.materials = std::move(before);
      throw std::invalid_argument(refused->text());
    }
    stepper_->update_materials();
  }
  const std::vector<Material>& materials() const override { return model_.materials; }

  void set_half_space_mu(std::size_t index, double mu) override {
    model_.half_spaces.at(index).mu = mu;
    if (stepper_) stepper_->update_materials();
  }

  void set_drag(const std::optional<Drag>& drag) override { drag_ = drag; }

  void set_cancel(const std::atomic<bool>* flag) override {
    cancel_ = flag;
    if (stepper_) stepper_->set_cancel(flag);
  }

  StepReport step() override {
    const Counters before = ctx_.counters();
    if (trace_) trace_->begin_step();
    StepReport report = step_or_explain();
    remember();
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
    out.frame = stepper_ ? stepper_->frame() : 0;
    out.time = stepper_ ? stepper_->time() : 0;
    const std::size_t n = stepper_ && out.wants_positions ? model_.node_count() : 0;
    out.positions.resize(n);
    if (n > 0) {
      snapshot_.resize(ctx_, n);
      launch(ctx_, n, ToFloat{stepper_->positions(), snapshot_.data()});
      copy_to_host(ctx_, out.positions.data(), snapshot_.data(), n);
    }
    out.contacts.clear();
    out.poses.clear();
    out.asleep.clear();
    out.tree.clear();
    out.stiffness.clear();
    out.matrix = {};
    if (!stepper_) return;
    if (out.wants_stiffness) stepper_->node_stiffness(out.stiffness);
    if (out.matrix_cells > 0) out.matrix = stepper_->matrix_parts(out.matrix_cells);
    if (out.wants_tree) stepper_->append_trees(out.tree);
    out.poses = stepper_->poses();
    if (out.wants_contacts) stepper_->contact_records(params_, out.contacts);
    out.asleep = stepper_->asleep();
  }

  std::optional<DeviceUuid> device_uuid() const override { return STICKSLIP_BACKEND::device_uuid(); }

  Sharing share(PositionTarget target) override {
    if (target.nodes == 0 || target.nodes != model_.node_count())
      throw std::invalid_argument("share: the model has " + std::to_string(model_.node_count()) + " nodes");
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
    return writer_->write(ctx_, stepper_->positions(), slot, value);
  }

  State state() override { return stepper_ ? stepper_->state() : State{}; }

  void set_state(const State& state) override {
    Stepper& stepper = loaded("set_state");
    const State before = stepper.state();
    stepper.set_state(state, params_);
    try {
      if (is_finite(state)) stepper.check_state();
    } catch (...) {
      stepper.set_state(before, params_);
      throw;
    }
    remember();
  }

  ContactProblem freeze() override { return loaded("freeze").freeze(); }

 private:
  static bool is_finite(const State& state) {
    return std::ranges::all_of(state.positions, [](const auto& x) { return std::isfinite(norm2(x)); });
  }

  static void refuse(const Model& model, const Params& params) {
    if (const auto refused = stepper_refusal(model, params)) throw std::invalid_argument(refused->text());
  }

  std::unique_ptr<Stepper> new_stepper(const Params& params) {
    std::unique_ptr<Stepper> stepper = make_stepper(params.solver, ctx_, model_);
    stepper->set_cancel(cancel_);
    return stepper;
  }

  /// Between two steps. Throws if the new stepper cannot continue from the present
  /// state; the old one then stays.
  void switch_stepper(const Params& params) {
    std::unique_ptr<Stepper> next = new_stepper(params);
    const State now = stepper_->state();
    next->set_state(now, params);
    try {
      load_note_ = next->check_start(params);
    } catch (const std::invalid_argument& error) {
      if (stepper_family(params.solver) != StepperFamily::barrier || now.frame == 0) throw;
      const auto note = move_apart(ctx_, model_, recent_, now, params, *next, cancel_);
      if (!note)
        throw std::invalid_argument(
            std::string(error.what()) +
            "; barrier steps need surfaces that are apart, and no recent state of this "
            "run leads there: change the solver at an earlier or a later time, or set "
            "penetration_guard = true before");
      load_note_ = *note;
    }
    stepper_ = std::move(next);
    family_ = stepper_family(params.solver);
    remember();
  }

  /// Leaves a copy of the present positions, where a change to barrier steps may need it. It is no part of
  /// the state: without memory for it, there is none.
  void remember() {
    if (!has_solids_ || family_ != StepperFamily::velocity) return;
    try {
      recent_.add(ctx_, stepper_->frame(), stepper_->positions(), model_.node_count(),
                  model_.bodies.empty() ? std::vector<Pose>{} : stepper_->poses());
    } catch (const std::bad_alloc&) {
      recent_.forget();
    }
  }

  Stepper& loaded(const char* call) const {
    if (!stepper_) throw std::logic_error(std::string(call) + ": no model is loaded");
    return *stepper_;
  }

  StepReport step_or_explain() {
    Stepper& stepper = loaded("step");
    try {
      const Span span(ctx_, "step");
      return stepper.step({params_, contact_params_, drag_});
    } catch (const std::bad_alloc& error) {
      throw SimulationError(std::string(error.what()) + " in step " + std::to_string(stepper.frame() + 1) +
                            "; the state is back at the end of the step before");
    }
  }

  Context ctx_;
  std::unique_ptr<Trace> trace_;
  Model model_;
  std::string load_note_;
  Params params_;
  LabParams contact_params_ = stepping_lab_params();
  std::optional<Drag> drag_;
  const std::atomic<bool>* cancel_ = nullptr;
  std::unique_ptr<Stepper> stepper_;               // none before `load`
  StepperFamily family_ = StepperFamily::barrier;  // of stepper_
  RecentStates recent_;
  bool has_solids_ = false;  // or rods or cloth
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
