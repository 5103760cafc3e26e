#include "gpu/barrier/barrier_newton.cuh"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/barrier/newton_parts.cuh"
#include "gpu/ccd/half_space.h"
#include "gpu/ccd/step_bound.cuh"
#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/model/step_interrupted.h"
#include "gpu/params/newton_start.h"

namespace stickslip::STICKSLIP_BACKEND {

bool BarrierNewton::Tolerance::satisfied_by(const NewtonRecord& record) const {
  return params.newton_stop == NewtonStop::displacement
             ? record.step_norm <= speed
             : record.gradient_norm <= params.newton_tolerance * first_gradient;
}

namespace {

// If the parameters end PCG early, a direction with a relative residual above kLooseResidual does not
// bound the distance to the minimiser: a component that moves a whole body has a small residual. Before
// Newton's method may stop by it, the direction is solved again, to kTightTolerance. Where rounding ends
// PCG, any residual is accepted.
constexpr double kLooseResidual = 1e-3, kTightTolerance = 1e-4;

// A Newton step is limited to this share of the scene: a bad direction must not sweep all of it.
constexpr double kLongestStep = 0.5;
constexpr Real kShortestStep = Real(1e-10);
// Near the minimiser Newton's last step should be precise, so that less change of an element renews its
// Hessian.
constexpr double kNear = 30;  // times the tolerance
constexpr Real kNearShare = Real(0.1);
// See follow_friction. kSlowNewton: of the lengths of two Newton steps.
constexpr double kFullNewton = 0.9, kSlowNewton = 0.1;
// Of d_hat: how much farther than needed pairs are searched for, so that they serve for more iterations.
constexpr Real kSpareReach = Real(0.5);
// See share_of. Of the direction before: p turns back by this much. And the least share of p.
constexpr double kTurnsBack = 0.85;
constexpr Real kLeastShare = Real(0.01);
// Below this, the direction is bad: PCG continues for this many iterations [Guo24 App. B].
constexpr double kUselessStep = 1e-9;
constexpr int kMoreIterations = 100;
// See start_ahead: the share of the way to the first impact; the least share of a way that is free, the least
// share of what then remains, and the least way in units of the tolerance that are worth a try.
constexpr Real kHeadShare = Real(0.5), kLeastHead = Real(0.1), kLeastTrial = Real(0.1);
constexpr double kLeastWay = 0.01;

}  // namespace

bool BarrierNewton::Tolerance::is_near(const NewtonRecord& record) const {
  return params.newton_stop == NewtonStop::displacement
             ? record.step_norm <= kNear * speed
             : record.gradient_norm <= kNear * params.newton_tolerance * first_gradient;
}

namespace {

/// *bound = the largest t in [0, 1] for which x + t p keeps (1 - slack) of every node's gap to every
/// half-space.
void plane_step_bound(Context& ctx, const Proximity& near, const Vec3* x, const Vec3* p, Real slack,
                      Real* bound) {
  const Real kept = Real(1) - slack;
  reduce_min(
      ctx, near.surface_node_count * near.plane_count,
      [=] SS_LAMBDA(std::size_t i) {
        const std::int32_t node = near.surface_nodes[i / near.plane_count];
        if (near.scripted[node]) return Real(1);
        const Plane plane = near.planes[i % near.plane_count];
        return half_space_toi(plane.normal, plane.offset + near.plane_radius_of(node), x[node], p[node], kept,
                              Real(1));
      },
      Real(1), bound);
}

/// rhs = -g at the free nodes, zero at fixed ones.
void set_right_side(Context& ctx, std::size_t n, const Vec3* g, const std::uint8_t* fixed, Vec3* rhs) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { rhs[i] = fixed[i] ? Vec3::zero() : -g[i]; });
}

/// *square = the largest |p|^2.
void find_longest(Context& ctx, std::size_t n, const Vec3* p, Real* square) {
  reduce_max(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return norm2(p[i]); }, Real(0), square);
}

/// Writes `norms`, but for the imbalance and with the square of `step`; `before` may be null.
void find_norms(Context& ctx, std::size_t n, const Vec3* rhs, const Vec3* p, const Vec3* before,
                const PcgState* pcg, NewtonNorms* norms) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { norms->pcg = *pcg; });
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return static_cast<double>(norm2(rhs[i])); }, &norms->gradient2);
  find_longest(ctx, n, p, &norms->step);
  if (before != nullptr)
    reduce_sum(
        ctx, n,
        [=] SS_LAMBDA(std::size_t i) {
          return Vec<double, 2>{static_cast<double>(dot(p[i], before[i])),
                                static_cast<double>(norm2(before[i]))};
        },
        &norms->turn);
}

/// p *= factor.
void scale_direction(Context& ctx, std::size_t n, Real factor, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { p[i] *= factor; });
}

/// trial = x + alpha p.
void set_trial(Context& ctx, std::size_t n, const Vec3* x, Real alpha, const Vec3* p, Vec3* trial) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { trial[i] = x[i] + alpha * p[i]; });
}

/// trial = x + start->bound() p.
void set_first_trial(Context& ctx, std::size_t n, const Vec3* x, const LineSearchStart* start, const Vec3* p,
                     Vec3* trial) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { trial[i] = x[i] + start->bound() * p[i]; });
}

/// True if the parameters, not rounding, ended PCG.
bool was_ended_early(const PcgResult& direction) {
  return direction.residual > kLooseResidual &&
         (direction.stop == PcgStop::converged || direction.stop == PcgStop::iteration_cap);
}

}  // namespace

void BarrierNewton::load(Context& ctx, const DeviceModel& device) {
  node_count_ = device.node_count;
  near_pairs_.set_topology(contact_surface(device));
  rhs_.resize(ctx, node_count_);
  p_.resize(ctx, node_count_);
  turned_.resize(ctx, node_count_);
  before_.resize(ctx, node_count_);
  response_.load(ctx, node_count_);
  head_start_.load(ctx, device);
  trial_.resize(ctx, node_count_);
  resize_cleared(ctx, norms_, 1);
  resize_cleared(ctx, search_, 1);
  balance_.load(ctx, device);
  linear_solver_.set_positions(device.start.download(ctx));
}

void BarrierNewton::find_contacts(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                  const Vec3* x, Real d_hat) {
  const Span span(ctx, "broad phase");
  near_pairs_.find(ctx, x, nullptr, d_hat, kSpareReach * d_hat, pair_filter(device));
  near_ = make_proximity(device, near_pairs_.view());
  potential.contacts().update(ctx, near_, x);
}

void BarrierNewton::search_ahead(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x,
                                 const Vec3* way) {
  if (!is_short_enough(ctx, device, way)) return;
  const Span span(ctx, "broad phase");
  const Real d_hat = static_cast<Real>(params.d_hat);
  near_pairs_.find(ctx, x, way, d_hat, kSpareReach * d_hat, pair_filter(device));
}

void BarrierNewton::search_ahead(Context& ctx, const StepInputs& inputs, const DeviceModel& device,
                                 const Params& params, const Vec3* x) {
  if (!starts_ahead(params) || inputs.scripts_blocked) return;
  head_start_.foresee(ctx, inputs, device, x, p_.data());
  search_ahead(ctx, device, params, x, p_.data());
}

Real BarrierNewton::step_bound(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x,
                               const Vec3* p, StageClock& clock, StageTimes& seconds) {
  launch_step_bound(ctx, device, params, x, p, clock, seconds);
  const Real bound = read_step_bound(ctx);
  clock.lap(seconds.ccd);
  return bound;
}

Real BarrierNewton::read_step_bound(Context& ctx) {
  Real bounds[2];
  copy_to_host(ctx, bounds, search_.data()->bounds, 2);
  return std::min(bounds[0], bounds[1]);
}

void BarrierNewton::launch_step_bound(Context& ctx, const DeviceModel& device, const Params& params,
                                      const Vec3* x, const Vec3* p, StageClock& clock, StageTimes& seconds) {
  const Span span(ctx, "ccd");
  {
    const Span broad(ctx, "broad phase");
    const Real d_hat = static_cast<Real>(params.d_hat);
    near_pairs_.find(ctx, x, p, d_hat, kSpareReach * d_hat, pair_filter(device));
    near_ = make_proximity(device, near_pairs_.view());
  }
  clock.lap(seconds.broad_phase);
  const Real slack = static_cast<Real>(params.ccd_slack);
  Real* bounds = search_.data()->bounds;
  stickslip::STICKSLIP_BACKEND::step_bound(ctx, near_.pairs, x, p, {params.ccd, slack, near_.radius}, bounds);
  plane_step_bound(ctx, near_, x, p, slack, bounds + 1);
  clock.lap(seconds.ccd);
}

NewtonNorms BarrierNewton::solve(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                 const Params& params, NewtonRecord& record) {
  const Span span(ctx, "linear solve");
  const std::uint8_t* fixed = potential.fixed();
  set_right_side(ctx, node_count_, potential.gradient(), fixed, rhs_.data());
  balance_.launch_measure(ctx, device, rhs_.data(), potential.momentum_dt(), &norms_.data()->imbalance);
  linear_solver_.launch_solve(ctx, potential.hessian(), rhs_.data(), p_.data(), params, fixed);
  const NewtonNorms found = norms(ctx);
  direction_ = linear_solver_.result(found.pcg);
  record.pcg_iterations = direction_.iterations;
  record.pcg_residual = direction_.residual;
  record.imbalance = found.imbalance;
  return found;
}

NewtonNorms BarrierNewton::solve_again(Context& ctx, IncrementalPotential& potential,
                                       const DeviceModel& device, const Params& params,
                                       NewtonRecord& record) {
  Params tight = params;
  tight.pcg_stop = PcgCriterion::relative;
  tight.pcg_tolerance = kTightTolerance;
  tight.pcg_iterations = std::max(params.pcg_iterations, Params{}.pcg_iterations);
  const int before = record.pcg_iterations;
  const NewtonNorms found = solve(ctx, potential, device, tight, record);
  record.pcg_iterations += before;
  return found;
}

bool BarrierNewton::resume(Context& ctx, const Params& params, NewtonRecord& record) {
  const Span span(ctx, "linear solve");
  const int before = direction_.iterations;
  const bool closer = linear_solver_.resume(ctx, kMoreIterations, params, direction_);
  record.pcg_iterations += direction_.iterations - before;
  if (!closer) return false;
  record.pcg_residual = direction_.residual;
  record.step_norm = norms(ctx).step / params.dt;
  return true;
}

bool BarrierNewton::shorten(Context& ctx, Real step, Real longest) {
  if (!(step > longest)) return false;
  scale_direction(ctx, node_count_, longest / step, p_.data());
  return true;
}

double BarrierNewton::imbalance(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                const Vec3* x) {
  potential.linearise(ctx, x);
  set_right_side(ctx, node_count_, potential.gradient(), potential.fixed(), rhs_.data());
  double* out = &norms_.data()->imbalance;
  balance_.launch_measure(ctx, device, rhs_.data(), potential.momentum_dt(), out);
  return read_back(ctx, out);
}

bool BarrierNewton::is_short_enough(Context& ctx, const DeviceModel& device, const Vec3* way) {
  return longest(ctx, way) <= kLongestStep * device.diagonal;
}

Real BarrierNewton::longest(Context& ctx, const Vec3* p) {
  find_longest(ctx, node_count_, p, &norms_.data()->step);
  return std::sqrt(read_back(ctx, &norms_.data()->step));
}

NewtonNorms BarrierNewton::norms(Context& ctx) {
  find_norms(ctx, node_count_, rhs_.data(), p_.data(), share_ > 0 ? before_.data() : nullptr,
             linear_solver_.outcome(), norms_.data());
  NewtonNorms host = read_back(ctx, norms_.data());
  host.step = std::sqrt(host.step);
  return host;
}

// Refreshing friction in every iteration multiplies the error along some direction by a number m; m <= -1
// makes Newton's method cycle. From b, and p = m b after a step of w b, the secant method (Aitken's) finds
// the step w / (1 - m).
Real BarrierNewton::share_of(const NewtonNorms& norms, Real most) const {
  if (share_ == 0 || !(norms.turn[1] > 0)) return most;
  const double m = norms.turn[0] / norms.turn[1];
  if (!(m <= -kTurnsBack)) return most;
  return std::min(most, std::max(kLeastShare, static_cast<Real>(share_ / (1 - m))));
}

bool BarrierNewton::follow_friction(Context& ctx, IncrementalPotential& potential, const Params& params,
                                    const Vec3* x, const StepReport& report, NewtonRecord& record) {
  if (report.newton.empty() || !potential.contacts().follows_normal_forces()) return false;
  const NewtonRecord& last = report.newton.back();
  if (last.step_length < kFullNewton || record.step_norm < kSlowNewton * last.step_norm) return false;
  const bool found = response_.find(ctx, potential, linear_solver_, params, x, rhs_.data(), p_.data());
  record.pcg_iterations += response_.pcg_iterations();
  return found;
}

Real BarrierNewton::search_turned(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                  const Params& params, const Vec3* way, const Vec3* x,
                                  std::size_t contact_limit, StageClock& clock, StageTimes& seconds,
                                  NewtonRecord& record) {
  const auto search_along = [&](const Vec3* path) {
    record.contact_limit_halvings = 0;
    return search(ctx, potential, device, params, path, x, contact_limit, clock, seconds, record);
  };
  if (!potential.embedding().turns()) return search_along(way);
  // A straight path strains bodies that turn.
  const auto values = at_x_;
  potential.embedding().turn(ctx, x, way, turned_.data());
  if (const Real alpha = search_along(turned_.data()); alpha == 1) return alpha;
  at_x_ = values;
  return search_along(way);
}

Real BarrierNewton::search(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                           const Params& params, const Vec3* path, const Vec3* x, std::size_t contact_limit,
                           StageClock& clock, StageTimes& seconds, NewtonRecord& record) {
  launch_step_bound(ctx, device, params, x, path, clock, seconds);
  const Real alpha = line_search(ctx, potential, path, x, contact_limit, kShortestStep, record);
  clock.lap(seconds.line_search);
  return alpha;
}

Real BarrierNewton::line_search(Context& ctx, IncrementalPotential& potential, const Vec3* p, const Vec3* x,
                                std::size_t contact_limit, Real shortest, NewtonRecord& record) {
  const Span span(ctx, "line search");
  Vec3* trial = trial_.data();
  LineSearchStart* start = search_.data();
  if (at_x_) potential.launch_contact_values(ctx, near_, x, start->before);
  else potential.launch_values(ctx, near_, x, start->before);
  set_first_trial(ctx, node_count_, x, start, p, trial);
  potential.launch_values(ctx, near_, trial, start->trial);
  LineSearchStart first = read_back(ctx, start);
  if (at_x_)
    for (const auto term :
         {IncrementalPotential::inertia, IncrementalPotential::elastic, IncrementalPotential::springs})
      first.before[term] = (*at_x_)[term];
  record.ccd_bound = first.bound();
  IncrementalPotential::Values at_trial;
  std::copy(std::begin(first.trial), std::end(first.trial), at_trial.begin());
  record.energy = total(at_trial);

  const double before = total(first.before);
  // Energy differences below rounding are ignored: near the minimiser they say nothing about a step.
  const double tolerance = potential.energy_rounding(before) + rise_;
  for (Real alpha = first.bound(); alpha > shortest; alpha *= Real(0.5)) {
    if (alpha < first.bound()) {
      set_trial(ctx, node_count_, x, alpha, p, trial);
      at_trial = potential.values(ctx, near_, trial);
      record.energy = total(at_trial);
    }
    if (!(record.energy <= before + tolerance)) continue;
    if (contact_limit == 0 || potential.contacts().count_active(ctx, near_, trial) <= contact_limit) {
      at_x_ = at_trial;
      return alpha;
    }
    ++record.contact_limit_halvings;
  }
  record.energy = before;
  return 0;
}

Real BarrierNewton::descend(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                            const Params& params, const Tolerance& tolerance, Real most_share, Vec3* x,
                            StageClock& clock, StepReport& report, NewtonRecord& record) {
  const Span span(ctx, "newton iteration");
  StageTimes& seconds = report.seconds;
  const ContactTerms& contacts = potential.contacts();
  const int k = report.newton_iterations;
  {
    const Span assembly(ctx, "assembly");
    const bool is_near = !report.newton.empty() && tolerance.is_near(report.newton.back());
    potential.linearise(ctx, x, is_near ? kNearShare : Real(1));
    linear_solver_.set_current_positions(x);
  }
  clock.lap(seconds.assembly);
  NewtonNorms norms = solve(ctx, potential, device, params, record);
  record.step_norm = norms.step / params.dt;
  if (params.newton_stop == NewtonStop::displacement && tolerance.satisfied_by(record) &&
      was_ended_early(direction_))
    norms = solve_again(ctx, potential, device, params, record);
  clock.lap(seconds.linear_solve);
  record_direction(contacts, norms, params.dt, report, record);
  const Real longest = static_cast<Real>(kLongestStep) * device.diagonal;
  bool shortened = shorten(ctx, norms.step, longest);

  // An iteration that began with too many contacts cannot get below the limit by shortening,
  // but it must not add any.
  const bool limited = params.contact_limit > 0;
  report.contact_limit_exceeded |= limited && record.contacts > params.contact_limit;
  const int most = limited ? std::max(params.contact_limit, record.contacts) : 0;
  const auto contact_limit = static_cast<std::size_t>(most);
  const auto search_along = [&](const Vec3* way) {
    return search_turned(ctx, potential, device, params, way, x, contact_limit, clock, seconds, record);
  };
  const Real share = shortened ? Real(1) : share_of(norms, most_share);
  copy(ctx, before_.data(), p_.data(), node_count_);
  Real alpha = 0;
  const auto values = at_x_;
  if (share < 1) scale_direction(ctx, node_count_, share, p_.data());
  const bool follows = !shortened && share == 1 && follow_friction(ctx, potential, params, x, report, record);
  clock.lap(seconds.linear_solve);
  if (follows && response_.step() <= longest) {
    rise_ = response_.rise();
    alpha = search_along(response_.direction());
    rise_ = 0;
    if (alpha < kUselessStep) at_x_ = values;
  }
  bool keeps_share = true;
  if (alpha < kUselessStep) alpha = search_along(p_.data());
  bool other_solve = follows || share < 1;
  while (alpha < kUselessStep && record.contact_limit_halvings == 0 && !shortened &&
         !tolerance.satisfied_by(record) && !is_over_budget(params, clock)) {
    if (std::exchange(other_solve, false)) {
      // `resume` continues the last solve, which has to be that of the whole p.
      const int before = record.pcg_iterations;
      solve(ctx, potential, device, params, record);
      record.pcg_iterations += before;
    }
    const bool closer = resume(ctx, params, record);
    keeps_share = false;
    clock.lap(seconds.linear_solve);
    if (!closer) break;
    shortened = shorten(ctx, static_cast<Real>(record.step_norm * params.dt), longest);
    alpha = search_along(p_.data());
  }
  record.step_length = alpha;
  share_ = keeps_share && !shortened && alpha == 1 ? share : 0;
  if (!std::isfinite(record.energy)) throw_not_finite("the energy", report, k);
  if (alpha > 0) copy(ctx, x, trial_.data(), node_count_);
  clock.lap(seconds.line_search);
  return alpha;
}

void BarrierNewton::start_ahead(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                const Params& params, const Tolerance& tolerance, Vec3* x, StageClock& clock,
                                StepReport& report) {
  const Span span(ctx, "head start");
  Vec3* p = p_.data();
  head_start_.find(ctx, potential, device, x, p);
  potential.embedding().expand(ctx, p);
  const Real length = longest(ctx, p);
  if (!(length > kLeastWay * tolerance.speed * params.dt) || length > kLongestStep * device.diagonal) return;
  const bool turns = potential.embedding().turns();
  Vec3* way = turns ? turned_.data() : p;
  const auto bound_way = [&] {
    if (turns) potential.embedding().turn(ctx, x, p, way);
    launch_step_bound(ctx, device, params, x, way, clock, report.seconds);
    return read_step_bound(ctx);
  };
  Real share = 0;
  if (const Real bound = bound_way(); bound >= kLeastHead) {
    if (bound < 1) {
      scale_direction(ctx, node_count_, kHeadShare * bound, p);
      bound_way();
    }
    const auto contacts = static_cast<int>(potential.contacts().set().active_count());
    const int most = params.contact_limit > 0 ? std::max(params.contact_limit, contacts) : 0;
    // A part of a way on which bodies turn would strain them.
    const Real shortest = turns ? Real(0.99) : kLeastTrial;
    NewtonRecord unused;
    share = line_search(ctx, potential, way, x, static_cast<std::size_t>(most), shortest, unused);
    if (share > 0) copy(ctx, x, trial_.data(), node_count_);
  }
  clock.lap(report.seconds.line_search);
  // Also where x stays: the pairs are others.
  potential.contacts().update(ctx, near_, x, share > 0);
  clock.lap(report.seconds.contacts);
}

void BarrierNewton::minimise(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                             const Params& params, Vec3* x, StageClock& clock, StepReport& report) {
  const Span span(ctx, "minimise");
  ContactTerms& contacts = potential.contacts();
  Tolerance tolerance{params, params.newton_tolerance * speed_scale(device, params),
                      params.newton_tolerance * gravity_scale(device, params)};
  at_x_.reset();
  BarrierSchedule schedule(ctx, contacts, near_, x, params, potential.inputs().scripts_blocked);
  // Scripted nodes that springs pull would be left behind.
  if (report.newton_iterations == 0 && starts_ahead(params) && !potential.inputs().scripts_blocked)
    start_ahead(ctx, potential, device, params, tolerance, x, clock, report);
  LinearSolver::prepare(potential.hessian(), params);
  linear_solver_.begin_step();
  const auto stop = [&](const char* reason) { report.stop_reason = reason; };
  report.converged = false;
  share_ = 0;
  stop("iteration cap");

  for (int k = 0; report.newton_iterations < params.newton_iterations; ++k) {
    if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) throw StepInterrupted();
    NewtonRecord record;
    const Real alpha =
        descend(ctx, potential, device, params, tolerance, schedule.share(), x, clock, report, record);
    if (k == 0) tolerance.first_gradient = record.gradient_norm;
    schedule.watch(record);
    {
      const Span set(ctx, "contacts");
      // A step ends where the line search evaluated last.
      contacts.update(ctx, near_, x, alpha > 0);
    }
    clock.lap(report.seconds.contacts);
    report.newton.push_back(record);
    report.groups = linear_solver_.groups();
    report.pcg_iterations += record.pcg_iterations;
    report.contact_limit_halvings += record.contact_limit_halvings;
    ++report.newton_iterations;

    // The last direction is worth its line search: the final error gets quadratically smaller. A step that
    // impacts shortened has not converged, however small the direction was; one that rounding shortened has.
    // Momentum is measured where the step ended, unless it was right before.
    const bool arrived = tolerance.satisfied_by(record) && record.ccd_bound == 1;
    const bool final = arrived && (schedule.is_settled() || alpha == 0);
    if (final &&
        (tolerance.permits(record.imbalance) || tolerance.permits(imbalance(ctx, potential, device, x)))) {
      report.converged = true;
      return stop(schedule.is_frozen() ? kFrictionFrozen : "converged");
    }
    if (alpha == 0) return stop(record.contact_limit_halvings > 0 ? "contact limit" : "line search failed");
    if (is_over_budget(params, clock)) {
      report.stopped_by_budget = true;
      return stop("budget");
    }
    if (final) schedule.refuse();
    if (arrived && !final) schedule.settle(ctx, x);
    else schedule.advance(ctx, near_, x, record);
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
