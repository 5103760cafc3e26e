// The Fischer-Burmeister function of a block: on the second-order cone for an ellipsoid
// [Fukushima02], row by row for a box [Course §3.3.2].
#pragma once

#include "gpu/law/nonsmooth.h"

namespace stickslip {

namespace law_detail {

/// phi(x, y) = x + y - (x^2 + y^2)^(1/2) in the Jordan algebra of the cone x_0 >= |x_1..|: zero exactly where
/// x and y are in the cone and orthogonal.
template <int D>
struct ConeFischerBurmeister {
  Vec<double, D> f;
  Mat<double, D> by_x, by_y;
};

/// L_x of the Jordan product: x o y = L_x y.
template <int D>
SS_HD inline Mat<double, D> jordan(const Vec<double, D>& x) {
  Mat<double, D> l = x[0] * Mat<double, D>::identity();
  for (int i = 1; i < D; ++i) l(0, i) = l(i, 0) = x[i];
  return l;
}

/// z = w^(1/2) with w = x^2 + y^2 through w's spectral values w_0 -+ |w_1|, here as sums of squares: their
/// difference would leave only half of the digits near the solution of a sticking contact.
template <int D>
struct JordanRoot {
  Vec<double, D - 1> direction;  // of w_1; any where w_1 = 0
  double low, high;              // the spectral values of z, 0 <= low <= high

  SS_HD JordanRoot(const Vec<double, D>& x, const Vec<double, D>& y) {
    const Vec<double, D - 1> x1 = tangential(x), y1 = tangential(y);
    direction = normalized(x[0] * x1 + y[0] * y1);
    if (direction == Vec<double, D - 1>::zero()) direction[0] = 1;
    low = std::sqrt(norm2(x1 - x[0] * direction) + norm2(y1 - y[0] * direction));
    high = std::sqrt(norm2(x1 + x[0] * direction) + norm2(y1 + y[0] * direction));
  }
  SS_HD Vec<double, D> value() const {
    return from_parts<D>(0.5 * (low + high), (0.5 * (high - low)) * direction);
  }

  /// L_z^-1, with low at least 1e-12 high.
  SS_HD Mat<double, D> inverse() const {
    const double least = low > 1e-12 * high ? low : 1e-12 * high, middle = 0.5 * (least + high);
    Mat<double, D> l{};
    l(0, 0) = 0.5 / least + 0.5 / high;
    for (int i = 1; i < D; ++i) {
      l(0, i) = l(i, 0) = (0.5 / high - 0.5 / least) * direction[i - 1];
      for (int j = 1; j < D; ++j)
        l(i, j) = (i == j ? 1 / middle : 0.0) +
                  (0.5 / high + 0.5 / least - 1 / middle) * direction[i - 1] * direction[j - 1];
    }
    return l;
  }
};

SS_HD inline double by_x_at_origin(FischerBurmeisterOrigin origin) {
  return origin == FischerBurmeisterOrigin::printed ? 1.0 : 1 - std::sqrt(0.5);
}
SS_HD inline double by_y_at_origin(FischerBurmeisterOrigin origin) {
  return origin == FischerBurmeisterOrigin::printed ? 0.0 : 1 - std::sqrt(0.5);
}

/// The derivative has a kink where x^2 + y^2 is on the boundary of the cone: there the limit for a slightly
/// larger smallest spectral value is taken, and at x = y = 0 what `origin` says; `diagonal` goes along x = y
/// in the cone's axis.
template <int D>
SS_HD inline ConeFischerBurmeister<D> cone_fischer_burmeister(const Vec<double, D>& x,
                                                              const Vec<double, D>& y,
                                                              FischerBurmeisterOrigin origin) {
  const JordanRoot<D> root(x, y);
  ConeFischerBurmeister<D> phi;
  phi.f = x + y - root.value();
  if (root.high > 0) {
    const Mat<double, D> inverse = root.inverse();
    phi.by_x = Mat<double, D>::identity() - inverse * jordan(x);
    phi.by_y = Mat<double, D>::identity() - inverse * jordan(y);
  } else {
    phi.by_x = by_x_at_origin(origin) * Mat<double, D>::identity();
    phi.by_y = by_y_at_origin(origin) * Mat<double, D>::identity();
  }
  return phi;
}

/// a + b - sqrt(a^2 + b^2) of an impulse a and a velocity b.
struct ScalarFischerBurmeister {
  double f, by_a, by_b;

  SS_HD ScalarFischerBurmeister(double a, double b, FischerBurmeisterOrigin origin) {
    const double length = std::sqrt(a * a + b * b);
    // a + b - length, without cancellation where both are positive.
    f = a > 0 && b > 0 ? 2 * a * b / (a + b + length) : a + b - length;
    by_a = length > 0 ? 1 - a / length : by_x_at_origin(origin);
    by_b = length > 0 ? 1 - b / length : by_y_at_origin(origin);
  }
};

/// phi(r_i + b, -phi(b - r_i, -v)) with b = mu max(r_N, 0): the smooth counterpart of the median of r_i - b,
/// v, r_i + b.
template <int D>
SS_HD inline void boxed_row(const ContactLaw<D>& law, const Vec<double, D>& r, const Vec<double, D>& u,
                            double scale, int row, FischerBurmeisterOrigin origin, NonsmoothBlock<D>& block) {
  const double m = law.mu[row - 1];
  if (!(m > 0)) {
    block.f[row] = r[row];
    block.df_dr(row, row) = 1;
    return;
  }
  const bool pressed = r[0] > 0;
  const double bound = pressed ? m * r[0] : 0.0;
  const ScalarFischerBurmeister upper(bound - r[row], -scale * u[row], origin);
  const ScalarFischerBurmeister both(r[row] + bound, -upper.f, origin);
  block.f[row] = both.f;
  block.df_dr(row, row) = both.by_a + both.by_b * upper.by_a;
  block.df_dr(row, 0) = pressed ? m * (both.by_a - both.by_b * upper.by_a) : 0.0;
  block.df_du(row, row) = scale * both.by_b * upper.by_b;
}

template <int D>
SS_HD inline NonsmoothBlock<D> box_fischer_burmeister(const ContactLaw<D>& law, const Vec<double, D>& r,
                                                      const Vec<double, D>& velocity, double scale,
                                                      FischerBurmeisterOrigin origin) {
  const auto shift = velocity_of_exact_law(law, velocity);
  NonsmoothBlock<D> block{Vec<double, D>::zero(), Mat<double, D>::zero(), Mat<double, D>::zero()};
  const ScalarFischerBurmeister normal(r[0], scale * shift.u[0], origin);
  block.f[0] = normal.f;
  block.df_dr(0, 0) = normal.by_a;
  block.df_du(0, 0) = scale * normal.by_b;
  for (int i = 1; i < D; ++i) boxed_row(law, r, shift.u, scale, i, origin, block);
  shift.chain(block.df_du);
  return block;
}

/// Mean of the coefficients that are not zero; 0 where there are none.
template <int D>
SS_HD inline double mean_friction(const ContactLaw<D>& law) {
  double sum = 0;
  int rows = 0;
  for (int i = 0; i < D - 1; ++i)
    if (law.mu[i] > 0) {
      sum += law.mu[i];
      ++rows;
    }
  return rows > 0 ? sum / rows : 0.0;
}

}  // namespace law_detail

/// An ellipsoid: phi(x, scale y) on x = m (r_N, r_i / mu_i), y = (u~_N, mu_i u_i) / m with m the mean of mu,
/// so that x . y = r . u~; rows with mu = 0 are f_i = r_i instead. A box: phi of the normal row and a boxed
/// phi of the others.
template <int D>
SS_HD inline NonsmoothBlock<D> fischer_burmeister(
    const ContactLaw<D>& law, const Vec<double, D>& r, const Vec<double, D>& velocity, double scale,
    FischerBurmeisterOrigin origin = FischerBurmeisterOrigin::diagonal) {
  if (law.set == FrictionSet::bilateral) return law_detail::joint_block(scale, velocity);
  const double mean = law_detail::mean_friction(law);
  if (law.set == FrictionSet::box || !(mean > 0))
    return law_detail::box_fischer_burmeister(law, r, velocity, scale, origin);
  const auto shift = law_detail::velocity_of_cones(law, velocity);
  Vec<double, D> to_x{}, to_y{};
  to_x[0] = mean;
  to_y[0] = scale / mean;
  for (int i = 1; i < D; ++i) {
    const double m = law.mu[i - 1];
    to_x[i] = m > 0 ? mean / m : 0.0;
    to_y[i] = m > 0 ? scale * m / mean : 0.0;
  }
  Vec<double, D> x{}, y{};
  for (int i = 0; i < D; ++i) {
    x[i] = to_x[i] * r[i];
    y[i] = to_y[i] * shift.u[i];
  }
  const auto phi = law_detail::cone_fischer_burmeister(x, y, origin);
  NonsmoothBlock<D> block{phi.f, Mat<double, D>::zero(), Mat<double, D>::zero()};
  for (int i = 0; i < D; ++i) {
    const bool drops = i > 0 && !(law.mu[i - 1] > 0);
    if (drops) block.f[i] = r[i];
    for (int j = 0; j < D; ++j) {
      block.df_dr(i, j) = drops ? (i == j ? 1.0 : 0.0) : phi.by_x(i, j) * to_x[j];
      block.df_du(i, j) = drops ? 0.0 : phi.by_y(i, j) * to_y[j];
    }
  }
  shift.chain(block.df_du);
  return block;
}

}  // namespace stickslip
