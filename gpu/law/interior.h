// The parts of a law that an interior-point method needs: scalings that keep an impulse r inside K and a
// velocity y inside K* on their way to r . y = 0.
//
// Rows are scaled by the friction coefficients, x = (r_N, r_i / mu_i) and z = (y_N, mu_i y_i): both cones
// become the second-order cone L, and x . z = r . y. Rows with mu = 0 stay out: their impulse is zero.
#pragma once

#include <limits>

#include "gpu/law/nonsmooth.h"

namespace stickslip {

/// Whether the cones of this law are handled: ellipsoids under either flow rule, and bilateral blocks. No
/// boxes, and no rolling resistance: those cones are not second-order cones.
template <int D>
SS_HD inline bool has_interior(const ContactLaw<D>& law) {
  return law.set != FrictionSet::box && law.set != FrictionSet::rolling;
}

namespace law_detail {

template <int D>
SS_HD inline double cone_determinant(const Vec<double, D>& x) {
  const double t = norm(tangential(x));
  return (x[0] - t) * (x[0] + t);
}

/// x o y = (x . y, x_0 y_1 + y_0 x_1).
template <int D>
SS_HD inline Vec<double, D> jordan_product(const Vec<double, D>& x, const Vec<double, D>& y) {
  Vec<double, D> p{};
  p[0] = dot(x, y);
  for (int i = 1; i < D; ++i) p[i] = x[0] * y[i] + y[0] * x[i];
  return p;
}

/// y with x o y = b.
template <int D>
SS_HD inline Vec<double, D> jordan_divide(const Vec<double, D>& x, const Vec<double, D>& b) {
  Vec<double, D> y{};
  y[0] = (x[0] * b[0] - dot(tangential(x), tangential(b))) / cone_determinant(x);
  for (int i = 1; i < D; ++i) y[i] = (b[i] - y[0] * x[i]) / x[0];
  return y;
}

/// The longest step from x inside L along d that stays in L.
template <int D>
SS_HD inline double step_to_boundary(const Vec<double, D>& x, const Vec<double, D>& d) {
  const double t = norm(tangential(d));
  if (d[0] >= t) return std::numeric_limits<double>::infinity();
  const double a = (d[0] - t) * (d[0] + t), b = 2 * (x[0] * d[0] - dot(tangential(x), tangential(d)));
  const double c = cone_determinant(x);
  const double inside = b * b - 4 * a * c;
  const double q = -0.5 * (b + (b < 0 ? -1.0 : 1.0) * std::sqrt(inside > 0 ? inside : 0.0));
  double best = std::numeric_limits<double>::infinity();
  if (a != 0 && q / a > 0) best = q / a;
  if (q != 0 && c / q > 0 && c / q < best) best = c / q;
  return best;
}

}  // namespace law_detail

/// Nesterov and Todd's scaling N of a pair x, z inside L: N x = N^-1 z = lambda.
template <int D>
struct ConeScaling {
  Vec<double, D> row_scale;  // x = row_scale r, y = row_scale z; 0 for rows without friction
  Vec<double, D> axis;       // unit hyperbolic vector w
  Vec<double, D> lambda;
  double size = 1;

  SS_HD ConeScaling(const ContactLaw<D>& law, const Vec<double, D>& r, const Vec<double, D>& y) {
    row_scale[0] = 1;
    for (int i = 1; i < D; ++i) row_scale[i] = law.mu[i - 1] > 0 ? 1 / law.mu[i - 1] : 0.0;
    const Vec<double, D> x = impulse(r), z = velocity(y);
    const double dx = std::sqrt(law_detail::cone_determinant(x)),
                 dz = std::sqrt(law_detail::cone_determinant(z));
    size = std::sqrt(dz / dx);
    const double gamma = std::sqrt(0.5 * (1 + dot(x, z) / (dx * dz)));
    axis[0] = (z[0] / dz + x[0] / dx) / (2 * gamma);
    for (int i = 1; i < D; ++i) axis[i] = (z[i] / dz - x[i] / dx) / (2 * gamma);
    lambda = apply(x);
  }

  SS_HD Vec<double, D> impulse(const Vec<double, D>& r) const {
    Vec<double, D> x{};
    for (int i = 0; i < D; ++i) x[i] = row_scale[i] * r[i];
    return x;
  }
  SS_HD Vec<double, D> velocity(const Vec<double, D>& y) const {
    Vec<double, D> z{};
    for (int i = 0; i < D; ++i) z[i] = row_scale[i] > 0 ? y[i] / row_scale[i] : 0.0;
    return z;
  }
  SS_HD Vec<double, D> unscaled_velocity(const Vec<double, D>& z) const { return impulse(z); }

  /// N v.
  SS_HD Vec<double, D> apply(const Vec<double, D>& v) const {
    double along = 0;
    for (int i = 1; i < D; ++i) along += axis[i] * v[i];
    Vec<double, D> out{};
    out[0] = size * (axis[0] * v[0] + along);
    const double factor = v[0] + along / (1 + axis[0]);
    for (int i = 1; i < D; ++i) out[i] = size * (v[i] + factor * axis[i]);
    return out;
  }
  /// N^-1 v.
  SS_HD Vec<double, D> apply_inverse(const Vec<double, D>& v) const {
    double along = 0;
    for (int i = 1; i < D; ++i) along += axis[i] * v[i];
    Vec<double, D> out{};
    out[0] = (axis[0] * v[0] - along) / size;
    const double factor = along / (1 + axis[0]) - v[0];
    for (int i = 1; i < D; ++i) out[i] = (v[i] + factor * axis[i]) / size;
    return out;
  }
  /// What N^2 becomes between impulses and velocities: dy = -M dr keeps r o y.
  SS_HD Mat<double, D> impedance() const {
    Mat<double, D> m{};
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        double sum = 2 * axis[i] * axis[j];
        if (i == j) sum += i == 0 ? -1.0 : 1.0;
        m(i, j) = size * size * row_scale[i] * row_scale[j] * sum;
      }
    return m;
  }
};

/// The largest share of (dr, dy) that keeps r in K and y in K*; infinite for a bilateral block.
template <int D>
SS_HD inline double interior_step(const ContactLaw<D>& law, const Vec<double, D>& r, const Vec<double, D>& y,
                                  const Vec<double, D>& dr, const Vec<double, D>& dy) {
  if (law.set == FrictionSet::bilateral) return std::numeric_limits<double>::infinity();
  Vec<double, D> x{}, z{}, dx{}, dz{};
  for (int i = 0; i < D; ++i) {
    const double mu = i == 0 ? 1.0 : law.mu[i - 1];
    if (!(mu > 0)) continue;
    x[i] = r[i] / mu;
    dx[i] = dr[i] / mu;
    z[i] = y[i] * mu;
    dz[i] = dy[i] * mu;
  }
  const double a = law_detail::step_to_boundary(x, dx), b = law_detail::step_to_boundary(z, dz);
  return a < b ? a : b;
}

}  // namespace stickslip
