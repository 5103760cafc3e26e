// Properties of the contacts of every pair of convex shapes, known manifolds, half-spaces and reduction.
#include <algorithm>
#include <set>

#include "tests/geometry/collide_oracle.h"

namespace stickslip {
namespace {

using testing::Point;
using testing::Random;

/// Two hulls in addition to the other convex shapes.
struct HullWorld {
  std::vector<testing::TestHull> hulls;
  HullView views[2];
  ShapeLibrary library{views, nullptr};

  explicit HullWorld(Random& random)
      : hulls{testing::random_hull(random, 6 + random.index(8)), testing::prism(6, 0.4, 0.3)} {
    for (int i = 0; i < 2; ++i) views[i] = hulls[static_cast<std::size_t>(i)].view();
  }
  HullWorld(const HullWorld&) = delete;
  HullWorld& operator=(const HullWorld&) = delete;

  Shape shape(Random& random, ShapeKind kind) const {
    if (kind == ShapeKind::hull) {
      const int i = random.index(2);
      return hulls[static_cast<std::size_t>(i)].shape(i);
    }
    const double r = random.uniform(0.1, 0.5), h = kind == ShapeKind::sphere ? r : random.uniform(0.1, 0.6);
    return {kind, {r, h, r}, -1, testing::random_pose(random, 0.2)};
  }
  testing::Solid solid(const Shape& s, const Pose& at) const { return testing::solid_of(s, at, hulls); }
};
constexpr int kConvexKinds = 5;

/// The manifold's points by name.
std::vector<ManifoldPoint> by_name(const Manifold& m) {
  std::vector<ManifoldPoint> points(m.points, m.points + m.count);
  std::sort(points.begin(), points.end(), [](auto& a, auto& b) { return a.feature < b.feature; });
  return points;
}

TEST(CollideManifold, HullsAsEveryPairOfFeaturesSays) {
  Random random;
  SCOPED_TRACE(random.trace());
  int deep = 0, other_exits = 0;
  for (int n = 0; n < 400; ++n) {
    SCOPED_TRACE("round " + std::to_string(n));
    const HullWorld world(random);
    const Shape a = world.shape(random, static_cast<ShapeKind>(n % 5)),
                b = world.shape(random, ShapeKind::hull);
    // A cylinder is not the oracle's prism; see collide_convex_test.
    if (a.kind == ShapeKind::cylinder) continue;
    const Pose pa = testing::random_pose(random, 0.7), pb = testing::random_pose(random, 0.4);
    const testing::Solid sa = world.solid(a, pa), sb = world.solid(b, pb);
    const double core = testing::signed_core_distance(sa, sb), radius = sa.radius + sb.radius;
    const Manifold m = collide(a, pa, b, pb, world.library, 10);
    ASSERT_TRUE(testing::sound(m));
    ASSERT_GT(m.count, 0);
    const double bias = core < -0.03 ? -0.7 * core : core < 0 ? 1e-3 - 0.06 * core : 1e-3;
    // Of a deep overlap the least exit is rarely missed (one in 1e5 rounds leaves it by more than twice 0.7
    // of the depth); no exit is shorter than the least.
    const double excess = core - radius - testing::least_gap(m);
    ASSERT_GT(excess, -2 * bias);
    deep += core < -0.03;
    if (core < -0.03 && excess > 2 * bias) {
      ++other_exits;
    } else {
      ASSERT_LT(excess, 2 * bias);
    }
    ASSERT_NEAR(testing::least_gap(m), testing::separation_along(sa, sb, m.normal), 2 * bias);
  }
  EXPECT_GT(deep, 20);
  EXPECT_LE(other_exits, 2) << "of " << deep;
}

TEST(CollideManifold, IsThereWithinTheMarginOnly) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 2000; ++n) {
    const HullWorld world(random);
    const Shape a = world.shape(random, static_cast<ShapeKind>(random.index(kConvexKinds)));
    const Shape b = world.shape(random, static_cast<ShapeKind>(random.index(kConvexKinds)));
    const Pose pa = testing::random_pose(random, 1), pb = testing::random_pose(random, 1);
    const Manifold all = collide(a, pa, b, pb, world.library, 100);
    ASSERT_GT(all.count, 0);
    const double least = testing::least_gap(all), margin = random.uniform(0, 0.5);
    const Manifold m = collide(a, pa, b, pb, world.library, margin);
    if (std::abs(least - margin) < 1e-3) continue;
    ASSERT_EQ(m.count > 0, least < margin) << least << " " << margin;
    for (int i = 0; i < m.count; ++i) ASSERT_LE(m.points[i].gap, margin);
  }
}

TEST(CollideManifold, FlipsWithItsShapesAndMovesWithThem) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 2000; ++n) {
    SCOPED_TRACE("round " + std::to_string(n));
    const HullWorld world(random);
    const Shape a = world.shape(random, static_cast<ShapeKind>(n % kConvexKinds));
    const Shape b = world.shape(random, static_cast<ShapeKind>(n / kConvexKinds % kConvexKinds));
    const Pose pa = testing::random_pose(random, 0.7), pb = testing::random_pose(random, 0.7);
    const Manifold m = collide(a, pa, b, pb, world.library, 0.5);
    const Manifold turned = collide(b, pb, a, pa, world.library, 0.5);
    ASSERT_EQ(turned.count > 0, m.count > 0);
    if (m.count == 0) continue;
    const double deep = std::max(0.0, -testing::least_gap(m));
    if (a.kind != b.kind) {
      ASSERT_EQ(turned.normal, -m.normal);
      ASSERT_EQ(turned.count, m.count);
      for (int i = 0; i < m.count; ++i) {
        ASSERT_EQ(turned.points[i].point, m.points[i].point);
        ASSERT_EQ(turned.points[i].feature, m.points[i].feature);
      }
    } else {
      // Of two equally good faces that of the first shape is selected.
      ASSERT_NEAR(testing::least_gap(turned), testing::least_gap(m), 2e-3 + 1.4 * deep);
    }
    // Far from the origin, and in another frame. In deep overlaps rounding may select another exit.
    if (deep > 0.01) continue;
    const Pose view{{300, -200, 100}, rotation_by(3 * random.point())};
    const Manifold moved = collide(a, view * pa, b, view * pb, world.library, 0.5);
    ASSERT_NEAR(testing::least_gap(moved), testing::least_gap(m), 1e-9 + 2e-3 * (n % 100 != 0));
    if (moved.count != m.count || !(norm(view.q.rotate(m.normal) - moved.normal) < 1e-4)) continue;
    const auto before = by_name(m), after = by_name(moved);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].feature != after[i].feature) continue;
      // Distances are accurate to 1e-8 m. If the surfaces are nearly flat relative to each other along a
      // direction, with radius R, a point is then uncertain by sqrt(2 R 1e-8): 1e-4 m for 0.5 m.
      const Point shift = view.apply(before[i].point) - after[i].point;
      ASSERT_NEAR(dot(shift, moved.normal), 0, 1e-8);
      ASSERT_NEAR(before[i].gap, after[i].gap, 1e-8);
      ASSERT_LE(norm(shift), 1e-4);
    }
  }
}

// A manifold's only point kept the name of the simplex that found it, of which rounding selects one.
TEST(CollideManifold, ARoundingErrorChangesNoName) {
  Random random;
  SCOPED_TRACE(random.trace());
  int changed = 0, all = 0;
  for (int n = 0; n < 30000; ++n) {
    const HullWorld world(random);
    const Shape a = world.shape(random, static_cast<ShapeKind>(n % kConvexKinds));
    const Shape b = world.shape(random, static_cast<ShapeKind>(n / kConvexKinds % kConvexKinds));
    const Pose pa = testing::random_pose(random, 0.7), pb = testing::random_pose(random, 0.7);
    Pose nudged = pa;
    nudged.x += 1e-15 * random.point();
    const auto before = by_name(collide(a, pa, b, pb, world.library, 0.05)),
               after = by_name(collide(a, nudged, b, pb, world.library, 0.05));
    if (before.empty()) continue;
    ++all;
    bool same = before.size() == after.size();
    for (std::size_t i = 0; same && i < before.size(); ++i) same = before[i].feature == after[i].feature;
    changed += !same;
  }
  EXPECT_LE(changed, all / 1000) << "of " << all;
}

TEST(CollideManifold, NamesLastWhileNothingMuchMoves) {
  // Every shape resting on every flat face, slightly tilted as solvers leave it.
  Random random;
  SCOPED_TRACE(random.trace());
  int kept = 0, all = 0;
  for (int n = 0; n < 3000; ++n) {
    const HullWorld world(random);
    const ShapeKind flat[] = {ShapeKind::box, ShapeKind::cylinder, ShapeKind::hull};
    Shape a = world.shape(random, static_cast<ShapeKind>(n % 5)), b = world.shape(random, flat[n % 3]);
    if (a.kind == ShapeKind::hull) a = world.hulls[1].shape(1);
    if (b.kind == ShapeKind::hull) b = world.hulls[1].shape(1);
    a.pose = b.pose = Pose::identity();
    const double ha = a.kind == ShapeKind::sphere    ? a.size[0]
                      : a.kind == ShapeKind::capsule ? a.size[0] + a.size[1]
                                                     : a.size[1];
    Pose pa{{random.uniform(-0.05, 0.05), ha + b.size[1] - 1e-4, random.uniform(-0.05, 0.05)},
            rotation_by(Point{0, random.uniform(-3, 3), 0})};
    const Pose pb{{0, 0, 0}, rotation_by(1e-5 * random.point())};
    const Manifold before = collide(a, pa, b, pb, world.library, 0.01);
    pa.x += 1e-6 * random.point();
    pa.q = rotation_by(1e-6 * random.point()) * pa.q;
    const Manifold after = collide(a, pa, b, pb, world.library, 0.01);
    ASSERT_GT(before.count, 0);
    ASSERT_NEAR(norm(before.normal - after.normal), 0, 1e-3);
    std::set<std::uint32_t> names;
    for (int i = 0; i < before.count; ++i) names.insert(before.points[i].feature);
    for (int i = 0; i < after.count; ++i) kept += static_cast<int>(names.count(after.points[i].feature));
    all += std::max(before.count, after.count);
  }
  EXPECT_GT(kept, 0.995 * all);
}

TEST(CollideManifold, NamesDoNotDependOnTheReferenceFace) {
  const ShapeLibrary none{nullptr, nullptr};
  const Shape brick{ShapeKind::box, {0.5, 0.25, 0.25}, -1, Pose::identity()};
  const Pose under = Pose::identity();
  // The upper one tilts in both directions: the best face is the lower box's, then the upper's.
  std::set<std::uint32_t> names[2];
  for (int turn = 0; turn < 2; ++turn) {
    const Quat lean = rotation_by(Point{0, 0.2, turn ? 0.004 : -0.004});
    Manifold m = collide(brick, Pose{{0.3, 0.4995, 0.1}, lean}, brick, under, none, 0.02);
    ASSERT_GT(m.count, 2);
    for (int i = 0; i < m.count; ++i) names[turn].insert(m.points[i].feature);
  }
  EXPECT_EQ(names[0], names[1]);
  // The same two in the other order.
  const Pose above{{0.3, 0.4995, 0.1}, rotation_by(Point{0, 0.2, 0})};
  EXPECT_EQ(collide(brick, above, brick, under, none, 0.02).count,
            collide(brick, under, brick, above, none, 0.02).count);
}

TEST(CollideManifold, KnownOnes) {
  const ShapeLibrary none{nullptr, nullptr};
  const Shape brick{ShapeKind::box, {0.5, 0.25, 0.25}, -1, Pose::identity()};
  // Half supported by a brick: the corners of the overlap.
  const Manifold m =
      collide(brick, Pose{{0.5, 0.499, 0.1}, Quat::identity()}, brick, Pose::identity(), none, 0.01);
  ASSERT_EQ(m.count, 4);
  EXPECT_EQ(m.normal, (Point{0, 1, 0}));
  for (const Point& corner :
       {Point{0, 0, -0.15}, Point{0.5, 0, -0.15}, Point{0, 0, 0.25}, Point{0.5, 0, 0.25}}) {
    double nearest = 1;
    for (int i = 0; i < 4; ++i) {
      const Point d = m.points[i].point - corner;
      nearest = std::min(nearest, std::hypot(d[0], d[2]));
      EXPECT_NEAR(m.points[i].gap, -0.001, 1e-12);
      EXPECT_NEAR(m.points[i].point[1], 0.2495, 1e-12);
    }
    EXPECT_LT(nearest, 1e-12);
  }
  // Rotated relative to each other: at most an octagon, as for 45 degrees over a square of the same size.
  const Shape cube{ShapeKind::box, {0.5, 0.5, 0.5}, -1, Pose::identity()};
  EXPECT_EQ(collide(cube, Pose{{0, 0.999, 0}, rotation_by(Point{0, M_PI / 4, 0})}, cube, Pose::identity(),
                    none, 0.01)
                .count,
            8);
  // Two edges at right angles: the normal is along the line between them.
  const Pose low{{0, -M_SQRT1_2, 0}, rotation_by(Point{M_PI / 4, 0, 0})};
  const Pose high{{0.1, M_SQRT1_2 + 0.01, 0.2}, rotation_by(Point{0, 0, M_PI / 4})};
  const Manifold edge = collide(cube, high, cube, low, none, 0.1);
  ASSERT_EQ(edge.count, 1);
  EXPECT_NEAR(norm(edge.normal - Point{0, 1, 0}), 0, 1e-12);
  EXPECT_NEAR(edge.points[0].gap, 0.01, 1e-12);
  EXPECT_NEAR(norm(edge.points[0].point - Point{0.1, 0.005, 0}), 0, 1e-12);
  // Corner to corner across a diagonal: the distance, not that of a separating axis.
  const Manifold corner =
      collide(cube, Pose{{1.01, 1.02, 1.03}, Quat::identity()}, cube, Pose::identity(), none, 0.1);
  ASSERT_EQ(corner.count, 1);
  EXPECT_NEAR(corner.points[0].gap, norm(Point{0.01, 0.02, 0.03}), 1e-12);
  EXPECT_NEAR(norm(corner.normal - normalized(Point{0.01, 0.02, 0.03})), 0, 1e-9);
}

TEST(CollideManifold, RoundShapesLieOnFaces) {
  const ShapeLibrary none{nullptr, nullptr};
  const Shape plate{ShapeKind::box, {2, 0.5, 2}, -1, Pose::identity()};
  const Shape capsule{ShapeKind::capsule, {0.2, 0.6, 0.2}, -1, Pose::identity()};
  const Shape barrel{ShapeKind::cylinder, {0.2, 0.6, 0.2}, -1, Pose::identity()};
  const Quat lying = rotation_by(Point{0, 0, M_PI / 2});
  for (const Shape& s : {capsule, barrel}) {
    const Manifold m = collide(s, Pose{{0.1, 0.699, 0}, lying}, plate, Pose::identity(), none, 0.01);
    ASSERT_EQ(m.count, 2);
    EXPECT_NEAR(m.normal[1], 1, 1e-12);
    EXPECT_NEAR(std::abs(m.points[0].point[0] - m.points[1].point[0]), 1.2, 1e-9);
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(m.points[i].gap, -0.001, 1e-9);
    // Side by side.
    const Manifold pair = collide(s, Pose{{0.3, 0.399, 0}, lying}, s, Pose{{0, 0, 0}, lying}, none, 0.01);
    ASSERT_EQ(pair.count, 2);
    EXPECT_NEAR(pair.normal[1], 1, 1e-9);
    EXPECT_NEAR(std::abs(pair.points[0].point[0] - pair.points[1].point[0]), 0.9, 1e-9);
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(pair.points[i].gap, -0.001, 1e-9);
  }
  // Upright: points on the rim, all at one height; also on top of another barrel.
  for (const Shape& under : {plate, barrel}) {
    const double top = under.size[1];
    const Manifold m =
        collide(barrel, Pose{{0, top + 0.599, 0}, Quat::identity()}, under, Pose::identity(), none, 0.01);
    ASSERT_EQ(m.count, 8);
    EXPECT_NEAR(std::abs(m.normal[1]), 1, 1e-12);
    for (int i = 0; i < 8; ++i) {
      EXPECT_NEAR(m.points[i].gap, -0.001, 1e-9);
      EXPECT_NEAR(std::hypot(m.points[i].point[0], m.points[i].point[2]), 0.2, 1e-9);
    }
  }
  // Tilted onto its rim: the lowest point is that of the rim.
  const double tilt = 0.3;
  const double low = 0.6 * std::cos(tilt) + 0.2 * std::sin(tilt);
  const Manifold rim =
      collide(barrel, Pose{{0, 0.5 + low - 0.002, 0}, rotation_by(Point{0.2, 0, 0.2236068} * 1.0)}, plate,
              Pose::identity(), none, 0.001);
  ASSERT_GT(rim.count, 0);
  EXPECT_NEAR(testing::least_gap(rim), -0.002, 1e-6);
}

TEST(CollideManifold, WhatCoincidesStillHasANormal) {
  Random random;
  SCOPED_TRACE(random.trace());
  const HullWorld world(random);
  for (int i = 0; i < kConvexKinds; ++i)
    for (int j = 0; j < kConvexKinds; ++j) {
      Shape a = world.shape(random, static_cast<ShapeKind>(i)),
            b = world.shape(random, static_cast<ShapeKind>(j));
      a.pose = b.pose = Pose::identity();
      // The origin may lie outside a random hull, and the face centres of its box need not lie on it.
      if (b.kind == ShapeKind::hull) b = world.hulls[1].shape(1);
      if (a.kind == ShapeKind::hull) a = world.hulls[1].shape(1);
      for (const Point& x :
           {Point{0, 0, 0}, Point{0, b.size[1], 0}, Point{b.size[0], 0, 0}, 1e-13 * random.point()})
        for (const Quat& q :
             {Quat::identity(), rotation_by(Point{M_PI / 2, 0, 0}), rotation_by(random.point())}) {
          const Manifold m = collide(a, Pose{x, q}, b, Pose::identity(), world.library, 0.01);
          ASSERT_TRUE(testing::sound(m)) << i << " " << j;
          ASSERT_GT(m.count, 0) << i << " " << j;
          ASSERT_LT(testing::least_gap(m), 0);
        }
    }
}

TEST(CollideHalfSpace, PointsAreVerticesAtTheirHeights) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 2000; ++n) {
    const HullWorld world(random);
    const Shape s = world.shape(random, static_cast<ShapeKind>(n % kConvexKinds));
    const Pose at = testing::random_pose(random, 0.5);
    const Point up = random.direction();
    const double offset = random.uniform(-1, 1), margin = 0.2;
    const testing::Solid solid = world.solid(s, at);
    double low = 1e300, extent = 0;
    for (const Point& p : solid.vertices) {
      low = std::min(low, dot(up, p) - offset - solid.radius);
      for (const Point& q : solid.vertices) extent = std::max(extent, norm(p - q));
    }
    const Manifold m = collide_half_space(s, at, up, offset, world.library, margin);
    ASSERT_TRUE(testing::sound(m));
    if (std::abs(low - margin) < 1e-3) continue;
    ASSERT_EQ(m.count > 0, low < margin);
    if (m.count == 0) continue;
    ASSERT_EQ(m.normal, up);
    // Of points within 1e-4 of their extent of the lowest a reduced manifold keeps the first.
    ASSERT_NEAR(testing::least_gap(m), low, s.kind == ShapeKind::cylinder ? 1e-3 : 1e-4 * extent + 1e-12);
    for (int i = 0; i < m.count; ++i) {
      const Point low_side = m.points[i].point + (0.5 * m.points[i].gap) * up;
      ASSERT_NEAR(dot(up, low_side) - offset, m.points[i].gap, 1e-12);
      const testing::Solid point{{low_side}, {}, {}, 0};
      // Below the higher end of a tilted capsule the point is inside.
      const double outside = testing::signed_distance(point, solid);
      ASSERT_LE(outside, 1e-3) << "on the surface";
      ASSERT_TRUE(outside >= -1e-3 || s.kind == ShapeKind::capsule) << outside;
    }
  }
}

TEST(CollideHalfSpace, StandingAndLyingBarrels) {
  const ShapeLibrary none{nullptr, nullptr};
  const Shape barrel{ShapeKind::cylinder, {0.2, 0.6, 0.2}, -1, Pose::identity()};
  EXPECT_EQ(collide_half_space(barrel, Pose{{0, 0.599, 0}, Quat::identity()}, {0, 1, 0}, 0, none, 0.01).count,
            4);
  const Manifold lying = collide_half_space(barrel, Pose{{0, 0.199, 0}, rotation_by(Point{0, 0, M_PI / 2})},
                                            {0, 1, 0}, 0, none, 0.01);
  ASSERT_EQ(lying.count, 2);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(lying.points[i].gap, -0.001, 1e-12);
}

Manifold random_manifold(Random& random, int count) {
  Manifold m;
  m.normal = {0, 1, 0};
  m.count = count;
  for (int i = 0; i < count; ++i)
    m.points[i] = {{random.uniform(-1, 1), 0, random.uniform(-1, 1)},
                   random.uniform(-0.1, 0.1),
                   static_cast<std::uint32_t>(i)};
  return m;
}

/// Area of the convex hull projected along y.
double spanned_area(const Manifold& m) {
  double best = 0;
  // Twice the area of the hull is the integral of the width over directions, approximated by a sum.
  for (int k = 0; k < 360; ++k) {
    const double a0 = k * M_PI / 180, a1 = (k + 1) * M_PI / 180;
    const auto farthest = [&](double a) {
      Point p = m.points[0].point;
      for (int i = 1; i < m.count; ++i) {
        const Point& q = m.points[i].point;
        if ((q[0] - p[0]) * std::cos(a) + (q[2] - p[2]) * std::sin(a) > 0) p = q;
      }
      return p;
    };
    const Point p = farthest(a0), q = farthest(a1);
    best += 0.5 * (p[0] * q[2] - p[2] * q[0]);
  }
  return best;
}

TEST(ReduceManifold, KeepsTheDeepestAndTheArea) {
  Random random;
  SCOPED_TRACE(random.trace());
  double worst = 1, mean = 0;
  for (int n = 0; n < 500; ++n) {
    const Manifold all = random_manifold(random, 8);
    Manifold m = all;
    reduce_manifold(m, 4);
    ASSERT_EQ(m.count, 4);
    EXPECT_NEAR(testing::least_gap(m), testing::least_gap(all), 3e-4);
    const double part = spanned_area(m) / spanned_area(all);
    worst = std::min(worst, part);
    mean += part / 500;
    Manifold again = all;
    reduce_manifold(again, 4);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(again.points[i].feature, m.points[i].feature);
  }
  EXPECT_GT(worst, 0.3);
  EXPECT_GT(mean, 0.75);
}

TEST(ReduceManifold, AnyNumberAndPointsOnALineOrInOnePlace) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int most = 1; most <= 8; ++most) {
    Manifold line = random_manifold(random, 8), point = line;
    for (int i = 0; i < 8; ++i) {
      line.points[i].point = {0.1 * i, 0, 0};
      point.points[i].point = {1, 0, 1};
    }
    for (Manifold* m : {&line, &point}) {
      reduce_manifold(*m, most);
      ASSERT_EQ(m->count, most);
      std::set<std::uint32_t> names;
      for (int i = 0; i < most; ++i) names.insert(m->points[i].feature);
      EXPECT_EQ(names.size(), static_cast<std::size_t>(most));
    }
  }
  // The corners of a square are kept, its centre is dropped.
  Manifold square = random_manifold(random, 5);
  for (int i = 0; i < 5; ++i) square.points[i].gap = 0;
  square.points[0].point = {-1, 0, -1}, square.points[1].point = {0, 0, 0},
  square.points[2].point = {1, 0, -1};
  square.points[3].point = {1, 0, 1}, square.points[4].point = {-1, 0, 1};
  reduce_manifold(square, 4);
  for (int i = 0; i < 4; ++i) EXPECT_NE(square.points[i].feature, 1u);
}

}  // namespace
}  // namespace stickslip
