// Which features of a point and a triangle, or of two edges, are closest, and where.
//
// Each distance is a convex quadratic over a polygon of parameters: its minimum is the unconstrained one if
// that lies inside, else the best of the sides. Nothing here divides by zero for degenerate triangles and
// edges, whose sides decide.
#pragma once

#include <limits>

#include "gpu/geometry/hull_distance.h"

namespace stickslip {

enum class PointEdgeFeature { v0, v1, interior };
enum class PointTriangleFeature { v0, v1, v2, e01, e12, e20, face };
/// a0_b: end a0 against the inside of edge b.
enum class EdgeEdgeFeature { a0_b0, a0_b1, a1_b0, a1_b1, a0_b, a1_b, a_b0, a_b1, interior };

/// sum_i w_i x_i = r, the vector from b's closest point to a's. Weights of side a sum to 1, those of side b
/// to -1.
template <class T, class Feature, int N>
struct ClosestPair {
  Feature feature;
  Vec<T, N> w;
  Vec<T, 3> r;
  T d2;
};

/// Two directions count as parallel at sin^2 <= epsilon, where treating them as parallel and the rounding
/// error of their cross product both move a closest point by sqrt(epsilon) of an edge length off the common
/// normal.
template <class T>
SS_HD constexpr bool nearly_parallel(const Vec<T, 3>& a, const Vec<T, 3>& b, T cross2) {
  return !(cross2 > std::numeric_limits<T>::epsilon() * norm2(a) * norm2(b));
}

template <class T>
SS_HD constexpr ClosestPair<T, PointEdgeFeature, 3> point_edge_closest(const Vec<T, 3>& p,
                                                                       const Vec<T, 3>& e0,
                                                                       const Vec<T, 3>& e1) {
  const Vec<T, 3> edge = e1 - e0, c = p - e0;
  const T along = dot(c, edge), length2 = norm2(edge);
  if (!(along > T(0))) return {PointEdgeFeature::v0, {T(1), T(-1), T(0)}, c, norm2(c)};
  if (along >= length2) {
    const Vec<T, 3> r = p - e1;
    return {PointEdgeFeature::v1, {T(1), T(0), T(-1)}, r, norm2(r)};
  }
  // The second projection removes the rounding of the first, which may be large against a short r.
  const T inverse_length2 = T(1) / length2, first = along * inverse_length2;
  const Vec<T, 3> almost = c - first * edge;
  const T rest = dot(almost, edge) * inverse_length2, t = first + rest;
  const Vec<T, 3> r = almost - rest * edge;
  return {PointEdgeFeature::interior, {T(1), t - T(1), -t}, r, norm2(r)};
}

template <class T>
SS_HD constexpr ClosestPair<T, PointTriangleFeature, 4> point_triangle_closest(const Vec<T, 3>& p,
                                                                               const Vec<T, 3>& t0,
                                                                               const Vec<T, 3>& t1,
                                                                               const Vec<T, 3>& t2) {
  using F = PointTriangleFeature;
  const Vec<T, 3> e1 = t1 - t0, e2 = t2 - t0;
  if (!nearly_parallel(e1, e2, norm2(cross(e1, e2)))) {
    const HullDistance<T, 4, 2> plane = point_plane(p, t0, t1, t2);
    if (plane.w[1] <= T(0) && plane.w[2] <= T(0) && plane.w[3] <= T(0))
      return {F::face, plane.w, plane.r, plane.d2()};
  }
  const Vec<T, 3> t[3] = {t0, t1, t2};
  constexpr F vertices[3] = {F::v0, F::v1, F::v2}, edges[3] = {F::e01, F::e12, F::e20};
  ClosestPair<T, F, 4> best{};
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const auto side = point_edge_closest(p, t[i], t[j]);
    if (i > 0 && !(side.d2 < best.d2)) continue;
    best.feature = side.feature == PointEdgeFeature::interior
                       ? edges[i]
                       : vertices[side.feature == PointEdgeFeature::v0 ? i : j];
    best.w = {T(1), T(0), T(0), T(0)};
    best.w[1 + i] = side.w[1];
    best.w[1 + j] = side.w[2];
    best.r = side.r;
    best.d2 = side.d2;
  }
  return best;
}

template <class T>
SS_HD constexpr ClosestPair<T, EdgeEdgeFeature, 4> edge_edge_closest(const Vec<T, 3>& a0, const Vec<T, 3>& a1,
                                                                     const Vec<T, 3>& b0,
                                                                     const Vec<T, 3>& b1) {
  using F = EdgeEdgeFeature;
  const Vec<T, 3> ea = a1 - a0, eb = b1 - b0;
  if (!nearly_parallel(ea, eb, norm2(cross(ea, eb)))) {
    const HullDistance<T, 4, 2> lines = line_line(a0, a1, b0, b1);
    if (lines.w[0] >= T(0) && lines.w[1] >= T(0) && lines.w[2] <= T(0) && lines.w[3] <= T(0))
      return {F::interior, lines.w, lines.r, lines.d2()};
  }
  // An end of a against b, then an end of b against a.
  const Vec<T, 3> x[4] = {a0, a1, b0, b1};
  constexpr F features[4][3] = {{F::a0_b0, F::a0_b1, F::a0_b},
                                {F::a1_b0, F::a1_b1, F::a1_b},
                                {F::a0_b0, F::a1_b0, F::a_b0},
                                {F::a0_b1, F::a1_b1, F::a_b1}};
  ClosestPair<T, F, 4> best{};
  for (int i = 0; i < 4; ++i) {
    const int other = i < 2 ? 2 : 0;
    const T side = i < 2 ? T(1) : T(-1);
    const auto end = point_edge_closest(x[i], x[other], x[other + 1]);
    if (i > 0 && !(end.d2 < best.d2)) continue;
    best.feature = features[i][static_cast<int>(end.feature)];
    best.w = Vec<T, 4>::zero();
    best.w[i] = side;
    best.w[other] = side * end.w[1];
    best.w[other + 1] = side * end.w[2];
    best.r = side * end.r;
    best.d2 = end.d2;
  }
  return best;
}

template <class T>
SS_HD constexpr PointEdgeFeature point_edge_feature(const Vec<T, 3>& p, const Vec<T, 3>& e0,
                                                    const Vec<T, 3>& e1) {
  return point_edge_closest(p, e0, e1).feature;
}
template <class T>
SS_HD constexpr PointTriangleFeature point_triangle_feature(const Vec<T, 3>& p, const Vec<T, 3>& t0,
                                                            const Vec<T, 3>& t1, const Vec<T, 3>& t2) {
  return point_triangle_closest(p, t0, t1, t2).feature;
}
template <class T>
SS_HD constexpr EdgeEdgeFeature edge_edge_feature(const Vec<T, 3>& a0, const Vec<T, 3>& a1,
                                                  const Vec<T, 3>& b0, const Vec<T, 3>& b1) {
  return edge_edge_closest(a0, a1, b0, b1).feature;
}
template <class T>
SS_HD constexpr T point_edge_d2(const Vec<T, 3>& p, const Vec<T, 3>& e0, const Vec<T, 3>& e1) {
  return point_edge_closest(p, e0, e1).d2;
}
template <class T>
SS_HD constexpr T point_triangle_d2(const Vec<T, 3>& p, const Vec<T, 3>& t0, const Vec<T, 3>& t1,
                                    const Vec<T, 3>& t2) {
  return point_triangle_closest(p, t0, t1, t2).d2;
}
template <class T>
SS_HD constexpr T edge_edge_d2(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                               const Vec<T, 3>& b1) {
  return edge_edge_closest(a0, a1, b0, b1).d2;
}
template <class T>
SS_HD constexpr Vec<T, 3> point_edge_weights(const Vec<T, 3>& p, const Vec<T, 3>& e0, const Vec<T, 3>& e1) {
  return point_edge_closest(p, e0, e1).w;
}
template <class T>
SS_HD constexpr Vec<T, 4> point_triangle_weights(const Vec<T, 3>& p, const Vec<T, 3>& t0, const Vec<T, 3>& t1,
                                                 const Vec<T, 3>& t2) {
  return point_triangle_closest(p, t0, t1, t2).w;
}
template <class T>
SS_HD constexpr Vec<T, 4> edge_edge_weights(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                                            const Vec<T, 3>& b1) {
  return edge_edge_closest(a0, a1, b0, b1).w;
}

}  // namespace stickslip
