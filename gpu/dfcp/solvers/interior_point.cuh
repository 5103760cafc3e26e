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

  // The following members are public because nvcc allows no device lambdas in private members.

  bool all_have_interior() {
    const ContactLaw<D>* law = s_.law;
    double* out = scalar_.data();
    reduce_min(
        s_.ctx, s_.blocks(), [=] SS_LAMBDA(std::size_t c) { return has_interior(law[c]) ? 1.0 : 0.0; }, 1.0,
        out);
    return read_back(s_.ctx, out) > 0;
  }

  /// Starts on the axes of the cones, with velocities of the size of q and the
  /// impulses that would cause them.
  void start() {
    const double speed = std::max(s_.W.norm_q() / std::sqrt(static_cast<double>(s_.blocks())), 1e-300);
    const ContactLaw<D>* law = s_.law;
    const double* scale = s_.W.scale();
    Vec<double, D>*r = s_.r, *y = y_.data();
    launch(s_.ctx, s_.blocks(), [=] SS_LAMBDA(std::size_t c) {
      r[c] = y[c] = Vec<double, D>::zero();
      if (law[c].set == FrictionSet::bilateral) return;
      r[c][0] = speed / scale[c];
      y[c][0] = speed;
    });
    s_.W.apply(s_.ctx, r, u_.data(), true);
  }

  /// Right side and diagonals of the system for complementarity theta / s_c; order 1 adds the product of the
  /// predictor's parts. Returns the mean of s_c r . u~ [m^2/s^2].
  double linearise(double theta, int order) {
    const ContactLaw<D>* law = s_.law;
    const double* scale = s_.W.scale();
    const Vec<double, D>*r = s_.r, *y = y_.data(), *u = u_.data(), *dr = dr_.data(), *dy = dy_.data();
    Vec<double, D>* right = right_.data();
    Mat<double, D>*a = system_.impulse_blocks(), *b = system_.velocity_blocks();
    Vec<double, 2>* sums = pair_.data();
    reduce_sum(
        s_.ctx, s_.blocks(),
        [=] SS_LAMBDA(std::size_t c) {
          a[c] = Mat<double, D>::zero();
          b[c] = Mat<double, D>::identity();
          if (law[c].set == FrictionSet::bilateral) {
            right[c] = -u[c];
            return Vec<double, 2>{0, 0};
          }
          const ConeScaling<D> scaling(law[c], r[c], y[c]);
          const Vec<double, D> infeasible = y[c] - shifted(law[c], u[c]);
          right[c] = scaling.unscaled_velocity(
                         scaling.apply(target(scaling, theta / scale[c], order, dr[c], dy[c]))) +
                     infeasible;
          a[c] = scaling.impedance();
          const law_detail::ShiftedVelocity<D> shift = law_detail::velocity_of_cones(law[c], u[c]);
          shift.chain(b[c]);
          for (int i = 1; i < D; ++i)
            if (!(scaling.row_scale[i] > 0)) {  // no friction: the impulse is zero
              for (int j = 0; j < D; ++j) a[c](i, j) = b[c](i, j) = 0;
              a[c](i, i) = scale[c];
              right[c][i] = -scale[c] * r[c][i];
            }
          return Vec<double, 2>{scale[c] * dot(scaling.impulse(r[c]), scaling.velocity(y[c])), 1.0};
        },
        sums, kMedium);
    const Vec<double, 2> sum = read_back(s_.ctx, sums);
    return sum[1] > 0 ? sum[0] / sum[1] : 1.0;
  }

  /// c with N dx + N^-1 dz = c.
  SS_HD static Vec<double, D> target(const ConeScaling<D>& scaling, double theta, int order,
                                     const Vec<double, D>& dr, const Vec<double, D>& dy) {
    if (order == 0) return -scaling.lambda;
    Vec<double, D> b = -law_detail::jordan_product(scaling.lambda, scaling.lambda) -
                       law_detail::jordan_product(scaling.apply_inverse(scaling.velocity(dy)),
                                                  scaling.apply(scaling.impulse(dr)));
    b[0] += theta;
    return law_detail::jordan_divide(scaling.lambda, b);
  }

  /// dy from the linearised complementarity: S N c - M dr.
  void finish_direction(double theta, int order) {
    const ContactLaw<D>* law = s_.law;
    const double* scale = s_.W.scale();
    const Vec<double, D>*r = s_.r, *y = y_.data(), *next = order == 0 ? dr_.data() : corrected();
    Vec<double, D>*dr = dr_.data(), *dy = dy_.data();
    launch(
        s_.ctx, s_.blocks(),
        [=] SS_LAMBDA(std::size_t c) {
          if (law[c].set == FrictionSet::bilateral) {
            dr[c] = next[c];
            dy[c] = Vec<double, D>::zero();
            return;
          }
          const ConeScaling<D> scaling(law[c], r[c], y[c]);
          const Vec<double, D> part = scaling.unscaled_velocity(
              scaling.apply(target(scaling, theta / scale[c], order, dr[c], dy[c])));
          dy[c] = part - scaling.impedance() * next[c];
          dr[c] = next[c];
        },
        kMedium);
  }
  void take_corrected(double theta) { finish_direction(theta, 1); }
  /// Storage of the corrected dr: reuses the right side, which is no longer needed.
  Vec<double, D>* corrected() {
    corrected_.resize(s_.ctx, s_.blocks());
    return corrected_.data();
  }

  double longest_step() {
    const ContactLaw<D>* law = s_.law;
    const Vec<double, D>*r = s_.r, *y = y_.data(), *dr = dr_.data(), *dy = dy_.data();
    double* out = scalar_.data();
    reduce_min(
        s_.ctx, s_.blocks(),
        [=] SS_LAMBDA(std::size_t c) { return interior_step(law[c], r[c], y[c], dr[c], dy[c]); }, 1e300, out,
        kMedium);
    return read_back(s_.ctx, out);
  }

  void move(double length) {
    Vec<double, D>*r = s_.r, *y = y_.data();
    const Vec<double, D>*dr = dr_.data(), *dy = dy_.data();
    launch(s_.ctx, s_.blocks(), [=] SS_LAMBDA(std::size_t c) {
      r[c] += length * dr[c];
      y[c] += length * dy[c];
    });
    s_.W.apply(s_.ctx, r, u_.data(), true);
  }

  /// W is singular and the impedance of sticking contacts vanishes: a shift that decreases
  /// keeps the system regular.
  Shift shift(double theta) const {
    const double speed = s_.W.norm_q() / std::sqrt(static_cast<double>(s_.blocks()));
    return {0, std::clamp(1e-6 * std::sqrt(std::fabs(theta)) / std::max(speed, 1e-300), 1e-13, 1e-6)};
  }

 private:
  static constexpr double kToBoundary = 0.99;
  static constexpr int kPatience = 12;

  System<D>& s_;
  NewtonSystem<D>& system_;
  Buffer<Vec<double, D>> u_, y_, right_, dr_, dy_, corrected_;
  Buffer<double> scalar_;
  Buffer<Vec<double, 2>> pair_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
