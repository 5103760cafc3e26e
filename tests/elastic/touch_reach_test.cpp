// The bound that leaves candidates out, against the distances that it bounds.
#include "gpu/elastic/touch_reach.h"

#include <gtest/gtest.h>

#include <random>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Packs of primitives of four nodes each.
struct Candidates {
  std::vector<Vec3> x, v;
  std::vector<Real> radius;
  std::vector<ReachNode> nodes;
  std::vector<Vec4i> quads;
  MeshSurfaceView view{};

  Candidates(std::size_t packs, bool parallel, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(-1, 1), thick(0, 0.1);
    const auto point = [&] { return Vec3d{any(random), any(random), any(random)}; };
    for (std::size_t i = 0; i < packs * kLaneCount; ++i) {
      const auto first = static_cast<std::int32_t>(x.size());
      quads.push_back({first, first + 1, first + 2, first + 3});
      Vec3d at[4] = {point(), point(), point(), point()};
      if (parallel) at[3] = at[2] + (i % 3 == 0 ? -1.0 : 0.7) * (at[1] - at[0]);
      for (const Vec3d& p : at) {
        x.push_back(p.cast<Real>());
        v.push_back(point().cast<Real>());
        radius.push_back(static_cast<Real>(thick(random)));
      }
    }
    view.x = x.data();
    view.v = v.data();
    view.radius = radius.data();
    view.margin = 0.1;
    view.dt = 0.1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Vec3d p = x[i].cast<double>(), u = v[i].cast<double>();
      nodes.push_back({{p[0], p[1], p[2]}, {u[0], u[1], u[2]}, static_cast<double>(radius[i]), 1});
    }
  }
  /// Margin, thickness and what the fastest pair of nodes closes.
  double reach(const Vec4i& q, bool of_point) const {
    double speed = 0;
    for (int a = 0; a < (of_point ? 1 : 2); ++a)
      for (int b = of_point ? 1 : 2; b < 4; ++b)
        speed = std::max(speed, norm(v[q[a]].cast<double>() - v[q[b]].cast<double>()));
    return view.margin + view.thickness(q[0], q[of_point ? 1 : 2]) + view.dt * speed;
  }
  double distance2(const Vec4i& q, bool of_point) const {
    const Vec3d p[4] = {view.at(q[0]), view.at(q[1]), view.at(q[2]), view.at(q[3])};
    if (!of_point) return edge_edge_d2(p[0], p[1], p[2], p[3]);
    return q[2] == q[3] ? point_edge_d2(p[0], p[1], p[2]) : point_triangle_d2(p[0], p[1], p[2], p[3]);
  }
};

/// Within reach by distance and by the bound: how many are, and both agree but for rounding.
int expect_agreement(const Candidates& candidates, bool of_point) {
  int near = 0;
  for (std::size_t i = 0; i < candidates.quads.size(); i += kLaneCount) {
    const WideLanes bound =
        within_reach(candidates.view, candidates.nodes.data(), candidates.quads.data() + i, of_point);
    for (int lane = 0; lane < kLaneCount; ++lane) {
      const Vec4i& q = candidates.quads[i + static_cast<std::size_t>(lane)];
      const double d2 = candidates.distance2(q, of_point), reach = candidates.reach(q, of_point);
      const bool is_near = bound.v[lane] > 0;
      if (d2 <= reach * reach || d2 > 1.0001 * reach * reach) {
        EXPECT_EQ(is_near, d2 <= reach * reach) << d2 << " " << reach;
      }
      near += is_near ? 1 : 0;
    }
  }
  return near;
}

TEST(TouchReach, EdgesAreLeftOutBeyondReach) {
  for (const bool parallel : {false, true}) {
    const Candidates candidates(500, parallel, 3);
    const int near = expect_agreement(candidates, false), all = static_cast<int>(candidates.quads.size());
    EXPECT_GT(near, all / 20);
    EXPECT_LT(near, all - all / 20);
  }
}

TEST(TouchReach, PointsAreLeftOutBeyondReach) {
  for (const bool wires : {false, true}) {
    Candidates candidates(500, false, 4);
    if (wires)
      for (Vec4i& q : candidates.quads) q[3] = q[2];
    const int near = expect_agreement(candidates, true), all = static_cast<int>(candidates.quads.size());
    EXPECT_GT(near, all / 20);
    EXPECT_LT(near, all - all / 20);
  }
}

/// Of wires: the least gap that `is_close` compares, with the normal turned as wire_leans_over may turn it.
/// `slowest`: the normal among these that closes least.
bool wires_touch(const Candidates& candidates, const Vec4i& q, bool of_point, double turn) {
  const MeshSurfaceView& s = candidates.view;
  Vec3d d, u;
  const auto v = [&](int c) { return candidates.v[q[c]].cast<double>(); };
  if (of_point) {
    const auto near = point_edge_closest(s.at(q[0]), s.at(q[1]), s.at(q[2]));
    d = near.r;
    u = v(0) + near.w[1] * v(1) + near.w[2] * v(2);
  } else {
    const auto near = edge_edge_closest(s.at(q[0]), s.at(q[1]), s.at(q[2]), s.at(q[3]));
    d = near.r;
    u = near.w[0] * v(0) + near.w[1] * v(1) + near.w[2] * v(2) + near.w[3] * v(3);
  }
  Vec3d normal = normalized(d);
  const Vec3d beside = cross(normal, cross(u, normal));
  if (turn > 0 && norm(beside) > 0) normal = normalized(normal - turn * normalized(beside));
  const double closing = -dot(normal, u), gap = dot(d, normal) - s.thickness(q[0], q[of_point ? 1 : 2]);
  return gap <= s.margin + (closing > 0 ? s.dt * closing : 0.0);
}

/// What may touch is taken, with every turn of the normal; what moves apart or past is left out.
TEST(TouchReach, WiresAreTakenByWhatClosesAlongTheNormal) {
  for (const bool of_point : {false, true}) {
    Candidates candidates(1000, false, 7);
    for (ReachNode& node : candidates.nodes) node.faces = 0;
    if (of_point)
      for (Vec4i& q : candidates.quads) q[3] = q[2];
    int taken = 0, within = 0, touching = 0;
    for (std::size_t i = 0; i < candidates.quads.size(); i += kLaneCount) {
      const WideLanes bound =
          within_reach(candidates.view, candidates.nodes.data(), candidates.quads.data() + i, of_point);
      for (int lane = 0; lane < kLaneCount; ++lane) {
        const Vec4i& q = candidates.quads[i + static_cast<std::size_t>(lane)];
        const bool is_taken = bound.v[lane] > 0;
        for (const double turn : {0.0, 0.07, mesh_touch_detail::kTurn})
          if ((of_point || turn == 0) && wires_touch(candidates, q, of_point, turn)) {
            EXPECT_TRUE(is_taken) << turn;
          }
        const double reach = candidates.reach(q, of_point);
        taken += is_taken ? 1 : 0;
        within += candidates.distance2(q, of_point) <= reach * reach ? 1 : 0;
        touching += wires_touch(candidates, q, of_point, 0) ? 1 : 0;
      }
    }
    EXPECT_GT(touching, static_cast<int>(candidates.quads.size()) / 50);
    EXPECT_LT(taken, 0.9 * within);
    EXPECT_LE(taken, (of_point ? 1.3 : 1.001) * touching);
  }
}

/// Edges and triangles without size, and nodes without thickness.
TEST(TouchReach, PrimitivesWithoutSizeAreTaken) {
  Candidates candidates(20, false, 6);
  candidates.view.radius = nullptr;
  for (ReachNode& node : candidates.nodes) node.radius = 0;
  for (Vec4i& q : candidates.quads) q = {q[0], q[1], q[2], q[2]};
  expect_agreement(candidates, false);
  for (Vec4i& q : candidates.quads) q = {q[0], q[2], q[2], q[2]};
  expect_agreement(candidates, true);
  expect_agreement(candidates, false);
}

}  // namespace
}  // namespace stickslip
