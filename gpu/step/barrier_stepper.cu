#include "gpu/step/barrier_stepper.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/stage_clock.h"
#include "gpu/core/trace.h"
#include "gpu/model/coupled.h"
#include "gpu/step/lift.h"
#include "gpu/step/velocity_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// A step that strains bodies beyond the bound is repeated at most this often, each time with bodies that are
// stiffer by what the strain asks for, within these factors.
constexpr int kMostRepeats = 8;
constexpr double kStiffenLeast = 2, kStiffenMost = 1e3;
// The most that bodies are stiffened by, and the time [s] in which stiffening falls by a factor e while
// strains are below kRoomy times the bound. A repetition stiffens bodies that are strained, which adds
// energy. So stiffening falls slowly, and only with much room: it must not alternate with repetitions.
constexpr double kMostStiffening = 1e4, kRelaxTime = 1, kRoomy = 0.25;
constexpr const char* kStrained = "a body is strained beyond strain_bound";
// Projection that moves deep overlaps apart: rounds until all depths are below this share of d_hat, sweeps of
// each, and the most that a round may move in a second [m/s].
constexpr int kPushRounds = 60, kPushSweeps = 60;
constexpr double kPushedApart = 0.1, kPushSpeed = 1000;
// Elastic nodes that are farther than this behind a half-space, in units of d_hat, are an error of the scene.
constexpr double kMostLift = 5;
// Skins grow by this factor where surfaces are too near.
constexpr double kWiden = 1.5;
// The share of their thickness at which thin objects that overlap are made no thinner.
constexpr double kLeastThickness = 0.01;
// In units of d_hat: by how much such a thickness grows back in a step, and the gaps that this leaves at
// least. The barrier lifts a resting object by as much, at a small part of the speed d_hat / dt.
constexpr double kRegrowth = 0.02, kRegrownGap = 0.1;
// In units of d_hat: gaps of a given state with given thicknesses are taken as they are above this.
constexpr double kStillOpen = 1e-6;

void upload(Context& ctx, const State& state, DeviceState& to) {
  std::vector<Vec3> x, v;
  for (const auto& p : state.positions) x.push_back(p.cast<Real>());
  for (const auto& p : state.velocities) v.push_back(p.cast<Real>());
  to.x.upload(ctx, x);
  to.v.upload(ctx, v);
  to.frame = state.frame;
  to.time = state.time;
}

bool is_same(const BodyState& a, const BodyState& b) {
  return a.pose.x == b.pose.x && a.pose.q.w == b.pose.q.w && a.pose.q.v == b.pose.q.v &&
         a.velocity == b.velocity && a.spin == b.spin;
}

void copy_state(Context& ctx, const DeviceState& from, DeviceState& to) {
  to.x.resize(ctx, from.x.size());
  to.v.resize(ctx, from.v.size());
  copy(ctx, to.x.data(), from.x.data(), from.x.size());
  copy(ctx, to.v.data(), from.v.data(), from.v.size());
  to.frame = from.frame;
  to.time = from.time;
}

/// Adds what the attempts before took of the step's time and iterations.
void add_attempt(StepReport& before, StepReport& report) {
  report.seconds += before.seconds;
  before.newton.insert(before.newton.end(), report.newton.begin(), report.newton.end());
  report.newton = std::move(before.newton);
  report.newton_iterations += before.newton_iterations;
  report.pcg_iterations += before.pcg_iterations;
  report.contact_limit_halvings += before.contact_limit_halvings;
  report.contact_limit_exceeded |= before.contact_limit_exceeded;
}

bool has_time(const Params& params, const StageClock& clock) {
  return params.budget_ms == 0 || clock.seconds_since_start() * 1e3 < params.budget_ms;
}

/// With the iterations and the time that the attempts before left.
Params rest_of_step(Params params, const StepReport& before, const StageClock& clock) {
  params.newton_iterations -= before.newton_iterations;
  // Zero would be no limit.
  if (params.budget_ms > 0)
    params.budget_ms = std::max(1e-9, params.budget_ms - clock.seconds_since_start() * 1e3);
  return params;
}

std::string millimetres(double metres) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g mm", 1e3 * metres);
  return text;
}

}  // namespace

BarrierStepper::BarrierStepper(Context& ctx, const Model& model) : Stepper(ctx, model) {
  if (!has_bodies()) load_model();
}

/// Loads moving_model() anew.
void BarrierStepper::load_model() {
  device_.upload(ctx_, moving_model());
  scale_thickness();
  stepper_ = std::make_unique<TimeStepper>();
  stepper_->load(ctx_, moving_model(), device_);
  stepper_->set_cancel(cancel_);
  rigidity_ = 0;
  if (!has_bodies()) return;
  bodies_.load(ctx_, model_, barrier_);
  nodes_.x.resize(ctx_, model_.node_count());
  nodes_.v.resize(ctx_, model_.node_count());
}

void BarrierStepper::set_cancel(const std::atomic<bool>* flag) {
  cancel_ = flag;
  if (stepper_) stepper_->set_cancel(flag);
}

void BarrierStepper::check_state() { stepper_->check_apart(ctx_, moving_model(), device_, moving()); }

std::string BarrierStepper::check_start(const Params&) {
  stepper_->check_start(ctx_, moving_model(), device_, moving());
  std::string note;
  if (pushed_ > 0)
    note = "rigid bodies overlapped deeply and were moved apart by up to " + millimetres(pushed_);
  if (lifted_ > 0)
    note += std::string(note.empty() ? "" : "; ") +
            "nodes of elastic solids were moved out of half-spaces by up to " + millimetres(lifted_);
  if (const auto thinned = std::ranges::count_if(shares_, [](double s) { return s < 1; }); thinned > 0)
    note += std::string(note.empty() ? "" : "; ") + std::to_string(thinned) +
            (thinned == 1 ? " thin object overlaps: it collides" : " thin objects overlap: they collide") +
            " with as little as " + std::to_string(std::lround(100 * std::ranges::min(shares_))) +
            "% of the thickness, which grows back";
  const auto widened = std::ranges::count(widened_, true);
  if (widened == 0) return note;
  double most = 0;
  for (std::size_t b = 0; b < widened_.size(); ++b)
    if (widened_[b]) most = std::max(most, skins_[b]);
  return note + (note.empty() ? "" : "; ") + std::to_string(widened) +
         (widened == 1 ? " rigid body touches or overlaps others: its surface collides"
                       : " rigid bodies touch or overlap others: their surfaces collide") +
         " up to " + millimetres(most) + " inside the drawn one";
}

void BarrierStepper::update_materials() {
  if (has_bodies()) {
    barrier_.model.materials = model_.materials;
    barrier_.model.half_spaces = model_.half_spaces;
    barrier_.model.pair_friction = model_.pair_friction;
  }
  device_.upload_materials(ctx_, moving_model());
  stepper_->set_materials(ctx_, moving_model(), device_);
}

StepReport BarrierStepper::step(const StepSettings& wanted) {
  Params params = wanted.params;
  if (!moving_model().constraints.empty()) params.time_integrator = TimeIntegrator::backward_euler;
  const StepSettings settings{params, wanted.contact, wanted.drag};
  if (std::ranges::all_of(shares_, [](double s) { return s >= 1; })) return step_nodes_or_bodies(settings);
  const std::vector<double> before = shares_;
  try {
    grow_thickness(params);
    return step_nodes_or_bodies(settings);
  } catch (...) {
    shares_ = before;
    scale_thickness();
    throw;
  }
}

StepReport BarrierStepper::step_nodes_or_bodies(const StepSettings& settings) {
  if (has_bodies()) return step_bodies(settings);
  StepReport report = stepper_->step(ctx_, model_, device_, settings.params, settings.drag, nodes_);
  stepper_->follow_control_nodes(ctx_, nodes_);
  return report;
}

/// A step of all attempts. Where one throws, bodies, stiffening, history and joints are those before the
/// step.
StepReport BarrierStepper::step_bodies(const StepSettings& settings) {
  const double stiffening = stiffening_;
  stepper_->save_joints(ctx_, joints_before_);
  const TimeStepper::History history = stepper_->history();
  copy_state(ctx_, moving_, kept_);
  try {
    StepReport report = step_attempts(settings);
    strain_ = report.body_strain;
    // Steps move followers along with rounding. A state that is set has them where their leaders are.
    stepper_->follow_control_nodes(ctx_, moving_);
    follow_bodies(settings.params.dt);
    return report;
  } catch (...) {
    stiffening_ = stiffening;
    copy_state(ctx_, kept_, moving_);
    bodies_.fit(ctx_, moving_);
    stepper_->return_to(history);
    stepper_->restore_joints(ctx_, joints_before_);
    throw;
  }
}

/// One step; while it converges with a body whose strain exceeds the bound, again from the same state with
/// stiffer bodies, within the iterations and the time of one step. The last attempt counts, and has not
/// converged if the strain still exceeds the bound.
StepReport BarrierStepper::step_attempts(const StepSettings& settings) {
  const StageClock clock;
  std::optional<Drag> drag;
  if (settings.drag) drag = barrier_drag(model_, barrier_, *settings.drag, poses());
  if (strain_ < kRoomy * settings.params.strain_bound)
    stiffening_ = std::max(1.0, stiffening_ * std::exp(-settings.params.dt / kRelaxTime));
  const TimeStepper::History history = stepper_->history();
  const double bound = settings.params.strain_bound;
  StepReport discarded;
  for (int repeats = 0;; ++repeats) {
    if (const double rigidity = stiffening_ / bound; rigidity != rigidity_) {
      stepper_->set_rigidity(ctx_, barrier_.model, rigidity);
      rigidity_ = rigidity;
    }
    const Params left = rest_of_step(settings.params, discarded, clock);
    StepReport report = stepper_->step(ctx_, barrier_.model, device_, left, drag, moving_);
    bodies_.fit(ctx_, moving_);
    report.body_strain = bodies_.largest_strain(ctx_);
    if (!std::isfinite(report.body_strain))
      throw SimulationError("a rigid body is turned inside out in step " + std::to_string(report.frame) +
                            "; the state is back at the end of the step before");
    report.strain_repeats = repeats;
    add_attempt(discarded, report);
    const bool strained = report.converged && !(report.body_strain <= bound);
    const bool in_time = has_time(settings.params, clock);
    if (!strained || !in_time || repeats == kMostRepeats || stiffening_ >= kMostStiffening ||
        report.newton_iterations >= settings.params.newton_iterations) {
      if (strained) {
        report.converged = false;
        report.stopped_by_budget = !in_time;
        report.stop_reason = kStrained;
      }
      return report;
    }
    discarded = std::move(report);
    stiffening_ *= std::clamp(2 * discarded.body_strain / bound, kStiffenLeast, kStiffenMost);
    stiffening_ = std::min(stiffening_, kMostStiffening);
    copy_state(ctx_, kept_, moving_);
    stepper_->return_to(history);
  }
}

/// The scene's nodes go where the barrier model's are.
void BarrierStepper::follow_bodies(double dt) {
  const Span span(ctx_, "place nodes");
  bodies_.draw(ctx_, moving_, nodes_);
  nodes_.frame = moving_.frame;
  nodes_.time = moving_.time;
  dt_ = dt;
}

State BarrierStepper::state() {
  State out = Stepper::state();
  if (has_bodies()) out.bodies = bodies_.states(ctx_, model_, nodes_.time, dt_);
  out.thickness = shares_;
  if (!stepper_) return out;
  if (has_bodies()) {
    out.barrier = bodies_.memory(ctx_, model_, moving_);
    out.barrier.stiffening = stiffening_;
    out.barrier.wanted_skin = wanted_skin_;
    out.barrier.tessellation = tessellation_;
    for (std::size_t b = 0; b < skins_.size(); ++b) out.barrier.bodies[b].skin = skins_[b];
  }
  out.barrier.stiffness = static_cast<double>(stepper_->history().stiffness);
  out.barrier.multipliers = stepper_->joint_multipliers(ctx_);
  return out;
}

std::vector<Pose> BarrierStepper::poses() {
  std::vector<Pose> poses;
  if (!has_bodies()) return poses;
  for (const BodyState& body : bodies_.states(ctx_, model_, nodes_.time, dt_)) poses.push_back(body.pose);
  return poses;
}

void BarrierStepper::set_state(const State& state, const Params& params) {
  check_nodes(state);
  if (!state.thickness.empty() && state.thickness.size() != model_.objects.size())
    throw std::invalid_argument("set_state: the model has " + std::to_string(model_.objects.size()) +
                                " objects, and the state " + std::to_string(state.thickness.size()) +
                                " thicknesses");
  pushed_ = lifted_ = 0;
  const bool given = !state.thickness.empty();
  shares_ = state.thickness;
  scale_thickness();
  if (!has_bodies()) {
    place(state, params);
    // Nodes of affine bodies follow their control nodes, whatever the given state says.
    const State consistent = lifted(Stepper::state(), 0, params);
    if (lifted_ > 0) place(consistent, params);
    open_thin_gaps(given, params);
    stepper_->recall(ctx_, state.barrier);
    return;
  }
  if (state.bodies.size() != model_.bodies.size())
    throw std::invalid_argument("set_state: the model has " + std::to_string(model_.bodies.size()) +
                                " rigid bodies");
  stiffening_ = 1;
  strain_ = 0;
  const bool as_left = place_as_left(state, params);
  if (!as_left) {
    State without = state;
    without.barrier = {};
    place_bodies(without, params);
    // VelocityStepper projects no positions beside elastic solids.
    if (too_near_ && !is_coupled(model_)) place_bodies(push_apart(without, params), params);
  }
  open_thin_gaps(given, params);
  bodies_.fit(ctx_, moving_);
  follow_bodies(params.dt);
  if (!as_left) return;
  const double stiffening = state.barrier.stiffening;
  if (stiffening >= 1 && stiffening <= kMostStiffening) stiffening_ = stiffening;
  strain_ = bodies_.largest_strain(ctx_);
  stepper_->recall(ctx_, state.barrier);
}

/// Loads the barrier model for these skins, unless it is there.
void BarrierStepper::load_bodies(const std::vector<double>& skins, const Params& params) {
  if (stepper_ && skins == skins_ && tessellation_ == params.tessellation) return;
  skins_ = skins;
  tessellation_ = params.tessellation;
  barrier_ = make_barrier_model(model_, skins_, tessellation_);
  load_model();
}

/// Places the affine bodies as barrier steps left them, strain and skins included, so that a state continues
/// as it would have. False where the state does not say how, where poses, velocities or the settings of
/// surfaces have changed since, or where surfaces touch by now.
bool BarrierStepper::place_as_left(const State& state, const Params& params) {
  const std::vector<StandIn>& left = state.barrier.bodies;
  if (left.size() != model_.bodies.size() ||
      state.barrier.wanted_skin != params.contact_skin * params.d_hat ||
      state.barrier.tessellation != params.tessellation)
    return false;
  const std::vector<double> most = most_skins(model_);
  std::vector<double> skins;
  for (std::size_t b = 0; b < left.size(); ++b) {
    skins.push_back(left[b].skin);
    if (!(skins[b] >= 0 && skins[b] <= most[b])) return false;
  }
  widened_.assign(skins.size(), false);
  too_near_ = false;
  wanted_skin_ = state.barrier.wanted_skin;
  load_bodies(skins, params);
  if (!fits(model_, barrier_, state.barrier)) return false;
  place(lifted(barrier_state(model_, barrier_, state, params.dt), 0, params), params);
  bodies_.fit(ctx_, moving_);
  const std::vector<BodyState> fitted = bodies_.states(ctx_, model_, state.time, params.dt);
  for (std::size_t b = 0; b < left.size(); ++b)
    if (model_.bodies[b].moves && !is_same(fitted[b], state.bodies[b])) return false;
  if (!std::isfinite(bodies_.largest_strain(ctx_))) return false;
  const auto close = stepper_->close_objects(ctx_, barrier_.model, device_, moving_,
                                             static_cast<Real>(kStillOpen * params.d_hat));
  const auto is_body = [&](std::int32_t object) {
    return object >= 0 && model_.objects[static_cast<std::size_t>(object)].body >= 0;
  };
  return std::ranges::none_of(close, [&](const Vec2i& pair) { return is_body(pair[0]) || is_body(pair[1]); });
}

/// Loads the barrier model and places the state, with skins wide enough if there are such.
void BarrierStepper::place_bodies(const State& state, const Params& params) {
  wanted_skin_ = params.contact_skin * params.d_hat;
  const std::vector<double> skins = body_skins(model_, wanted_skin_);
  widened_.assign(skins.size(), false);
  load_bodies(skins, params);
  const double below = kOpenGap * params.d_hat;
  place(lifted(barrier_state(model_, barrier_, state, params.dt), below, params), params);
  while (widen_skins(params)) {
    barrier_ = make_barrier_model(model_, skins_, tessellation_);
    load_model();
    place(lifted(barrier_state(model_, barrier_, state, params.dt), below, params), params);
  }
}

/// A state of moving_model() whose elastic solids are in front of all half-spaces: velocity-level steps may
/// leave them a little behind. Gaps of `below` [m] and more stay.
State BarrierStepper::lifted(State state, double below, const Params& params) {
  const double gap = kOpenGap * params.d_hat;
  const LiftRule rule{gap, below, kMostLift * params.d_hat, !has_bodies()};
  lifted_ = std::max(lifted_, lift_out_of_half_spaces(moving_model(), rule, params.dt, state));
  return state;
}

/// The state with poses that are moved apart by projection of positions, as velocity-level steps do it at the
/// start of a scene: without speed, and as little as the contacts ask for, one after the other. Momenta stay.
/// The flag of set_cancel ends steps, not this: a state is set as a whole.
State BarrierStepper::push_apart(const State& state, const Params& params) {
  Params project = params;
  project.solver = SolverKind::velocity;
  project.contact_solver = ContactSolverKind::nsgs;
  project.stabilisation = Stabilisation::projection;
  project.projection_iterations = kPushSweeps;
  project.baumgarte_speed = kPushSpeed;
  project.contact_slop = 0;
  project.gravity = 0;
  project.sleeping = false;
  VelocityStepper pusher(ctx_, model_);
  State resting = state;
  for (int round = 0; round < kPushRounds; ++round) {
    for (BodyState& body : resting.bodies) body.velocity = body.spin = Vec<double, 3>::zero();
    pusher.set_state(resting, project);
    const LabParams lab = stepping_lab_params();
    const StepReport report = pusher.step({project, lab, {}});
    const State moved = pusher.state();
    for (std::size_t b = 0; b < model_.bodies.size(); ++b)
      if (model_.bodies[b].moves) resting.bodies[b].pose = moved.bodies[b].pose;
    if (report.contact_solve->penetration < kPushedApart * params.d_hat) break;
  }
  State apart = state;
  for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
    BodyState& body = apart.bodies[b];
    const Vec<double, 3>& inertia = model_.bodies[b].unit_inertia;
    Vec<double, 3> spin = body.pose.q.rotate_back(body.spin);
    for (int c = 0; c < 3; ++c) spin[c] *= inertia[c];
    spin = resting.bodies[b].pose.q.rotate_back(body.pose.q.rotate(spin));
    for (int c = 0; c < 3; ++c) spin[c] /= inertia[c];
    pushed_ = std::max(pushed_, norm(resting.bodies[b].pose.x - body.pose.x));
    body.pose = resting.bodies[b].pose;
    body.spin = body.pose.q.rotate(spin);
  }
  return apart;
}

/// Puts a state of moving_model() in place.
void BarrierStepper::place(const State& state, const Params& params) {
  DeviceState& to = moving();
  upload(ctx_, state, to);
  stepper_->follow_control_nodes(ctx_, to);
  device_.forget_acting(ctx_);
  device_.select_acting(ctx_, moving_model(), to.time, params.dt, to.x.data());
  stepper_->forget_history();
}

/// Applies the shares to the radii of the model; by default they are 1, and there are none without thin
/// objects.
void BarrierStepper::scale_thickness() {
  if (device_.radius.size() == 0) {
    shares_.clear();
    return;
  }
  if (shares_.size() != moving_model().objects.size()) shares_.assign(moving_model().objects.size(), 1.0);
  device_.scale_radii(ctx_, moving_model(), shares_);
}

/// Sets for each object whether it is thin and a gap of it is below `gap` [m]. False if there is none.
bool BarrierStepper::thin_objects_are_near(double gap, std::vector<bool>& near) {
  const Model& model = moving_model();
  near.assign(model.objects.size(), false);
  for (const Vec2i& pair :
       stepper_->close_objects(ctx_, model, device_, moving(), static_cast<Real>(gap), false))
    for (int side = 0; side < 2; ++side) {
      const auto o = static_cast<std::size_t>(std::max(pair[side], 0));
      if (pair[side] >= 0 && model.objects[o].is_thin()) near[o] = true;
    }
  return std::ranges::count(near, true) > 0;
}

/// Steps at the level of velocities let thin objects overlap a little, with others and with themselves. Takes
/// from the thickness with which they collide, by factors, until gaps are wide enough for a barrier. A scene
/// that starts with an overlap is left alone: check_start refuses it. Radii are those of the model before, or
/// `given` with the state: these stay if no surfaces touch, so that a state continues as it would have.
void BarrierStepper::open_thin_gaps(bool given, const Params& params) {
  if (device_.radius.size() == 0 || moving().frame == 0) return;
  std::vector<bool> near;
  if (given && !thin_objects_are_near(kStillOpen * params.d_hat, near)) return;
  bool changes = true;
  for (int round = 0; changes && thin_objects_are_near(kOpenGap * params.d_hat, near); ++round) {
    changes = false;
    const double thinner = round < 10 ? 0.98 : round < 20 ? 0.95 : 0.9;
    for (std::size_t o = 0; o < shares_.size(); ++o) {
      if (!near[o] || shares_[o] < kLeastThickness) continue;
      shares_[o] *= thinner;
      changes = true;
    }
    if (changes) scale_thickness();
  }
}

/// Gives thin objects back some of the thickness that open_thin_gaps took, where gaps stay wide enough.
void BarrierStepper::grow_thickness(const Params& params) {
  const std::vector<double> before = shares_;
  for (std::size_t o = 0; o < shares_.size(); ++o)
    if (shares_[o] < 1)
      shares_[o] = std::min(1.0, shares_[o] + kRegrowth * params.d_hat / moving_model().objects[o].thickness);
  scale_thickness();
  std::vector<bool> near;
  if (!thin_objects_are_near(kRegrownGap * params.d_hat, near)) return;
  for (std::size_t o = 0; o < shares_.size(); ++o)
    if (near[o]) shares_[o] = before[o];
  scale_thickness();
}

/// Grows the skins of bodies whose surfaces intersect others or nearly touch them. False if none can grow.
bool BarrierStepper::widen_skins(const Params& params) {
  const Real gap = static_cast<Real>(kOpenGap * params.d_hat);
  const std::vector<double> most = most_skins(model_);
  std::vector<bool> near(skins_.size(), false);
  for (const Vec2i& pair : stepper_->close_objects(ctx_, barrier_.model, device_, moving_, gap))
    for (int side = 0; side < 2; ++side) {
      if (pair[side] < 0) continue;
      const std::int32_t body = model_.objects[static_cast<std::size_t>(pair[side])].body;
      if (body >= 0) near[static_cast<std::size_t>(body)] = true;
    }
  too_near_ = std::ranges::count(near, true) > 0;
  bool grown = false;
  for (std::size_t b = 0; b < skins_.size(); ++b) {
    if (!near[b] || !(skins_[b] < most[b])) continue;
    skins_[b] = std::min(most[b], std::max(kWiden * skins_[b], static_cast<double>(gap)));
    grown = widened_[b] = true;
  }
  return grown;
}

void BarrierStepper::contact_records(const Params& params, std::vector<ContactRecord>& out) {
  stepper_->contact_records(ctx_, device_, params, moving(), out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
