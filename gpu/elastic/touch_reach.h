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
  WideLanes radius, faces;

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
    faces = number[7];
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

/// The difference of two points, as a motion moves it.
struct ReachGap {
  LanesVec d, u;
};

/// Between two edges: the nearest place of one for the nearest place of the other.
inline ReachGap edges_gap(const ReachCorner& c0, const ReachCorner& c1, const ReachCorner& c2,
                          const ReachCorner& c3) {
  const LanesVec &a0 = c0.x, &a1 = c1.x, &b0 = c2.x, &b1 = c3.x;
  const LanesVec a = a1 - a0, b = b1 - b0, r = a0 - b0;
  const WideLanes aa = lanes_dot(a, a), bb = lanes_dot(b, b), ab = lanes_dot(a, b);
  const WideLanes ar = lanes_dot(a, r), br = lanes_dot(b, r);
  const WideLanes first = clamped(ratio(ab * br - ar * bb, aa * bb - ab * ab));
  const WideLanes t = clamped(ratio(ab * first + br, bb));
  const WideLanes s = clamped(ratio(ab * t - ar, aa));
  ReachGap gap;
  for (int c = 0; c < 3; ++c) {
    gap.d[c] = r[c] + s * a[c] - t * b[c];
    gap.u[c] = c0.v[c] + s * (c1.v[c] - c0.v[c]) - c2.v[c] - t * (c3.v[c] - c2.v[c]);
  }
  return gap;
}

/// Of a point and an edge.
inline ReachGap point_edge_gap(const ReachCorner& p, const ReachCorner& e0, const ReachCorner& e1) {
  const LanesVec e = e1.x - e0.x, r = p.x - e0.x;
  const WideLanes t = clamped(ratio(lanes_dot(e, r), lanes_dot(e, e)));
  ReachGap gap;
  for (int c = 0; c < 3; ++c) {
    gap.d[c] = r[c] - t * e[c];
    gap.u[c] = p.v[c] - e0.v[c] - t * (e1.v[c] - e0.v[c]);
  }
  return gap;
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

/// Whether two wires may be as close as is_close asks, with `near` = margin + thickness: what closes counts
/// along the normal of the contact alone. Between edges that is d / |d|. wire_leans_over turns that of a
/// point by at most the tangent kTurn, which leaves cos |d| of the gap and adds sin |u| to what closes. > 0
/// in lanes of such.
inline WideLanes wires_may_touch(const ReachGap& gap, WideLanes near, double dt, bool of_point) {
  constexpr double kSlack = 1 + 1e-6;
  const double turn = of_point ? mesh_touch_detail::kTurn : 0;
  const WideLanes d2 = lanes_dot(gap.d, gap.d), d = root(d2), closing = -lanes_dot(gap.d, gap.u);
  WideLanes most =
      WideLanes(std::sqrt(1 + turn * turn)) * near * d + WideLanes(dt) * larger(closing, WideLanes(0.0));
  if (of_point) most += WideLanes(dt * turn) * d * root(lanes_dot(gap.u, gap.u));
  return pick(d2 <= WideLanes(kSlack) * most, WideLanes(1.0), WideLanes(0.0));
}

}  // namespace touch_reach_detail

/// Whether the candidates of a pack may pass the first test of touch_point_triangle or touch_edges, that they
/// are within reach. The velocity between two points of the primitives is no more than that between two of
/// their nodes. Candidates between wires are also tested as wires_may_touch does. > 0 in lanes of such
/// candidates.
inline WideLanes within_reach(const MeshSurfaceView& s, const ReachNode* nodes, const Vec4i* candidate,
                              bool of_point) {
  using namespace touch_reach_detail;
  constexpr double kRounding = 1e-9;
  const ReachCorner c0(nodes, candidate, 0), c1(nodes, candidate, 1), c2(nodes, candidate, 2),
      c3(nodes, candidate, 3);
  const WideLanes one(1.0), none(0.0);
  const WideLanes thickness = c0.radius + (of_point ? c1.radius : c2.radius);
  const WideLanes faces = c0.faces + c1.faces + c2.faces + c3.faces;
  const bool all_wires = all_less(faces, one);
  const ReachGap gap = !of_point   ? edges_gap(c0, c1, c2, c3)
                       : all_wires ? point_edge_gap(c0, c1, c2)
                                   : ReachGap{};
  if (all_wires) return wires_may_touch(gap, WideLanes(s.margin) + thickness, s.dt, of_point);
  const auto speed2 = [](const ReachCorner& a, const ReachCorner& b) {
    const LanesVec u = a.v - b.v;
    return lanes_dot(u, u);
  };
  const WideLanes d2 = of_point ? triangle_d2(c0.x, c1.x, c2.x, c3.x) : lanes_dot(gap.d, gap.d);
  WideLanes u2 = larger(speed2(c0, c2), speed2(c0, c3));
  u2 = larger(u2, of_point ? speed2(c0, c1) : larger(speed2(c1, c2), speed2(c1, c3)));
  const WideLanes reach = WideLanes(s.margin) + thickness + WideLanes(s.dt) * root(u2);
  return pick(d2 <= WideLanes(1 + kRounding) * reach * reach, one, none);
}

#endif

}  // namespace stickslip
