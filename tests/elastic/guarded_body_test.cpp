// Times of impact of triangles and turning shapes, against the distance at many times of the step.
#include "gpu/elastic/guarded_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr ShapeLibrary kNoLibrary{nullptr, nullptr};

GuardedMotion guarded_motion(double keep) {
  GuardedMotion m{};
  m.keep = static_cast<Real>(keep);
  m.caution = Real(1);
  return m;
}

Shape make_shape(ShapeKind kind, const Vec3d& size, const Vec3d& shift) {
  Shape shape;
  shape.kind = kind;
  shape.size = size;
  shape.pose.x = shift;
  return shape;
}

/// [m] From the origin to the farthest point of a shape about its own centre.
double reach_of(const Shape& shape) {
  if (shape.kind == ShapeKind::sphere) return shape.size[0];
  if (shape.kind == ShapeKind::box) return norm(shape.size);
  return shape.size[0] + shape.size[1];
}

struct RandomPairs {
  std::mt19937 rng;

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng); }
  Vec3d point(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }

  Shape shape() {
    const ShapeKind kinds[] = {ShapeKind::box, ShapeKind::sphere, ShapeKind::capsule, ShapeKind::cylinder};
    const ShapeKind kind = kinds[std::uniform_int_distribution<int>(0, 3)(rng)];
    const Vec3d size{uniform(0.02, 0.2), uniform(0.02, 0.2), uniform(0.02, 0.2)};
    return make_shape(kind, size, uniform(0, 1) < 0.5 ? Vec3d{0, 0, 0} : point(0.1));
  }
  /// Corners 2 to 10 cm from each other, at a distance of 1e-5 to 1e-2 m, that move with the body except for
  /// a part `loose` of their motion.
  GuardedTriangle make(double loose) {
    GuardedTriangle t{};
    t.shape = shape();
    t.turning = elastic_detail::turning_reach(t.shape, reach_of(t.shape));
    t.path = {{{0, 0, 0}, rotation_by(point(1))}, point(0.05), point(0.1)};
    const Vec3d direction = normalized(point(1)), center = 0.6 * direction;
    for (Vec3d& x : t.x) x = center + point(0.05);
    const double wanted = std::pow(10.0, uniform(-5, -2));
    for (int i = 0; i < 8; ++i) {
      const TriangleGap gap = t.gap(0, kNoLibrary);
      const Vec3d back = gap.distance > 0 ? (wanted - gap.distance) * gap.normal : 0.01 * direction;
      for (Vec3d& x : t.x) x += back;
    }
    for (int i = 0; i < 3; ++i)
      t.p[i] = t.path.shift + rotation_by(t.path.turn).matrix() * t.x[i] - t.x[i] + point(loose);
    return t;
  }
};

/// [m] From the nearest points, which are precise to 1e-10 of it also where the normal is not: TriangleGap is
/// a lower bound.
double exact_distance(const GuardedTriangle& t, double at) {
  Vec3d y[3];
  t.corners_at(at, y);
  HullView view;
  const narrow::Convex triangle = elastic_detail::triangle_hull(y, false, view);
  const narrow::Convex shape = elastic_detail::placed_shape(t.shape, t.path.at(at), kNoLibrary).convex;
  const narrow::Nearest near = narrow::nearest_points(triangle, shape, {0, 0, 0},
                                                      (1.0 / 3) * (y[0] + y[1] + y[2]) - shape.x, 1e150, 0);
  return near.apart ? near.distance - shape.radius : -1;
}

/// An impact is reported at the first time, or a little before, at which the distance has fallen to the share
/// that is kept, and at no other.
TEST(GuardedBody, ReportsImpactsWhereTheDistanceHasFallen) {
  constexpr double keep = 1e-3;
  constexpr int samples = 400;
  const GuardedMotion m = guarded_motion(keep);
  RandomPairs random{std::mt19937(fixtures::fresh_seed())};
  int impacts = 0, passed = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const double loose = std::pow(10.0, random.uniform(-5, -1.3));
    const GuardedTriangle t = random.make(loose);
    SCOPED_TRACE("trial " + std::to_string(trial) + ", shape " +
                 std::to_string(static_cast<int>(t.shape.kind)));
    const double distance = t.gap(0, kNoLibrary).distance;
    if (!(distance > m.touching())) continue;
    const double kept = m.kept(static_cast<Real>(distance)) * distance + t.rounding();
    const auto toi = static_cast<double>(time_of_impact(m, t, kNoLibrary));
    const double end = std::min(toi, 1.0), tolerance = 1e-9;
    for (int i = 0; i <= samples; ++i)
      ASSERT_GT(exact_distance(t, end * i / samples), kept - tolerance) << "of " << distance;
    if (toi < 1) {
      ASSERT_LT(exact_distance(t, toi), 1.15 * kept + tolerance) << "of " << distance << " at " << toi;
      ++impacts;
    } else {
      ++passed;
    }
  }
  EXPECT_GT(impacts, 50);
  EXPECT_GT(passed, 50);
}

/// The rim of a plate turns beside a triangle that turns with it, at a tenth of the kept distance: the ends
/// of the plate move a hundred times farther than the two approach.
TEST(GuardedBody, ATriangleThatTurnsWithAPlateDoesNotStopIt) {
  const GuardedMotion m = guarded_motion(1e-3);
  GuardedTriangle t{};
  t.shape = make_shape(ShapeKind::box, {0.18, 0.015, 0.18}, {0, 0, 0});
  t.turning = norm(t.shape.size);
  t.path = {Pose::identity(), {0.01, -0.01, 0}, {0, 0, 0.05}};
  const Vec3d corners[3] = {{-0.1, -0.0151, 0.05}, {-0.15, -0.03, 0.05}, {-0.1, -0.02, -0.05}};
  for (int i = 0; i < 3; ++i) {
    t.x[i] = corners[i];
    t.p[i] = t.path.shift + rotation_by(t.path.turn).matrix() * corners[i] - corners[i];
  }
  // Points on chords of their arcs.
  double least = 1;
  for (int i = 0; i <= 100; ++i) least = std::min(least, t.gap(0.01 * i, kNoLibrary).distance);
  ASSERT_GT(least, 0.95e-4);
  EXPECT_EQ(time_of_impact(m, t, kNoLibrary), kSafe);
  // It does where the triangle also rises by a tenth of the distance and more.
  for (Vec3d& p : t.p) p[1] += 3e-5;
  const auto toi = static_cast<double>(time_of_impact(m, t, kNoLibrary));
  EXPECT_GT(toi, 0.2);
  EXPECT_LT(toi, 0.45);
}

}  // namespace
}  // namespace stickslip
