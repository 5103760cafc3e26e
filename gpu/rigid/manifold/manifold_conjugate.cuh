// ConjugateSteps: conjugate gradients between the sweeps of ManifoldSolver.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/rigid/manifold/manifold_packs.h"

namespace stickslip {

/// Inner products for a step along a direction p, and the rule that undoes the step.
struct ConjugateSums {
  double energy, slope;            // <p, W p> and <p, u>, without the terms of E and w of contacts
  double soft_energy, soft_slope;  // those terms
  double conjugation;              // <W p, d> with the change d of the next sweeps
  double change;                   // <d, W d> of the last sweeps: distance from a fixed point
  double least_change;             // the least since the last restart
  std::int32_t stepped;            // 1: the last sweeps began at the end of a step along p
  std::int32_t rejected;           // 1: that step is undone
  std::int32_t suspended;          // 1: steps along directions have stopped helping (ManifoldProgress)
  bool tiny;                       // the last change is rounding

  /// A step is undone if the change by the sweeps after it is 1e4 times (in the norm of W) the smallest so
  /// far. In structures that conjugate gradients do solve, changes jump by up to a hundred. Where contacts
  /// slide, impulses cannot follow the step, and only rounding limits its length.
  static constexpr double kMostGrowth = 1e8;
  /// Changes below this share of the kinetic energy are rounding: a direction made of them is meaningless.
  static constexpr double kRounding = 1e-26;
  /// <p, W p> below this share of <d, W d>: p has lost six of sixteen digits.
  static constexpr double kCancelled = 1e-12;

  SS_HD void take_change(double with_last, double own, double kinetic) {
    conjugation = with_last;
    change = own;
    rejected = stepped != 0 && !(change <= kMostGrowth * least_change);
    if (rejected != 0 || !(energy > 0)) energy = soft_energy = 0;  // the next direction is d itself
    if (stepped == 0 || change < least_change) least_change = change;
    tiny = !(change > kRounding * kinetic);
  }
  /// Call after the direction has been measured. No step where p is no descent direction, where a step has
  /// just been undone, or where the direction is rounding: because the change is, or because it is the
  /// difference of two nearly parallel vectors. Impulses and velocities of such a direction are inconsistent.
  SS_HD void settle() {
    const bool cancelled = !(energy + soft_energy > kCancelled * change);
    stepped = suspended == 0 && rejected == 0 && !tiny && !cancelled && alpha() > 0;
    if (stepped == 0) energy = soft_energy = 0;
  }
  SS_HD double beta() const {
    const double sum = energy + soft_energy;
    return sum > 0 ? -conjugation / sum : 0.0;
  }
  /// 0: p is no descent direction.
  SS_HD double alpha() const {
    const double sum = energy + soft_energy, down = -(slope + soft_slope);
    return sum > 0 && down > 0 ? down / sum : 0.0;
  }
};

/// The state that sweeps change, and the data that the steps between them read; see
/// ManifoldSolver. Backend memory.
struct SweptManifolds {
  double *impulse, *v;
  std::size_t impulse_size, v_size, bodies;
  const double *v_free, *mass, *data;
  const Vec<double, 2>* block_soft;  // E and w of each row of the blocks, whose impulses follow the packs'
  std::size_t block_rows;
  const std::int32_t* halt;  // nonzero: impulses and velocities no longer change
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// A forward and a backward sweep are a symmetric preconditioner. Between such pairs flexible conjugate
/// gradients extrapolate their change d of r: d is made W-conjugate to the previous direction, and the step
/// along it minimises 1/2 <r, W r> + <r, q>. <p, W p> is <p_v, M p_v> with p_v = A^-1 H' p, so W is never
/// applied. Impulses may leave their cones in a step; the next sweep projects them back, and only impulses
/// after a sweep are checked.
///
/// Friction makes the problem differ from that quadratic, so steps are guarded (ConjugateSums): a step after
/// which the sweeps change far more than before is undone.
///
/// Per iteration: sweeps; measure_change; turn; step.
class ConjugateSteps {
 public:
  /// Allocates `sums` without setting values.
  void prepare(Context& ctx);
  /// Before the first iteration of a solve, and where other code has changed the state: clears the direction,
  /// and stores the state before the sweeps.
  void restart(Context& ctx, const SweptManifolds& now);
  /// In backend memory; the caller sets `suspended`.
  ConjugateSums* sums() { return sums_.data(); }

  /// Energies of the change d of the last sweeps and of the velocities, and <W p, d> with
  /// the previous direction p.
  void measure_change(Context& ctx, const SweptManifolds& now);
  /// Keeps the result of the sweeps, or restores the result before the last step along a direction. Then
  /// p = d + beta p, W-conjugate to the previous p.
  void turn(Context& ctx, const SweptManifolds& now);
  /// Steps along p from the state before the sweeps, by its energies there, and stores the new state.
  void step(Context& ctx, const SweptManifolds& now);

 private:
  Buffer<double> impulse_before_, v_before_;  // at the start of a sweep
  Buffer<double> swept_impulse_, swept_v_;    // at the end of the last sweep that was kept
  Buffer<double> p_, p_v_;                    // the direction
  Buffer<ConjugateSums> sums_;
  Buffer<Vec<double, 2>> pair_sum_, soft_sum_;
  Buffer<Vec<double, 3>> change_sum_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
