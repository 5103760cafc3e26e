// The minimisation of `ccd_al`, in the manner of [Zheng26]: see ImpactConstraints for the constraints. Two
// positions of all nodes take part. The target y is moved by Newton's method and may pass through surfaces.
// x follows it on a straight line up to the first impact, so that it never does. All pairs that impact on
// the way from x to y become constraints at once, linearised at the new x. A target that they push back then
// gives x a way that is not blocked by the same impacts, so that no impact holds up all others. It ends when
// x arrives at a y whose last Newton step is small, with the gaps and multipliers in agreement.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/barrier/barrier_newton.cuh"
#include "gpu/barrier/newton_parts.cuh"
#include "gpu/ccd/additive.h"
#include "gpu/ccd/half_space.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// In units of the gap that constraints keep: at the start of a step pairs nearer than kNearPair become
// constraints, and those beyond kFarPair without a multiplier are none any more; multipliers are settled when
// forces differ from them by the penalty times kSettledMultipliers.
constexpr Real kNearPair = Real(2), kFarPair = Real(4);
constexpr double kSettledMultipliers = 0.05;
// Multipliers change after Newton steps below this share of the residual of the multipliers.
constexpr double kBalanced = 0.5;
// Newton steps that are longer than this share of the one before stall. After this many, the next ones go
// half of the way, and a quarter after twice as many.
constexpr double kSlowest = 0.8;
constexpr int kStallsOfCycle = 8;
constexpr Real kLeastSecantShare = Real(0.01);
// The target's line search, and the longest Newton step as a share of the scene.
constexpr double kShortestSearch = 1e-8, kLongestTargetStep = 0.5;
// x goes at most this share of the scene at once. A target that still violates its constraints may be far
// away, and all that a long way sweeps over would become constraints.
constexpr double kLongestAdvance = 0.05;
// x is moved by less where elements would be inverted that must not be.
constexpr int kMostInversionHalvings = 30;

/// p = y - x.
void set_way(Context& ctx, std::size_t n, const Vec3* x, const Vec3* y, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { p[i] = y[i] - x[i]; });
}

/// out = x + share p.
void set_along(Context& ctx, std::size_t n, const Vec3* x, Real share, const Vec3* p, Vec3* out) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { out[i] = x[i] + share * p[i]; });
}

void shrink_way(Context& ctx, std::size_t n, Real factor, Vec3* p) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { p[i] *= factor; });
}

template <class Pair>
SS_HD bool impacts_on_way(const Proximity& near, const ContactPair& pair, const Vec3* x, const Vec3* p,
                          Real kept) {
  Pair swept;
  for (int c = 0; c < 4; ++c) {
    swept.x[c] = x[pair.nodes[c]];
    swept.p[c] = p[pair.nodes[c]];
  }
  const Real thickness = near.thickness(pair);
  if (stays_apart(swept, kept, Real(1), thickness)) return false;
  return additive::toi(swept, kept, Real(1), thickness) < Real(1);
}

/// impacts[i] = 1 for each pair of `near` whose gap falls below the share `kept` on the way p from x.
void mark_impacts(Context& ctx, const Proximity& near, const Vec3* x, const Vec3* p, Real kept,
                  std::uint8_t* impacts) {
  launch(
      ctx, near.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const ContactPair pair = near[i];
        bool hit = false;
        if (pair.kind == ContactPair::half_space) {
          const std::int32_t node = pair.nodes[0];
          const Plane plane = near.planes[pair.plane];
          hit =
              !near.scripted[node] && half_space_toi(plane.normal, plane.offset + near.plane_radius_of(node),
                                                     x[node], p[node], kept, Real(1)) < Real(1);
        } else if (pair.kind == ContactPair::point_triangle) {
          hit = impacts_on_way<PointTriangle<Real>>(near, pair, x, p, kept);
        } else {
          hit = impacts_on_way<EdgeEdge<Real>>(near, pair, x, p, kept);
        }
        impacts[i] = hit;
      },
      kMedium);
}

/// True if a pair impacts that is no constraint yet. One host read.
bool has_new_impact(Context& ctx, const Proximity& near, const ContactTermsView& contacts,
                    const std::uint8_t* impacts, Buffer<std::int32_t>& found) {
  found.resize(ctx, 1);
  const AugmentedPair* pairs = contacts.augmented;
  const std::uint64_t* keys = contacts.keys;
  const std::size_t count = contacts.augmented_count;
  reduce_max(
      ctx, near.size(),
      [=] SS_LAMBDA(std::size_t i) {
        return static_cast<std::int32_t>(impacts[i] && find_pair(pairs, keys, count, near[i]) < 0);
      },
      std::int32_t(0), found.data());
  return read_back(ctx, found.data()) > 0;
}

/// impacts[i] = 1 for each pair of `near` with a gap below `reach` at x.
void mark_near(Context& ctx, const Proximity& near, const Vec3* x, Real reach, std::uint8_t* impacts) {
  launch(
      ctx, near.size(),
      [=] SS_LAMBDA(std::size_t i) { impacts[i] = pair_gap_below(near, near[i], x, reach) < reach; },
      kMedium);
}

}  // namespace

Real BarrierNewton::descend_target(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                   const Params& params, Real most_share, Vec3* y, StageClock& clock,
                                   StepReport& report, NewtonRecord& record) {
  ContactTerms& contacts = potential.contacts();
  contacts.follow_constraints(ctx, y);
  {
    const Span assembly(ctx, "assembly");
    potential.linearise(ctx, y);
    linear_solver_.set_current_positions(y);
  }
  clock.lap(report.seconds.assembly);
  const NewtonNorms norms = solve(ctx, potential, device, params, record);
  clock.lap(report.seconds.linear_solve);
  record_direction(contacts, norms, params.dt, report, record);
  const Real longest = static_cast<Real>(kLongestTargetStep) * device.diagonal;
  const bool shortened = norms.step > longest;
  if (shortened) shrink_way(ctx, node_count_, longest / norms.step, p_.data());
  // Refreshed friction may make Newton's method cycle, see share_of.
  const Real wanted = shortened ? Real(1) : share_of(norms, most_share);
  copy(ctx, before_.data(), p_.data(), node_count_);
  if (wanted < Real(1)) shrink_way(ctx, node_count_, wanted, p_.data());

  const Span span(ctx, "line search");
  const double before = total(potential.values(ctx, near_, y));
  const double allowed = before + potential.energy_rounding(before);
  const auto descends = [&](Real share, const Vec3* way) {
    set_along(ctx, node_count_, y, share, way, trial_.data());
    record.energy = total(potential.values(ctx, near_, trial_.data()));
    return record.energy <= allowed;
  };
  bool found = false;
  if (potential.embedding().turns()) {  // a straight path strains bodies that turn
    potential.embedding().turn(ctx, y, p_.data(), turned_.data());
    found = descends(Real(1), turned_.data());
  }
  Real share = 1;
  if (!found)
    while (share > kShortestSearch && !descends(share, p_.data())) share *= Real(0.5);
  share_ = !shortened && share == Real(1) ? wanted : Real(0);
  if (!(share > kShortestSearch)) return record.step_length = 0;
  copy(ctx, y, trial_.data(), node_count_);
  clock.lap(report.seconds.line_search);
  return record.step_length = share;
}

Real BarrierNewton::longest_advance(Context& ctx, const DeviceModel& device, const Vec3* way) {
  const Real length = longest(ctx, way), most = static_cast<Real>(kLongestAdvance) * device.diagonal;
  return length > most ? most / length : Real(1);
}

Real BarrierNewton::advance_to(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                               const Params& params, const Vec3* y, bool waits, Vec3* x, StageClock& clock,
                               StageTimes& seconds) {
  Vec3* way = turned_.data();
  set_way(ctx, node_count_, x, y, way);
  const Real most = longest_advance(ctx, device, way);
  if (most < Real(1)) shrink_way(ctx, node_count_, most, way);
  launch_step_bound(ctx, device, params, x, way, clock, seconds);
  Real share = read_step_bound(ctx);
  impacts_.resize(ctx, near_.size());
  if (share < Real(1))
    mark_impacts(ctx, near_, x, way, Real(1) - static_cast<Real>(params.ccd_slack), impacts_.data());
  else fill(ctx, impacts_.data(), near_.size(), std::uint8_t{0});
  // Impacts of constraints alone, while the target still violates them: multipliers have to grow first, and x
  // would only use up its gaps.
  if (waits && share < Real(1) &&
      !has_new_impact(ctx, near_, potential.contacts().view(), impacts_.data(), new_impacts_))
    return most * share;
  const Real impact = share;
  for (int halvings = 0;; ++halvings) {
    if (share < Real(1) || most < Real(1)) set_along(ctx, node_count_, x, share, way, trial_.data());
    else copy(ctx, trial_.data(), y, node_count_);
    if (!potential.is_inverted(ctx, trial_.data())) break;
    share = halvings < kMostInversionHalvings ? share / 2 : Real(0);
    if (share == Real(0)) return 0;
  }
  copy(ctx, x, trial_.data(), node_count_);
  clock.lap(seconds.ccd);
  return most * std::min(share, impact);
}

void BarrierNewton::minimise_constrained(Context& ctx, IncrementalPotential& potential,
                                         const DeviceModel& device, const Params& params, Vec3* x,
                                         StageClock& clock, StepReport& report) {
  const Span span(ctx, "minimise");
  ContactTerms& contacts = potential.contacts();
  const Tolerance tolerance{params, params.newton_tolerance * speed_scale(device, params),
                            params.newton_tolerance * gravity_scale(device, params)};
  const Real gap = contacts.view().constraint_gap;
  LinearSolver::prepare(potential.hessian(), params);
  linear_solver_.begin_step();
  share_ = 0;
  report.converged = false;
  report.stop_reason = "iteration cap";
  target_.resize(ctx, node_count_);
  Vec3* y = target_.data();
  copy(ctx, y, x, node_count_);
  Real secant = 1;
  int stalls = 0;
  double last_step = std::numeric_limits<double>::infinity();
  contacts.set_friction_secant(secant);
  impacts_.resize(ctx, near_.size());
  mark_near(ctx, near_, x, kNearPair * gap, impacts_.data());
  contacts.merge(ctx, near_, impacts_.data(), x, kFarPair * gap);

  while (report.newton_iterations < params.newton_iterations) {
    if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) throw StepInterrupted();
    const Span iteration(ctx, "newton iteration");
    NewtonRecord record;
    const Real most = stalls < kStallsOfCycle       ? Real(1)
                      : stalls < 2 * kStallsOfCycle ? Real(0.5)
                                                    : Real(0.25);
    const Real share = descend_target(ctx, potential, device, params, most, y, clock, report, record);
    stalls += record.step_norm > kSlowest * last_step;
    last_step = record.step_norm;
    const Real residual = contacts.multiplier_residual(ctx, y);
    const bool settled = residual <= kSettledMultipliers * gap;
    record.ccd_bound = advance_to(ctx, potential, device, params, y, !settled, x, clock, report.seconds);
    report.newton.push_back(record);
    report.groups = linear_solver_.groups();
    report.pcg_iterations += record.pcg_iterations;
    ++report.newton_iterations;
    const bool arrived = record.ccd_bound == Real(1) && settled && record.step_norm <= tolerance.speed &&
                         tolerance.permits(record.imbalance);
    // A full step is needed to trust a model of friction without curvature along the slip, see
    // BarrierSchedule.
    secant = share == Real(1) ? Real(0.5) * secant : Real(1);
    contacts.set_friction_secant(secant < kLeastSecantShare ? Real(0) : secant);
    // Before the target balances the penalties, violations say nothing about forces. Settled multipliers
    // stay, so that Newton's method can finish.
    const bool balanced = share == Real(1) && record.step_norm * params.dt <= kBalanced * residual;
    if (!settled && balanced) contacts.update_multipliers(ctx, y);
    // None leaves within a step: the target may need those without a multiplier, however far apart x has
    // them.
    contacts.merge(ctx, near_, impacts_.data(), x, kNever);
    clock.lap(report.seconds.contacts);
    if (arrived) {
      report.converged = true;
      report.stop_reason = "converged";
      return;
    }
    if (share == Real(0) && record.ccd_bound == Real(1) && settled) {
      report.stop_reason = "line search failed";
      return;
    }
    if (is_over_budget(params, clock)) {
      report.stopped_by_budget = true;
      report.stop_reason = "budget";
      return;
    }
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
