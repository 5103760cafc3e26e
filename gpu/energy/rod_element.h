// Strains of discrete elastic rods [Bergou08; Bergou10] and their derivatives, as functions of node
// positions.
//
// A segment e = x1 - x0 with tangent t carries its material frame by a ghost node y. With w = y - (x0 + x1)/2
//   d1 = (w - (w.t) t) / rho,   rho = |w - (w.t) t|,   d2 = t x d1.
// Deviation from the source: it has angles against a reference frame in place of ghosts. Here the state is
// positions only, so nothing is transported from step to step, and nothing depends on the choice of a frame.
//
// A variation turns the frame by t x dt + tau t, where dt = (I - t t') de / |e| and
//   tau = d2 . (dw - (w.t) dt) / rho.
// t x dt is the parallel transport in time that the derivatives of the source assume, and tau its d(theta).
#pragma once

#include "gpu/math/mat.h"
#include "gpu/model/rod.h"

namespace stickslip {

struct RodFrame {
  Vec3 t, d1, d2;
  Real length;      // [m] |e|
  Real rho, along;  // [m] of w: across and along the tangent
};

SS_HD inline RodFrame rod_frame(const Vec3& e, const Vec3& w) {
  RodFrame f;
  f.length = norm(e);
  f.t = e / f.length;
  f.along = dot(w, f.t);
  const Vec3 across = w - f.along * f.t;
  f.rho = norm(across);
  f.d1 = across / f.rho;
  f.d2 = cross(f.t, f.d1);
  return f;
}
/// Of the segment x0 x1 with ghost y.
SS_HD inline RodFrame rod_frame(const Vec3& x0, const Vec3& x1, const Vec3& y) {
  return rod_frame(x1 - x0, y - Real(0.5) * (x0 + x1));
}

/// Derivatives with respect to e and w of a segment.
struct SegmentGradient {
  Vec3 e, w;
};

/// Of a quantity with derivatives `e` at parallel transport of the frame, and `turn` by its angle.
SS_HD inline SegmentGradient segment_gradient(const RodFrame& f, const Vec3& e, Real turn) {
  return {e - (turn * f.along / (f.rho * f.length)) * f.d2, (turn / f.rho) * f.d2};
}

// A segment: nodes x0, x1, y.

inline constexpr int kSegmentStrains = 3;

/// Length, and the place of the ghost across and along the segment [m].
struct SegmentStrain {
  Real s[kSegmentStrains];
  Vec3 gradient[kSegmentStrains][3];
};
SS_HD inline SegmentStrain segment_strain(const RodFrame& f) {
  SegmentStrain out;
  out.s[0] = f.length;
  out.s[1] = f.rho;
  out.s[2] = f.along;
  const SegmentGradient of[kSegmentStrains] = {
      {f.t, Vec3::zero()}, {(-f.along / f.length) * f.d1, f.d1}, {(f.rho / f.length) * f.d1, f.t}};
  for (int k = 0; k < kSegmentStrains; ++k) {
    out.gradient[k][0] = -of[k].e - Real(0.5) * of[k].w;
    out.gradient[k][1] = of[k].e - Real(0.5) * of[k].w;
    out.gradient[k][2] = of[k].w;
  }
  return out;
}

// A vertex between two segments: nodes x0, x1, x2, y0, y1.

inline constexpr int kVertexStrains = 3;

/// The curvature binormal kappa b = 2 t0 x t1 / (1 + t0.t1) in the mean of both material frames, integrated
/// over the vertex:
///   s_0 = kappa b . (d2_0 + d2_1) / 2,   s_1 = -kappa b . (d1_0 + d1_1) / 2,
/// and the twist s_2 in (-pi, pi]: the angle about t1 to d1_1 from d1_0, transported from t0 to t1.
struct VertexStrain {
  Real s[kVertexStrains];
};

namespace rod_detail {

/// 1 + t0.t1, kept off zero: where a rod is folded onto itself its energy is very large, but finite.
SS_HD inline Real opening(const RodFrame& a, const RodFrame& b) {
  const Real chi = Real(1) + dot(a.t, b.t);
  return chi > Real(1e-6) ? chi : Real(1e-6);
}

}  // namespace rod_detail

SS_HD inline VertexStrain vertex_strain(const RodFrame& a, const RodFrame& b) {
  const Real chi = rod_detail::opening(a, b);
  const Vec3 axis = cross(a.t, b.t), binormal = (Real(2) / chi) * axis;
  // v -> (t0.t1) v + axis x v + axis (axis.v) / (1 + t0.t1) turns t0 to t1 about the axis.
  const Vec3 moved = (chi - Real(1)) * a.d1 + cross(axis, a.d1) + (dot(axis, a.d1) / chi) * axis;
  return {{dot(binormal, a.d2 + b.d2) / Real(2), -dot(binormal, a.d1 + b.d1) / Real(2),
           std::atan2(-dot(moved, b.d2), dot(moved, b.d1))}};
}

/// Derivatives of the strains with respect to the five nodes.
struct VertexGradient {
  Vec3 g[kVertexStrains][kRodVertexNodes];
};
/// [Bergou10, appendix; Jawed18, 4.2]: with t~ = (t0 + t1) / (1 + t0.t1) and d~ = (d_0 + d_1) / (1 + t0.t1),
///   d s_0 / de0 = (-s_0 t~ + t1 x d2~) / |e0|,   d s_0 / de1 = (-s_0 t~ - t0 x d2~) / |e1|,
///   d s_1 / de0 = (-s_1 t~ - t1 x d1~) / |e0|,   d s_1 / de1 = (-s_1 t~ + t0 x d1~) / |e1|,
///   d s_2 / de_j = kappa b / (2 |e_j|),
/// and by the angles -kappa b . d1_j / 2, -kappa b . d2_j / 2, and -1 of the first and 1 of the second.
SS_HD inline VertexGradient vertex_gradient(const RodFrame& a, const RodFrame& b,
                                            const VertexStrain& strain) {
  const Real chi = rod_detail::opening(a, b);
  const Vec3 binormal = (Real(2) / chi) * cross(a.t, b.t);
  const Vec3 t = (a.t + b.t) / chi, d1 = (a.d1 + b.d1) / chi, d2 = (a.d2 + b.d2) / chi;
  const Real* s = strain.s;
  SegmentGradient of_a[kVertexStrains], of_b[kVertexStrains];
  of_a[0] = segment_gradient(a, (cross(b.t, d2) - s[0] * t) / a.length, -dot(binormal, a.d1) / Real(2));
  of_b[0] = segment_gradient(b, -(cross(a.t, d2) + s[0] * t) / b.length, -dot(binormal, b.d1) / Real(2));
  of_a[1] = segment_gradient(a, -(cross(b.t, d1) + s[1] * t) / a.length, -dot(binormal, a.d2) / Real(2));
  of_b[1] = segment_gradient(b, (cross(a.t, d1) - s[1] * t) / b.length, -dot(binormal, b.d2) / Real(2));
  of_a[2] = segment_gradient(a, binormal / (Real(2) * a.length), Real(-1));
  of_b[2] = segment_gradient(b, binormal / (Real(2) * b.length), Real(1));
  VertexGradient out;
  for (int k = 0; k < kVertexStrains; ++k) {
    const Vec3 half_a = Real(0.5) * of_a[k].w, half_b = Real(0.5) * of_b[k].w;
    out.g[k][0] = -of_a[k].e - half_a;
    out.g[k][1] = of_a[k].e - half_a - of_b[k].e - half_b;
    out.g[k][2] = of_b[k].e - half_b;
    out.g[k][3] = of_a[k].w;
    out.g[k][4] = of_b[k].w;
  }
  return out;
}

/// The difference of two values of the strain `k` of a vertex; of twists the one of the nearest turns.
SS_HD inline Real vertex_strain_difference(int k, Real a, Real b) {
  if (k < 2) return a - b;
  constexpr Real turn = Real(2 * std::numbers::pi);
  return a - b - turn * std::rint((a - b) / turn);
}

}  // namespace stickslip
