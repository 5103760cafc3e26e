#include <set>

#include "tests/geometry/collide_oracle.h"

namespace stickslip {
namespace {

using testing::Point;
using testing::Random;

const ShapeLibrary kNoLibrary{nullptr, nullptr};
constexpr double kAnyMargin = 10;

Shape random_shape(Random& random, ShapeKind kind) {
  const double r = random.uniform(0.1, 0.6), h = random.uniform(0.1, 1);
  Shape s{kind, {r, h, r}, -1, Pose::identity()};
  if (kind == ShapeKind::box) s.size = {r, h, random.uniform(0.1, 1)};
  return s;
}

/// Smallest half size, the scale of errors in the contact code.
double thin(const Shape& s) {
  if (s.kind == ShapeKind::sphere || s.kind == ShapeKind::capsule) return s.size[0];
  return std::min({s.size[0], s.size[1], s.size[2]});
}

struct Pair {
  Shape a, b;
  Pose pa, pb;
};

/// Close to each other more often than not; in every third pair a face, edge or centre lies exactly on
/// another.
Pair random_pair(Random& random, ShapeKind ka, ShapeKind kb) {
  Pair p{random_shape(random, ka), random_shape(random, kb), testing::random_pose(random, 0.8),
         testing::random_pose(random, 0.8)};
  switch (random.index(12)) {
    case 0:
      p.pa.q = p.pb.q;
      break;
    case 1:
      p.pa.q = p.pb.q * rotation_by(Point{0, M_PI / 2, 0});
      break;
    case 2:
      p.pa.q = p.pb.q, p.b = p.a;
      p.pa.x = p.pb.x + p.pb.q.rotate({0, 2 * p.a.size[1], 0});
      break;
    case 3:
      p.pa.x = p.pb.x;
      break;
    default:
      break;
  }
  return p;
}

Manifold contact(const Pair& p, double margin = kAnyMargin) {
  return collide(p.a, p.pa, p.b, p.pb, kNoLibrary, margin);
}

/// Requirements on every manifold: see the messages. `curved`: deviation of the oracle's polyhedra from the
/// shapes.
void expect_true_contact(const Pair& p, const Manifold& m, double curved) {
  const testing::Solid a = testing::solid_of(p.a, p.pa), b = testing::solid_of(p.b, p.pb);
  const double core = testing::signed_core_distance(a, b), radius = a.radius + b.radius;
  const double slack = 1e-3 * std::min(thin(p.a), thin(p.b)) + curved;
  // Resting contact is exact to a thousandth. For deep overlaps two boxes find the least depth to 5%; other
  // shapes find a depth that may be larger.
  const bool boxes = p.a.kind == ShapeKind::box && p.b.kind == ShapeKind::box;
  const bool deep = !boxes && core < -0.1 * std::min(thin(p.a), thin(p.b));
  const double bias = slack + std::max(0.0, -(deep ? 0.6 : 0.06) * core);
  ASSERT_TRUE(testing::sound(m));
  ASSERT_GT(m.count, 0);
  const double least = testing::least_gap(m);
  EXPECT_NEAR(least, core - radius, 2 * bias) << "the least gap is the distance, or minus the depth";
  EXPECT_NEAR(least, testing::separation_along(a, b, m.normal), 2 * bias)
      << "the least gap is the separation along the normal";
  std::set<std::uint32_t> names;
  for (int i = 0; i < m.count; ++i) {
    const ManifoldPoint& q = m.points[i];
    names.insert(q.feature);
    const testing::Solid on_a{{q.point + (0.5 * q.gap) * m.normal}, {}, {}, 0};
    const testing::Solid on_b{{q.point - (0.5 * q.gap) * m.normal}, {}, {}, 0};
    EXPECT_LE(testing::signed_distance(on_a, a), bias) << "no point is off the surface of a";
    EXPECT_LE(testing::signed_distance(on_b, b), bias) << "no point is off the surface of b";
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(m.count)) << "names are unique";
}

void expect_true_contacts(ShapeKind ka, ShapeKind kb, int rounds, double curved = 0) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < rounds && !::testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE("round " + std::to_string(n));
    const Pair p = random_pair(random, ka, kb);
    expect_true_contact(p, contact(p), curved);
  }
}

TEST(CollideConvex, BoxesAsEveryPairOfFeaturesSays) {
  expect_true_contacts(ShapeKind::box, ShapeKind::box, 1500);
}
// The tolerance that prefers faces to edges does not act as a gap.
TEST(CollideConvex, BoxesOnOneAnotherTouchWithinAnyMargin) {
  const Shape brick{ShapeKind::box, {0.5, 0.25, 0.25}, -1, Pose::identity()};
  for (const double margin : {1e-2, 1e-4, 1e-6})
    for (const double gap : {-1e-3, -1e-6, 0.0, 0.5 * margin}) {
      const Pair p{brick, brick, {{0, 0.25, 0}, Quat::identity()}, {{0.5, 0.75 + gap, 0}, Quat::identity()}};
      EXPECT_EQ(contact(p, margin).count, 4) << margin << " " << gap;
      EXPECT_NEAR(contact(p, margin).points[0].gap, gap, 1e-12);
    }
}
TEST(CollideConvex, SphereAndBox) { expect_true_contacts(ShapeKind::sphere, ShapeKind::box, 1000); }
TEST(CollideConvex, SphereAndCapsule) { expect_true_contacts(ShapeKind::sphere, ShapeKind::capsule, 1000); }
TEST(CollideConvex, Capsules) { expect_true_contacts(ShapeKind::capsule, ShapeKind::capsule, 1000); }
TEST(CollideConvex, SphereAndCylinder) {
  expect_true_contacts(ShapeKind::sphere, ShapeKind::cylinder, 300, 1e-3);
}
TEST(CollideConvex, CapsuleAndCylinder) {
  expect_true_contacts(ShapeKind::capsule, ShapeKind::cylinder, 150, 1e-3);
}
TEST(CollideConvex, BoxAndCylinder) { expect_true_contacts(ShapeKind::box, ShapeKind::cylinder, 60, 1e-3); }
TEST(CollideConvex, Cylinders) { expect_true_contacts(ShapeKind::cylinder, ShapeKind::cylinder, 12, 2e-3); }
TEST(CollideConvex, CapsuleAndBox) { expect_true_contacts(ShapeKind::capsule, ShapeKind::box, 1000); }

}  // namespace
}  // namespace stickslip
