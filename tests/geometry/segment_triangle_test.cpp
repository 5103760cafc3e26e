#include "gpu/geometry/segment_triangle.h"

#include <algorithm>

#include "tests/geometry/random_points.h"

namespace stickslip {
namespace {

using testing::Random;
using P = Vec<double, 3>;
using I = __int128;

// An oracle in integers: points on a grid, determinants without rounding.
struct GridPoint {
  long x[3];
};
I determinant(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d) {
  I m[3][3];
  for (int k = 0; k < 3; ++k) {
    m[0][k] = a.x[k] - d.x[k];
    m[1][k] = b.x[k] - d.x[k];
    m[2][k] = c.x[k] - d.x[k];
  }
  I det = 0;
  for (int k = 0; k < 3; ++k)
    det += m[0][k] * (m[1][(k + 1) % 3] * m[2][(k + 2) % 3] - m[1][(k + 2) % 3] * m[2][(k + 1) % 3]);
  return det;
}
int sign(I x) { return (x > 0) - (x < 0); }

TEST(Expansion, AddsWithoutRounding) {
  Expansion<16> sum;
  sum.add(1e100);
  sum.add(1.0);
  sum.add(-1e100);
  EXPECT_EQ(sum.sign(), 1);
  sum.add_product(-1.0, 1.0 + 0x1p-52);
  EXPECT_EQ(sum.sign(), -1);
  sum.add_product(0x1p-26, 0x1p-26);
  EXPECT_EQ(sum.sign(), 0);
  sum.add_product(1e-20, 1e-30, 1e-40);
  EXPECT_EQ(sum.sign(), 1);
}

TEST(Orientation, EqualsIntegerArithmetic) {
  Random random;
  SCOPED_TRACE(random.trace());
  int flat = 0;
  for (int n = 0; n < 20000; ++n) {
    // Grid points far from zero make the floating-point filter fail; few grid points make degenerate
    // triangles frequent.
    const long offset = n % 2 == 0 ? 0 : 1L << 40, range = n % 3 == 0 ? 2 : (n % 3 == 1 ? 40 : 1L << 20);
    GridPoint g[4];
    P p[4];
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k) {
        g[i].x[k] = offset + static_cast<long>(random.uniform(0, static_cast<double>(range)));
        p[i][k] = 0x1p-30 * static_cast<double>(g[i].x[k]);
      }
    if (n % 5 == 0)  // in one plane, far apart
      for (int k = 0; k < 3; ++k) {
        g[3].x[k] = g[0].x[k] + 3 * (g[1].x[k] - g[2].x[k]);
        p[3][k] = 0x1p-30 * static_cast<double>(g[3].x[k]);
      }
    const int expected = sign(determinant(g[0], g[1], g[2], g[3]));
    flat += expected == 0;
    ASSERT_EQ(exact::orientation3(p[0], p[1], p[2], p[3]), expected);
    for (int k = 0; k < 3; ++k) {
      const int i = k, j = (k + 1) % 3;
      const I det = I(g[0].x[i] - g[2].x[i]) * (g[1].x[j] - g[2].x[j]) -
                    I(g[0].x[j] - g[2].x[j]) * (g[1].x[i] - g[2].x[i]);
      ASSERT_EQ(exact::orientation2(p[0], p[1], p[2], i, j), sign(det));
    }
  }
  EXPECT_GT(flat, 4000);
}

TEST(Orientation, SurvivesOneUnitInTheLastPlace) {
  // Points of a plane through (1,0,0), (0,1,0), (0,0,1); one of them moved by the last bit.
  const P a{0.1, 0.3, 0.6}, b{3, -1, -1}, c{-2, 2.5, 0.5};
  const P on{0.5, 0.25, 0.25};
  const int side = exact::orientation3(b, c, P{1, 0, 0}, P{0, 0, 0});
  P below = on, above = on;
  below[0] = std::nextafter(on[0], 0);
  above[0] = std::nextafter(on[0], 1);
  EXPECT_EQ(exact::orientation3(b, c, P{1, 0, 0}, on), 0);
  EXPECT_EQ(exact::orientation3(b, c, P{1, 0, 0}, below), side);
  EXPECT_EQ(exact::orientation3(b, c, P{1, 0, 0}, above), -side);
  // The sum 0.1 + 0.3 + 0.6 of the stored doubles is not exactly 1.
  EXPECT_NE(exact::orientation3(b, c, P{1, 0, 0}, a), 0);
}

TEST(SegmentTriangle, KnownCases) {
  const P t0{0, 0, 0}, t1{1, 0, 0}, t2{0, 0, 1};
  const auto intersects = [&](const P& a, const P& b) {
    return segment_intersects_triangle(a, b, t0, t1, t2);
  };
  EXPECT_TRUE(intersects({0.2, 1, 0.2}, {0.2, -1, 0.2}));                         // through
  EXPECT_FALSE(intersects({0.2, 1, 0.2}, {0.2, 1e-300, 0.2}));                    // ends before the plane
  EXPECT_TRUE(intersects({0.2, 1, 0.2}, {0.2, 0, 0.2}));                          // ends on the plane
  EXPECT_FALSE(intersects({0.8, 1, 0.8}, {0.8, -1, 0.8}));                        // passes beside
  EXPECT_TRUE(intersects({0.5, 1, 0.5}, {0.5, -1, 0.5}));                         // through a side
  EXPECT_TRUE(intersects({0, 1, 0}, {0, -1, 0}));                                 // through a corner
  EXPECT_TRUE(intersects({-1, 0, 0.2}, {1, 0, 0.2}));                             // in the plane, across
  EXPECT_TRUE(intersects({0.1, 0, 0.1}, {0.2, 0, 0.2}));                          // in the plane, inside
  EXPECT_FALSE(intersects({-1, 0, 1}, {-0.1, 0, -1}));                            // in the plane, beside
  EXPECT_TRUE(intersects({2, 0, 0}, {0.5, 0, 0}));                                // along a side
  EXPECT_FALSE(intersects({2, 0, 0}, {1.5, 0, 0}));                               // on the line of a side
  EXPECT_TRUE(intersects({0.1, 0, 0.1}, {0.1, 0, 0.1}));                          // a point
  EXPECT_FALSE(segment_intersects_triangle(P{0, 1, 0}, P{1, 1, 0}, t0, t1, t1));  // zero area, same plane
  EXPECT_TRUE(segment_intersects_triangle(P{0.5, 1, 0}, P{0.5, -1, 0}, t0, t1, t1));
}

TEST(SegmentTriangle, RandomAgainstBarycentricCoordinates) {
  Random random;
  SCOPED_TRACE(random.trace());
  int hits = 0;
  for (int n = 0; n < 100000; ++n) {
    const P t0 = random.point(), t1 = random.point(), t2 = random.point(), a = random.point();
    // The segment crosses the plane at (u, v), at the share s of its length.
    const double u = random.uniform(-0.5, 1.5), v = random.uniform(-0.5, 1.5), s = random.uniform(0.5, 1.5);
    const double margin = std::min({std::abs(u), std::abs(v), std::abs(1 - u - v), std::abs(1 - s)});
    if (margin < 1e-6) continue;
    const P hit = t0 + u * (t1 - t0) + v * (t2 - t0), b = a + 1 / s * (hit - a);
    if (std::abs(dot(cross(t1 - t0, t2 - t0), hit - a)) < 1e-6) continue;
    const bool expected = s < 1 && u > 0 && v > 0 && u + v < 1;
    hits += expected;
    // All orders of the same corners.
    ASSERT_EQ(segment_intersects_triangle(a, b, t0, t1, t2), expected);
    ASSERT_EQ(segment_intersects_triangle(b, a, t2, t1, t0), expected);
    ASSERT_EQ(segment_intersects_triangle(a, b, t1, t2, t0), expected);
    if (margin > 1e-2 && norm(b - a) < 100) {
      ASSERT_EQ(segment_intersects_triangle(a.cast<float>(), b.cast<float>(), t0.cast<float>(),
                                            t1.cast<float>(), t2.cast<float>()),
                expected);
    }
  }
  EXPECT_GT(hits, 3000);
}

}  // namespace
}  // namespace stickslip
