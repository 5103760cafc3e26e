#include "gpu/broadphase/broadphase.cuh"

#include <tuple>

#include "gpu/broadphase/primitive_pairs.h"
#include "tests/backend_test.h"
#include "tests/broadphase/found_pairs.h"
#include "tests/broadphase/soups.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using stickslip::testing::Soup;

FoundPairs find(Context& ctx, BroadPhase& broad_phase, const Soup& soup, Real margin) {
  const DeviceSoup device(ctx, soup);
  broad_phase.set_topology(device.view());
  broad_phase.find(ctx, device.x.data(), device.p.data(), margin, device.fixed.data());
  return download(ctx, broad_phase.view());
}

/// The axis-aligned gap [m] between two swept primitives, less their radii; <= 0 when their boxes overlap.
template <int A, int B>
double box_gap(const Soup& soup, const Vec<std::int32_t, A>& a, const Vec<std::int32_t, B>& b) {
  double gap = -1e300;
  const auto range = [&](const auto& nodes, int count, int k) {
    double lo = 1e300, hi = -1e300;
    for (int c = 0; c < count; ++c) {
      const double from = soup.x[nodes[c]][k], to = from + soup.p[nodes[c]][k];
      lo = std::min({lo, from, to});
      hi = std::max({hi, from, to});
    }
    return std::pair(lo, hi);
  };
  for (int k = 0; k < 3; ++k) {
    const auto [a_lo, a_hi] = range(a, A, k);
    const auto [b_lo, b_hi] = range(b, B, k);
    gap = std::max({gap, a_lo - b_hi, b_lo - a_hi});
  }
  return gap - soup.radius_of(a[0]) - soup.radius_of(b[0]);
}

/// Every pair whose gap is at most `margin`, by two loops.
FoundPairs brute_force(const Soup& soup, double margin) {
  FoundPairs pairs;
  const std::uint8_t* fixed = soup.fixed.data();
  for (const std::int32_t node : soup.nodes)
    for (const Vec3i& t : soup.triangles) {
      const Vec<std::int32_t, 1> point{node};
      if (never_touch(point, t, fixed) || box_gap(soup, point, t) > margin) continue;
      pairs.point_triangle.push_back({node, t[0], t[1], t[2]});
    }
  for (std::size_t i = 0; i < soup.edges.size(); ++i)
    for (std::size_t j = i + 1; j < soup.edges.size(); ++j) {
      const Vec2i a = soup.edges[i], b = soup.edges[j];
      if (never_touch(a, b, fixed) || box_gap(soup, a, b) > margin) continue;
      pairs.edge_edge.push_back({a[0], a[1], b[0], b[1]});
    }
  return pairs;
}

/// Requires that `found` has every pair within `margin`, no duplicates, and no pair beyond the rounding to
/// float.
void expect_between(const Soup& soup, double margin, const FoundPairs& found) {
  double largest = 0;
  for (std::size_t i = 0; i < soup.x.size(); ++i)
    for (int k = 0; k < 3; ++k)
      largest = std::max<double>(largest, std::abs(soup.x[i][k]) + std::abs(soup.p[i][k]) + margin);
  const FoundPairs needed = brute_force(soup, margin), allowed = brute_force(soup, margin + 2e-6 * largest);
  const auto check = [](const Quads& got, const Quads& at_least, const Quads& at_most, const char* what) {
    const Quads s = sorted(got);
    EXPECT_EQ(std::adjacent_find(s.begin(), s.end()), s.end()) << what << " twice";
    EXPECT_TRUE(contains(s, sorted(at_least))) << what << " missed";
    EXPECT_TRUE(contains(sorted(at_most), s)) << what << " too many";
  };
  check(found.point_triangle, needed.point_triangle, allowed.point_triangle, "point-triangle pair");
  check(found.edge_edge, needed.edge_edge, allowed.edge_edge, "edge-edge pair");
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(BroadPhase, FindsWhatBruteForceFinds) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  BroadPhase broad_phase;
  for (const auto& [name, soup] : stickslip::testing::hard_soups(rng))
    for (const double margin : {0.0, 0.0131, 0.217}) {
      SCOPED_TRACE(name + ", margin " + std::to_string(margin));
      expect_between(soup, margin, find(ctx, broad_phase, soup, Real(margin)));
    }
}

BACKEND_TEST(BroadPhase, KeepsPairsExactlyAtTheMargin) {
  // A point above a triangle and an edge above an edge, far from the origin: there the spacing of floats
  // exceeds the rounding of the margin.
  Soup soup;
  const Real h = Real(0.1), far = Real(0.7) * 1024;
  soup.x = {{far, 0, 0}, {far + 1, 0, 0}, {far, 0, 1}, {far, h, 0}, {far + 1, h, 0}, {far, h, 1}};
  soup.triangles = {{0, 1, 2}, {3, 4, 5}};
  complete(soup);
  BroadPhase broad_phase;
  const FoundPairs found = find(ctx, broad_phase, soup, h);
  EXPECT_EQ(found.point_triangle.size(), 6u);
  EXPECT_EQ(found.edge_edge.size(), 9u);
}

BACKEND_TEST(BroadPhase, LeavesOutPairsWithoutAFreeNode) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  Soup soup = stickslip::testing::random_soup(rng, 100, 0.3);
  soup.fixed.assign(soup.x.size(), 1);
  BroadPhase broad_phase;
  FoundPairs found = find(ctx, broad_phase, soup, Real(0.1));
  EXPECT_TRUE(found.point_triangle.empty());
  EXPECT_TRUE(found.edge_edge.empty());

  soup.fixed[7] = 0;
  soup.x[7] = soup.x[50];  // of another triangle
  found = find(ctx, broad_phase, soup, Real(0.1));
  EXPECT_FALSE(found.point_triangle.empty());
  EXPECT_FALSE(found.edge_edge.empty());
  for (const Quads* quads : {&found.point_triangle, &found.edge_edge})
    for (const auto& q : *quads) EXPECT_NE(std::find(q.begin(), q.end(), 7), q.end());
}

BACKEND_TEST(BroadPhase, TakesNullForNoMotionAndNothingFixed) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  const Soup soup = stickslip::testing::random_soup(rng, 200, 0.1);
  BroadPhase broad_phase;
  const FoundPairs expected = find(ctx, broad_phase, soup, Real(0.05));
  const DeviceSoup device(ctx, soup);
  broad_phase.set_topology(device.view());
  broad_phase.find(ctx, device.x.data(), nullptr, Real(0.05), nullptr);
  const CandidateView view = broad_phase.view();
  EXPECT_EQ(download(ctx, view.point_triangle, view.point_triangle_count), expected.point_triangle);
  EXPECT_EQ(download(ctx, view.edge_edge, view.edge_edge_count), expected.edge_edge);
}

BACKEND_TEST(BroadPhase, OrderDoesNotDependOnThreads) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  Soup soup = stickslip::testing::random_soup(rng, 4000, 0.03);
  stickslip::testing::set_motion(soup, rng, 0.01);
  BroadPhase reference;
  const FoundPairs expected = find(ctx, reference, soup, Real(0.02));
  EXPECT_GT(expected.edge_edge.size(), 1000u);
  for (const int threads : {1, 2, 3, 8}) {
    Context other(threads);
    BroadPhase broad_phase;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const FoundPairs found = find(other, broad_phase, soup, Real(0.02));
      EXPECT_EQ(found.point_triangle, expected.point_triangle) << threads << " threads";
      EXPECT_EQ(found.edge_edge, expected.edge_edge) << threads << " threads";
    }
  }
}

BACKEND_TEST(BroadPhase, AllocatesNothingAndReadsOnceInSteadyState) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  Soup soup = stickslip::testing::random_soup(rng, 2000, 0.05);
  stickslip::testing::set_motion(soup, rng, 0.01);
  const DeviceSoup device(ctx, soup);
  BroadPhase broad_phase;
  broad_phase.set_topology(device.view());
  // The case with the most pairs comes first: later ones must fit into its capacity.
  broad_phase.find(ctx, device.x.data(), device.p.data(), Real(0.02), device.fixed.data());
  const Counters before = ctx.counters();
  for (const Real margin : {Real(0.02), Real(0.01), Real(0), Real(0.015)})
    broad_phase.find(ctx, device.x.data(), device.p.data(), margin, device.fixed.data());
  EXPECT_EQ(ctx.counters().allocations, before.allocations);
  EXPECT_EQ(ctx.counters().copies_to_host, before.copies_to_host + 4);
  EXPECT_EQ(ctx.counters().copies_to_device, before.copies_to_device);
}
