// Meshes with closed-form distances against convex shapes and each other.
#include <functional>

#include "tests/geometry/collide_oracle.h"

namespace stickslip {
namespace {

using testing::Point;
using testing::Random;

/// Owner of a mesh's arrays, and its view.
struct TestMesh {
  std::vector<Point> vertices;
  std::vector<Vec<std::int32_t, 3>> triangles;
  DistanceGridView grid{};
  std::vector<float> values;

  MeshShapeView view() const {
    MeshShapeView v{vertices.data(), triangles.data(), static_cast<std::int32_t>(vertices.size()),
                    static_cast<std::int32_t>(triangles.size()), grid};
    v.field.values = values.data();
    return v;
  }
  Shape shape(std::int32_t index) const {
    Shape s{ShapeKind::mesh, {0, 0, 0}, index, Pose::identity()};
    for (const Point& p : vertices) s.size = max(s.size, max(p, -p));
    return s;
  }
  void fill(double spacing, const std::function<double(Point)>& distance) {
    const Point size = shape(0).size + Point::filled(3 * spacing);
    grid.spacing = spacing;
    for (int k = 0; k < 3; ++k) {
      grid.nodes[k] = static_cast<std::int32_t>(std::ceil(2 * size[k] / spacing)) + 1;
      grid.origin[k] = -0.5 * spacing * (grid.nodes[k] - 1);
    }
    for (int k = 0; k < grid.nodes[2]; ++k)
      for (int j = 0; j < grid.nodes[1]; ++j)
        for (int i = 0; i < grid.nodes[0]; ++i)
          values.push_back(
              static_cast<float>(distance(grid.origin + Point{spacing * i, spacing * j, spacing * k})));
  }
};

TestMesh box_mesh(const Point& half, double spacing) {
  TestMesh m;
  const testing::TestHull hull = testing::box_hull(half);
  const testing::Solid solid = testing::solid_of(hull, Pose::identity());
  m.vertices = solid.vertices;
  m.triangles = solid.triangles;
  m.fill(spacing, [&](Point p) { return narrow::box_distance(p, half).distance; });
  return m;
}
/// A torus about y: ring of radius `ring`, tube of radius `tube`.
TestMesh torus_mesh(double ring, double tube, int around, double spacing) {
  TestMesh m;
  const int about = around / 2;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < about; ++j) {
      const double u = 2 * M_PI * i / around, v = 2 * M_PI * j / about, r = ring + tube * std::cos(v);
      m.vertices.push_back({r * std::sin(u), tube * std::sin(v), r * std::cos(u)});
      const int i1 = (i + 1) % around, j1 = (j + 1) % about;
      m.triangles.push_back({i * about + j, i1 * about + j, i1 * about + j1});
      m.triangles.push_back({i * about + j, i1 * about + j1, i * about + j1});
    }
  m.fill(spacing, [&](Point p) { return std::hypot(std::hypot(p[0], p[2]) - ring, p[1]) - tube; });
  return m;
}

struct MeshWorld {
  std::vector<TestMesh> meshes;
  std::vector<MeshShapeView> views;
  ShapeLibrary library() {
    views.clear();
    for (const TestMesh& m : meshes) views.push_back(m.view());
    return {nullptr, views.data()};
  }
};

TEST(DistanceGrid, IsThePlaneItSamples) {
  TestMesh m;
  m.vertices = {{1, 1, 1}, {-1, -1, -1}};
  const Point n = normalized(Point{1, 2, -0.5});
  m.fill(0.25, [&](Point p) { return dot(n, p) - 0.1; });
  Random random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 100; ++i) {
    const Point p = 1.5 * random.point();
    const SurfaceDistance at = field_distance(m.view().field, p);
    EXPECT_NEAR(at.distance, dot(n, p) - 0.1, 1e-6);
    EXPECT_NEAR(norm(at.normal - n), 0, 1e-5);
  }
}
TEST(DistanceGrid, BeyondItsNodesIsMeasuredFromTheSurface) {
  TestMesh m;
  m.vertices = {{0.5, 0.5, 0.5}};
  m.fill(0.05, [](Point p) { return norm(p) - 0.5; });
  Random random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 100; ++i) {
    const Point d = random.direction(), p = random.uniform(0.7, 3) * d;
    const SurfaceDistance at = field_distance(m.view().field, p);
    EXPECT_NEAR(at.distance, norm(p) - 0.5, 0.1 * norm(p));
    EXPECT_NEAR(dot(at.normal, d), 1, 0.1);
  }
}

TEST(CollideMesh, ABoxMeshRestsAsABox) {
  MeshWorld world{{box_mesh({0.5, 0.25, 0.5}, 0.05)}, {}};
  const ShapeLibrary library = world.library();
  const Shape mesh = world.meshes[0].shape(0);
  const Shape box{ShapeKind::box, {0.3, 0.2, 0.2}, -1, Pose::identity()};
  const Pose above{{0.1, 0.4499, 0}, rotation_by(Point{0, 0.3, 0})};
  const Manifold m = collide(box, above, mesh, Pose::identity(), library, 0.01);
  ASSERT_EQ(m.count, 4);
  EXPECT_NEAR(m.normal[1], 1, 1e-6);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(m.points[i].gap, -1e-4, 1e-6);
  const Manifold turned = collide(mesh, Pose::identity(), box, above, library, 0.01);
  EXPECT_EQ(turned.count, 4);
  EXPECT_NEAR(turned.normal[1], -1, 1e-6);
  // The mesh on the box: its corners, with the box's distance.
  const Manifold other = collide(mesh, above, Shape{ShapeKind::box, {2, 0.25, 2}, -1, Pose::identity()},
                                 Pose{{0, -0.05, 0}, Quat::identity()}, library, 0.01);
  ASSERT_EQ(other.count, 4);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(other.points[i].gap, -1e-4, 1e-6);
}

TEST(CollideMesh, ShapesOnATorusAsItsFormulaSays) {
  const double ring = 0.6, tube = 0.2;
  MeshWorld world{{torus_mesh(ring, tube, 48, 0.025)}, {}};
  const ShapeLibrary library = world.library();
  const Shape mesh = world.meshes[0].shape(0);
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 200; ++n) {
    const Shape ball{ShapeKind::sphere, Point::filled(random.uniform(0.05, 0.3)), -1, Pose::identity()};
    const Pose at{random.point(), rotation_by(random.point())};
    const Point& c = at.x;
    const double gap = std::hypot(std::hypot(c[0], c[2]) - ring, c[1]) - tube - ball.size[0];
    // In deep overlaps the exit is not unique, for the field and for the sphere.
    if (gap < -0.7 * ball.size[0] || gap < -0.7 * tube || gap > 0.2) continue;
    const Manifold m = collide(ball, at, mesh, Pose::identity(), library, 0.3);
    ASSERT_TRUE(testing::sound(m));
    ASSERT_GT(m.count, 0);
    EXPECT_NEAR(testing::least_gap(m), gap, 0.01);
  }
}

TEST(CollideMesh, AGrooveHoldsABallOnBothSides) {
  // In the hole of a torus a slightly too large ball touches all around.
  MeshWorld world{{torus_mesh(0.6, 0.2, 48, 0.025)}, {}};
  const ShapeLibrary library = world.library();
  const Shape ball{ShapeKind::sphere, Point::filled(0.405), -1, Pose::identity()};
  const ManyManifolds all =
      collide_mesh(ball, Pose::identity(), world.meshes[0].shape(0), Pose::identity(), library, 0.01);
  for (const Point& d : {Point{1, 0, 0}, Point{-1, 0, 0}, Point{0, 0, 1}, Point{0, 0, -1}}) {
    bool held = false;
    for (int k = 0; k < all.count; ++k) held = held || dot(all.parts[k].normal, d) > 0.7;
    EXPECT_TRUE(held) << d[0] << " " << d[2];
  }
  for (int k = 0; k < all.count; ++k) {
    EXPECT_TRUE(testing::sound(all.parts[k]));
    EXPECT_NEAR(testing::least_gap(all.parts[k]), -0.005, 0.003);
    EXPECT_NEAR(all.parts[k].normal[1], 0, 0.1);
  }
}

TEST(CollideMesh, TwoMeshesAndHalfSpaces) {
  MeshWorld world{{torus_mesh(0.6, 0.2, 48, 0.025), box_mesh({1, 0.1, 1}, 0.05)}, {}};
  const ShapeLibrary library = world.library();
  const Shape ring = world.meshes[0].shape(0), plate = world.meshes[1].shape(1);
  // The ring lies on the plate; the plate's triangles are larger than the ring.
  const Pose above{{0, 0.299, 0}, Quat::identity()};
  const Manifold m = collide(ring, above, plate, Pose::identity(), library, 0.01);
  ASSERT_EQ(m.count, Manifold::kMost);
  EXPECT_NEAR(m.normal[1], 1, 1e-3);
  EXPECT_NEAR(testing::least_gap(m), -0.001, 5e-4);
  const Manifold flat = collide_half_space(ring, above, {0, 1, 0}, 0.1, library, 0.01);
  ASSERT_EQ(flat.count, Manifold::kMost);
  EXPECT_NEAR(testing::least_gap(flat), -0.001, 1e-9);
  // Linked rings: each passes through the other's hole at a right angle, tubes touching.
  const Pose through{{0.6 + 0.201 + 0.0, 0, 0}, rotation_by(Point{M_PI / 2, 0, 0})};
  const ManyManifolds linked = collide_mesh(ring, through, ring, Pose::identity(), library, 0.01);
  for (int k = 0; k < linked.count; ++k) EXPECT_TRUE(testing::sound(linked.parts[k]));
  EXPECT_EQ(collide(ring, Pose{{0, 0.5, 0}, Quat::identity()}, plate, Pose::identity(), library, 0.01).count,
            0);
}

TEST(CollideMesh, EveryShapeAnywhereIsSound) {
  MeshWorld world{{torus_mesh(0.6, 0.2, 24, 0.05)}, {}};
  const testing::TestHull hull = testing::prism(5, 0.4, 0.3);
  const HullView hull_view = hull.view();
  ShapeLibrary library = world.library();
  library.hulls = &hull_view;
  const Shape mesh = world.meshes[0].shape(0);
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 600; ++n) {
    Shape s{static_cast<ShapeKind>(n % 6), {0.2, 0.3, 0.2}, -1, Pose::identity()};
    if (s.kind == ShapeKind::hull) s = hull.shape(0);
    if (s.kind == ShapeKind::mesh) s = mesh;
    Pose at = testing::random_pose(random, 0.8);
    if (n % 17 == 0) at = Pose::identity();
    const ManyManifolds all = collide_mesh(s, at, mesh, Pose::identity(), library, 0.02);
    for (int k = 0; k < all.count; ++k) {
      ASSERT_TRUE(testing::sound(all.parts[k])) << n;
      ASSERT_GT(all.parts[k].count, 0);
      ASSERT_LE(testing::least_gap(all.parts[k]), 0.02);
    }
    ASSERT_TRUE(testing::sound(collide(mesh, Pose::identity(), s, at, library, 0.02)));
  }
}

}  // namespace
}  // namespace stickslip
