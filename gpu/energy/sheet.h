// Orthotropic elastic sheets in plane stress: energy density [J/m^3], stress and its derivative as functions
// of the deformation gradient F (3 x 2), whose columns are the images of the unit vectors along warp and
// weft. With F = [r_1 r_2] U, r_i orthonormal, U symmetric,
//   Psi = (C_11 e_11^2 + 2 C_12 e_11 e_22 + C_22 e_22^2) / 2 + 2 G e_12^2,   e = U - I.
// So the force per width is linear in the elongation along warp and weft, as moduli are measured, and a
// triangle resists more the more it is compressed. (St. Venant-Kirchhoff's energy gives way below 58% of the
// length, and has no stiffness left at 0.)
//
// Psi depends on F'F alone, so that its second derivative has two parts [cf. Smith19]: one of displacements
// in the plane of the triangle, 4 x 4, and n n' times the second Piola stress S along the normal n.
#pragma once

#include "gpu/math/mat.h"
#include "gpu/math/spd.h"

namespace stickslip {

/// Moduli [Pa] of plane stress: C_11, C_22, C_12, G.
struct SheetModuli {
  Real warp, weft, coupling, shear;
};

/// Of Young's moduli along warp and weft and Poisson's ratio: nu_12 / E_1 = nu_21 / E_2, and nu^2 = nu_12
/// nu_21. Zero for `weft` and `shear` stand for those of an isotropic sheet.
template <class T>
SS_HD inline void sheet_constants(T& warp, T& weft, T poisson, T& shear) {
  if (!(weft > T(0))) weft = warp;
  if (!(shear > T(0))) shear = std::sqrt(warp * weft) / (T(2) * (T(1) + poisson));
}
SS_HD inline SheetModuli sheet_moduli(double warp, double weft, double poisson, double shear) {
  sheet_constants(warp, weft, poisson, shear);
  const double plane = 1 - poisson * poisson;
  return {static_cast<Real>(warp / plane), static_cast<Real>(weft / plane),
          static_cast<Real>(poisson * std::sqrt(warp * weft) / plane), static_cast<Real>(shear)};
}

/// A symmetric tensor of the plane.
struct Plane3 {
  Real xx, yy, xy;
};

/// T = C e.
SS_HD inline Plane3 sheet_stress(const SheetModuli& c, const Plane3& e) {
  return {c.warp * e.xx + c.coupling * e.yy, c.coupling * e.xx + c.weft * e.yy, Real(2) * c.shear * e.xy};
}

/// a : b.
SS_HD inline Real contract(const Plane3& a, const Plane3& b) {
  return a.xx * b.xx + a.yy * b.yy + Real(2) * a.xy * b.xy;
}

/// F = [r_1 r_2] U and the normal, of a triangle in space. Of a triangle without area, U is singular, and the
/// normal is one of those that its edges allow.
struct SheetFrame {
  Vec3 r[2], n;
  Plane3 u;
  Real h;  // tr U, no smaller than 1e-6

  SS_HD explicit SheetFrame(const Mat<Real, 3, 2>& f) {
    const Vec3 f0 = f.column(0), f1 = f.column(1);
    // An orthonormal frame e_0, e_1, whose first vector is along the longer column.
    const bool swap = norm2(f1) > norm2(f0);
    const Vec3 &a = swap ? f1 : f0, &b = swap ? f0 : f1;
    const Vec3 e0 = norm2(a) > Real(0) ? normalized(a) : Vec3{1, 0, 0};
    Vec3 rest = b - dot(b, e0) * e0;
    if (!(norm2(rest) > Real(1e-24) * norm2(a))) rest = perpendicular(e0);
    const Vec3 e1 = normalized(rest - dot(rest, e0) * e0);
    // F in the frame, turned by (c, s) so that it is symmetric: det F >= 0 in (first, second).
    const Vec3 &first = swap ? e1 : e0, &second = swap ? e0 : e1;
    const Real cosine = dot(first, f0) + dot(second, f1), sine = dot(second, f0) - dot(first, f1);
    const Real length = std::sqrt(cosine * cosine + sine * sine);
    const bool turns = length > Real(1e-6);
    const Real c = turns ? cosine / length : Real(1), s = turns ? sine / length : Real(0);
    r[0] = c * first + s * second;
    r[1] = c * second - s * first;
    n = cross(r[0], r[1]);
    u = {dot(r[0], f0), dot(r[1], f1), (dot(r[0], f1) + dot(r[1], f0)) / Real(2)};
    h = turns ? length : Real(1e-6);
  }

  /// U - I.
  SS_HD Plane3 strain() const { return {u.xx - Real(1), u.yy - Real(1), u.xy}; }

 private:
  SS_HD static Vec3 perpendicular(const Vec3& e) {
    const Real x = std::abs(e[0]), y = std::abs(e[1]), z = std::abs(e[2]);
    const Vec3 axis = x <= y && x <= z ? Vec3{1, 0, 0} : y <= z ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
    return axis - dot(axis, e) * e;
  }
};

/// A change of F in the plane of the triangle, A_ij = r_i . dF_j, or a stress in its components.
struct Plane4 {
  Real xx, xy, yx, yy;
};

SS_HD inline Plane4 in_plane(const SheetFrame& frame, const Mat<Real, 3, 2>& df) {
  const Vec3 d0 = df.column(0), d1 = df.column(1);
  return {dot(frame.r[0], d0), dot(frame.r[0], d1), dot(frame.r[1], d0), dot(frame.r[1], d1)};
}

/// omega: the angle by which r_1 and r_2 turn in their plane; and dU = sym(A - omega J U), with
/// J = [0 -1; 1 0].
SS_HD inline Real frame_turn(const SheetFrame& frame, const Plane4& a) { return (a.yx - a.xy) / frame.h; }
SS_HD inline Plane3 strain_change(const SheetFrame& frame, const Plane4& a) {
  const Plane3& u = frame.u;
  const Real turn = frame_turn(frame, a);
  return {a.xx + turn * u.xy, a.yy - turn * u.xy, (a.xy + a.yx + turn * (u.yy - u.xx)) / Real(2)};
}

/// M with T : dU = M : A: the first Piola stress is P = [r_1 r_2] M. M = T - (t / h) J, t = T : J U, which is
/// zero where T and U have the same axes.
SS_HD inline Real skew_stress(const Plane3& t, const Plane3& u) {
  return (t.yy - t.xx) * u.xy + t.xy * (u.xx - u.yy);
}
SS_HD inline Plane4 piola_in_plane(const SheetFrame& frame, const Plane3& t) {
  const Real q = skew_stress(t, frame.u) / frame.h;
  return {t.xx, t.xy + q, t.xy - q, t.yy};
}

/// Back to space: [r_1 r_2] M.
SS_HD inline Mat<Real, 3, 2> in_space(const SheetFrame& frame, const Plane4& m) {
  return Mat<Real, 3, 2>::from_columns(
      {m.xx * frame.r[0] + m.yx * frame.r[1], m.xy * frame.r[0] + m.yy * frame.r[1]});
}

SS_HD inline Real sheet_energy(const SheetModuli& c, const SheetFrame& frame) {
  const Plane3 e = frame.strain();
  return contract(sheet_stress(c, e), e) / Real(2);
}
SS_HD inline Mat<Real, 3, 2> sheet_piola(const SheetModuli& c, const SheetFrame& frame) {
  return in_space(frame, piola_in_plane(frame, sheet_stress(c, frame.strain())));
}

/// dP/dF in the frame of the triangle: of in-plane changes, in the order of Plane4, and S along the normal.
struct SheetDerivative {
  Mat<Real, 4> plane;
  Mat<Real, 2> normal;
};

/// The stiffness B' C B of linear strains at U: all of the in-plane part at rest, and what damping resists
/// with. Its null space is that of turning.
SS_HD inline Mat<Real, 4> strain_stiffness(const SheetModuli& c, const SheetFrame& frame) {
  Mat<Real, 4> h{};
  for (int k = 0; k < 4; ++k) {
    const Plane4 a{Real(k == 0), Real(k == 1), Real(k == 2), Real(k == 3)};
    const Plane4 m = piola_in_plane(frame, sheet_stress(c, strain_change(frame, a)));
    h(0, k) = m.xx;
    h(1, k) = m.xy;
    h(2, k) = m.yx;
    h(3, k) = m.yy;
  }
  return h;
}

/// dP = [r_1 r_2] (dM + omega J M).
SS_HD inline SheetDerivative sheet_derivative(const SheetModuli& c, const SheetFrame& frame) {
  const Plane3 t = sheet_stress(c, frame.strain());
  const Plane3& u = frame.u;
  const Real inverse_h = Real(1) / frame.h, q = skew_stress(t, u) * inverse_h;
  SheetDerivative d{};
  for (int k = 0; k < 4; ++k) {
    const Plane4 a{Real(k == 0), Real(k == 1), Real(k == 2), Real(k == 3)};
    const Real turn = frame_turn(frame, a);
    const Plane3 du = strain_change(frame, a), dt = sheet_stress(c, du);
    const Real dq = (skew_stress(dt, u) + skew_stress(t, du) - q * (du.xx + du.yy)) * inverse_h;
    d.plane(0, k) = dt.xx - turn * (t.xy - q);
    d.plane(1, k) = dt.xy + dq - turn * t.yy;
    d.plane(2, k) = dt.xy - dq + turn * t.xx;
    d.plane(3, k) = dt.yy + turn * (t.xy + q);
  }
  // U S = M.
  const Real det = u.xx * u.yy - u.xy * u.xy, least = Real(1e-3);  // near 0, compressed
  const Real s = Real(1) / (det > least ? det : least);
  const Real yx = t.xy - q, xy = t.xy + q;
  d.normal(0, 0) = s * (u.yy * t.xx - u.xy * yx);
  d.normal(1, 1) = s * (u.xx * t.yy - u.xy * xy);
  d.normal(0, 1) = d.normal(1, 0) = s * (u.yy * xy - u.xy * t.yy + u.xx * yx - u.xy * t.xx) / Real(2);
  return d;
}

/// The nearest positive semidefinite derivative.
SS_HD inline SheetDerivative projected(SheetDerivative d) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) d.plane(i, j) = d.plane(j, i) = (d.plane(i, j) + d.plane(j, i)) / Real(2);
  project_spd(d.plane);
  project_spd(d.normal);
  return d;
}

}  // namespace stickslip
