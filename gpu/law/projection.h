// Euclidean projections onto the cone K of a law, its dual K* and its sections.
#pragma once

#include <limits>

#include "gpu/law/contact_law.h"

namespace stickslip {

namespace law_detail {

/// y_i = numerator_i / (offset_i + slope_i x); a row of numerator 0 is 0 whatever its denominator.
template <int N>
struct PoleSum {
  Vec<double, N> numerator, offset, slope;

  SS_HD Vec<double, N> at(double x) const {
    Vec<double, N> y{};
    for (int i = 0; i < N; ++i) y[i] = numerator[i] != 0 ? numerator[i] / (offset[i] + slope[i] * x) : 0.0;
    return y;
  }
};

/// The x >= 0 with level / |y(x)| = 1 - drop x, where the left side is smaller at 0. level / |y| is concave
/// and grows, so that Newton's method from 0 comes from the left and never steps over the root.
template <int N>
SS_HD inline double secular_root(const PoleSum<N>& poles, double level, double drop) {
  double x = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const Vec<double, N> y = poles.at(x);
    const double length = norm(y);
    double sum = 0;
    for (int i = 0; i < N; ++i)
      if (y[i] != 0) sum += y[i] * (y[i] / length) * poles.slope[i] / (poles.offset[i] + poles.slope[i] * x);
    const double value = level / length - 1 + drop * x;
    const double step = -value / (level * sum / (length * length) + drop);
    if (!(step > std::numeric_limits<double>::epsilon() * x)) break;
    x += step;
  }
  return x;
}

/// x without the rows in which friction can do nothing.
template <int D>
SS_HD inline Vec<double, D> drop_frictionless(const ContactLaw<D>& law, Vec<double, D> x) {
  for (int i = 1; i < D; ++i)
    if (!(law.mu[i - 1] > 0)) x[i] = 0;
  return x;
}

template <int D>
SS_HD inline Vec<double, D> project_circular(double mu, const Vec<double, D>& x) {
  const Vec<double, D - 1> t = tangential(x);
  const double length = norm(t);
  if (mu * length <= -x[0]) return Vec<double, D>::zero();
  if (length <= mu * x[0]) return x;
  const double n = (x[0] + mu * length) / (1 + mu * mu);
  return from_parts<D>(n, (mu * n / length) * t);
}

/// Where x lies as an ellipsoidal cone sees it, and the multiplier of its projection: with E = diag(-1,
/// 1/mu_i^2), P + x_multiplier E P = x. The multiplier runs from 0 in K over 1 at x_N = 0 to infinity in the
/// polar cone: `inverted` says that `multiplier` is its reciprocal.
struct ConeMultiplier {
  enum class Region { inside, polar, beside } region;
  double multiplier;
  bool inverted;
};

/// x has no frictionless rows.
template <int D>
SS_HD inline ConeMultiplier cone_multiplier(const ContactLaw<D>& law, const Vec<double, D>& x) {
  using Region = ConeMultiplier::Region;
  double inside = 0;
  PoleSum<D - 1> poles{};
  for (int i = 0; i < D - 1; ++i) {
    const double m = law.mu[i];
    const double scaled = x[i + 1] != 0 ? x[i + 1] / m : 0.0;
    inside += scaled * scaled;
    poles.numerator[i] = m * x[i + 1];
    poles.offset[i] = x[0] < 0 ? 1.0 : m * m;
    poles.slope[i] = x[0] < 0 ? m * m : 1.0;
  }
  if (x[0] >= 0 && std::sqrt(inside) <= x[0]) return {Region::inside, 0, false};
  if (support(law, x) <= -x[0]) return {Region::polar, 0, true};
  return {Region::beside, secular_root(poles, std::fabs(x[0]), 1), x[0] < 0};
}

template <int D>
SS_HD inline Vec<double, D> project_ellipsoid(const ContactLaw<D>& law, const Vec<double, D>& given) {
  const Vec<double, D> x = drop_frictionless(law, given);
  const ConeMultiplier at = cone_multiplier(law, x);
  if (at.region == ConeMultiplier::Region::inside) return x;
  Vec<double, D> p = Vec<double, D>::zero();
  if (at.region == ConeMultiplier::Region::polar) return p;
  double sum = 0;
  for (int i = 1; i < D; ++i) {
    const double m = law.mu[i - 1];
    if (x[i] == 0) continue;
    const double y = at.inverted ? m * x[i] / (1 + m * m * at.multiplier) * at.multiplier
                                 : m * x[i] / (m * m + at.multiplier);
    p[i] = m * y;
    sum += y * y;
  }
  p[0] = std::sqrt(sum);  // the projection lies on the cone: better than x_N / (1 - multiplier) near 1
  return p;
}

/// r_N minimises (r_N - x_N)^2 + sum max(|x_i| - mu_i r_N, 0)^2, whose derivative is concave: Newton's method
/// from 0 loses rows from the sum one after the other.
template <int D>
SS_HD inline double box_normal(const ContactLaw<D>& law, const Vec<double, D>& x) {
  double n = 0;
  for (int rows = 0; rows < D; ++rows) {
    double sum = x[0], weight = 1;
    for (int i = 1; i < D; ++i) {
      const double m = law.mu[i - 1];
      if (std::fabs(x[i]) <= m * n) continue;
      sum += m * std::fabs(x[i]);
      weight += m * m;
    }
    const double next = sum / weight;
    if (!(next > n)) break;
    n = next;
  }
  return n;
}

SS_HD inline double clamp(double x, double bound) { return x > bound ? bound : x < -bound ? -bound : x; }

/// As box_normal, with the lengths in the two discs in place of |x_i|.
template <int D>
SS_HD inline double discs_normal(const ContactLaw<D>& law, const Vec<double, D>& x) {
  const Vec<double, D - 1> t = tangential(x);
  double n = 0;
  for (int pass = 0; pass < 3; ++pass) {
    double sum = x[0], weight = 1;
    for (int disc = 0; disc < 2; ++disc) {
      const double m = law.mu[2 * disc], length = disc_length(t, disc);
      if (length <= m * n) continue;
      sum += m * length;
      weight += m * m;
    }
    const double next = sum / weight;
    if (!(next > n)) break;
    n = next;
  }
  return n;
}

/// Each of the two parts of x, moved onto its disc if it is outside.
template <int D>
SS_HD inline Vec<double, D - 1> project_discs(const ContactLaw<D>& law, double radius, Vec<double, D - 1> x) {
  for (int disc = 0; disc < 2; ++disc) {
    const double length = disc_length(x, disc), bound = law.mu[2 * disc] * radius;
    if (length <= bound) continue;
    for (int i = 2 * disc; i < 2 * disc + 2; ++i) x[i] *= bound / length;
  }
  return x;
}

}  // namespace law_detail

/// The point of radius * section {r_T : r_N = 1} closest to x; zero where radius <= 0. Of a bilateral law x
/// itself. An ellipse takes the root of the secular equation that the text bisects [Course Alg.13].
template <int D>
SS_HD inline Vec<double, D - 1> project_section(const ContactLaw<D>& law, double radius,
                                                Vec<double, D - 1> x) {
  if (law.set == FrictionSet::bilateral) return x;
  if (!(radius > 0)) return Vec<double, D - 1>::zero();
  if constexpr (D == kRollingRows)
    if (is_rolling(law)) return law_detail::project_discs(law, radius, x);
  if (law.set == FrictionSet::box) {
    for (int i = 0; i < D - 1; ++i) x[i] = law_detail::clamp(x[i], law.mu[i] * radius);
    return x;
  }
  if (is_circular(law)) {
    const double length = norm(x), bound = law.mu[0] * radius;
    return length <= bound ? x : (bound / length) * x;
  }
  law_detail::PoleSum<D - 1> poles{};
  double inside = 0;
  for (int i = 0; i < D - 1; ++i) {
    const double a = law.mu[i] * radius;
    if (!(a > 0)) x[i] = 0;
    const double scaled = x[i] != 0 ? x[i] / a : 0.0;
    inside += scaled * scaled;
    poles.numerator[i] = a * x[i];
    poles.offset[i] = a * a;
    poles.slope[i] = 1;
  }
  if (inside <= 1) return x;
  const Vec<double, D - 1> y = poles.at(law_detail::secular_root(poles, 1, 0));
  for (int i = 0; i < D - 1; ++i) x[i] = law.mu[i] * radius * y[i];
  return x;
}

/// P_K(x), the point of the cone K closest to x [N s]. K of a bilateral law is everything.
template <int D>
SS_HD inline Vec<double, D> project(const ContactLaw<D>& law, const Vec<double, D>& x) {
  if (law.set == FrictionSet::bilateral) return x;
  if constexpr (D == kRollingRows)
    if (is_rolling(law)) {
      const double n = law_detail::discs_normal(law, x);
      return from_parts<D>(n, law_detail::project_discs(law, n, tangential(x)));
    }
  if (law.set == FrictionSet::box) {
    const double n = law_detail::box_normal(law, x);
    Vec<double, D> p = Vec<double, D>::zero();
    p[0] = n;
    for (int i = 1; i < D; ++i) p[i] = law_detail::clamp(x[i], law.mu[i - 1] * n);
    return p;
  }
  return is_circular(law) ? law_detail::project_circular(law.mu[0], x)
                          : law_detail::project_ellipsoid(law, x);
}

}  // namespace stickslip
