// One block whose friction disc is a regular polygon in it, one corner on the first tangent: the law of a
// linearised cone, by relaxing the normal row and the tangential rows in turn [Otaduy09].
//
// With r_N fixed, friction is the point of the polygon that takes the most power, r_T = argmin over P of
// u_T . d. As u_T = W_TT r_T + w r_N + q_T, it is the least of r_T . W_TT r_T / 2 + (w r_N + q_T) . r_T over
// P. Tangential rows are scaled by mu as in local_data.h, so that P is a regular polygon with the radius r_N,
// also where the coefficients along the tangents differ.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "gpu/law/contact_law.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// The point nearest to t of the regular polygon with `facets` corners on the circle of this radius.
SS_HD inline Vec<double, 2> project_on_polygon(const Vec<double, 2>& t, double radius, int facets) {
  const double half = std::numbers::pi / facets;
  // Sectors map onto each other by reflections that leave the polygon as it is: the nearest side is that of
  // the sector of t.
  const double middle = (2 * std::floor(std::atan2(t[1], t[0]) / (2 * half)) + 1) * half;
  const double c = std::cos(middle), s = std::sin(middle);
  const double outward = c * t[0] + s * t[1], side = radius * std::cos(half), reach = radius * std::sin(half);
  if (outward <= side) return t;
  double along = c * t[1] - s * t[0];
  along = along > reach ? reach : (along < -reach ? -reach : along);
  return {c * side - s * along, s * side + c * along};
}

/// The t of that polygon with the least t . W t / 2 + q . t, for a symmetric W that is positive definite.
SS_HD inline Vec<double, 2> least_on_polygon(const Mat<double, 2>& w, const Vec<double, 2>& q, double radius,
                                             int facets) {
  const double pivot = w(0, 0) * w(1, 1) - w(0, 1) * w(0, 1);
  if (pivot > 0) {
    const Vec<double, 2> free{(w(0, 1) * q[1] - w(1, 1) * q[0]) / pivot,
                              (w(0, 1) * q[0] - w(0, 0) * q[1]) / pivot};
    const Vec<double, 2> nearest = project_on_polygon(free, radius, facets);
    if (nearest[0] == free[0] && nearest[1] == free[1]) return free;
  }
  const double c = std::cos(2 * std::numbers::pi / facets), s = std::sin(2 * std::numbers::pi / facets);
  Vec<double, 2> corner{radius, 0}, best = corner;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < facets; ++i) {
    const Vec<double, 2> next{c * corner[0] - s * corner[1], s * corner[0] + c * corner[1]};
    const Vec<double, 2> side = next - corner;
    const double slope = dot(w * corner + q, side), curvature = dot(side, w * side);
    const double share = slope >= 0 ? 0.0 : (-slope < curvature ? -slope / curvature : 1.0);
    const Vec<double, 2> t = corner + share * side;
    const double value = 0.5 * dot(t, w * t) + dot(q, t);
    if (value < least) {
      least = value;
      best = t;
    }
    corner = next;
  }
  return best;
}

/// Whether the block has friction along two tangents alone, or none: no joint, no box, no torsion or rolling
/// resistance, no friction along one tangent. Other blocks have no polygon.
template <int D>
SS_HD inline bool has_facets(const ContactLaw<D>& law) {
  if (law.set != FrictionSet::ellipsoid && !is_rolling(law)) return false;
  for (int i = 2; i < D - 1; ++i)
    if (law.mu[i] > 0) return false;
  return (law.mu[0] > 0) == (law.mu[1] > 0);
}

/// r with u = W r + q and (u, r) in the law with `facets` corners, from an approximation of r, for
/// has_facets. At most kFacetPasses passes: where W couples normal and tangents strongly the rest is left to
/// the sweep around it.
template <int D>
SS_HD inline Vec<double, D> solve_facets(const ContactLaw<D>& law, int facets, const Mat<double, D>& w,
                                         const Vec<double, D>& q, Vec<double, D> r) {
  constexpr int kFacetPasses = 50;
  constexpr double kSmall = 1e-14;
  if (!(w(0, 0) > 0)) return Vec<double, D>::zero();
  for (int i = 3; i < D; ++i) r[i] = 0;
  const double m1 = law.mu[0], m2 = law.mu[1], between = m1 * m2 * 0.5 * (w(1, 2) + w(2, 1));
  const Mat<double, 2> scaled{{m1 * m1 * w(1, 1), between, between, m2 * m2 * w(2, 2)}};
  const bool smooth = !(m1 > 0 && m2 > 0);
  for (int pass = 0; pass < kFacetPasses; ++pass) {
    const Vec<double, D> last = r;
    r[0] -= (dot(w.row(0), r) + q[0]) / w(0, 0);
    if (!(r[0] > 0)) r[0] = 0;
    const Vec<double, 2> free{m1 * (w(1, 0) * r[0] + q[1]), m2 * (w(2, 0) * r[0] + q[2])};
    const Vec<double, 2> t =
        smooth || r[0] == 0 ? Vec<double, 2>{0, 0} : least_on_polygon(scaled, free, r[0], facets);
    r[1] = m1 * t[0];
    r[2] = m2 * t[1];
    if (norm2(r - last) <= kSmall * kSmall * norm2(r)) break;
  }
  return r;
}

}  // namespace stickslip
