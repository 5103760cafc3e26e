#include "gpu/step/time_stepper.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "gpu/model/element_group.h"
#include "gpu/params/newton_start.h"
#include "gpu/step/fall_acceleration.h"
#include "gpu/step/node_sums.cuh"
#include "gpu/step/start_check.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// `ccd_al`: the gap that constraints keep, in units of d_hat.
constexpr double kConstraintGap = 0.1;
// The error of a joint in units of the way that gravity adds in a step.
constexpr double kJointShare = 0.03;

// Minimisations after the first one, with new multipliers of joints each.
constexpr int kJointRounds = 20;

// Frozen friction is no solution if it is outside its cone by more than this share of the largest impulse, or
// if a contact has a larger error than this times what smooth barriers and friction leave.
constexpr double kOutsideCone = 1e-3, kFrozenError = 2;

// Bodies closer than this share of the scene at the start count as touching.
constexpr Real kTouching = Real(1e-9);

struct Sums {
  NodeSums nodes;
  double elastic, volume_ratio_min, inverted, multiplier_max;
  JudgeSums judge;
  NodeSums nodes_before;  // at the start of the step, where it was not known
  double elastic_before, ratio_before, inverted_before;

  double energy() const { return nodes.kinetic + nodes.gravity + elastic; }
  double energy_before() const { return nodes_before.kinetic + nodes_before.gravity + elastic_before; }
};

/// x = x_t; y: where free nodes go without elasticity and contact; target: where scripted nodes go, by `pose`
/// of their script; script_step = target - x_t.
void predict_nodes(Context& ctx, const DeviceModel& device, const Params& params, const DeviceState& state,
                   const RigidPose* pose, Vec3* x, Vec3* y, Vec3* target, Vec3* script_step) {
  const Vec3* anchor = device.anchor.data();
  const std::int32_t* script = device.node_script.data();
  const Vec3* acceleration = device.acceleration.data();
  const Vec3* x_t = state.x.data();
  const Vec3* v_t = state.v.data();
  const Real dt = static_cast<Real>(params.dt), g = static_cast<Real>(params.gravity);
  launch(ctx, device.node_count, [=] SS_LAMBDA(std::size_t i) {
    x[i] = x_t[i];
    y[i] = x_t[i] + dt * v_t[i] + dt * dt * (Vec3{0, g, 0} + acceleration[i]);
    target[i] = script[i] >= 0 ? pose[script[i]].linear * anchor[i] + pose[script[i]].shift : x_t[i];
    script_step[i] = target[i] - x_t[i];
  });
}

/// Targets of n nodes, and their displacements from x_t.
void set_targets(Context& ctx, std::size_t n, const std::int32_t* node, const Vec3* position, const Vec3* x_t,
                 Vec3* target, Vec3* script_step) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    target[node[i]] = position[i];
    script_step[node[i]] = position[i] - x_t[node[i]];
  });
}

/// held = x of the three nodes.
void read_nodes(Context& ctx, const Vec3i& nodes, const Vec3* x, Vec3* held) {
  launch(ctx, 3, [=] SS_LAMBDA(std::size_t c) { held[c] = x[nodes[static_cast<int>(c)]]; });
}

std::string joints_open_text(double tolerance) {
  char text[64];
  std::snprintf(text, sizeof text, "joints do not hold within %.2g m", tolerance);
  return text;
}

/// [m^2/s^2], see NodeResistance.
Real cubic_inertia(const Params& params) {
  const double beta = is_newmark(params) ? params.newmark_beta : 1;
  const double speed = params.d_hat / params.dt;
  return static_cast<Real>(speed * speed / beta);
}

/// v = (x - x_t) / dt.
void set_velocities(Context& ctx, std::size_t n, const Vec3* x, const Vec3* x_t, Real dt, Vec3* v) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { v[i] = (x[i] - x_t[i]) / dt; });
}

}  // namespace

void TimeStepper::load(Context& ctx, const Model& model, const DeviceModel& device) {
  potential_.load(ctx, model, device);
  newton_.load(ctx, device);
  newton_.set_chains(rod_chains(model));
  newmark_.load(ctx, model);
  for (Buffer<Vec3>* b : {&x_, &y_, &target_, &script_step_, &velocity_}) b->resize(ctx, device.node_count);
  judge_.load(ctx, model, device, potential_.embedding());
  forget_history();
}

void TimeStepper::set_materials(Context& ctx, const Model& model, const DeviceModel& device) {
  potential_.set_materials(ctx, model);
  judge_.set_materials(ctx, model, device, potential_.embedding());
  forget_energy();
}

void TimeStepper::check_apart(Context& ctx, const Model& model, const DeviceModel& device,
                              const DeviceState& state) {
  refuse_nodes_behind_half_spaces(model, state.x.download(ctx), device.scripted.download(ctx));
  const Intersections found =
      intersections_.run(ctx, surface_view(device), state.x.data(), pair_filter(device));
  intersections_ = {};  // frees its tree over the whole surface, which unchecked steps do not need
  if (found.count > 0)
    throw std::invalid_argument(
        intersection_text(model, state.frame, found.count, found.first_edge, found.first_triangle));
}

void TimeStepper::check_start(Context& ctx, const Model& model, const DeviceModel& device,
                              const DeviceState& state) {
  check_apart(ctx, model, device, state);
  // At distance zero the barrier is infinite and its direction undefined.
  potential_.contacts().begin_step({kTouching * device.diagonal, Real(1), false, {}}, state.x.data());
  newton_.forget_pairs();
  newton_.find_contacts(ctx, potential_, device, state.x.data(), kTouching * device.diagonal);
  const ContactSet& touching = potential_.contacts().set();
  if (touching.size() > 0) throw std::invalid_argument(touch_text(model, read_back(ctx, touching.nodes())));
  potential_.contacts().clear();
}

std::vector<Vec2i> TimeStepper::close_objects(Context& ctx, const Model& model, const DeviceModel& device,
                                              const DeviceState& state, Real gap, bool half_spaces) {
  std::vector<Vec2i> pairs;
  if (half_spaces) pairs = objects_near_half_spaces(model, state.x.download(ctx), gap);
  const auto object = [&](std::int32_t node) { return model.node_object[static_cast<std::size_t>(node)]; };
  intersections_.run(ctx, surface_view(device), state.x.data(), pair_filter(device));
  for (const Vec2i& found : intersections_.one_per_edge(ctx))
    pairs.push_back({object(model.edges[static_cast<std::size_t>(found[0])][0]),
                     object(model.triangles[static_cast<std::size_t>(found[1])][0])});
  intersections_ = {};
  potential_.contacts().begin_step({gap, Real(1), false, {}}, state.x.data());
  newton_.forget_pairs();
  newton_.find_contacts(ctx, potential_, device, state.x.data(), gap);
  const ContactSet& near = potential_.contacts().set();
  std::vector<Vec4i> nodes(near.size());
  copy_to_host(ctx, nodes.data(), near.nodes(), nodes.size());
  for (const Vec4i& contact : nodes) {
    if (contact[1] < 0 && !half_spaces) continue;
    Vec2i pair{object(contact[0]), -1};
    for (int c = 1; c < 4; ++c)
      if (contact[c] >= 0 && object(contact[c]) != pair[0]) pair[1] = object(contact[c]);
    pairs.push_back(pair);
  }
  potential_.contacts().clear();
  return pairs;
}

void TimeStepper::check_released(Context& ctx, const Model& model, const DeviceModel& device,
                                 const DeviceState& state) {
  // Scripted nodes do not collide with each other: after their release they may intersect.
  try {
    check_start(ctx, model, device, state);
  } catch (const std::invalid_argument& error) {
    throw SimulationError("a script lets go at " + std::to_string(state.time) + " s: " + error.what());
  }
}

void TimeStepper::return_to(const History& history) {
  history_ = history;
  newmark_.forget();
  potential_.contacts().clear();
}

void TimeStepper::forget_history() {
  history_ = {};
  newmark_.forget();
  potential_.contacts().clear();
  potential_.constraints().forget();
}

void TimeStepper::recall(Context& ctx, const BarrierMemory& memory) {
  if (std::isfinite(memory.stiffness) && memory.stiffness > 0)
    history_.stiffness = static_cast<Real>(memory.stiffness);
  potential_.constraints().start_from(ctx, memory.multipliers);
}

void TimeStepper::follow_control_nodes(Context& ctx, DeviceState& state) const {
  potential_.embedding().expand(ctx, state.x.data());
  potential_.embedding().expand(ctx, state.v.data());
}

void TimeStepper::predict(Context& ctx, const Model& model, const DeviceModel& device, const Params& params,
                          const DeviceState& state) {
  const Span span(ctx, "predict");
  poses_.upload(ctx, script_poses(model, state.time + params.dt));
  Vec3* y = y_.data();
  Vec3* target = target_.data();
  predict_nodes(ctx, device, params, state, poses_.data(), x_.data(), y, target, script_step_.data());
  follow_frames(ctx, model, state, state.time + params.dt);
  potential_.embedding().expand(ctx, script_step_.data());
  if (is_newmark(params)) newmark_.predict(ctx, device, params, potential_.embedding(), state, target, y);
}

/// Targets of the nodes that follow a sequence of positions.
void TimeStepper::follow_frames(Context& ctx, const Model& model, const DeviceState& state, double time) {
  for (const ScriptedNodes& script : model.scripted) {
    if (script.frames.empty()) continue;
    frame_nodes_.upload(ctx, script.nodes);
    frame_targets_.upload(ctx, frame_positions(model, script, time));
    set_targets(ctx, script.nodes.size(), frame_nodes_.data(), frame_targets_.data(), state.x.data(),
                target_.data(), script_step_.data());
  }
}

StepInputs TimeStepper::step_inputs(const Params& params, const DeviceState& state) const {
  StepInputs inputs;
  inputs.dt = static_cast<Real>(params.dt);
  inputs.x_t = state.x.data();
  inputs.v_t = state.v.data();
  inputs.y = y_.data();
  inputs.target = target_.data();
  inputs.script_stiffness = static_cast<Real>(params.kinematic_stiffness);
  inputs.wind = wind_at(params, state.time + params.dt);
  if (is_newmark(params)) {
    inputs.beta = static_cast<Real>(params.newmark_beta);
    inputs.still = newmark_.still();
    inputs.velocity_dt = static_cast<Real>(velocity_dt(params));
  }
  return inputs;
}

void TimeStepper::start_accelerations(Context& ctx, const DeviceModel& device, const Params& params,
                                      const ContactSettings& contact, const DeviceState& state) {
  newmark_.begin_forces(ctx, device, params, state, x_.data(), y_.data(), target_.data());
  StepInputs inputs = step_inputs(params, state);
  inputs.wind = wind_at(params, state.time);
  begin_contacts(ctx, device, params, inputs, contact);
  potential_.linearise(ctx, x_.data());
  newmark_.finish_forces(ctx, device, potential_);
}

DragSpring TimeStepper::attach(Context& ctx, const Params& params, const std::optional<Drag>& drag,
                               const DeviceState& state) {
  DragSpring spring;
  if (!drag) return spring;
  spring.nodes = drag->triangle;
  spring.weights = drag->weights.cast<Real>();
  spring.stiffness = static_cast<Real>(params.drag_stiffness);
  Vec3 point = Vec3::zero();
  held_.resize(ctx, 3);
  read_nodes(ctx, spring.nodes, state.x.data(), held_.data());
  copy_to_host(ctx, spring.targets, held_.data(), 3);
  for (int c = 0; c < 3; ++c) point += spring.weights[c] * spring.targets[c];
  const Vec3 pull = drag->target.cast<Real>() - point;
  for (Vec3& target : spring.targets) target += pull;
  return spring;
}

/// Checks the state before a step, with the scripts that act in it.
void TimeStepper::check_before(Context& ctx, const Model& model, DeviceModel& device, const Params& params,
                               const DeviceState& state) {
  const Span span(ctx, "checks");
  // Energies are those of the nodes that no script holds.
  if (std::any_of(model.scripted.begin(), model.scripted.end(), [&](const ScriptedNodes& s) {
        return s.acts(state.time, params.dt) != s.acts(state.time - params.dt, params.dt);
      }))
    forget_energy();
  if (device.select_acting(ctx, model, state.time, params.dt, state.x.data())) {
    check_released(ctx, model, device, state);
    newmark_.forget();
  }
  if (potential_.is_inverted(ctx, state.x.data()))
    throw SimulationError("an element that must not be inverted is so before step " +
                          std::to_string(state.frame + 1));
}

void TimeStepper::begin_contacts(Context& ctx, const DeviceModel& device, const Params& params,
                                 const StepInputs& inputs, const ContactSettings& settings) {
  const Span span(ctx, "contacts");
  judge_.forget_errors();
  potential_.begin_step(ctx, inputs, settings);
  newton_.search_ahead(ctx, inputs, device, params, x_.data());
  newton_.find_contacts(ctx, potential_, device, x_.data(), settings.d_hat);
  choose_stiffness(ctx, device, params);
  potential_.contacts().update_friction(ctx, x_.data());
}

StepReport TimeStepper::step(Context& ctx, const Model& model, DeviceModel& device, const Params& params,
                             const std::optional<Drag>& drag, DeviceState& state) {
  const History history = history_;
  save_joints(ctx, joints_before_);
  try {
    return try_step(ctx, model, device, params, drag, state);
  } catch (...) {
    // The contacts of a failed step refer to pairs of its broad phase, which no longer exist.
    potential_.contacts().clear();
    history_ = history;
    restore_joints(ctx, joints_before_);
    throw;
  }
}

StepReport TimeStepper::try_step(Context& ctx, const Model& model, DeviceModel& device, const Params& params,
                                 const std::optional<Drag>& drag, DeviceState& state) {
  StageClock clock;
  StepReport report;
  report.frame = state.frame + 1;
  report.time = state.time + params.dt;
  const bool constrained = params.solver == SolverKind::ccd_al;
  const bool lagged = !constrained && params.friction_update == FrictionUpdate::lagged;
  ContactSettings contact{
      static_cast<Real>(params.d_hat), static_cast<Real>(params.eps_v * velocity_dt(params)), lagged, {}};
  if (params.solver == SolverKind::barrier_al)
    contact.augmentation = {static_cast<Real>(params.augmentation_gap * params.d_hat),
                            params.multiplier_update, params.augmentation_end};
  if (params.barrier == BarrierKind::cubic && !constrained) contact.cubic_inertia = cubic_inertia(params);
  if (constrained) contact.constraint_gap = static_cast<Real>(kConstraintGap * params.d_hat);

  check_before(ctx, model, device, params, state);
  newton_.forget_pairs();
  if (!is_newmark(params)) newmark_.forget();
  else if (!newmark_.has_accelerations()) {
    start_accelerations(ctx, device, params, contact, state);
    newton_.forget_pairs();
  }
  predict(ctx, model, device, params, state);
  StepInputs inputs = step_inputs(params, state);
  inputs.drag = attach(ctx, params, drag, state);
  clock.lap(report.seconds.other);
  const bool scripts_move =
      std::any_of(model.scripted.begin(), model.scripted.end(),
                  [&](const ScriptedNodes& s) { return !s.is_static() && s.acts(state.time, params.dt); });
  if (scripts_move) {
    if (starts_ahead(params))
      newton_.search_ahead(ctx, device, params, x_.data(), common_way(ctx, device, params, state));
    inputs.scripts_blocked = move_scripts(ctx, device, params, state, clock, report);
  }
  const Vec3* common = nullptr;
  if (inputs.scripts_blocked && starts_ahead(params))
    common = find_common_way(ctx, device, params, state, clock, report);
  if (common != nullptr) inputs.scripts_blocked = false;
  if (inputs.scripts_blocked && is_newmark(params))
    newmark_.rest_scripts(ctx, device, potential_.embedding(), state);

  begin_contacts(ctx, device, params, inputs, contact);
  if (common != nullptr) {
    // Only now: the stiffness of the barrier and lagged friction are those of the state.
    go(ctx, device, common);
    newton_.find_contacts(ctx, potential_, device, x_.data(), contact.d_hat);
  }
  clock.lap(report.seconds.contacts);

  const int minimisations = lagged ? params.friction_lags : 1;
  for (int lag = 0; lag < minimisations; ++lag) {
    minimise(ctx, device, params, clock, report);
    if (report.stopped_by_budget) break;
    // The judge sees the friction of the last minimisation.
    if (lagged && lag + 1 < minimisations) potential_.contacts().update_friction(ctx, x_.data());
  }
  if (!potential_.constraints().empty()) hold_joints(ctx, device, params, clock, report);
  // Neither a penalty nor a cubic barrier says anything about sigma in later steps.
  if (!constrained && params.barrier == BarrierKind::logarithmic)
    history_.stiffness = potential_.contacts().stiffness();
  finish(ctx, device, params, inputs, state, clock, report);
  clock.lap(report.seconds.other);
  return report;
}

void TimeStepper::minimise(Context& ctx, const DeviceModel& device, const Params& params, StageClock& clock,
                           StepReport& report) {
  if (params.solver == SolverKind::ccd_al)
    newton_.minimise_constrained(ctx, potential_, device, params, x_.data(), clock, report);
  else newton_.minimise(ctx, potential_, device, params, x_.data(), clock, report);
}

/// Multipliers and minimisations in turn until joints hold within joint_tolerance, within the iterations and
/// the time of one step. The next step keeps an error over dt as a velocity, so with a small dt joints hold
/// better than that, down to rounding.
void TimeStepper::hold_joints(Context& ctx, const DeviceModel& device, const Params& params,
                              StageClock& clock, StepReport& report) {
  const double speed = std::max(fall_acceleration(params) * params.dt, params.eps_v);
  const double rounding = 16 * std::numeric_limits<Real>::epsilon() * static_cast<double>(device.diagonal);
  const double tolerance =
      std::max(std::min(params.joint_tolerance, kJointShare * speed * params.dt), rounding);
  for (int round = 0;; ++round) {
    report.joint_residual = potential_.constraints().update_multipliers(ctx, x_.data());
    if (report.joint_residual <= tolerance || report.stopped_by_budget) return;
    const bool at_cap = report.newton_iterations >= params.newton_iterations;
    const bool is_uncounted = std::isinf(report.joint_residual);
    if (at_cap || is_uncounted || round == kJointRounds) {
      report.converged = false;
      report.stop_reason = is_uncounted ? "a side of a gear turns by half a turn in one step"
                           : at_cap     ? "iteration cap"
                                        : joints_open_text(tolerance);
      return;
    }
    minimise(ctx, device, params, clock, report);
  }
}

void TimeStepper::update_velocities(Context& ctx, const DeviceModel& device, const Params& params,
                                    const DeviceState& state) {
  const Vec3* x_t = state.x.data();
  const Vec3* x = x_.data();
  Vec3* v = velocity_.data();
  if (is_newmark(params))
    return newmark_.update_velocities(ctx, device, params, potential_.embedding(), state, x, v);
  set_velocities(ctx, device.node_count, x, x_t, static_cast<Real>(params.dt), v);
}

JudgedStep TimeStepper::judged(const Params& params, const StepInputs& inputs,
                               const DeviceState& state) const {
  JudgedStep step{state.x.data(), state.v.data(), x_.data(),     velocity_.data(),
                  nullptr,        params.dt,      params.gravity};
  if (is_newmark(params)) {
    step.y = y_.data();
    step.beta = params.newmark_beta;
    step.gamma = params.newmark_gamma;
  }
  step.drag = inputs.drag;
  step.wind = inputs.wind;
  step.most_speed = speed_bounds(params.gravity, params.dt).most;
  return step;
}

void TimeStepper::finish(Context& ctx, const DeviceModel& device, const Params& params,
                         const StepInputs& inputs, DeviceState& state, StageClock& clock,
                         StepReport& report) {
  const Span span(ctx, "diagnostics");
  update_velocities(ctx, device, params, state);
  const Vec3* x = x_.data();
  const Vec3* v = velocity_.data();
  resize_cleared(ctx, sums_, sizeof(Sums) / sizeof(double));
  Sums* device_sums = reinterpret_cast<Sums*>(sums_.data());
  launch_node_sums(ctx, device, x, v, params.gravity, &device_sums->nodes);
  potential_.launch_elastic_state(ctx, x, &device_sums->elastic, &device_sums->volume_ratio_min,
                                  &device_sums->inverted);
  potential_.contacts().augmented().launch_largest(ctx, &device_sums->multiplier_max);
  judge_.measure(ctx, device, potential_.contacts().view(), potential_.embedding(),
                 judged(params, inputs, state), &device_sums->judge);
  const bool is_energy_known = history_.gravity == params.gravity;
  if (!is_energy_known) {
    launch_node_sums(ctx, device, state.x.data(), state.v.data(), params.gravity, &device_sums->nodes_before);
    potential_.launch_elastic_state(ctx, state.x.data(), &device_sums->elastic_before,
                                    &device_sums->ratio_before, &device_sums->inverted_before);
  }
  const Sums sums = read_back(ctx, device_sums);
  if (!std::isfinite(sums.nodes.kinetic))
    throw SimulationError("velocities are not finite after step " + std::to_string(report.frame));
  report.kinetic_energy = sums.nodes.kinetic;
  report.gravity_energy = sums.nodes.gravity;
  report.momentum = sums.nodes.momentum;
  report.angular_momentum = sums.nodes.angular_momentum;
  report.elastic_energy = sums.elastic;
  report.volume_ratio_min = std::isfinite(sums.volume_ratio_min) ? sums.volume_ratio_min : 1;
  report.inverted = static_cast<int>(sums.inverted);
  report.candidates = static_cast<int>(newton_.near().size());
  report.contacts = static_cast<int>(potential_.contacts().set().active_count());
  report.augmented = static_cast<int>(potential_.contacts().augmented().size());
  report.multiplier_max = sums.multiplier_max;
  report.gap_min = report.contacts > 0 ? potential_.contacts().set().min_gap() : -1;
  report.barrier_stiffness = potential_.contacts().stiffness();
  StepJudgement& judgement =
      report.judgement.emplace(judgement_of(sums.judge, speed_bounds(params.gravity, params.dt)));
  judgement.barrier_energy = sums.judge.contacts.stored;
  const double smoothing = params.d_hat / params.dt + 2 * params.eps_v;  // [m/s]
  if (report.converged && report.stop_reason == kFrictionFrozen &&
      (!(judgement.law.cone <= kOutsideCone * judgement.law.impulse) ||
       !(judgement.error <= kFrozenError * smoothing))) {
    report.converged = false;
    report.stop_reason = "friction does not converge";
  }
  judgement.energy_change = sums.energy() - (is_energy_known ? history_.energy : sums.energy_before());
  if (judge_.counts_work()) judgement.work = sums.judge.contacts.work + sums.judge.work;
  history_.gravity = params.gravity;
  history_.energy = sums.energy();
  if (params.check_intersections) {
    clock.lap(report.seconds.other);
    report.intersections =
        static_cast<int>(intersections_.run(ctx, surface_view(device), x, pair_filter(device)).count);
    clock.lap(report.seconds.check);
  }
  if (report.intersections == 0) judgement.penetration = 0;

  state.x.swap(x_);
  state.v.swap(velocity_);
  if (is_newmark(params)) newmark_.accept();
  state.frame = report.frame;
  state.time = report.time;
}

void TimeStepper::node_stiffness(Context& ctx, std::vector<float>& out) const {
  potential_.node_stiffness(ctx, out);
}

void TimeStepper::contact_records(Context& ctx, const DeviceModel& device, const Params& params,
                                  const DeviceState& state, std::vector<ContactRecord>& out) {
  ContactTerms& contacts = potential_.contacts();
  contacts.records(ctx, device, params, state.x.data(), state.v.data(), judge_.errors(contacts.set().size()),
                   out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
