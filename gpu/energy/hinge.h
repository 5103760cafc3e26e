// The dihedral angle of a hinge {a, b, c, o}: of the triangles a b c and o c b at the edge bc.
//
// Bending of cloth, by triangles. If w is the deflection of a flat plate and constant in curvature,
// w = X'K X / 2, the angle of a hinge is theta_i = M_i : K, whose M_i follows from the rest shape alone (see
// hinge_row). The three angles around a triangle fix K. With its density of bending energy K : D : K / 2 and
// its area A, a triangle has
//   E = (theta - theta_0)' G (theta - theta_0) / 2,   G = A (M D^-1 M')^-1,
// theta_0 the angles at rest. At an edge of the cloth there is no angle, and the same G is that of the K of
// least energy: no moment acts there. So energies of constant curvature are exact in every mesh, and the
// moduli are those of the plate. (A hinge with a stiffness of its own [Grinspun03] has a stiffness that
// depends on the mesh: among equilateral triangles, that of a plate with nu = -1/3.)
#pragma once

#include <numbers>

#include "gpu/energy/corner_values.h"
#include "gpu/math/spd.h"

namespace stickslip {

/// Positive where the edge is a valley, seen against the normals; in (-pi, pi].
struct HingeAngle {
  Real angle;
  Vec3 gradient[4];  // d angle / dx of a, b, c, o [1/m]
};

/// A triangle with less than this share of its rest area has the gradient of one that has it: angles of
/// slivers change by any amount.
inline constexpr Real kLeastHingeArea = Real(1e-3);

/// The edge and the normals of both triangles, of twice their areas.
struct HingeNormals {
  Vec3 e, n1, n2;
  Real length2, length;

  SS_HD HingeNormals(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& o)
      : e(c - b),
        n1(cross(b - a, c - a)),
        n2(cross(c - o, b - o)),
        length2(norm2(e)),
        length(std::sqrt(length2)) {}
  SS_HD Real angle() const {
    return length > Real(0) ? std::atan2(dot(cross(n2, n1), e) / length, dot(n1, n2)) : Real(0);
  }
};

/// With unit normals, d angle = n_1 . dx_a / height_a + ..., and the nodes of the edge keep the hinge in
/// balance [Bridson03]. `area2`: twice the rest areas of both triangles.
SS_HD inline void hinge_gradient(const HingeNormals& h, const Vec3& a, const Vec3& b, const Vec3& o,
                                 const Vec2& area2, Vec3* gradient) {
  const auto size2 = [](const Vec3& n, Real rest) {
    const Real least = kLeastHingeArea * rest * kLeastHingeArea * rest, n2 = norm2(n);
    return n2 > least ? n2 : least;
  };
  gradient[0] = (h.length / size2(h.n1, area2[0])) * h.n1;
  gradient[3] = (h.length / size2(h.n2, area2[1])) * h.n2;
  // Where the heights stand on the edge, from b.
  const Real inverse = h.length2 > Real(0) ? Real(1) / h.length2 : Real(0);
  const Real at_a = dot(a - b, h.e) * inverse, at_o = dot(o - b, h.e) * inverse;
  gradient[1] = (at_a - Real(1)) * gradient[0] + (at_o - Real(1)) * gradient[3];
  gradient[2] = -at_a * gradient[0] - at_o * gradient[3];
}

SS_HD inline HingeAngle hinge_angle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& o,
                                    const Vec2& area2) {
  const HingeNormals normals(a, b, c, o);
  HingeAngle h{};
  h.angle = normals.angle();
  hinge_gradient(normals, a, b, o, area2, h.gradient);
  return h;
}

/// angle - rest, in (-pi, pi].
SS_HD inline Real angle_change(Real angle, Real rest) {
  constexpr Real pi = std::numbers::pi_v<Real>;
  const Real d = angle - rest;
  return d > pi ? d - Real(2) * pi : d <= -pi ? d + Real(2) * pi : d;
}

/// M of a hinge, as a row for (K_xx, K_yy, 2 K_xy). `b`, `c`: the edge in coordinates of the triangle's
/// plane, with `a` to the left of bc; `heights`: of a and o over the edge; `feet`: where they stand on it,
/// from b. w minus its interpolation along the edge, at a and o, over the heights.
template <class T>
SS_HD inline Vec<T, 3> hinge_row(const Vec<T, 2>& b, const Vec<T, 2>& c, const Vec<T, 2>& heights,
                                 const Vec<T, 2>& feet) {
  const Vec<T, 2> e = c - b;
  const T length = norm(e);
  const Vec<T, 2> s = e / length, m{-s[1], s[0]};
  const T mm = (heights[0] + heights[1]) / T(2), sm = feet[0] - feet[1];
  const T ss = (feet[0] * (feet[0] - length) / heights[0] + feet[1] * (feet[1] - length) / heights[1]) / T(2);
  const auto along = [&](const Vec<T, 2>& p, const Vec<T, 2>& q) {
    return Vec<T, 3>{p[0] * q[0], p[1] * q[1], (p[0] * q[1] + p[1] * q[0]) / T(2)};
  };
  return mm * along(m, m) + sm * along(s, m) + ss * along(s, s);
}

}  // namespace stickslip
