// A primal-dual interior-point method for the De Saxce form: u~ = W r + q + sigma(u_T) n, r in K, u~ in
// K*, r . u~ -> 0, with Nesterov-Todd scaling and Mehrotra's predictor and corrector. The shift's
// derivative is part of the linear system, so exact Coulomb needs no outer loop. For `auto`: unlike
// Newton, it does not get stuck at the kinks.
#pragma once

#include <algorithm>
#include <cmath>

#include "gpu/dfcp/solvers/newton_system.cuh"
#include "gpu/dfcp/solvers/system.cuh"
#include "gpu/law/interior.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace interior_detail {

/// The arrays of an iterate, per block. Backend memory.
template <int D>
struct Iterate {
  const ContactLaw<D>* law;
  const double* scale;
  Vec<double, D>*r, *y;     // impulses in K and velocities in K*
  const Vec<double, D>* u;  // W r + q
  Vec<double, D>*dr, *dy;   // the direction

  SS_HD bool bilateral(std::size_t c) const { return law[c].set == FrictionSet::bilateral; }
};

/// 1 for laws whose cones the method handles, otherwise 0.
template <int D>
struct HasInterior {
  const ContactLaw<D>* law;

  SS_HD double operator()(std::size_t c) const { return has_interior(law[c]) ? 1.0 : 0.0; }
};

/// Sets r and y on the axes of the cones.
template <int D>
struct StartOnAxes {
  Iterate<D> at;
  double speed;  // [m/s] of y; r would cause it

  SS_HD void operator()(std::size_t c) const {
    at.r[c] = at.y[c] = Vec<double, D>::zero();
    if (at.bilateral(c)) return;
    at.r[c][0] = speed / at.scale[c];
    at.y[c][0] = speed;
  }
};

/// c with N dx + N^-1 dz = c.
template <int D>
SS_HD inline Vec<double, D> target(const ConeScaling<D>& scaling, double theta, int order,
                                   const Vec<double, D>& dr, const Vec<double, D>& dy) {
  if (order == 0) return -scaling.lambda;
  Vec<double, D> b = -law_detail::jordan_product(scaling.lambda, scaling.lambda) -
                     law_detail::jordan_product(scaling.apply_inverse(scaling.velocity(dy)),
                                                scaling.apply(scaling.impulse(dr)));
  b[0] += theta;
  return law_detail::jordan_divide(scaling.lambda, b);
}

/// Writes a block's part of the system (B W + A) dr = right. Returns s_c r . u~ [m^2/s^2] and the number of
/// blocks with a cone, 0 or 1.
template <int D>
struct Linearise {
  Iterate<D> at;
  double theta;
  int order;
  Mat<double, D>*a, *b;
  Vec<double, D>* right;

  SS_HD Vec<double, 2> operator()(std::size_t c) const {
    a[c] = Mat<double, D>::zero();
    b[c] = Mat<double, D>::identity();
    if (at.bilateral(c)) {
      right[c] = -at.u[c];
      return Vec<double, 2>{0, 0};
    }
    const ConeScaling<D> scaling(at.law[c], at.r[c], at.y[c]);
    const Vec<double, D> infeasible = at.y[c] - shifted(at.law[c], at.u[c]);
    right[c] = scaling.unscaled_velocity(
                   scaling.apply(target(scaling, theta / at.scale[c], order, at.dr[c], at.dy[c]))) +
               infeasible;
    a[c] = scaling.impedance();
    const law_detail::ShiftedVelocity<D> shift = law_detail::velocity_of_cones(at.law[c], at.u[c]);
    shift.chain(b[c]);
    for (int i = 1; i < D; ++i)
      if (!(scaling.row_scale[i] > 0)) {  // no friction: the impulse is zero
        for (int j = 0; j < D; ++j) a[c](i, j) = b[c](i, j) = 0;
        a[c](i, i) = at.scale[c];
        right[c][i] = -at.scale[c] * at.r[c][i];
      }
    return Vec<double, 2>{at.scale[c] * dot(scaling.impulse(at.r[c]), scaling.velocity(at.y[c])), 1.0};
  }
};

/// dr = next, and dy from the linearised complementarity: S N c - M dr.
template <int D>
struct FinishDirection {
  Iterate<D> at;
  double theta;
  int order;
  const Vec<double, D>* next;

  SS_HD void operator()(std::size_t c) const {
    if (at.bilateral(c)) {
      at.dr[c] = next[c];
      at.dy[c] = Vec<double, D>::zero();
      return;
    }
    const ConeScaling<D> scaling(at.law[c], at.r[c], at.y[c]);
    const Vec<double, D> part = scaling.unscaled_velocity(
        scaling.apply(target(scaling, theta / at.scale[c], order, at.dr[c], at.dy[c])));
    at.dy[c] = part - scaling.impedance() * next[c];
    at.dr[c] = next[c];
  }
};

/// The largest share of the direction that a block allows.
template <int D>
struct LongestStep {
  Iterate<D> at;

  SS_HD double operator()(std::size_t c) const {
    return interior_step(at.law[c], at.r[c], at.y[c], at.dr[c], at.dy[c]);
  }
};

/// Steps along the direction.
template <int D>
struct Advance {
  Iterate<D> at;
  double length;

  SS_HD void operator()(std::size_t c) const {
    at.r[c] += length * at.dr[c];
    at.y[c] += length * at.dy[c];
  }
};

}  // namespace interior_detail

template <int D>
class InteriorPoint {
 public:
  /// `system` is borrowed.
  InteriorPoint(System<D>& s, NewtonSystem<D>& system)
      : s_(s),
        system_(system),
        u_(s.ctx, s.blocks()),
        y_(s.ctx, s.blocks()),
        right_(s.ctx, s.blocks()),
        dr_(s.ctx, s.blocks()),
        dy_(s.ctx, s.blocks()),
        scalar_(s.ctx, 1),
        pair_(s.ctx, 1) {}

  /// At most `most` iterations from a point inside the cones, independent of s.r. True when the monitor ended
  /// the solve; false when iterates stopped improving, or the law has no such cones.
  bool run(long most) {
    if (!all_have_interior()) return false;
    start();
    double best = 1e300;
    int since_best = 0;
    for (long k = 0; k < most; ++k) {
      const double theta = linearise(0, 0);
      if (!(theta > 0) || !system_.solve(shift(theta), right_.data(), dr_.data())) return false;
      finish_direction(0, 0);
      const double affine = std::min(1.0, longest_step());
      const double sigma = std::max(1e-8, std::pow(1 - affine, 3));
      linearise(sigma * theta, 1);
      if (!system_.solve_again(shift(theta), right_.data(), corrected())) return false;
      take_corrected(sigma * theta);
      const double length = std::min(1.0, kToBoundary * longest_step());
      move(length);
      if (s_.monitor.done(s_.r, u_.data())) return true;
      if (s_.monitor.residual() < 0.9 * best) {
        best = s_.monitor.residual();
        since_best = 0;
      }
      if (++since_best > kPatience || length < 1e-8) return false;
    }
    return false;
  }

 private:
  static constexpr double kToBoundary = 0.99;
  static constexpr int kPatience = 12;

  interior_detail::Iterate<D> iterate() {
    return {s_.law, s_.W.scale(), s_.r, y_.data(), u_.data(), dr_.data(), dy_.data()};
  }

  bool all_have_interior() {
    double* out = scalar_.data();
    reduce_min(s_.ctx, s_.blocks(), interior_detail::HasInterior<D>{s_.law}, 1.0, out);
    return read_back(s_.ctx, out) > 0;
  }

  /// Starts on the axes of the cones, with velocities of the size of q and the
  /// impulses that would cause them.
  void start() {
    const double speed = std::max(s_.W.norm_q() / std::sqrt(static_cast<double>(s_.blocks())), 1e-300);
    launch(s_.ctx, s_.blocks(), interior_detail::StartOnAxes<D>{iterate(), speed});
    s_.W.apply(s_.ctx, s_.r, u_.data(), true);
  }

  /// Right side and diagonals of the system for complementarity theta / s_c; order 1 adds the product of the
  /// predictor's parts. Returns the mean of s_c r . u~ [m^2/s^2].
  double linearise(double theta, int order) {
    Vec<double, 2>* sums = pair_.data();
    reduce_sum(s_.ctx, s_.blocks(),
               interior_detail::Linearise<D>{iterate(), theta, order, system_.impulse_blocks(),
                                             system_.velocity_blocks(), right_.data()},
               sums, kMedium);
    const Vec<double, 2> sum = read_back(s_.ctx, sums);
    return sum[1] > 0 ? sum[0] / sum[1] : 1.0;
  }

  /// The direction (dr, dy) from the solution dr of the system.
  void finish_direction(double theta, int order) {
    const Vec<double, D>* next = order == 0 ? dr_.data() : corrected();
    launch(s_.ctx, s_.blocks(), interior_detail::FinishDirection<D>{iterate(), theta, order, next}, kMedium);
  }
  void take_corrected(double theta) { finish_direction(theta, 1); }
  /// Storage of the corrected dr.
  Vec<double, D>* corrected() {
    corrected_.resize(s_.ctx, s_.blocks());
    return corrected_.data();
  }

  double longest_step() {
    double* out = scalar_.data();
    reduce_min(s_.ctx, s_.blocks(), interior_detail::LongestStep<D>{iterate()}, 1e300, out, kMedium);
    return read_back(s_.ctx, out);
  }

  void move(double length) {
    launch(s_.ctx, s_.blocks(), interior_detail::Advance<D>{iterate(), length});
    s_.W.apply(s_.ctx, s_.r, u_.data(), true);
  }

  /// W is singular and the impedance of sticking contacts vanishes: a shift that decreases
  /// keeps the system regular.
  Shift shift(double theta) const {
    const double speed = s_.W.norm_q() / std::sqrt(static_cast<double>(s_.blocks()));
    return {0, std::clamp(1e-6 * std::sqrt(std::fabs(theta)) / std::max(speed, 1e-300), 1e-13, 1e-6)};
  }

  System<D>& s_;
  NewtonSystem<D>& system_;
  Buffer<Vec<double, D>> u_, y_, right_, dr_, dy_, corrected_;
  Buffer<double> scalar_;
  Buffer<Vec<double, 2>> pair_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
