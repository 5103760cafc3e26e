#include "gpu/rigid/contact_system.cuh"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/stage_clock.h"
#include "gpu/core/trace.h"
#include "gpu/dfcp/solvers/solvers.cuh"
#include "gpu/model/step_interrupted.h"
#include "gpu/rigid/contact_fillers.cuh"
#include "gpu/rigid/contact_records.cuh"
#include "gpu/rigid/frozen_blocks.h"
#include "gpu/rigid/step_scales.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

/// True if the solver needs the entries of W, not only products with it.
bool wants_entries(std::string_view solver) {
  const ContactSolverInfo* row = find_contact_solver(solver);
  return row && row->has(SolverTrait::assembled);
}

template <int D>
JointBlocks<D> joint_blocks_of(const DeviceBodies& bodies, const StepConstraints& list) {
  return {bodies.view(), list.joints, list.block_joint, list.block_part, list.joint_feedback};
}

template <int D>
ContactBlocks<D> contact_blocks_of(const DeviceBodies& bodies, const StepConstraints& list,
                                   const FrictionState* states) {
  return {bodies.view(),      list.surfaces,
          list.options,       list.penalty,
          list.soft,          static_cast<std::int32_t>(list.rigid_bodies),
          bodies.free.data(), states,
          list.coulomb_only,  list.coulomb_only && !list.soft,
          list.anchors};
}

/// Only `auto` chooses: it factorises small problems and sweeps large ones.
constexpr std::size_t kFewBlocks = 2000;

}  // namespace

template <int D>
void ContactSystem<D>::build(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list) {
  const Span span(ctx, "assembly");
  joint_blocks_ = list.joint_blocks;
  blocks_ = list.joint_blocks + list.contact_count;
  by_manifolds_ = ordered_ = false;
  made_ = true;
  law_checker_.begin(ctx, bodies);
  law_.resize(ctx, blocks_);
  r_.resize(ctx, blocks_);
  guess_.resize(ctx, blocks_);
  u_.resize(ctx, blocks_);
  begin_friction(ctx, bodies, list);
  const BlockWriter<D> writer =
      W_.begin(ctx, blocks_, bodies.inverse.data(), bodies.free.data(), bodies.size());
  fill_joints(ctx, bodies, list, writer);
  fill_contacts(ctx, bodies, list, writer);
  W_.limit_block_speed(list.most_speed);
  W_.finish(ctx);
  least_q_ = list.least_speed * std::sqrt(static_cast<double>(blocks_));
  W_.raise_norm_q(least_q_);
  warm_start(ctx, list);
  steps_.kind = StepKind::none;
  forget_colours();
}

template <int D>
void ContactSystem<D>::fill_joints(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                                   const BlockWriter<D>& writer) {
  launch(ctx, joint_blocks_, JointBlockFiller<D>{joint_blocks_of<D>(bodies, list), law_.data(), writer},
         kMedium);
}

template <int D>
void ContactSystem<D>::fill_contacts(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                                     const BlockWriter<D>& writer) {
  const ContactBlocks<D> blocks = contact_blocks_of<D>(bodies, list, friction_.states());
  launch(ctx, list.contact_count,
         ContactBlockFiller<D>{blocks, list.contacts, list.anchors, list.cores, joint_blocks_, law_.data(),
                               writer},
         kMedium);
}

template <int D>
void ContactSystem<D>::push_penalties(Context& ctx, DeviceBodies& bodies, const StepConstraints& list,
                                      double* steepness) {
  const Span span(ctx, "penalties");
  penalty_block_.resize(ctx, list.contact_count);
  ConstraintBlock<D>* block = penalty_block_.data();
  const RigidContact* contact = list.contacts;
  ContactBlocks<D> blocks = contact_blocks_of<D>(bodies, list, nullptr);
  blocks.soft = false;
  launch(
      ctx, list.contact_count, [=] SS_LAMBDA(std::size_t i) { block[i] = blocks.of(i, contact[i]); },
      kMedium);
  penalties_.push(
      ctx, {block, contact, list.contact_count, list.anchors, bodies.view(), bodies.size(), list.penalty},
      bodies.free.data(), steepness);
}

template <int D>
void ContactSystem<D>::pushed_impulses(Context& ctx, std::size_t first, std::size_t count,
                                       Vec<double, 4>* world) const {
  const ConstraintBlock<D>* block = penalty_block_.data() + first;
  const Vec<double, D>* r = penalties_.impulses() + first;
  launch(ctx, count,
         [=] SS_LAMBDA(std::size_t c) { world[c] = world_impulse(block[c].jacobian[0][0].v, r[c]); });
}

template <int D>
void ContactSystem<D>::advance_anchors(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                                       bool pushed, FrictionAnchors& anchors) const {
  const Vec<double, D>* r = pushed ? penalties_.impulses() : nullptr;
  const Vec<double, 4>* world = pushed ? nullptr : world_.data() + contacts_from_;
  ContactBlocks<D> blocks = contact_blocks_of<D>(bodies, list, nullptr);
  blocks.soft = false;  // only the frames are needed
  const ConstraintBlock<D>* block = pushed ? penalty_block_.data() : nullptr;
  anchors.advance<D>(ctx, list.contacts,
                     {blocks, bodies.velocity.data(), bodies.spin.data(), r, world, block});
}

template <int D>
void ContactSystem<D>::move_points(Context& ctx, const StepConstraints& list, const double* change) {
  if (list.cores.core == nullptr) return;
  launch(
      ctx, list.contact_count,
      PointMover<D>{list.contacts, list.cores, joint_blocks_, W_.body_rows().jacobian, change, W_.moving_q()},
      kMedium);
}

template <int D>
void ContactSystem<D>::begin_friction(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list) {
  if (!list.lags) return friction_.clear();
  const bool remembers = impulses_ > contacts_from_ && list.warm_start;
  friction_.begin(ctx, contact_blocks_of<D>(bodies, list, nullptr), list.contacts, list.contact_count,
                  remembers ? world_.data() + contacts_from_ : nullptr,
                  remembers ? impulses_ - contacts_from_ : 0);
}

template <int D>
double ContactSystem<D>::update_friction(Context& ctx, const DeviceBodies& bodies,
                                         const StepConstraints& list) {
  const Span span(ctx, "friction coefficients");
  ContactBlocks<D> blocks = contact_blocks_of<D>(bodies, list, nullptr);
  law_checker_.refer_to_start(blocks.at);
  return friction_.update(ctx, blocks, list.contacts, list.contact_count, world_.data() + contacts_from_,
                          bodies);
}

/// Impulses of the last step in this step's frames; zero for a new contact.
template <int D>
void ContactSystem<D>::warm_start(Context& ctx, const StepConstraints& list) {
  Vec<double, D>*r = r_.data(), *guess = guess_.data();
  if (impulses_ == 0 || !list.warm_start) {
    fill(ctx, r, blocks_, Vec<double, D>::zero());
    fill(ctx, guess, blocks_, Vec<double, D>::zero());
    return;
  }
  // Explicit penalties leave no impulses for later steps.
  launch(ctx, blocks_,
         StartImpulses<D>{law_.data(), W_.body_rows().jacobian, joint_r_.data(), list.contacts,
                          world_.data() + contacts_from_, moments(), joint_blocks_,
                          impulses_ - contacts_from_, r, guess},
         kMedium);
}

template <int D>
void ContactSystem<D>::keep_impulses(Context& ctx) {
  const Span span(ctx, "keep impulses");
  world_.resize(ctx, blocks_);
  joint_r_.resize(ctx, joint_blocks_);
  if (D == kRollingRows) moment_.resize(ctx, blocks_);
  Vec<double, 3>* moment = D == kRollingRows ? moment_.data() : nullptr;
  const BodyRows<D> rows = W_.body_rows();
  const double* jacobian = rows.jacobian;  // the rows of body a begin with the frame
  const Vec<double, D>* guess = guess_.data();
  Vec<double, D>* r = r_.data();
  Vec<double, 4>* world = world_.data();
  Vec<double, D>* joint_r = joint_r_.data();
  const std::size_t joints = joint_blocks_;
  launch(
      ctx, blocks_,
      [=] SS_LAMBDA(std::size_t c) {
        if (rows.body[2 * c] < 0 && rows.body[2 * c + 1] < 0) r[c] = guess[c];
        if (c < joints) {
          joint_r[c] = r[c];
          return;
        }
        world[c] = world_impulse(jacobian + 2 * c * D * 6, r[c]);
        if (moment != nullptr) moment[c] = rolling_moment(jacobian + 2 * c * D * 6, r[c]);
      },
      kMedium);
  impulses_ = blocks_;
  contacts_from_ = joint_blocks_;
}

template <int D>
Delassus<D>& ContactSystem<D>::chosen(Context& ctx, const DeviceBodies& bodies, std::string_view solver,
                                      const LabParams& params) {
  const bool assembled = params.storage == DelassusStorage::assembled ||
                         (params.storage == DelassusStorage::automatic &&
                          (wants_entries(solver) || (solver == "auto" && blocks_ <= kFewBlocks)));
  if (!assembled) return W_;
  assembled_.build(ctx, problem(ctx, bodies), false);
  assembled_.set_norm_q(W_.norm_q());
  return assembled_;
}

template <int D>
void ContactSystem<D>::throw_if_cancelled() const {
  if (cancel_ != nullptr && cancel_->load()) throw StepInterrupted();
}

template <int D>
void ContactSystem<D>::solve(Context& ctx, const DeviceBodies& bodies, std::string_view solver,
                             const LabParams& params, ContactSolveRecord& record) {
  const Span span(ctx, "contact solve");
  const StageClock clock;
  const std::string why = try_solver(ctx, chosen(ctx, bodies, solver, params), solver, params, record);
  if (why.empty()) return;
  solve(ctx, bodies, "nsgs", substitute_params(params, clock.seconds_since_start()), record);
  record.message = why;
}

template <int D>
void ContactSystem<D>::take_form(Context& ctx, const DualForm& form, bool by_products) {
  const Span span(ctx, by_products ? "products through A^-1" : "W of coupling = factor");
  const InverseOptions options{form.pcg_tolerance};
  if (by_products) assembled_.build_products(ctx, form.problem, options, W_);
  else assembled_.build_by_columns(ctx, form.problem, options);
  assembled_.set_norm_q(W_.norm_q());
}

template <int D>
void ContactSystem<D>::solve_as(Context& ctx, const DualForm& form, std::string_view solver,
                                const LabParams& params, ContactSolveRecord& record) {
  const Span span(ctx, "contact solve");
  if (!form.kept) {
    replaced_ = {};
    take_form(ctx, form, form.pcg_tolerance > 0 && takes_products(solver, params));
  }
  forget_colours();
  const StageClock clock;
  std::string why = solver == "manifold_gs" ? manifolds_refused("coupling = factor needs W") : "";
  if (why.empty()) why = try_solver(ctx, assembled_, solver, params, record);
  if (!why.empty()) {
    if (assembled_.by_products()) {
      replaced_ = assembled_.inverse_report();
      take_form(ctx, form, false);
    }
    try_solver(ctx, assembled_, "nsgs", substitute_params(params, clock.seconds_since_start()), record);
    record.message = why;
  }
  forget_colours();
}

/// Computes the impulses with a solver of the lab. Why nsgs has to take its place, from the guess; empty: it
/// does not.
template <int D>
std::string ContactSystem<D>::try_solver(Context& ctx, Delassus<D>& W, std::string_view solver,
                                         const LabParams& params, ContactSolveRecord& record) {
  steps_.kind = StepKind::none;
  Monitor<D> monitor(
      ctx, W, law_.data(),
      {params.tolerance, params.max_iterations, params.time_budget, params.check_interval, cancel_, false});
  monitor.keep_steps(&steps_);
  System<D> system{ctx, W, law_.data(), params, monitor, colouring_, r_.data()};
  if (blocks_ > 0 && !run_solver(solver, system))
    throw std::invalid_argument("unknown contact solver '" + std::string(solver) + "'");
  if (monitor.end() == SolveEnd::cancelled) throw StepInterrupted();
  const bool refused = monitor.end() == SolveEnd::refused;
  // The residual at zero impulses is 1 at most.
  constexpr double kNothing = 1;
  if (refused || (blocks_ > 0 && solver != "nsgs" && !(monitor.best_residual() <= kNothing))) {
    // Zero impulses would let everything fall.
    copy(ctx, r_.data(), guess_.data(), blocks_);
    const std::string reason = !monitor.message().empty()        ? monitor.message()
                               : monitor.end() == SolveEnd::time ? "contact.time_budget ended it"
                                                                 : "",
                      why = reason.empty() ? "" : " (" + reason + ")";
    return std::string(solver) + (refused ? " refuses" : " finds nothing") + why + ": nsgs took its place";
  }
  if (blocks_ > 0) copy(ctx, r_.data(), monitor.best(), blocks_);
  record.residual = blocks_ > 0 ? monitor.best_residual() : 0;
  record.scale = W.norm_q();
  record.tolerance = params.tolerance;
  record.iterations = monitor.iterations();
  record.message.clear();
  record.colours = colouring_.built() ? colouring_.colours() : 0;
  keep_impulses(ctx);
  return {};
}

/// The impulses of the last step, or of the last keep_impulses, are those to start from.
template <int D>
ManifoldInput<D> ContactSystem<D>::manifold_input(Context& ctx, const DeviceBodies& bodies,
                                                  const StepConstraints& list, bool same_order) {
  const PlainContacts plain{list.plain, bodies.material.data(), list.surfaces};
  ManifoldInput<D> input{
      {list.contacts, list.pair_start, list.contact_count, list.pairs, plain}, list.surfaces, list.options};
  input.same_order = same_order;
  input.blocks.joints = joint_blocks_of<D>(bodies, list);
  input.blocks.joint_count = input.block_count = list.joint_blocks;
  input.groups = list.joint_groups;
  if (!list.plain || list.of_solids > 0) {
    if (!same_order)
      rough_.find(ctx, {list.contacts, list.contact_count, list.of_solids, plain, list.cores},
                  *list.joint_ends);
    input.blocks.contacts = contact_blocks_of<D>(bodies, list, friction_.states());
    input.blocks.contact = list.contacts;
    input.blocks.rough = rough_.indices();
    input.blocks.cores = list.cores;
    input.block_count += rough_.size();
    input.groups = rough_.groups();
  }
  input.least_speed = list.least_speed;
  input.most_speed = list.most_speed;
  if (impulses_ > 0 && list.warm_start)
    input.blocks.before = {joint_r_.data(), world_.data() + contacts_from_, impulses_ - contacts_from_};
  return input;
}

template <int D>
void ContactSystem<D>::build_manifolds(Context& ctx, const DeviceBodies& bodies,
                                       const StepConstraints& list) {
  const Span span(ctx, "assembly");
  if constexpr (!kTakesManifolds) throw std::logic_error("manifold_gs takes no rolling rows");
  else {
    begin_friction(ctx, bodies, list);
    const ManifoldInput<D> input = manifold_input(ctx, bodies, list, false);
    W_.limit_block_speed(list.most_speed);
    joint_blocks_ = list.joint_blocks;
    blocks_ = list.joint_blocks + list.contact_count;
    least_q_ = list.least_speed * std::sqrt(static_cast<double>(blocks_));
    manifolds_.build(ctx, bodies, input);
    law_checker_.begin(ctx, bodies);
    guess_.resize(ctx, blocks_);
    manifolds_.impulses(ctx, guess_.data());
    by_manifolds_ = true;
    made_ = ordered_ = false;
    steps_.kind = StepKind::none;
  }
}

template <int D>
void ContactSystem<D>::solve_manifolds(Context& ctx, const LabParams& params, ContactSolveRecord& record) {
  const Span span(ctx, "contact solve");
  if constexpr (kTakesManifolds) {
    manifolds_.solve(ctx, params, record);
    if (!record.message.empty()) return;  // the fallback solver starts from the impulses of the last step
    world_.resize(ctx, blocks_);
    joint_r_.resize(ctx, joint_blocks_);
    manifolds_.world_impulses(ctx, world_.data() + joint_blocks_);
    manifolds_.joint_impulses(ctx, joint_r_.data());
    impulses_ = blocks_;
    contacts_from_ = joint_blocks_;
    keep_r_factors(ctx, params);
  }
}

/// Of the sweeps of manifolds, for `records`.
template <int D>
void ContactSystem<D>::keep_r_factors(Context& ctx, const LabParams& params) {
  if constexpr (kTakesManifolds) {
    steps_.kind = StepKind::r_factor;
    steps_.values.resize(ctx, blocks_);
    manifolds_.r_factors(ctx, params.omega, steps_.values.data());
  }
}

template <int D>
void ContactSystem<D>::solve_built(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                                   const LabParams& params, ContactSolveRecord& record) {
  const Span span(ctx, "contact solve");
  if constexpr (kTakesManifolds) {
    const StageClock clock;
    StepConstraints warm = list;
    warm.warm_start = true;
    ManifoldInput<D> input = manifold_input(ctx, bodies, warm, ordered_);
    ordered_ = true;
    input.scale = W_.norm_q();
    manifolds_.build(ctx, bodies, input);
    manifolds_.solve(ctx, params, record);
    if (!record.message.empty() || !std::isfinite(record.residual)) {
      const std::string why = record.message.empty() ? "it diverges" : record.message;
      solve(ctx, bodies, "nsgs", substitute_params(params, clock.seconds_since_start()), record);
      record.message = manifolds_refused(why);
      return;
    }
    keep_r_factors(ctx, params);
    manifolds_.impulses(ctx, r_.data());
    record.scale = W_.norm_q();
    keep_impulses(ctx);
  }
}

template <int D>
void ContactSystem<D>::finish_manifolds(Context& ctx, const DeviceBodies& bodies, std::string_view solver,
                                        const LabParams& params, ContactSolveRecord& record) {
  const Span span(ctx, "contact solve");
  if constexpr (kTakesManifolds) {
    make_blocks(ctx, bodies);
    BlockSteps steps;
    Monitor<D> monitor(
        ctx, W_, law_.data(),
        {params.tolerance, params.max_iterations, params.time_budget, params.check_interval, cancel_, false});
    monitor.keep_steps(&steps);
    const double before = monitor.check(r_.data());  // so the best iterate is never worse than these impulses
    System<D> system{ctx, W_, law_.data(), params, monitor, colouring_, r_.data()};
    if (!monitor.converged() && !run_solver(solver, system))
      throw std::invalid_argument("unknown contact solver '" + std::string(solver) + "'");
    if (monitor.end() == SolveEnd::cancelled) throw StepInterrupted();
    copy(ctx, r_.data(), monitor.best(), blocks_);
    if (!(monitor.best_residual() < before)) return;
    steps_ = std::move(steps);
    record.residual = monitor.best_residual();
    record.scale = W_.norm_q();
    record.iterations += monitor.iterations();
    record.message = "manifold_gs stalls: " + std::string(solver) + " went on from its impulses";
    by_manifolds_ = false;
    keep_impulses(ctx);
  }
}

template <int D>
void ContactSystem<D>::make_blocks(Context& ctx, const DeviceBodies& bodies) {
  if (made_) return;
  made_ = true;
  if constexpr (kTakesManifolds) {
    law_.resize(ctx, blocks_);
    r_.resize(ctx, blocks_);
    u_.resize(ctx, blocks_);
    manifolds_.put_blocks(
        ctx, W_.begin(ctx, blocks_, bodies.inverse.data(), bodies.free.data(), bodies.size()), law_.data());
    W_.finish(ctx);
    W_.raise_norm_q(least_q_);
    manifolds_.impulses(ctx, r_.data());
    forget_colours();
  }
}

template <int D>
double ContactSystem<D>::residual(Context& ctx) {
  if (blocks_ == 0) return 0;
  const Span span(ctx, "residual");
  sums_.resize(ctx, 1);
  W_.apply(ctx, r_.data(), u_.data(), true);
  return judge_quickly(ctx, W_, law_.data(), r_.data(), u_.data(), sums_.data()).residual;
}

template <int D>
double ContactSystem<D>::gain(Context& ctx) {
  if (blocks_ == 0) return 0;
  work_.resize(ctx, 1);
  const Vec<double, D>*r = r_.data(), *u = u_.data();
  reduce_sum(
      ctx, blocks_,
      [=] SS_LAMBDA(std::size_t c) {
        return Vec<double, 2>{dot(r[c], u[c]), norm2(r[c])};
      },
      work_.data(), kMedium);
  const Vec<double, 2> sums = read_back(ctx, work_.data());
  return sums[1] > 0 ? sums[0] / std::sqrt(sums[1]) : sums[1];
}

template <int D>
void ContactSystem<D>::velocities(Context& ctx, DeviceBodies& bodies) {
  const Span span(ctx, "velocities");
  if constexpr (kTakesManifolds)
    if (by_manifolds_) return manifolds_.velocities(ctx, bodies);
  delta_.resize(ctx, 6 * bodies.size());
  W_.body_velocities(ctx, r_.data(), delta_.data());
  const double *delta = delta_.data(), *free = bodies.free.data();
  Vec3d *v = bodies.velocity.data(), *w = bodies.spin.data();
  launch(
      ctx, bodies.size(),
      [=] SS_LAMBDA(std::size_t b) {
        for (std::size_t i = 0; i < 3; ++i) {
          v[b][static_cast<int>(i)] = free[6 * b + i] + delta[6 * b + i];
          w[b][static_cast<int>(i)] = free[6 * b + 3 + i] + delta[6 * b + 3 + i];
        }
      },
      kMedium);
}

template <int D>
void ContactSystem<D>::check_law(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list,
                                 const CountedBodies& counted, const MouseSpring& held,
                                 const Cohesion& cohesion, JudgeSums* out) {
  const ContactBlocks<D> blocks = contact_blocks_of<D>(bodies, list, friction_.states());
  law_checker_.check(ctx, bodies, blocks, list.contacts, list.contact_count, world_.data() + contacts_from_,
                     moments(), counted, held, cohesion, list.most_speed, out);
}

template <int D>
void ContactSystem<D>::propagate_shocks(Context& ctx, DeviceBodies& bodies) {
  const Span span(ctx, "shock propagation");
  constexpr int kSweeps = 2;  // per level
  make_blocks(ctx, bodies);
  shocks_.propagate(ctx, W_, law_.data(), joint_blocks_, r_.data(), bodies.free.data(), kSweeps,
                    bodies.velocity.data(), bodies.spin.data());
}

template <int D>
ContactProblem ContactSystem<D>::problem(Context& ctx, const DeviceBodies& bodies) const {
  const std::vector<BodyInverse> inverses = bodies.inverse.download(ctx);
  const std::vector<Vec<double, D>> guess = guess_.download(ctx), r = r_.download(ctx);
  FrozenBlocks<D> blocks{std::vector<std::int32_t>(2 * blocks_),
                         std::vector<double>(2 * blocks_ * D * 6),
                         bodies.free.download(ctx),
                         std::vector<Vec<double, D>>(blocks_),
                         std::vector<Vec<double, D>>(blocks_),
                         law_.download(ctx)};
  const BodyRows<D> rows = W_.body_rows();
  copy_to_host(ctx, blocks.body.data(), rows.body, blocks.body.size());
  copy_to_host(ctx, blocks.jacobian.data(), rows.jacobian, blocks.jacobian.size());
  copy_to_host(ctx, blocks.q.data(), W_.q(), blocks_);
  copy_to_host(ctx, blocks.compliance.data(), rows.compliance, blocks_);
  ContactProblem p;
  p.dim = D;
  p.form = ContactProblem::Form::bodies;
  p.inverse_mass.assign(36 * inverses.size(), 0.0);
  p.f.assign(6 * inverses.size(), 0.0);
  for (std::size_t b = 0; b < inverses.size(); ++b) put_body(p, b, inverses[b], blocks.free.data() + 6 * b);
  p.block_start.push_back(0);
  for (std::size_t c = 0; c < blocks_; ++c) {
    blocks.put(p, c);
    for (int i = 0; i < D; ++i) {
      p.guess.push_back(guess[c][i]);
      p.solution.push_back(r[c][i]);
    }
  }
  if (std::all_of(p.softness.begin(), p.softness.end(), [](double e) { return e == 0; })) p.softness.clear();
  return p;
}

template <int D>
void ContactSystem<D>::take_colours(Context& ctx, const std::int32_t* colour) {
  sweep_colour_.resize(ctx, blocks_);
  copy(ctx, sweep_colour_.data(), colour, blocks_);
  has_sweep_colour_ = true;
}

template <int D>
void ContactSystem<D>::records(Context& ctx, const StepConstraints& list, double dt,
                               std::vector<ContactRecord>& out) {
  out.clear();
  if (list.contact_count == 0 || impulses_ != blocks_) return;
  W_.apply(ctx, r_.data(), u_.data(), true);
  const std::size_t first = joint_blocks_;
  contact_records(
      ctx,
      SolvedContacts<D>{list.contacts, list.contact_count, law_.data() + first, W_.scale() + first,
                        r_.data() + first, u_.data() + first, colours_of_contacts(), steps_.kind,
                        steps_.kind == StepKind::none ? nullptr : steps_.values.data() + first},
      W_.body_rows(), first, dt, out);
}

template <int D>
void ContactSystem<D>::penalty_records(Context& ctx, const StepConstraints& list, double dt,
                                       std::vector<ContactRecord>& out) {
  contact_records(
      ctx, PushedContacts<D>{list.contacts, list.contact_count, penalty_block_.data(), penalties_.impulses()},
      dt, out);
}

template class ContactSystem<3>;
template class ContactSystem<4>;
template class ContactSystem<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
