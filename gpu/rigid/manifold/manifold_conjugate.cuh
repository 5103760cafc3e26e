// ConjugateSteps: conjugate gradients between the sweeps of ManifoldSolver.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/rigid/manifold/manifold_packs.h"

namespace stickslip {

/// Inner products that choose a step along a direction p, and the rule that takes it back.
struct ConjugateSums {
  double energy, slope;            // <p, W p>, <p, u> but for what E and w of contacts add,
  double soft_energy, soft_slope;  // which is this
  double conjugation;              // <W p, d> with the change d of the next sweeps
  double change;                   // <d, W d> of the last sweeps: how far they were from a fixed point
  double least_change;             // the least since the last restart
  std::int32_t stepped;            // whether the last sweeps began at the end of a step along p
  std::int32_t rejected;           // whether that step is taken back
  std::int32_t suspended;          // whether steps along directions have stopped helping (ManifoldProgress)
  bool tiny;                       // the last change is rounding

  /// A step is taken back if the sweeps after it change 1e4 times (in the norm of W) what the quietest ones
  /// did. Conjugate gradients jump by a factor of a hundred in structures that they do solve; a step that
  /// impulses cannot follow, as they slide, is as long as rounding lets it be.
  static constexpr double kMostGrowth = 1e8;
  /// Changes below this share of the kinetic energy are rounding: a direction made of them leads anywhere.
  static constexpr double kRounding = 1e-26;
  /// <p, W p> below this share of <d, W d>: p has lost six of sixteen digits.
  static constexpr double kCancelled = 1e-12;

  SS_HD void take_change(double with_last, double own, double kinetic) {
    conjugation = with_last;
    change = own;
    rejected = stepped != 0 && !(change <= kMostGrowth * least_change);
    if (rejected != 0 || !(energy > 0)) energy = soft_energy = 0;  // the next direction is its own
    if (stepped == 0 || change < least_change) least_change = change;
    tiny = !(change > kRounding * kinetic);
  }
  /// After the direction has been measured: no step where it does not lead down, where one has just been
  /// taken back, or where the direction is rounding: because the change is, or because it is what two nearly
  /// parallel vectors leave of each other. Impulses and velocities of such a direction do not belong
  /// together.
  SS_HD void settle() {
    const bool cancelled = !(energy + soft_energy > kCancelled * change);
    stepped = suspended == 0 && rejected == 0 && !tiny && !cancelled && alpha() > 0;
    if (stepped == 0) energy = soft_energy = 0;
  }
  SS_HD double beta() const {
    const double sum = energy + soft_energy;
    return sum > 0 ? -conjugation / sum : 0.0;
  }
  /// 0: no way down along p.
  SS_HD double alpha() const {
    const double sum = energy + soft_energy, down = -(slope + soft_slope);
    return sum > 0 && down > 0 ? down / sum : 0.0;
  }
};

/// What sweeps change, and what the steps between them read; see ManifoldSolver. Backend memory.
struct SweptManifolds {
  double *impulse, *v;
  std::size_t impulse_size, v_size, bodies;
  const double *v_free, *mass, *data;
  const std::int32_t* halt;  // not zero: nothing changes impulses or velocities any more
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Sweeps forth and back are a symmetric preconditioner, so that between them flexible conjugate gradients
/// carry the change of a sweep further: d is made W-conjugate to the direction before, and the step along it
/// is the one that makes 1/2 <r, W r> + <r, q> least. <p, W p> is <p_v, M p_v> with p_v = A^-1 H' p, so W is
/// never applied. Impulses may leave their cones on the way, the next sweep takes them back; what a check
/// sees is what a sweep left.
///
/// Friction makes the problem another than that quadratic, so steps are guarded (ConjugateSums): one after
/// which the sweeps change far more than before is taken back.
///
/// Per iteration: remember; sweeps; measure_change; keep_or_restore; step.
class ConjugateSteps {
 public:
  /// Makes `sums`, without values.
  void prepare(Context& ctx);
  /// Before the first iteration of a solve: there is no direction yet.
  void restart(Context& ctx);
  /// In backend memory; `suspended` is the caller's to set.
  ConjugateSums* sums() { return sums_.data(); }

  /// Where a sweep starts.
  void remember(Context& ctx, const SweptManifolds& now);
  /// Energies of the change d of the last sweeps and of the velocities, and <W p, d> with the direction p
  /// before.
  void measure_change(Context& ctx, const SweptManifolds& now);
  /// Keeps what the sweeps left, or goes back to what they left before the last step along a direction.
  void keep_or_restore(Context& ctx, const SweptManifolds& now);
  /// A step along p = d + beta p, from where the sweeps began.
  void step(Context& ctx, const SweptManifolds& now);

  // Stages of `step`; public because nvcc allows no device lambda in a private member.
  void turn_direction(Context& ctx, const SweptManifolds& now);
  void measure_direction(Context& ctx, const SweptManifolds& now);
  void step_along(Context& ctx, const SweptManifolds& now);
  void keep_or_restore(Context& ctx, const std::int32_t* halt, double* now, double* kept, std::size_t count);

 private:
  Buffer<double> impulse_before_, v_before_;  // at the start of a sweep
  Buffer<double> swept_impulse_, swept_v_;    // at the end of the last one that was not taken back
  Buffer<double> p_, p_v_;                    // the direction
  Buffer<ConjugateSums> sums_;
  Buffer<Vec<double, 2>> pair_sum_;
  Buffer<Vec<double, 3>> change_sum_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
