// Derivatives of the projections of projection.h: where these have a kink, the one element of the generalised
// Jacobian that belongs to the closed inner piece (in K before on its boundary, in the polar cone before
// outside).
#pragma once

#include "gpu/law/projection.h"
#include "gpu/math/dense_solve.h"

namespace stickslip {

/// p = P_{radius section}(x) with dp/dx and dp/dradius.
template <int D>
struct SectionProjection {
  Vec<double, D - 1> p;
  Mat<double, D - 1> by_x;
  Vec<double, D - 1> by_radius;
};

namespace law_detail {

/// On the rim of the ellipsoid with semi-axes a = mu radius: p + lambda N = x with N_i = p_i / a_i^2.
template <int D>
SS_HD inline void differentiate_rim(const ContactLaw<D>& law, double radius, const Vec<double, D - 1>& x,
                                    SectionProjection<D>& result) {
  PoleSum<D - 1> poles{};
  for (int i = 0; i < D - 1; ++i) {
    const double a = law.mu[i] * radius;
    poles.numerator[i] = a * x[i];
    poles.offset[i] = a * a;
    poles.slope[i] = 1;
  }
  const double lambda = secular_root(poles, 1, 0);
  Vec<double, D - 1> h{}, n{};
  double weight = 0;
  for (int i = 0; i < D - 1; ++i) {
    const double sum = poles.offset[i] + lambda;
    h[i] = sum > 0 ? poles.offset[i] / sum : 0.0;
    n[i] = sum > 0 ? x[i] / sum : 0.0;
    weight += n[i] * h[i] * n[i];
  }
  for (int i = 0; i < D - 1; ++i)
    for (int j = 0; j < D - 1; ++j)
      result.by_x(i, j) = (i == j ? h[i] : 0.0) - (weight > 0 ? h[i] * n[i] * h[j] * n[j] / weight : 0.0);
  // p is homogeneous in (x, radius).
  result.by_radius = (1 / radius) * (result.p - result.by_x * x);
}

/// Of one disc: x fixed inside, on the rim x / |x| and its derivative.
template <int D>
SS_HD inline void differentiate_disc(double mu, double radius, const Vec<double, D - 1>& x, int disc,
                                     SectionProjection<D>& result) {
  const int first = 2 * disc;
  const double length = disc_length(x, disc);
  if (!(mu > 0)) return;
  if (radius > 0 && length <= mu * radius) {
    for (int i = first; i < first + 2; ++i) result.by_x(i, i) = 1;
    return;
  }
  if (!(length > 0)) return;
  for (int i = first; i < first + 2; ++i) {
    result.by_radius[i] = mu * x[i] / length;
    for (int j = first; j < first + 2; ++j)
      result.by_x(i, j) = mu * radius / length * ((i == j ? 1.0 : 0.0) - x[i] / length * (x[j] / length));
  }
}

}  // namespace law_detail

/// Where radius <= 0: p = 0 and dp/dx = 0, dp/dradius that of radius -> +0 at radius = 0, and 0 below.
template <int D>
SS_HD inline SectionProjection<D> differentiate_section(const ContactLaw<D>& law, double radius,
                                                        Vec<double, D - 1> x) {
  using Tangent = Vec<double, D - 1>;
  SectionProjection<D> result{project_section(law, radius, x), Mat<double, D - 1>::zero(), Tangent::zero()};
  if (law.set == FrictionSet::bilateral) {
    result.by_x = Mat<double, D - 1>::identity();
    return result;
  }
  if (radius < 0) return result;
  if constexpr (D == kRollingRows)
    if (is_rolling(law)) {
      for (int disc = 0; disc < 2; ++disc)
        law_detail::differentiate_disc(law.mu[2 * disc], radius, x, disc, result);
      return result;
    }
  if (law.set == FrictionSet::box) {
    for (int i = 0; i < D - 1; ++i) {
      if (std::fabs(x[i]) <= law.mu[i] * radius && law.mu[i] > 0) result.by_x(i, i) = 1;
      else result.by_radius[i] = x[i] > 0 ? law.mu[i] : -law.mu[i];
    }
    return result;
  }
  for (int i = 0; i < D - 1; ++i) x[i] = law.mu[i] > 0 ? x[i] : 0.0;
  if (result.p == x && radius > 0) {
    for (int i = 0; i < D - 1; ++i) result.by_x(i, i) = law.mu[i] > 0 ? 1.0 : 0.0;
    return result;
  }
  if (radius > 0 && !is_circular(law)) {
    law_detail::differentiate_rim(law, radius, x, result);
    return result;
  }
  const double slip = support(law, from_parts<D>(0, x)), length = norm(x);
  if (!(slip > 0)) return result;
  for (int i = 0; i < D - 1; ++i) result.by_radius[i] = law.mu[i] * law.mu[i] * x[i] / slip;
  if (radius > 0)
    for (int i = 0; i < D - 1; ++i)
      for (int j = 0; j < D - 1; ++j)
        result.by_x(i, j) =
            law.mu[0] * radius / length * ((i == j ? 1.0 : 0.0) - x[i] * x[j] / (length * length));
  return result;
}

namespace law_detail {

template <int D>
SS_HD inline Mat<double, D> differentiate_circular(double mu, const Vec<double, D>& x) {
  const Vec<double, D - 1> t = tangential(x);
  const double length = norm(t), n = (x[0] + mu * length) / (1 + mu * mu);
  Mat<double, D> d = Mat<double, D>::zero();
  const Vec<double, D> ray = from_parts<D>(1, (mu / length) * t);
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      d(i, j) = ray[i] * ray[j] / (1 + mu * mu);
      if (i > 0 && j > 0)
        d(i, j) += mu * n / length * ((i == j ? 1.0 : 0.0) - t[i - 1] * t[j - 1] / (length * length));
    }
  return d;
}

/// From (1 + lambda E) p = x, p'Ep = 0 with E = diag(-1, 1/mu_i^2), each row times mu_i^2, and where lambda >
/// 1 all over lambda: [1 + lambda E, Ep; (Ep)', 0][dp; dlambda] = [dx; 0].
template <int D>
SS_HD inline Mat<double, D> differentiate_ellipsoid(const ContactLaw<D>& law, const Vec<double, D>& x,
                                                    const ConeMultiplier& at) {
  const double one = at.inverted ? at.multiplier : 1.0, lambda = at.inverted ? 1.0 : at.multiplier;
  const Vec<double, D> p = project_ellipsoid(law, x);
  Vec<double, D> gradient{};
  gradient[0] = -p[0];
  for (int i = 1; i < D; ++i) {
    const double m2 = law.mu[i - 1] * law.mu[i - 1];
    gradient[i] = x[i] != 0 ? one * x[i] / (one * m2 + lambda) : 0.0;
  }
  gradient = gradient / norm(gradient);
  Mat<double, D + 1> a{};
  Mat<double, D + 1, D> b{};
  a(0, 0) = one - lambda;
  b(0, 0) = one;
  for (int i = 0; i < D; ++i) {
    const double m2 = i == 0 ? 1.0 : law.mu[i - 1] * law.mu[i - 1];
    if (i > 0) {
      a(i, i) = one * m2 + lambda;
      b(i, i) = one * m2;
    }
    a(i, D) = m2 * gradient[i];
    a(D, i) = gradient[i];
  }
  const Mat<double, D + 1, D> solution = solve_dense(a, b);
  Mat<double, D> d{};
  for (int i = 0; i < D * D; ++i) d.m[i] = solution.m[i];
  return d;
}

template <int D>
SS_HD inline Mat<double, D> differentiate_box(const ContactLaw<D>& law, const Vec<double, D>& x) {
  const double n = box_normal(law, x);
  Mat<double, D> d = Mat<double, D>::zero();
  if (!(n > 0)) return d;
  Vec<double, D> ray = Vec<double, D>::zero();
  ray[0] = 1;
  for (int i = 1; i < D; ++i) {
    const double m = law.mu[i - 1];
    if (std::fabs(x[i]) > m * n) ray[i] = x[i] > 0 ? m : -m;
    else d(i, i) = m > 0 ? 1.0 : 0.0;
  }
  return d + (1 / norm2(ray)) * outer(ray, ray);
}

/// On the rims of the discs that x_T lies outside of, P = n (1, mu x_d / |x_d|): the part along that ray is
/// the projection onto it, and turning x_d turns P.
template <int D>
SS_HD inline Mat<double, D> differentiate_discs(const ContactLaw<D>& law, const Vec<double, D>& x) {
  const double n = discs_normal(law, x);
  Mat<double, D> d = Mat<double, D>::zero();
  if (!(n > 0)) return d;
  const Vec<double, D - 1> t = tangential(x);
  Vec<double, D> ray = Vec<double, D>::zero();
  ray[0] = 1;
  for (int disc = 0; disc < 2; ++disc) {
    const double m = law.mu[2 * disc], length = disc_length(t, disc);
    for (int i = 2 * disc + 1; i < 2 * disc + 3; ++i) {
      if (length <= m * n) {
        d(i, i) = m > 0 ? 1.0 : 0.0;
        continue;
      }
      ray[i] = m * x[i] / length;
      for (int j = 2 * disc + 1; j < 2 * disc + 3; ++j)
        d(i, j) = m * n / length * ((i == j ? 1.0 : 0.0) - x[i] / length * (x[j] / length));
    }
  }
  return d + (1 / norm2(ray)) * outer(ray, ray);
}

}  // namespace law_detail

/// dP_K/dx. Symmetric, eigenvalues in [0, 1].
template <int D>
SS_HD inline Mat<double, D> differentiate_projection(const ContactLaw<D>& law, const Vec<double, D>& given) {
  if (law.set == FrictionSet::bilateral) return Mat<double, D>::identity();
  if (law.set == FrictionSet::box) return law_detail::differentiate_box(law, given);
  if constexpr (D == kRollingRows)
    if (is_rolling(law)) return law_detail::differentiate_discs(law, given);
  const Vec<double, D> x = law_detail::drop_frictionless(law, given);
  const law_detail::ConeMultiplier at = law_detail::cone_multiplier(law, x);
  if (at.region == law_detail::ConeMultiplier::Region::polar) return Mat<double, D>::zero();
  if (at.region == law_detail::ConeMultiplier::Region::inside) {
    Mat<double, D> d = Mat<double, D>::identity();
    for (int i = 1; i < D; ++i) d(i, i) = law.mu[i - 1] > 0 ? 1.0 : 0.0;
    return d;
  }
  return is_circular(law) ? law_detail::differentiate_circular(law.mu[0], x)
                          : law_detail::differentiate_ellipsoid(law, x, at);
}

}  // namespace stickslip
