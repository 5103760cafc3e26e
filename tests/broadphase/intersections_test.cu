#include "gpu/broadphase/intersections.cuh"

#include "gpu/broadphase/primitive_pairs.h"
#include "gpu/geometry/segment_triangle.h"
#include "tests/backend_test.h"
#include "tests/broadphase/soups.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using stickslip::testing::Soup;

Intersections check(Context& ctx, IntersectionCheck& judge, const Soup& soup) {
  const DeviceSoup device(ctx, soup);
  return judge.run(ctx, device.view(), device.x.data(), device.fixed.data());
}

Intersections brute_force(const Soup& soup) {
  Intersections found;
  for (std::size_t i = 0; i < soup.edges.size(); ++i)
    for (std::size_t j = 0; j < soup.triangles.size(); ++j) {
      const Vec2i e = soup.edges[i];
      const Vec3i t = soup.triangles[j];
      if (never_touch(e, t, soup.fixed.data())) continue;
      if (!segment_intersects_triangle(soup.x[e[0]], soup.x[e[1]], soup.x[t[0]], soup.x[t[1]], soup.x[t[2]]))
        continue;
      if (found.count++ == 0) {
        found.first_edge = static_cast<int>(i);
        found.first_triangle = static_cast<int>(j);
      }
    }
  return found;
}

void expect_equal(const Intersections& got, const Intersections& expected) {
  EXPECT_EQ(got.count, expected.count);
  EXPECT_EQ(got.first_edge, expected.first_edge);
  EXPECT_EQ(got.first_triangle, expected.first_triangle);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(IntersectionCheck, CountsWhatBruteForceCounts) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  IntersectionCheck judge;
  for (auto& [name, soup] : stickslip::testing::hard_soups(rng)) {
    SCOPED_TRACE(name);
    const Intersections expected = brute_force(soup);
    if (name == "random" || name == "connected") {
      EXPECT_GT(expected.count, 0);
    }
    expect_equal(check(ctx, judge, soup), expected);
    for (const int threads : {1, 3}) {
      Context other(threads);
      IntersectionCheck other_judge;
      expect_equal(check(other, other_judge, soup), expected);
    }
  }
}

BACKEND_TEST(IntersectionCheck, FindsNothingInSeparatedSheets) {
  IntersectionCheck judge;
  Soup soup = stickslip::testing::sheet(10);
  const auto nodes = static_cast<std::int32_t>(soup.x.size());
  for (std::int32_t i = 0; i < nodes; ++i)
    soup.x.push_back(soup.x[i] + Vec3{Real(0.01), Real(1e-7), Real(0.01)});
  const std::vector<Vec3i> lower = soup.triangles;
  for (const Vec3i& t : lower) soup.triangles.push_back(t + Vec3i::filled(nodes));
  complete(soup);
  EXPECT_EQ(check(ctx, judge, soup).count, 0);

  // One node pushed through a triangle is found, unless all its primitives are fixed.
  soup.x[nodes + 11 * 5 + 5][1] = Real(-0.01);
  EXPECT_GT(check(ctx, judge, soup).count, 0);
  expect_equal(check(ctx, judge, soup), brute_force(soup));
  soup.fixed.assign(soup.x.size(), 1);
  expect_equal(check(ctx, judge, soup), Intersections{});
}
