#include "gpu/ccd/near_pairs.cuh"

#include <algorithm>
#include <array>

#include "gpu/ccd/swept_pair.h"
#include "tests/backend_test.h"
#include "tests/broadphase/found_pairs.h"
#include "tests/broadphase/soups.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using stickslip::testing::Soup;

/// What the broad phase finds for what `soup` and its motion cover with `spare` around them.
FoundPairs all_pairs(Context& ctx, const Soup& soup, double margin, double spare) {
  const DeviceSoup device(ctx, soup);
  BroadPhase broad_phase;
  broad_phase.set_topology(device.view());
  broad_phase.find(ctx, device.x.data(), device.p.data(), Real(margin + 2 * spare), device.fixed.data());
  return sorted(download(ctx, broad_phase.view()));
}

/// Whether the gap is below `margin` at one of many times of the way.
template <template <class> class Pair>
bool comes_near(const Soup& soup, const std::array<int, 4>& nodes, double margin) {
  Pair<double> pair;
  for (int c = 0; c < 4; ++c) {
    const auto node = static_cast<std::size_t>(nodes[static_cast<std::size_t>(c)]);
    pair.x[c] = soup.x[node].template cast<double>();
    pair.p[c] = soup.p[node].template cast<double>();
  }
  const double radii = soup.radius_of(nodes[0]) + soup.radius_of(nodes[Pair<double>::kCornersOfA]);
  constexpr int kTimes = 64;
  for (int k = 0; k <= kTimes; ++k)
    if (distance_at(pair, double(k) / kTimes) - radii < margin) return true;
  return false;
}

/// Requires that `found` has each of the `all` pairs that comes near, and no others than those.
void expect_near(const Soup& soup, const FoundPairs& all, double margin, const FoundPairs& found) {
  const auto check = [](const Quads& of, const Quads& got, auto&& is_near, const char* what) {
    EXPECT_TRUE(contains(of, got)) << what;
    for (const auto& q : of)
      if (is_near(q)) {
        EXPECT_TRUE(std::binary_search(got.begin(), got.end(), q)) << what << " missed";
      }
  };
  check(
      all.point_triangle, found.point_triangle,
      [&](const auto& q) { return comes_near<PointTriangle>(soup, q, margin); }, "point-triangle pair");
  check(
      all.edge_edge, found.edge_edge, [&](const auto& q) { return comes_near<EdgeEdge>(soup, q, margin); },
      "edge-edge pair");
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(NearPairs, DropsOnlyPairsThatStayAway) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  std::size_t boxes = 0, near = 0;
  for (const auto& [name, soup] : stickslip::testing::hard_soups(rng))
    for (const double margin : {1e-4, 0.0131}) {
      SCOPED_TRACE(name + ", margin " + std::to_string(margin));
      const double spare = 0.3 * margin;
      const DeviceSoup device(ctx, soup);
      NearPairs pairs;
      pairs.set_topology(device.view());
      pairs.find(ctx, device.x.data(), device.p.data(), Real(margin), Real(spare), device.fixed.data());
      const FoundPairs all = all_pairs(ctx, soup, margin, spare), found = sorted(download(ctx, pairs.view()));
      expect_near(soup, all, margin, found);
      // Of these all pairs touch.
      if (name == "clustered" || name == "degenerate") continue;
      boxes += all.size();
      near += found.size();
    }
  EXPECT_LT(near, boxes / 2);
}

// Nodes wander from call to call: whether it searched or not, no pair is missing.
BACKEND_TEST(NearPairs, ServeUntilANodeLeavesItsBox) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  constexpr double kMargin = 0.03, kSpare = 0.01;
  Soup soup = stickslip::testing::random_soup(rng, 60, 0.2);
  NearPairs pairs;
  const DeviceSoup topology(ctx, soup);
  pairs.set_topology(topology.view());
  // Without a search it reads once; a search adds two reads.
  const auto reads_at = [&](const Soup& moved) {
    const DeviceSoup device(ctx, moved);
    const auto before = ctx.counters().copies_to_host;
    pairs.find(ctx, device.x.data(), device.p.data(), Real(kMargin), Real(kSpare), device.fixed.data());
    const auto reads = ctx.counters().copies_to_host - before;
    const FoundPairs found = sorted(download(ctx, pairs.view()));
    FoundPairs all = all_pairs(ctx, moved, kMargin, 0);
    const auto keep_near = [&](Quads& quads, auto&& near) {
      std::erase_if(quads, [&](const auto& q) { return !near(q); });
    };
    keep_near(all.point_triangle,
              [&](const auto& q) { return comes_near<PointTriangle>(moved, q, kMargin); });
    keep_near(all.edge_edge, [&](const auto& q) { return comes_near<EdgeEdge>(moved, q, kMargin); });
    EXPECT_TRUE(contains(found.point_triangle, all.point_triangle));
    EXPECT_TRUE(contains(found.edge_edge, all.edge_edge));
    return reads;
  };
  stickslip::testing::set_motion(soup, rng, 0.1);
  pairs.forget();
  EXPECT_EQ(reads_at(soup), 2u);  // no read asks whether pairs serve

  int searches = 0;
  for (int call = 0; call < 60; ++call) {
    Soup moved = soup;
    // Along the path of the first call, then beside it, more and more.
    for (std::size_t i = 0; i < moved.x.size(); ++i) {
      moved.x[i] +=
          Real(0.5) * soup.p[i] + stickslip::testing::random_point(rng, -1, 1) * Real(call * kSpare / 30);
      moved.p[i] = Real(0.3) * soup.p[i];
    }
    const bool searched = reads_at(moved) != 1;
    if (call < 20) {
      EXPECT_FALSE(searched) << "call " << call;
    }
    searches += searched;
  }
  EXPECT_GT(searches, 3);
  // Another surface and another margin invalidate the pairs.
  const DeviceSoup device(ctx, soup);
  reads_at(soup);
  EXPECT_EQ(reads_at(soup), 1u);
  pairs.set_topology(topology.view());
  EXPECT_EQ(reads_at(soup), 2u);
  pairs.find(ctx, device.x.data(), device.p.data(), Real(kMargin / 10), Real(kSpare), device.fixed.data());
  EXPECT_EQ(reads_at(soup), 2u);
}

BACKEND_TEST(NearPairs, OrderDoesNotDependOnThreads) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  Soup soup = stickslip::testing::random_soup(rng, 4000, 0.03);
  stickslip::testing::set_motion(soup, rng, 0.01);
  const auto found_by = [&](Context& own) {
    const DeviceSoup device(own, soup);
    NearPairs pairs;
    pairs.set_topology(device.view());
    pairs.find(own, device.x.data(), device.p.data(), Real(0.01), Real(0.003), device.fixed.data());
    const CandidateView view = pairs.view();
    std::vector<Vec4i> list(view.point_triangle_count + view.edge_edge_count);
    copy_to_host(own, list.data(), view.point_triangle, list.size());
    return list;
  };
  const std::vector<Vec4i> expected = found_by(ctx);
  EXPECT_GT(expected.size(), 1000u);
  for (const int threads : {1, 2, 3, 8}) {
    Context other(threads);
    EXPECT_EQ(found_by(other), expected) << threads << " threads";
  }
}
