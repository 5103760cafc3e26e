// FrictionResponse: what Newton's method leaves out where friction is refreshed in every iteration.
#pragma once

#include "gpu/barrier/incremental_potential.cuh"
#include "gpu/linear/linear_solver.cuh"

namespace stickslip {

/// Of the Newton direction p and its change d, with the Hessian H: d'Hd and p'Hp [J], |p + d|_inf [m].
struct ResponseSums {
  double change, direction;
  Real step;
  PcgState pcg;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The normal force lambda of a sliding contact changes along p, and friction with it, by N p, where N is the
/// sum of (dF / d lambda) (d lambda / dx)'. The Hessian of friction holds lambda still, so Newton's method
/// without N converges linearly, and may cycle. (H + N) p' = -g is not symmetric. One step of a fixed-point
/// iteration from p,
///   p' = p + d,  H d = -N p,
/// leaves a tenth of the error, and a rough d is enough.
class FrictionResponse {
 public:
  void load(Context& ctx, std::size_t node_count);
  /// Solves for d with the Hessian and the contacts of the last `linearise`, at most 10 iterations of PCG.
  /// `rhs` = -g, p the Newton direction. False if d is too large to improve p. One host read.
  bool find(Context& ctx, IncrementalPotential& potential, LinearSolver& solver, const Params& params,
            const Vec3* x, const Vec3* rhs, const Vec3* p);
  /// Of the last `find` that returned true: p', in backend memory, and its largest component [m].
  const Vec3* direction() const { return sum_.data(); }
  Real step() const { return sums_.step; }
  /// By how much the potential with the present lambda may rise along p' [J]: its model predicts
  /// (d'Hd - p'Hp) / 2.
  double rise() const;
  int pcg_iterations() const { return pcg_iterations_; }

 private:
  Buffer<Vec3> force_, change_, sum_;
  Buffer<ResponseSums> device_sums_;
  ResponseSums sums_{};
  int pcg_iterations_ = 0;
};

}  // namespace stickslip::STICKSLIP_BACKEND
