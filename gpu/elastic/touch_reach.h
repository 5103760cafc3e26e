// Which candidates may touch: a cheap bound for several of them at once, in the lanes of processors.
#pragma once

#include "gpu/elastic/mesh_touch.h"
#include "gpu/elastic/reach_node.h"
#include "gpu/math/lanes.h"

namespace stickslip {

#if !STICKSLIP_ON_CUDA

namespace touch_reach_detail {

using LanesVec = Vec<WideLanes, 3>;

/// One node of each candidate of a pack.
struct ReachCorner {
  LanesVec x, v;
  WideLanes radius;

  ReachCorner(const ReachNode* nodes, const Vec4i* candidate, int corner) {
    WideLanes row[8 / kLaneCount][kLaneCount];
    for (int lane = 0; lane < kLaneCount; ++lane)
      for (int part = 0; part < 8 / kLaneCount; ++part)
        row[part][lane] = WideLanes::load(nodes[candidate[lane][corner]].x + part * kLaneCount);
    for (auto& part : row) transpose(part);
    const WideLanes* number = &row[0][0];
    for (int c = 0; c < 3; ++c) {
      x[c] = number[c];
      v[c] = number[3 + c];
    }
    radius = number[6];
  }
};

inline WideLanes lanes_dot(const LanesVec& a, const LanesVec& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline WideLanes clamped(WideLanes a) {
  const WideLanes zero(0.0), one(1.0);
  return pick(a < zero, zero, pick(a > one, one, a));
}
/// a / b, b >= 0; 0 where b is 0.
inline WideLanes ratio(WideLanes a, WideLanes b) {
  const WideLanes least(1e-300);
  return pick(b > least, a / larger(b, least), WideLanes(0.0));
}

/// The squared distance between two edges: the nearest place of one for the nearest place of the other.
inline WideLanes edges_d2(const LanesVec& a0, const LanesVec& a1, const LanesVec& b0, const LanesVec& b1) {
  const LanesVec a = a1 - a0, b = b1 - b0, r = a0 - b0;
  const WideLanes aa = lanes_dot(a, a), bb = lanes_dot(b, b), ab = lanes_dot(a, b);
  const WideLanes ar = lanes_dot(a, r), br = lanes_dot(b, r);
  const WideLanes first = clamped(ratio(ab * br - ar * bb, aa * bb - ab * ab));
  const WideLanes t = clamped(ratio(ab * first + br, bb));
  const WideLanes s = clamped(ratio(ab * t - ar, aa));
  LanesVec d;
  for (int c = 0; c < 3; ++c) d[c] = r[c] + s * a[c] - t * b[c];
  return lanes_dot(d, d);
}

inline WideLanes point_edge_d2(const LanesVec& p, const LanesVec& e0, const LanesVec& e1) {
  const LanesVec e = e1 - e0, r = p - e0;
  const WideLanes t = clamped(ratio(lanes_dot(e, r), lanes_dot(e, e)));
  LanesVec d;
  for (int c = 0; c < 3; ++c) d[c] = r[c] - t * e[c];
  return lanes_dot(d, d);
}

/// Of the plane where the point stands on the triangle or almost on it, else of the sides. {t0, t1, t1} is an
/// edge.
inline WideLanes triangle_d2(const LanesVec& p, const LanesVec& t0, const LanesVec& t1, const LanesVec& t2) {
  constexpr double kAlmost = -1e-6;
  const LanesVec e1 = t1 - t0, e2 = t2 - t0, r = p - t0, n = cross(e1, e2);
  const WideLanes nn = lanes_dot(n, n), height = lanes_dot(n, r);
  const WideLanes w1 = ratio(lanes_dot(cross(r, e2), n), nn), w2 = ratio(lanes_dot(cross(e1, r), n), nn);
  const WideLanes w0 = WideLanes(1.0) - w1 - w2;
  const WideLanes least = -larger(larger(-w0, -w1), -w2);
  const auto smaller = [](WideLanes a, WideLanes b) { return pick(a < b, a, b); };
  const WideLanes sides =
      smaller(smaller(point_edge_d2(p, t0, t1), point_edge_d2(p, t1, t2)), point_edge_d2(p, t2, t0));
  const WideLanes inside = pick(nn > WideLanes(0.0), least, WideLanes(2 * kAlmost));
  return pick(inside > WideLanes(kAlmost), smaller(ratio(height * height, nn), sides), sides);
}

}  // namespace touch_reach_detail

/// Whether the candidates of a pack may pass the first test of touch_point_triangle or touch_edges, that they
/// are within reach. The velocity between two points of the primitives is no more than that between two of
/// their nodes. `limit` > 0 in lanes of such candidates.
inline WideLanes within_reach(const MeshSurfaceView& s, const ReachNode* nodes, const Vec4i* candidate,
                              bool of_point) {
  using namespace touch_reach_detail;
  constexpr double kRounding = 1e-9;
  const ReachCorner c0(nodes, candidate, 0), c1(nodes, candidate, 1), c2(nodes, candidate, 2),
      c3(nodes, candidate, 3);
  const auto speed2 = [](const ReachCorner& a, const ReachCorner& b) {
    const LanesVec u = a.v - b.v;
    return lanes_dot(u, u);
  };
  const WideLanes d2 = of_point ? triangle_d2(c0.x, c1.x, c2.x, c3.x) : edges_d2(c0.x, c1.x, c2.x, c3.x);
  WideLanes u2 = larger(speed2(c0, c2), speed2(c0, c3));
  u2 = larger(u2, of_point ? speed2(c0, c1) : larger(speed2(c1, c2), speed2(c1, c3)));
  const WideLanes thickness = c0.radius + (of_point ? c1.radius : c2.radius);
  const WideLanes reach = WideLanes(s.margin) + thickness + WideLanes(s.dt) * root(u2);
  return pick(d2 <= WideLanes(1 + kRounding) * reach * reach, WideLanes(1.0), WideLanes(0.0));
}

#endif

}  // namespace stickslip
