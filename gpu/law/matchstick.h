// Friction laws from the structure of the surfaces [Course §6.1.2].
#pragma once

#include "gpu/law/contact_law.h"

namespace stickslip {

/// Coefficients of one pair of structured materials.
struct MatchstickMaterial {
  double isotropic;  // with the structures across each other
  double along;      // with parallel structures, sliding along them
  double across;     // and across them
};

/// Tangents that turn the contact frame, so that (normal, t, b) is right-handed, and the elliptic law in it.
struct MatchstickContact {
  Vec<double, 3> t, b;
  ContactLaw<3> law;
};

namespace law_detail {

/// The part of x in the plane of the normal n, of length 1; zero if there is none.
SS_HD inline Vec<double, 3> in_plane(const Vec<double, 3>& x, const Vec<double, 3>& n) {
  const Vec<double, 3> part = x - dot(x, n) * n;
  return norm2(part) > 1e-24 * norm2(x) ? normalized(part) : Vec<double, 3>::zero();
}

/// Any tangent of the normal n, as a fallback.
SS_HD inline Vec<double, 3> any_tangent(const Vec<double, 3>& n) {
  const Vec<double, 3> axis = std::fabs(n[0]) < 0.6 ? Vec<double, 3>{1, 0, 0} : Vec<double, 3>{0, 1, 0};
  return in_plane(axis, n);
}

}  // namespace law_detail

/// Structure directions of either body at the contact, of any length and sign, and the unit normal [Course
/// Alg.21]. d = 1 - 2 theta / pi of the angle theta in [0, pi/2] between them blends from `isotropic` to
/// along / across, and t halves the angle. Beyond the text: the directions are projected onto the tangent
/// plane, and without one of them (zero, or along the normal) the law is isotropic.
SS_HD inline MatchstickContact matchstick(const Vec<double, 3>& direction_a,
                                          const Vec<double, 3>& direction_b, const Vec<double, 3>& normal,
                                          const MatchstickMaterial& material) {
  const Vec<double, 3> a = law_detail::in_plane(direction_a, normal);
  Vec<double, 3> b = law_detail::in_plane(direction_b, normal);
  if (dot(a, b) < 0) b = -b;
  const double cosine = dot(a, b), sine = norm(cross(a, b));
  const bool directed = norm2(a) > 0 && norm2(b) > 0;
  // atan2 keeps the digits of small angles that the arc cosine loses.
  const double blend = directed ? 1 - 2 * std::atan2(sine, cosine) / std::acos(-1.0) : 0.0;
  const Vec<double, 3> middle = a + b;
  MatchstickContact contact{};
  contact.t = norm2(middle) > 0 ? law_detail::in_plane(middle, normal) : law_detail::any_tangent(normal);
  contact.b = cross(normal, contact.t);
  contact.law.mu = {blend * material.along + (1 - blend) * material.isotropic,
                    blend * material.across + (1 - blend) * material.isotropic};
  return contact;
}

/// q of a block whose cone has its apex at -cohesion [N s] along the normal, measured from there: with
/// r' = r + cohesion n in K, u = W r' + q' [Daviet20 §6.3]. `column`: W n, the first column of W_cc or, for
/// another block d, of W_dc.
template <int D>
SS_HD inline Vec<double, D> shift_cohesion(const Vec<double, D>& q, const Vec<double, D>& column,
                                           double cohesion) {
  return q - cohesion * column;
}

}  // namespace stickslip
