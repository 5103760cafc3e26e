#include "gpu/solver/barrier_newton.cuh"

#include <cmath>
#include <limits>
#include <numeric>

#include "gpu/ccd/half_space.h"
#include "gpu/ccd/step_bound.cuh"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// Guo24 Alg.1 raises sigma once the smallest gap is below this share of d_hat.
constexpr double kTightGap = 1e-2;
// Friction that is refreshed every iteration has no potential, and where it holds hard Newton may go round in
// circles. After so many iterations that ended higher than the one before, friction is frozen for the rest of
// the step, but for so many refreshes at the minima found.
constexpr int kMostRises = 8;
constexpr int kSettlings = 2;
// A Newton step is never longer than this share of the scene: a bad direction must not sweep all of it.
constexpr double kLongestStep = 0.5;
constexpr double kShortestStep = 1e-10;

/// Largest t in [0, 1] with which x + t p keeps (1 - slack) of every node's height over every half-space.
void plane_step_bound(Context& ctx, const Proximity& near, const Vec3* x, const Vec3* p, Real slack,
                      Real* bound) {
  const Real kept = Real(1) - slack;
  reduce_min(
      ctx, near.surface_node_count * near.plane_count,
      [=] SS_LAMBDA(std::size_t i) {
        const std::int32_t node = near.surface_nodes[i / near.plane_count];
        if (near.scripted[node]) return Real(1);
        const Plane plane = near.planes[i % near.plane_count];
        return half_space_toi(plane.normal, plane.offset, x[node], p[node], kept, Real(1));
      },
      Real(1), bound);
}

double total(const IncrementalPotential::Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

[[noreturn]] void throw_not_finite(const char* what, const StepReport& report, int iteration) {
  throw SimulationError(std::string(what) + " is not finite in step " + std::to_string(report.frame) +
                        ", Newton iteration " + std::to_string(iteration) +
                        "; the state is back at the end of the step before");
}

}  // namespace

void BarrierNewton::load(Context& ctx, const DeviceModel& device) {
  node_count_ = device.node_count;
  broad_phase_.set_topology(surface_view(device));
  rhs_.resize(ctx, node_count_);
  p_.resize(ctx, node_count_);
  trial_.resize(ctx, node_count_);
  norms_.resize(ctx, 1);
  bounds_.resize(ctx, 2);
}

void BarrierNewton::find_contacts(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                  const Vec3* x, Real d_hat) {
  broad_phase_.find(ctx, x, nullptr, d_hat, device.scripted.data());
  near_ = make_proximity(device, broad_phase_.view());
  potential.contacts().update(ctx, near_, x);
}

Real BarrierNewton::step_bound(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x,
                               const Vec3* p, StageClock& clock, StageTimes& seconds) {
  broad_phase_.find(ctx, x, p, static_cast<Real>(params.d_hat), device.scripted.data());
  near_ = make_proximity(device, broad_phase_.view());
  clock.lap(seconds.broad_phase);
  const Real slack = static_cast<Real>(params.ccd_slack);
  stickslip::STICKSLIP_BACKEND::step_bound(ctx, near_.pairs, x, p, {params.ccd, slack}, bounds_.data());
  plane_step_bound(ctx, near_, x, p, slack, bounds_.data() + 1);
  Real bounds[2];
  copy_to_host(ctx, bounds, bounds_.data(), 2);
  clock.lap(seconds.ccd);
  return std::min(bounds[0], bounds[1]);
}

BarrierNewton::Norms BarrierNewton::solve(Context& ctx, IncrementalPotential& potential, const Params& params,
                                          NewtonRecord& record) {
  const std::size_t n = node_count_;
  const Vec3* g = potential.gradient();
  const std::uint8_t* fixed = potential.fixed();
  Vec3* rhs = rhs_.data();
  Vec3* p = p_.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { rhs[i] = fixed[i] ? Vec3::zero() : -g[i]; });
  const PcgSettings settings{static_cast<Real>(params.pcg_tolerance), params.pcg_iterations};
  const PcgResult pcg = pcg_.solve(ctx, potential.hessian(), rhs, p, settings, fixed);
  record.pcg_iterations = pcg.iterations;
  record.pcg_residual = pcg.residual;

  Norms* norms = norms_.data();
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return static_cast<double>(norm2(rhs[i])); }, &norms->gradient2);
  reduce_max(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return norm2(p[i]); }, Real(0), &norms->step);
  Norms host = read_back(ctx, norms);
  host.step = std::sqrt(host.step);
  return host;
}

Real BarrierNewton::line_search(Context& ctx, IncrementalPotential& potential, const Vec3* x, Real bound,
                                NewtonRecord& record) {
  const double before = total(potential.values(ctx, near_, x));
  // Differences below rounding decide nothing: near the minimiser every step is as good as none.
  const double tolerance = 1e-12 * std::abs(before);
  const Vec3* p = p_.data();
  Vec3* trial = trial_.data();
  for (Real alpha = bound; alpha > kShortestStep; alpha *= Real(0.5)) {
    launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) { trial[i] = x[i] + alpha * p[i]; });
    record.energy = total(potential.values(ctx, near_, trial));
    if (record.energy <= before + tolerance) return alpha;
  }
  record.energy = before;
  return 0;
}

void BarrierNewton::minimise(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                             const Params& params, Vec3* x, StageClock& clock, StepReport& report) {
  StageTimes& seconds = report.seconds;
  ContactTerms& contacts = potential.contacts();
  const double displacement_tolerance = params.newton_tolerance * device.diagonal;  // [m/s]
  const Real stiffness_cap = static_cast<Real>(params.barrier_cap) * contacts.stiffness();
  const Real longest = static_cast<Real>(kLongestStep) * device.diagonal;
  double first_gradient = 0;
  Real last_gap = contacts.set().min_distance();
  const bool fresh_friction = params.friction_update == FrictionUpdate::newton;
  double last_energy = std::numeric_limits<double>::infinity();
  int rises = 0, settlings = 0;
  bool frozen = false;
  report.converged = false;
  report.stop_reason = "iteration cap";

  for (int k = 0; k < params.newton_iterations; ++k) {
    NewtonRecord record;
    potential.linearise(ctx, x);
    clock.lap(seconds.assembly);
    Norms norms = solve(ctx, potential, params, record);
    clock.lap(seconds.linear_solve);
    record.gradient_norm = std::sqrt(norms.gradient2);
    record.step_norm = norms.step / params.dt;
    record.contacts = static_cast<int>(contacts.set().size());
    if (k == 0) first_gradient = record.gradient_norm;
    if (!std::isfinite(record.gradient_norm)) throw_not_finite("the gradient", report, k);
    if (!std::isfinite(record.pcg_residual)) throw_not_finite("the Newton direction", report, k);
    if (norms.step > longest) {
      Vec3* p = p_.data();
      const Real scale = longest / norms.step;
      launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) { p[i] *= scale; });
    }

    const Real bound = step_bound(ctx, device, params, x, p_.data(), clock, seconds);
    record.ccd_bound = bound;
    const Real alpha = line_search(ctx, potential, x, bound, record);
    record.step_length = alpha;
    if (!std::isfinite(record.energy)) throw_not_finite("the energy", report, k);
    clock.lap(seconds.line_search);
    if (alpha > 0) copy(ctx, x, trial_.data(), node_count_);
    rises += record.energy > last_energy;
    last_energy = record.energy;
    if (fresh_friction && !frozen && rises == kMostRises) {
      frozen = true;
      contacts.freeze_friction();
      settlings = kSettlings;
    }
    contacts.update(ctx, near_, x);
    clock.lap(seconds.contacts);
    report.newton.push_back(record);
    report.pcg_iterations += record.pcg_iterations;
    ++report.newton_iterations;

    const bool small = params.newton_stop == NewtonStop::displacement
                           ? record.step_norm <= displacement_tolerance
                           : record.gradient_norm <= params.newton_tolerance * first_gradient;
    // The last direction is worth its line search: it makes the final error quadratically smaller. A step
    // that impacts cut short has not arrived, however small the direction was; one that rounding cut short
    // has.
    if (small && bound == Real(1) && (settlings == 0 || alpha == 0)) {
      report.converged = true;
      report.stop_reason = frozen ? "converged, friction frozen" : "converged";
      return;
    }
    if (alpha == 0) {
      report.stop_reason = "line search failed";
      return;
    }
    if (params.budget_ms > 0 && clock.seconds_since_start() * 1e3 > params.budget_ms) {
      report.stopped_by_budget = true;
      report.stop_reason = "budget";
      return;
    }
    if (small && bound == Real(1)) {
      --settlings;
      contacts.update_friction(ctx, x);
      continue;
    }
    const Real gap = contacts.set().min_distance();
    if (params.barrier_stiffness == 0 && gap < kTightGap * params.d_hat && gap <= last_gap) {
      contacts.set_stiffness(
          std::min(stiffness_cap, static_cast<Real>(params.barrier_growth) * contacts.stiffness()));
      last_energy = std::numeric_limits<double>::infinity();
    }
    last_gap = gap;
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
