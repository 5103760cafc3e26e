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

#include "gpu/math/lanes.h"
#include "gpu/math/mat.h"
#include "gpu/model/rod.h"

namespace stickslip {

/// T: Real, or Lanes, one element per lane; likewise below.
template <class T>
struct RodFrameOf {
  Vec<T, 3> t, d1, d2;
  T length;      // [m] |e|
  T rho, along;  // [m] of w: across and along the tangent
};
using RodFrame = RodFrameOf<Real>;

template <class T>
SS_HD inline RodFrameOf<T> rod_frame(const Vec<T, 3>& e, const Vec<T, 3>& w) {
  RodFrameOf<T> f;
  f.length = root(norm2(e));
  f.t = e / f.length;
  f.along = dot(w, f.t);
  const Vec<T, 3> across = w - f.along * f.t;
  f.rho = root(norm2(across));
  f.d1 = across / f.rho;
  f.d2 = cross(f.t, f.d1);
  return f;
}
SS_HD inline RodFrame rod_frame(const Vec3& e, const Vec3& w) { return rod_frame<Real>(e, w); }
/// Of the segment x0 x1 with ghost y.
SS_HD inline RodFrame rod_frame(const Vec3& x0, const Vec3& x1, const Vec3& y) {
  return rod_frame(x1 - x0, y - Real(0.5) * (x0 + x1));
}

/// Derivatives with respect to e and w of a segment.
template <class T>
struct SegmentGradient {
  Vec<T, 3> e, w;
};

/// Of a quantity with derivatives `e` at parallel transport of the frame, and `turn` by its angle.
template <class T>
SS_HD inline SegmentGradient<T> segment_gradient(const RodFrameOf<T>& f, const Vec<T, 3>& e, T turn) {
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
  const SegmentGradient<Real> of[kSegmentStrains] = {
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
template <class T>
struct VertexStrainOf {
  T s[kVertexStrains];
};
using VertexStrain = VertexStrainOf<Real>;

namespace rod_detail {

/// 1 + t0.t1, kept off zero: where a rod is folded onto itself its energy is very large, but finite.
template <class T>
SS_HD inline T opening(const RodFrameOf<T>& a, const RodFrameOf<T>& b) {
  return larger(Real(1) + dot(a.t, b.t), T(Real(1e-6)));
}

SS_HD inline Real angle(Real y, Real x) { return std::atan2(y, x); }
SS_HD inline Real whole(Real a) { return std::rint(a); }
#if !STICKSLIP_ON_CUDA
template <int N>
inline Lanes<N> angle(Lanes<N> y, Lanes<N> x) {
  for (int i = 0; i < N; ++i) y.v[i] = std::atan2(y.v[i], x.v[i]);
  return y;
}
template <int N>
inline Lanes<N> whole(Lanes<N> a) {
  for (int i = 0; i < N; ++i) a.v[i] = std::rint(a.v[i]);
  return a;
}
#endif

}  // namespace rod_detail

template <class T>
SS_HD inline VertexStrainOf<T> vertex_strain(const RodFrameOf<T>& a, const RodFrameOf<T>& b) {
  const T chi = rod_detail::opening(a, b);
  const Vec<T, 3> axis = cross(a.t, b.t), binormal = (Real(2) / chi) * axis;
  // v -> (t0.t1) v + axis x v + axis (axis.v) / (1 + t0.t1) turns t0 to t1 about the axis.
  const Vec<T, 3> moved = (chi - Real(1)) * a.d1 + cross(axis, a.d1) + (dot(axis, a.d1) / chi) * axis;
  return {{dot(binormal, a.d2 + b.d2) / Real(2), -dot(binormal, a.d1 + b.d1) / Real(2),
           rod_detail::angle(-dot(moved, b.d2), dot(moved, b.d1))}};
}

/// Derivatives of the strains with respect to the five nodes.
template <class T>
struct VertexGradientOf {
  Vec<T, 3> g[kVertexStrains][kRodVertexNodes];
};
using VertexGradient = VertexGradientOf<Real>;
/// [Bergou10, appendix; Jawed18, 4.2]: with t~ = (t0 + t1) / (1 + t0.t1) and d~ = (d_0 + d_1) / (1 + t0.t1),
///   d s_0 / de0 = (-s_0 t~ + t1 x d2~) / |e0|,   d s_0 / de1 = (-s_0 t~ - t0 x d2~) / |e1|,
///   d s_1 / de0 = (-s_1 t~ - t1 x d1~) / |e0|,   d s_1 / de1 = (-s_1 t~ + t0 x d1~) / |e1|,
///   d s_2 / de_j = kappa b / (2 |e_j|),
/// and by the angles -kappa b . d1_j / 2, -kappa b . d2_j / 2, and -1 of the first and 1 of the second.
template <class T>
SS_HD inline VertexGradientOf<T> vertex_gradient(const RodFrameOf<T>& a, const RodFrameOf<T>& b,
                                                 const VertexStrainOf<T>& strain) {
  const T chi = rod_detail::opening(a, b);
  const Vec<T, 3> binormal = (Real(2) / chi) * cross(a.t, b.t);
  const Vec<T, 3> t = (a.t + b.t) / chi, d1 = (a.d1 + b.d1) / chi, d2 = (a.d2 + b.d2) / chi;
  const T* s = strain.s;
  SegmentGradient<T> of_a[kVertexStrains], of_b[kVertexStrains];
  of_a[0] = segment_gradient(a, (cross(b.t, d2) - s[0] * t) / a.length, -dot(binormal, a.d1) / Real(2));
  of_b[0] = segment_gradient(b, -(cross(a.t, d2) + s[0] * t) / b.length, -dot(binormal, b.d1) / Real(2));
  of_a[1] = segment_gradient(a, -(cross(b.t, d1) + s[1] * t) / a.length, -dot(binormal, a.d2) / Real(2));
  of_b[1] = segment_gradient(b, (cross(a.t, d1) - s[1] * t) / b.length, -dot(binormal, b.d2) / Real(2));
  of_a[2] = segment_gradient(a, binormal / (Real(2) * a.length), T(Real(-1)));
  of_b[2] = segment_gradient(b, binormal / (Real(2) * b.length), T(Real(1)));
  VertexGradientOf<T> out;
  for (int k = 0; k < kVertexStrains; ++k) {
    const Vec<T, 3> half_a = Real(0.5) * of_a[k].w, half_b = Real(0.5) * of_b[k].w;
    out.g[k][0] = -of_a[k].e - half_a;
    out.g[k][1] = of_a[k].e - half_a - of_b[k].e - half_b;
    out.g[k][2] = of_b[k].e - half_b;
    out.g[k][3] = of_a[k].w;
    out.g[k][4] = of_b[k].w;
  }
  return out;
}

/// The difference of two values of the strain `k` of a vertex; of twists the one of the nearest turns.
template <class T>
SS_HD inline T vertex_strain_difference(int k, T a, T b) {
  if (k < 2) return a - b;
  constexpr Real turn = Real(2 * std::numbers::pi);
  return a - b - turn * rod_detail::whole((a - b) / turn);
}

}  // namespace stickslip
