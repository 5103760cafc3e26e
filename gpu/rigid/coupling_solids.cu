// Coupling: the velocities of the elastic solids at given impulses.
#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/stage_clock.h"
#include "gpu/core/trace.h"
#include "gpu/rigid/coupling.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

constexpr int kPreciseSolves = 3;

/// The part of a point's impulse on a corner of its triangle; a point has four corners, the last one unused.
struct CornerImpulse {
  const SurfacePoint* at;
  const Vec3d* impulse;

  SS_HD Vec3 operator()(std::int32_t corner) const {
    const std::int32_t k = corner / 4, c = corner % 4;
    return c < 3 ? (at[k].weights[c] * impulse[k]).cast<Real>() : Vec3::zero();
  }
};

}  // namespace

/// B' R; null: zero.
const Vec3* Coupling::impulse_at_nodes(Context& ctx) {
  if (impulse_.size() + wrench_.size() == 0) return nullptr;
  Vec3* at_nodes = node_impulse_.data();
  fill(ctx, at_nodes, solids_.size(), Vec3::zero());
  touching_.gather().sum(ctx, CornerImpulse{touching_.points(), impulse_.data()}, at_nodes);
  particles_.frames().add_impulses(ctx, wrench_.data(), at_nodes);
  return at_nodes;
}

/// v = A_e^-1 (f_e + B' R), or with R = 0 in its place; PCG starts from the given v. Returns B' R.
const Vec3* Coupling::solve_solids(Context& ctx, Impulses kind, Vec3* v, double tolerance, double reference) {
  const Vec3* at_nodes = kind == Impulses::current ? impulse_at_nodes(ctx) : nullptr;
  solve_solids(ctx, at_nodes, v, tolerance, reference);
  return at_nodes;
}

/// The same at given impulses, or with A + W in place of A.
void Coupling::solve_solids(Context& ctx, const Vec3* at_nodes, Vec3* v, double tolerance, double reference) {
  const Span span(ctx, "elastic solve");
  const StageClock clock;
  const PcgResult result = solids_.solve(ctx, at_nodes, v, tolerance, reference);
  done_.pcg_iterations += result.iterations;
  done_.pcg_stop = result.stop;
  done_.linear_seconds += clock.seconds_since_start();
}

/// v at the first impulses. PCG starts from v without impulses or, where the equations hold better there,
/// from v at the start of the step: of objects that rest, that is the solution.
void Coupling::solve_start(Context& ctx, double tolerance) {
  const Vec3* at_nodes = impulse_at_nodes(ctx);
  const bool is_free = solids_.residual_size(ctx, at_nodes, v_free_.data()) <=
                       solids_.residual_size(ctx, at_nodes, solids_.v.data());
  copy(ctx, v_.data(), is_free ? v_free_.data() : solids_.v.data(), v_.size());
  solve_solids(ctx, Impulses::current, v_.data(), tolerance, fall_);
}

/// v to `tolerance` in the measure of the judge (SolidBalance::residual), with the momentum of the impulses.
/// PCG measures with its preconditioner, and may stop too early.
void Coupling::solve_precisely(Context& ctx, double tolerance) {
  const double reference = fall_ + solids_.residual_size(ctx, impulse_at_nodes(ctx), solids_.v.data());
  double target = tolerance;
  for (int i = 0; i < kPreciseSolves; ++i) {
    const Vec3* at_nodes = solve_solids(ctx, Impulses::current, v_.data(), target, reference);
    solids_.balance(ctx, at_nodes, v_.data());
    const double left = solids_.residual_size(ctx, at_nodes, v_.data());
    // Without loads there is nothing to measure against.
    if (left <= tolerance * reference || reference == 0 || done_.pcg_stop != PcgStop::converged) return;
    target *= 0.5 * tolerance * reference / left;
  }
}

/// The solids' velocities without contact impulses. With cores they start from free fall, and need be no more
/// precise than those of a round.
void Coupling::solve_free(Context& ctx, const Params& params) {
  copy(ctx, v_free_.data(), solids_.v.data(), v_.size());
  fall_ = solids_.residual_size(ctx, nullptr, v_free_.data());
  double tolerance = params.pcg_tolerance;
  if (particles_.cores().core != nullptr) {
    solids_.fall(ctx, v_free_.data());
    tolerance = std::max(tolerance, precision_);
  }
  solve_solids(ctx, Impulses::none, v_free_.data(), tolerance, fall_);
}

}  // namespace stickslip::STICKSLIP_BACKEND
