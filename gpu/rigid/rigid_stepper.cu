#include "gpu/rigid/rigid_stepper.cuh"

#include <algorithm>
#include <cmath>

#include "gpu/core/cleared.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/dfcp/problem/rolling_rows.h"
#include "gpu/model/coupled.h"
#include "gpu/model/friction_laws.h"
#include "gpu/model/manifold_support.h"
#include "gpu/rigid/law_report.h"
#include "gpu/rigid/mouse_spring.cuh"
#include "gpu/rigid/step_scales.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

std::string_view solver_name(ContactSolverKind kind) { return contact_solver_info(kind).name; }

bool has_torsion(const Model& model) {
  for (const Material& material : model.materials)
    if (material.torsion_radius > 0) return true;
  return false;
}

}  // namespace

void RigidStepper::load(Context& ctx, const Model& model) {
  bodies_.load(ctx, model);
  contacts_.load(ctx, model);
  surfaces_.load(ctx, model);
  coupling_.load(ctx, model);
  joints_.load(ctx, model);
  resize_cleared(ctx, summary_, 1);
  fresh_.resize(ctx, 1);
  deepest_.resize(ctx, 1);
  reach_.upload(ctx, body_reaches(model));
  set_materials(ctx, model);
  forget_history();
  anchors_.forget();
}

/// Chooses three to five rows: four cost twice as much as three. Penalty forces have no rolling rows.
void RigidStepper::choose_system(const Params& params) {
  const bool rolls = has_rolling_ && !contact_solver_info(params.contact_solver).has(SolverTrait::forces);
  const std::size_t rows = rolls ? kRollingRows : has_torsion_ ? 4 : 3;
  if (rows == 3 + system_.index()) return;
  if (rows == 5) system_.emplace<ContactSystem<5>>();
  else if (rows == 4) system_.emplace<ContactSystem<4>>();
  else system_.emplace<ContactSystem<3>>();
  stepped_ = false;
}

void RigidStepper::set_materials(Context& ctx, const Model& model) {
  has_torsion_ = has_torsion(model);
  has_rolling_ = !rolling_coefficients(model).empty();
  plain_ = has_plain_contacts(model);
  lags_ = has_lagged_friction(model.materials, model.textures);
  has_tensors_ = std::ranges::any_of(
      model.materials, [](const Material& m) { return m.friction_kind == FrictionKind::tensor; });
  coheres_ = std::ranges::any_of(model.materials, [](const Material& m) { return m.cohesion > 0; });
  bodies_.set_materials(ctx, model);
  coupling_.solids().set_materials(ctx, model);
  surfaces_.set_materials(ctx, model);
  energy_ = {};
}

void RigidStepper::forget_history() {
  contacts_.forget();
  coupling_.forget();
  anchors_.unlink();
  std::visit([](auto& system) { system.forget(); }, system_);
  energy_ = {};
  stepped_ = false;
  wake_ = resolving_initial_overlap_ = true;
}

std::vector<std::uint8_t> RigidStepper::asleep(Context& ctx) const {
  std::vector<std::uint8_t> out;
  if (!sleeping_) return out;
  out.resize(bodies_.size());
  copy_to_host(ctx, out.data(), islands_.asleep(), out.size());
  return out;
}

StepReport RigidStepper::step(Context& ctx, const Model& model, const Params& params, const LabParams& lab,
                              const std::optional<Drag>& drag, int frame, double time) {
  {
    const Span span(ctx, "save");
    bodies_.save(ctx);
    coupling_.solids().save(ctx);
  }
  try {
    const Params& used = coupling_.active() ? coupled_params(params) : params;
    return try_step(ctx, model, used, lab, drag, frame, time);
  } catch (...) {
    // The contact list of the failed step holds indices of that step's lists.
    bodies_.restore(ctx);
    coupling_.solids().restore(ctx);
    forget_history();
    throw;
  }
}

void RigidStepper::find_contacts(Context& ctx, const Params& params) {
  const Span span(ctx, "contacts");
  const BodyMotionView motion{bodies_.pose.data(), bodies_.velocity.data(), bodies_.spin.data(),
                              bodies_.moves.data(), sleeping_ ? islands_.asleep() : nullptr};
  RigidContacts::Options options;
  options.margin = params.contact_margin;
  options.dt = params.continuous ? params.dt : 0;
  options.manifold_points = params.manifold_points;
  contacts_.find(ctx, motion, options);
  if (coupling_.active())
    coupling_.find_contacts(ctx, contacts_, motion, {options.margin, options.dt},
                            params.penetration_guard       ? Coupling::Keeping::guarded
                            : params.admm_search_every > 0 ? Coupling::Keeping::for_search
                                                           : Coupling::Keeping::nothing);
}

/// [s] of the last find_contacts.
double RigidStepper::search_seconds() const {
  return contacts_.search_seconds() +
         (coupling_.active() ? coupling_.touching().meshes().search_seconds() : 0);
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

void RigidStepper::update_islands(Context& ctx, const Params& params, std::int32_t disturbed) {
  const Span span(ctx, "islands");
  if (wake_ || (sleeping_ && !params.sleeping)) islands_.reset(ctx, bodies_.size());
  wake_ = false;
  IslandInput input;
  input.bodies = bodies_.size();
  input.moves = bodies_.moves.data();
  input.reach = reach_.data();
  input.velocity = bodies_.velocity.data();
  input.spin = bodies_.spin.data();
  input.contacts = contacts_.contacts();
  input.contact_count = contacts_.count();
  input.joints = joints_.joints();
  input.joint_count = joints_.size();
  input.disturbed = disturbed;
  islands_.update(ctx, input, sleep_options(params));
  sleeping_ = params.sleeping;
}

/// A material may have become one that can have no contacts since the scene was loaded.
void RigidStepper::check_friction(const Model& model) const {
  if (rolls())
    if (const std::string fault = rolling_fault(model); !fault.empty()) throw SimulationError(fault);
  if (!has_tensors_) return;
  for (std::size_t m = 0; m < model.materials.size(); ++m)
    if (const std::string fault = friction_fault(model.materials[m]); !fault.empty())
      throw SimulationError("material '" + model.material_names[m] + "': " + fault);
  if (const std::string fault = texture_fault(model.materials, model.material_names, model.textures);
      !fault.empty())
    throw SimulationError(fault);
}

void RigidStepper::project(Context& ctx, const Params& params) {
  const Span span(ctx, "position projection");
  ProjectionProblem problem;
  problem.joints = joints_.joints();
  problem.block_joint = joints_.block_joint();
  problem.block_part = joints_.block_part();
  problem.joint_blocks = joints_.blocks();
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
  list.joints = joints_.joints();
  list.joint_count = joints_.size();
  list.block_joint = joints_.block_joint();
  list.block_part = joints_.block_part();
  list.joint_blocks = joints_.blocks();
  list.joint_groups = joints_.groups();
  list.joint_ends = &joints_.ends();
  list.plain = plain_;
  const bool coupled = coupling_.active();
  list.contacts = coupled ? coupling_.contacts() : contacts_.contacts();
  list.contact_count = coupled ? coupling_.contact_count() : contacts_.count();
  list.pair_start = contacts_.pair_start();
  list.pairs = contacts_.pairs();
  list.of_solids = list.contact_count - contacts_.count();
  list.rigid_bodies = bodies_.size();
  list.surfaces = surfaces_.table();
  list.options = contact_row_options(params);
  list.joint_feedback = list.options.feedback;
  list.penalty = penalty_options(params);
  if (list.penalty.anchored()) list.anchors = anchors_.start();
  list.soft = params.contact_solver == ContactSolverKind::penalty_implicit;
  list.warm_start = lab.warm_start;
  list.coulomb_only = contact_solver_info(params.contact_solver).has(SolverTrait::forces);
  list.lags = lags_ && !list.coulomb_only;
  if (coupled && !list.soft && params.geometric_correction == GeometricCorrection::position)
    list.options.feedback.share = list.options.feedback.softness = 0;
  const SpeedBounds bounds = speed_bounds(params.gravity, params.dt);
  list.least_speed = bounds.least;
  list.most_speed = bounds.most;
  return list;
}

/// Where the energy at the start is not that at the end of the last step: computes it, of the bodies in
/// backend memory. After ElasticSolids::begin_step, as scripts decide which nodes count.
void RigidStepper::begin_energy(Context& ctx, double gravity) {
  const int scripts = coupling_.solids().device().script_changes();
  if (energy_.gravity == gravity && energy_.scripts == scripts) return;
  energy_ = {.scripts = scripts};
  bodies_.launch_sums(ctx, gravity, &summary_.data()->before);
  if (!coupling_.active()) return;
  const SolidSums sums = coupling_.solids().sums(ctx, gravity);
  energy_.solids = sums.kinetic + sums.gravity + coupling_.solids().elastic_energy(ctx);
}

/// Prepares scripted bodies, the systems of the elastic solids and the energy at the start. Then advances the
/// state by `before` seconds, to where contacts are found.
void RigidStepper::begin_step(Context& ctx, const Model& model, const Params& params,
                              const std::optional<Drag>& drag, double time, double before) {
  const Span span(ctx, "begin");
  bodies_.follow_motions(ctx, model, time, params.dt);
  if (coupling_.active()) coupling_.solids().begin_step(ctx, params, drag, time);
  begin_energy(ctx, params.gravity);
  if (before > 0) advance(ctx, before, nullptr, nullptr);
}

/// With a `guard`, solids and bodies move as penetration_guard permits.
void RigidStepper::advance(Context& ctx, double dt, const std::uint8_t* asleep, GuardRecord* guard) {
  if (is_corrected_) return advance_corrected(ctx, dt, asleep, guard);
  const Span span(ctx, "advance");
  const double* share = guard != nullptr ? coupling_.advance_guarded(ctx, dt, *guard) : nullptr;
  bodies_.advance(ctx, dt, asleep, share);
  if (guard == nullptr) coupling_.solids().advance(ctx, dt);
}

StepReport RigidStepper::try_step(Context& ctx, const Model& model, const Params& asked, const LabParams& lab,
                                  const std::optional<Drag>& drag, int frame, double time) {
  choose_system(asked);
  check_friction(model);
  is_corrected_ = false;
  Params params = asked;
  if (coupling_.active() && coupling_.splits_rods(params)) params.linearisations = 1;
  StageClock clock;
  StepReport report;
  report.frame = frame + 1;
  report.time = time + params.dt;
  report.contact_solve.emplace();

  const double before = params.integrator == RigidIntegrator::midpoint ? params.dt / 2 : 0;
  begin_step(ctx, model, params, drag, time, before);
  held_ = mouse_spring(ctx, bodies_, model, params, drag);
  clock.lap(report.seconds.other);
  find_contacts(ctx, params);
  // Separate initial overlaps by projection; velocity-level correction would launch the bodies.
  resolving_initial_overlap_ = resolving_initial_overlap_ && !overlaps(ctx, model).empty();
  if (resolving_initial_overlap_) params.stabilisation = Stabilisation::projection;
  clock.lap(report.seconds.contacts);
  const double searched = search_seconds();
  report.seconds.broad_phase += searched;
  report.seconds.contacts -= searched;
  update_islands(ctx, params, held_.body);
  const std::uint8_t* asleep = sleeping_ ? islands_.asleep() : nullptr;
  {
    const Span span(ctx, "predict");
    bodies_.predict(ctx, params.dt, params.gravity, params.gyroscopic, held_, asleep);
  }
  apply_cohesion(ctx, params);
  clock.lap(report.seconds.other);
  std::visit([&](auto& system) { solve(ctx, system, params, lab, clock, report); }, system_);
  const bool project_after = params.stabilisation == Stabilisation::projection;
  if (project_after) {
    found_at_.resize(ctx, bodies_.size());
    copy(ctx, found_at_.data(), bodies_.pose.data(), bodies_.size());
  }
  std::optional<GuardRecord>& guard = report.contact_solve->guard;
  advance(ctx, params.dt - before, asleep, guard ? &*guard : nullptr);
  if (project_after) project(ctx, params);
  finish(ctx, params, report);
  clock.lap(report.seconds.other);
  stepped_ = true;
  anchors_.keep();
  return report;
}

void RigidStepper::apply_cohesion(Context& ctx, const Params& params) {
  cohesion_.clear();
  if (!coheres_) return;
  const bool coupled = coupling_.active();
  CohesivePulls pulls;
  pulls.contact = coupled ? coupling_.contacts() : contacts_.contacts();
  pulls.count = coupled ? coupling_.contact_count() : contacts_.count();
  pulls.surfaces = surfaces_.table();
  pulls.options = contact_row_options(params);
  pulls.body_material = bodies_.material.data();
  pulls.bodies = static_cast<std::int32_t>(bodies_.size());
  if (coupled) {
    pulls.point = coupling_.touching().points();
    pulls.node_material = coupling_.solids().device().node_material.data();
  }
  cohesion_.apply(ctx, pulls, bodies_, coupled ? &coupling_.solids() : nullptr, coupling_.touching(),
                  coupling_.first_contact());
}

void RigidStepper::finish(Context& ctx, const Params& params, StepReport& report) {
  const Span span(ctx, "diagnostics");
  ContactSolveRecord& record = *report.contact_solve;
  reduce(ctx, last_.contact_count, GapOf{last_.contacts, coupling_.kept_gaps()}, WiderExtremes{},
         GapExtremes{}, &summary_.data()->gaps, kMedium);
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
  const double energy = report.kinetic_energy + report.gravity_energy + report.elastic_energy,
               before = std::isfinite(energy_.gravity)
                            ? energy_.total
                            : energy_.solids + summary.before.kinetic + summary.before.gravity;
  energy_ = {params.gravity, energy, 0, energy_.scripts};
  if (penalties_ && coupling_.active()) report_solid_equations(summary.solids, pcg_stop_, params, report);
  if (penalties_) report_penalties(summary.penalty_steepness, kPenaltyDecays, params, report);
  if (!checks_law()) return;
  StepJudgement& judgement =
      report.judgement.emplace(judgement_of(summary.judge, speed_bounds(params.gravity, params.dt)));
  judgement.penetration = record.penetration;
  judgement.energy_change = energy - before;
  // The work of motors, and of scripts and forces on elastic solids, is not counted.
  if (joints_.size() == 0 && !coupling_.active())
    judgement.work = summary.judge.contacts.work + summary.judge.work;
  // Where nsgs took the place of a solver of the box law, its impulses have to lie in the cones.
  Params judged = params;
  if (std::string why_not; solver_in_use(params, why_not) == "nsgs")
    judged.contact_solver = ContactSolverKind::nsgs;
  report_law(judgement.law, judged, report);
  if (last_.lags) report_friction(judged, report);
  if (coupling_.active()) report_solids(summary.solids, pcg_stop_, params, report);
  report_guard(params, report);
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
  cohesion_.subtract(ctx, dt, out);
  coupling_.name_objects(ctx, model, out);
}

ContactProblem RigidStepper::freeze(Context& ctx) {
  if (!stepped_) throw std::logic_error("no step was made since the scene was loaded or changed");
  if (penalties_) throw std::logic_error("explicit penalty forces solve no contact problem");
  return std::visit(
      [&](auto& system) {
        system.make_blocks(ctx, bodies_);
        return coupling_.active() ? coupling_.problem(ctx, system)
                                  : with_rolling_in_metres(system.problem(ctx, bodies_));
      },
      system_);
}

}  // namespace stickslip::STICKSLIP_BACKEND
