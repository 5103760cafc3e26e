#include "gpu/rigid/rigid_stepper.cuh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/model/coupled.h"
#include "gpu/model/manifold_support.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

std::string_view solver_name(ContactSolverKind kind) { return contact_solver_info(kind).name; }

std::string manifolds_refused(const std::string& why) {
  return "manifold_gs refuses (" + why + "): nsgs took its place";
}

/// mu of all pairs: a row per material, a column per material, then one per half-space.
std::vector<double> mu_table(const Model& model) {
  const std::size_t materials = model.materials.size(), columns = materials + model.half_spaces.size();
  std::vector<double> mu(materials * columns);
  for (std::size_t a = 0; a < materials; ++a) {
    for (std::size_t b = 0; b < materials; ++b)
      mu[a * columns + b] = std::sqrt(model.materials[a].mu * model.materials[b].mu);
    for (std::size_t h = 0; h < model.half_spaces.size(); ++h) {
      const HalfSpace& plane = model.half_spaces[h];
      mu[a * columns + materials + h] =
          plane.mu_of_pair ? plane.mu : std::sqrt(model.materials[a].mu * plane.mu);
    }
  }
  for (const PairFriction& pair : model.pair_friction) {
    const auto a = static_cast<std::size_t>(pair.material_a), b = static_cast<std::size_t>(pair.material_b);
    mu[a * columns + b] = mu[b * columns + a] = pair.mu;
  }
  return mu;
}

/// Solvers whose friction is a box: |r_i| <= mu_i r_N along each tangent.
bool has_box_law(ContactSolverKind kind) { return contact_solver_info(kind).law == "box"; }

struct WiderExtremes {
  SS_HD GapExtremes operator()(const GapExtremes& a, const GapExtremes& b) const {
    return {a.penetration > b.penetration ? a.penetration : b.penetration, a.gap < b.gap ? a.gap : b.gap};
  }
};

constexpr double kColdTolerance = 1e-6;

/// What residuals of a step are relative to where |q| is less, per block [m/s]: a thousandth of what gravity
/// adds in the step, or a micrometre a second. Where bodies rest on each other and fall together, q is
/// rounding.
double least_speed(const Params& params) {
  constexpr double kShareOfFall = 1e-3, kLeast = 1e-6;
  return std::max(kShareOfFall * std::fabs(params.gravity) * params.dt, kLeast);
}

bool has_torsion(const Model& model) {
  for (const Material& material : model.materials)
    if (material.torsion_radius > 0) return true;
  return false;
}

/// What pushes at a point `arm` from the centre meet there: v += K p [1/kg].
Mat<double, 3> inverse_mass_at(const Vec3d& arm, const Quat& q, double mass, const Vec3d& inertia) {
  Mat<double, 3> k;
  for (int j = 0; j < 3; ++j) {
    Vec3d push{0, 0, 0};
    push[j] = 1;
    Vec3d turn = q.rotate_back(cross(arm, push));
    for (int i = 0; i < 3; ++i) turn[i] /= inertia[i];
    const Vec3d v = push / mass + cross(q.rotate(turn), arm);
    for (int i = 0; i < 3; ++i) k(i, j) = v[i];
  }
  return k;
}

/// Nothing but the budget of what the chosen solver is told.
LabParams cold_start_params(const Params& params, const LabParams& lab) {
  LabParams cold = stepping_lab_params();
  cold.tolerance = std::min(lab.tolerance, kColdTolerance);
  cold.max_iterations = params.cold_start_iterations;
  cold.time_budget = lab.time_budget;
  return cold;
}

}  // namespace

void RigidStepper::load(Context& ctx, const Model& model) {
  bodies_.load(ctx, model);
  contacts_.load(ctx, model);
  textures_.load(ctx, model);
  coupling_.load(ctx, model);
  std::vector<DeviceJoint> joints;
  std::vector<std::int32_t> joint_of, part;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    joints.push_back(device_joint(model.joints[j]));
    for (int i = 0; i < joint_block_count(joints.back()); ++i) {
      joint_of.push_back(static_cast<std::int32_t>(j));
      part.push_back(i);
    }
  }
  joints_.upload(ctx, joints);
  std::vector<std::uint8_t> jointed(model.bodies.size());
  for (const DeviceJoint& joint : joints)
    for (const std::int32_t body : {joint.a, joint.b})
      if (body >= 0) jointed[static_cast<std::size_t>(body)] = 1;
  jointed_.upload(ctx, jointed);
  block_joint_.upload(ctx, joint_of);
  block_part_.upload(ctx, part);
  summary_.resize(ctx, 1);
  fresh_.resize(ctx, 1);
  reach_.upload(ctx, body_reaches(model));
  set_materials(ctx, model);
  forget_history();
}

/// Four rows cost twice as much as three.
void RigidStepper::choose_system(const Model& model) {
  const bool torsion = has_torsion(model);
  if (torsion == std::holds_alternative<ContactSystem<4>>(system_)) return;
  if (torsion) system_.emplace<ContactSystem<4>>();
  else system_.emplace<ContactSystem<3>>();
  stepped_ = false;
}

void RigidStepper::set_materials(Context& ctx, const Model& model) {
  choose_system(model);
  no_manifolds_ = why_no_manifolds(model);
  bodies_.set_materials(ctx, model);
  coupling_.solids().set_materials(ctx, model);
  std::vector<ContactSurface> surfaces;
  for (const Material& material : model.materials) surfaces.push_back(contact_surface(material));
  for (const HalfSpace& plane : model.half_spaces) surfaces.push_back(half_space_surface(plane.mu));
  for (std::size_t t = 0; t < model.textures.size(); ++t)
    surfaces[static_cast<std::size_t>(model.textures[t].material)].texture = static_cast<std::int32_t>(t);
  surfaces_.upload(ctx, surfaces);
  mu_.upload(ctx, mu_table(model));
  material_count_ = static_cast<std::int32_t>(model.materials.size());
  column_count_ = static_cast<std::int32_t>(surfaces.size());
}

void RigidStepper::forget_history() {
  contacts_.forget();
  coupling_.forget();
  std::visit([](auto& system) { system.forget(); }, system_);
  stepped_ = false;
  wake_ = parting_ = true;
}

std::vector<std::uint8_t> RigidStepper::asleep(Context& ctx) const {
  std::vector<std::uint8_t> out;
  if (!sleepers_) return out;
  out.resize(bodies_.size());
  copy_to_host(ctx, out.data(), islands_.asleep(), out.size());
  return out;
}

void RigidStepper::save(Context& ctx) {
  const Span span(ctx, "save");
  const std::size_t n = bodies_.size();
  saved_pose_.resize(ctx, n);
  saved_velocity_.resize(ctx, n);
  saved_spin_.resize(ctx, n);
  copy(ctx, saved_pose_.data(), bodies_.pose.data(), n);
  copy(ctx, saved_velocity_.data(), bodies_.velocity.data(), n);
  copy(ctx, saved_spin_.data(), bodies_.spin.data(), n);
  coupling_.solids().save(ctx);
}

void RigidStepper::restore(Context& ctx) {
  const std::size_t n = bodies_.size();
  copy(ctx, bodies_.pose.data(), saved_pose_.data(), n);
  copy(ctx, bodies_.velocity.data(), saved_velocity_.data(), n);
  copy(ctx, bodies_.spin.data(), saved_spin_.data(), n);
  coupling_.solids().restore(ctx);
}

StepReport RigidStepper::step(Context& ctx, const Model& model, const Params& params, const LabParams& lab,
                              const std::optional<Drag>& drag, int frame, double time) {
  save(ctx);
  try {
    const Params& used = coupling_.active() ? coupled_params(params) : params;
    return try_step(ctx, model, used, lab, drag, frame, time);
  } catch (...) {
    // The contacts of a failed step speak of what is gone.
    restore(ctx);
    forget_history();
    throw;
  }
}

/// The pointer's spring with critical damping on the body's mass, taken implicitly at the point that it
/// holds: no stiffness is too large.
BodyPull RigidStepper::pull_of(Context& ctx, const Model& model, const Params& params,
                               const std::optional<Drag>& drag) {
  const Span span(ctx, "drag");
  BodyPull pull;
  if (!drag) return pull;
  const auto first = static_cast<std::size_t>(drag->triangle[0]);
  const Object& object = model.objects[static_cast<std::size_t>(model.node_object.at(first))];
  if (!object.is_rigid()) return pull;
  const double mass = read_back(ctx, bodies_.mass.data() + object.body);
  if (!(mass > 0)) return pull;
  const Pose pose = read_back(ctx, bodies_.pose.data() + object.body);
  const Vec3d v = read_back(ctx, bodies_.velocity.data() + object.body),
              w = read_back(ctx, bodies_.spin.data() + object.body);
  Vec3d arm{0, 0, 0};
  for (int i = 0; i < 3; ++i)
    arm +=
        drag->weights[i] * pose.q.rotate(model.rest_positions[static_cast<std::size_t>(drag->triangle[i])]);
  const double k = params.drag_stiffness, dt = params.dt, soft = dt * dt * k + 2 * dt * std::sqrt(k * mass);
  const Vec3d stretch = drag->target - (pose.x + arm);
  pull.body = object.body;
  const Vec3d inertia = read_back(ctx, bodies_.inertia.data() + object.body);
  Mat<double, 3> effect = soft * inverse_mass_at(arm, pose.q, mass, inertia);
  for (int i = 0; i < 3; ++i) effect(i, i) += 1;
  pull.impulse = inverse(effect) * (dt * k * stretch - soft * (v + cross(w, arm)));
  pull.twist = cross(arm, pull.impulse);
  return pull;
}

void RigidStepper::find_contacts(Context& ctx, const Params& params) {
  const Span span(ctx, "contacts");
  const BodyMotionView motion{bodies_.pose.data(), bodies_.velocity.data(), bodies_.spin.data(),
                              bodies_.moves.data(), sleepers_ ? islands_.asleep() : nullptr};
  RigidContacts::Options options;
  options.margin = params.contact_margin;
  options.dt = params.continuous ? params.dt : 0;
  options.manifold_points = params.manifold_points;
  contacts_.find(ctx, motion, options);
  if (coupling_.active()) coupling_.find_contacts(ctx, contacts_, motion, {options.margin, options.dt});
}

std::vector<DeepOverlap> RigidStepper::overlaps(Context& ctx, const Model& model) const {
  std::vector<RigidContact> contacts(contacts_.count());
  copy_to_host(ctx, contacts.data(), contacts_.contacts(), contacts.size());
  return deep_overlaps(model, contacts);
}

std::vector<DeepOverlap> RigidStepper::find_overlaps(Context& ctx, const Model& model, const Params& params) {
  find_contacts(ctx, params);
  std::vector<DeepOverlap> found = overlaps(ctx, model);
  forget_history();
  return found;
}

void RigidStepper::update_islands(Context& ctx, const Params& params, std::int32_t pulled) {
  const Span span(ctx, "islands");
  if (wake_ || (sleepers_ && !params.sleeping)) islands_.reset(ctx, bodies_.size());
  wake_ = false;
  IslandInput input;
  input.bodies = bodies_.size();
  input.moves = bodies_.moves.data();
  input.reach = reach_.data();
  input.velocity = bodies_.velocity.data();
  input.spin = bodies_.spin.data();
  input.contacts = contacts_.contacts();
  input.contact_count = contacts_.count();
  input.joints = joints_.data();
  input.joint_count = joints_.size();
  input.disturbed = pulled;
  islands_.update(ctx, input, sleep_options(params));
  sleepers_ = params.sleeping;
}

/// Contacts that were not there in the last step. One host read.
std::size_t RigidStepper::fresh_contacts(Context& ctx) {
  const RigidContact* contact = contacts_.contacts();
  reduce_sum(
      ctx, contacts_.count(), [=] SS_LAMBDA(std::size_t c) { return contact[c].previous < 0 ? 1 : 0; },
      fresh_.data(), kMedium);
  return static_cast<std::size_t>(read_back(ctx, fresh_.data()));
}

void RigidStepper::project(Context& ctx, const Params& params) {
  const Span span(ctx, "position projection");
  ProjectionProblem problem;
  problem.joints = joints_.data();
  problem.block_joint = block_joint_.data();
  problem.block_part = block_part_.data();
  problem.joint_blocks = block_joint_.size();
  problem.contacts = contacts_.contacts();
  problem.contact_count = contacts_.count();
  problem.found_at = found_at_.data();
  problem.inverse = bodies_.inverse.data();
  problem.bodies = bodies_.size();
  problem.pose = bodies_.pose.data();
  projection_.project(ctx, problem, projection_options(params));
}

StepConstraints RigidStepper::constraints(const Params& params, const LabParams& lab) const {
  StepConstraints list;
  list.joints = joints_.data();
  list.block_joint = block_joint_.data();
  list.block_part = block_part_.data();
  list.joint_blocks = block_joint_.size();
  const bool coupled = coupling_.active();
  list.contacts = coupled ? coupling_.contacts() : contacts_.contacts();
  list.contact_count = coupled ? coupling_.contact_count() : contacts_.count();
  list.pair_start = contacts_.pair_start();
  list.pairs = contacts_.pairs();
  list.surfaces = {surfaces_.data(), mu_.data(), material_count_, column_count_, textures_.views()};
  list.options = contact_row_options(params);
  list.penalty = penalty_options(params);
  list.soft = params.contact_solver == ContactSolverKind::penalty_implicit;
  list.warm_start = lab.warm_start;
  list.least_speed = least_speed(params);
  return list;
}

/// Scripted bodies, the elastic solids' systems, and the way of `before` seconds to where contacts are found.
void RigidStepper::begin_step(Context& ctx, const Model& model, const Params& params,
                              const std::optional<Drag>& drag, double time, double before) {
  const Span span(ctx, "begin");
  bodies_.follow_motions(ctx, model, time, params.dt);
  if (coupling_.active()) coupling_.solids().begin_step(ctx, params, drag, time);
  if (before > 0) advance(ctx, before, nullptr);
}

void RigidStepper::advance(Context& ctx, double dt, const std::uint8_t* asleep) {
  const Span span(ctx, "advance");
  bodies_.advance(ctx, dt, asleep);
  coupling_.solids().advance(ctx, dt);
}

StepReport RigidStepper::try_step(Context& ctx, const Model& model, const Params& asked, const LabParams& lab,
                                  const std::optional<Drag>& drag, int frame, double time) {
  Params params = asked;
  StageClock clock;
  StepReport report;
  report.frame = frame + 1;
  report.time = time + params.dt;
  report.contact_solve.emplace();

  const double before = params.integrator == RigidIntegrator::midpoint ? params.dt / 2 : 0;
  begin_step(ctx, model, params, drag, time, before);
  const BodyPull pull = pull_of(ctx, model, params, drag);
  clock.lap(report.seconds.other);
  find_contacts(ctx, params);
  // What begins inside each other is moved apart, for what pushes would make it fly.
  parting_ = parting_ && !overlaps(ctx, model).empty();
  if (parting_) params.stabilisation = Stabilisation::projection;
  clock.lap(report.seconds.contacts);
  update_islands(ctx, params, pull.body);
  const std::uint8_t* asleep = sleepers_ ? islands_.asleep() : nullptr;
  {
    const Span span(ctx, "predict");
    bodies_.predict(ctx, params.dt, params.gravity, params.gyroscopic, pull, asleep);
  }
  clock.lap(report.seconds.other);
  std::visit([&](auto& system) { solve(ctx, system, params, lab, clock, report); }, system_);
  const bool project_after = params.stabilisation == Stabilisation::projection;
  if (project_after) {
    found_at_.resize(ctx, bodies_.size());
    copy(ctx, found_at_.data(), bodies_.pose.data(), bodies_.size());
  }
  advance(ctx, params.dt - before, asleep);
  if (project_after) project(ctx, params);
  finish(ctx, params, report);
  clock.lap(report.seconds.other);
  stepped_ = true;
  return report;
}

template <int D>
void RigidStepper::solve(Context& ctx, ContactSystem<D>& system, const Params& params, const LabParams& lab,
                         StageClock& clock, StepReport& report) {
  const Span span(ctx, "contact problem");
  ContactSolveRecord& record = *report.contact_solve;
  last_ = constraints(params, lab);
  system.set_cancel(cancel_);
  if (coupling_.active()) {
    const bool manifolds = params.contact_solver == ContactSolverKind::manifold_gs;
    const std::string_view solver = last_.soft || manifolds ? "nsgs" : solver_name(params.contact_solver);
    const CouplingRecord done = coupling_.solve(ctx, system, bodies_, last_, solver, lab, params, record);
    if (manifolds && record.message.empty()) record.message = manifolds_refused(no_manifolds_);
    report.pcg_iterations = done.pcg_iterations;
    record.rounds = done.rounds;
  } else {
    solve_bodies(ctx, system, params, lab, clock, report);
  }
  if (checks_law()) {
    const DeviceBodies& bodies = coupling_.active() ? coupling_.staged() : bodies_;
    system.check_law(ctx, bodies, last_, {jointed_.data(), jointed_.size(), !params.shock_propagation},
                     &summary_.data()->law);
  }
  clock.lap(report.seconds.contact_solve);
  record.blocks = static_cast<int>(system.blocks());
  report.converged = record.residual <= lab.tolerance;
  report.stopped_by_budget = !report.converged && lab.time_budget > 0 &&
                             report.seconds.contact_solve >= lab.time_budget &&
                             (coupling_.active() || record.iterations < lab.max_iterations);
  report.stop_reason = !record.message.empty()    ? record.message
                       : report.converged         ? "converged"
                       : report.stopped_by_budget ? "budget"
                                                  : "out of iterations";
}

template <int D>
void RigidStepper::solve_bodies(Context& ctx, ContactSystem<D>& system, const Params& params,
                                const LabParams& lab, StageClock& clock, StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  penalties_ = params.contact_solver == ContactSolverKind::penalty_explicit;
  StepConstraints solved = last_;
  if (penalties_) {
    system.push_penalties(ctx, bodies_, last_);
    solved.contact_count = 0;
  }
  const bool remembered = system.remembers_contacts();
  // A structure that was not there before, as in the first step of a scene, deserves more than the next
  // steps: what is missing in its impulses would move all of it. So does one that springs held until now.
  const bool is_cold = params.cold_start_iterations > 0 && solved.contact_count >= bodies_.moving() &&
                       (!remembered || 10 * fresh_contacts(ctx) > 9 * contacts_.count());
  const LabParams cold = cold_start_params(params, lab);
  const bool wanted = params.contact_solver == ContactSolverKind::manifold_gs;
  std::string why_not = no_manifolds_;
  if (wanted && why_not.empty()) {
    system.build_manifolds(ctx, bodies_, solved);
    clock.lap(report.seconds.assembly);
    if (is_cold) system.solve_manifolds(ctx, cold, record);
    system.solve_manifolds(ctx, lab, record);
    why_not = record.message;
    if (!std::isfinite(record.residual)) {
      system.forget();
      why_not = "it diverges";
    }
  }
  if (!wanted || !why_not.empty()) {
    system.build(ctx, bodies_, solved);
    clock.lap(report.seconds.assembly);
    if (is_cold) system.solve(ctx, bodies_, "apgd", cold, record);
    const bool by_penalty = penalties_ || last_.soft;
    system.solve(ctx, bodies_, by_penalty || wanted ? "nsgs" : solver_name(params.contact_solver), lab,
                 record);
    if (wanted) record.message = manifolds_refused(why_not);
  }
  system.velocities(ctx, bodies_);
  if (params.shock_propagation && system.blocks() > 0) system.propagate_shocks(ctx, bodies_);
}

void RigidStepper::finish(Context& ctx, const Params& params, StepReport& report) {
  const Span span(ctx, "diagnostics");
  ContactSolveRecord& record = *report.contact_solve;
  const RigidContact* contact = last_.contacts;
  reduce(
      ctx, last_.contact_count,
      [=] SS_LAMBDA(std::size_t c) {
        const double gap = contact[c].gap;
        return GapExtremes{gap < 0 ? -gap : 0.0, gap};
      },
      WiderExtremes{}, GapExtremes{0, std::numeric_limits<double>::max()}, &summary_.data()->gaps, kMedium);
  bodies_.launch_sums(ctx, params.gravity, &summary_.data()->sums);
  islands_.launch_counts(ctx, &summary_.data()->islands);
  const RigidSummary summary = read_back(ctx, summary_.data());
  const BodySums& sums = summary.sums;
  if (!std::isfinite(sums.kinetic + sums.gravity + norm2(sums.momentum) + norm2(sums.angular)))
    throw SimulationError("velocities are not finite after step " + std::to_string(report.frame) +
                          ": contact_solver " + std::string(solver_name(params.contact_solver)) +
                          " diverges; take back what was changed last, or reset");
  report.kinetic_energy = sums.kinetic;
  report.gravity_energy = sums.gravity;
  report.momentum = sums.momentum;
  report.angular_momentum = sums.angular;
  report.candidates = static_cast<int>(contacts_.candidates());
  report.contacts = static_cast<int>(last_.contact_count);
  report.gap_min = report.contacts > 0 ? summary.gaps.gap : -1;
  record.penetration = summary.gaps.penetration;
  record.bodies = static_cast<int>(bodies_.moving());
  record.islands = summary.islands.islands;
  record.asleep = summary.islands.asleep;
  record.nu = bodies_.moving() == 0 ? 0 : 0.5 * report.contacts / static_cast<double>(bodies_.moving());
  if (coupling_.active()) coupling_.report(ctx, params, bodies_.moving(), report);
  if (checks_law()) report_law(summary.law, params, report);
}

/// A step whose impulses leave their cones by more than the tolerance, or whose velocities are not those of
/// its impulses, has not converged, whatever the residual of its solver says. Box-friction solvers are not
/// checked against the circular cone.
void RigidStepper::report_law(const LawCheck& law, const Params& params, StepReport& report) const {
  constexpr double kShare = 1e-6;      // of the largest impulse
  constexpr double kRounding = 1e-12;  // of the bodies' momentum
  ContactSolveRecord& record = *report.contact_solve;
  record.law = law;
  record.dissipation = -law.friction_work / params.dt;
  const double outside = std::max(kShare, record.tolerance) * law.impulse, count = 1.0 + report.contacts;
  const double lever = law.impulse > 0 ? law.torque / law.impulse : 0;
  const bool in_cone = law.pull <= outside && (has_box_law(params.contact_solver) || law.cone <= outside);
  const bool balanced = law.momentum <= kShare * count * law.impulse + kRounding * law.momentum_size,
             turns = law.angular_momentum <= kShare * count * (law.torque + lever * law.impulse) +
                                                 kRounding * law.momentum_size * (1 + lever);
  if (in_cone && balanced && turns) return;
  report.converged = false;
  const std::string broken = !in_cone   ? "impulses lie outside their cones"
                             : balanced ? "angular momentum does not balance"
                                        : "momentum does not balance";
  report.stop_reason = record.message.empty() ? broken : record.message + "; " + broken;
}

void RigidStepper::contact_records(Context& ctx, const Model& model, double dt,
                                   std::vector<ContactRecord>& out) {
  out.clear();
  if (!stepped_) return;
  std::visit(
      [&](auto& system) {
        if (penalties_) system.penalty_records(ctx, last_, dt, out);
        else {
          system.make_blocks(ctx, bodies_);
          system.records(ctx, last_, dt, out);
        }
      },
      system_);
  coupling_.name_objects(ctx, model, out);
}

ContactProblem RigidStepper::freeze(Context& ctx) {
  if (!stepped_) throw std::logic_error("freeze: no step was made since the scene was loaded or changed");
  if (penalties_) throw std::logic_error("freeze: explicit penalty forces solve no contact problem");
  return std::visit(
      [&](auto& system) {
        system.make_blocks(ctx, bodies_);
        return coupling_.active() ? coupling_.problem(ctx, system) : system.problem(ctx, bodies_);
      },
      system_);
}

}  // namespace stickslip::STICKSLIP_BACKEND
