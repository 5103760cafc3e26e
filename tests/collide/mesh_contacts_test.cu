// Bodies with a mesh shape and a distance field.
#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/geometry/collide_mesh.h"
#include "gpu/model/distance_grid.h"
#include "tests/backend_test.h"
#include "tests/collide/contact_scene.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::fixtures;
using Point = Vec<double, 3>;

/// A channel along z, open at the top: floor and walls 0.2 thick, 0.6 wide inside, 1 high, 2 long. Its field
/// is adaptive with a tolerance > 0.
ShapeMesh channel(double tolerance) {
  const double outline[8][2] = {{-0.5, 0},  {0.5, 0},    {0.5, 1},  {0.3, 1},
                                {0.3, 0.2}, {-0.3, 0.2}, {-0.3, 1}, {-0.5, 1}};
  std::vector<Point> nodes;
  for (const double z : {1.0, -1.0})
    for (const auto& p : outline) nodes.push_back({p[0], p[1] - 0.5, z});
  std::vector<Vec3i> triangles;
  for (int i = 0; i < 8; ++i) {
    const int j = (i + 1) % 8;
    triangles.push_back({i, i + 8, j});
    triangles.push_back({j, i + 8, j + 8});
  }
  // The outline divided into convex pieces: floor and walls.
  const int pieces[3][4] = {{0, 1, 4, 5}, {1, 2, 3, 4}, {0, 5, 6, 7}};
  for (const auto& q : pieces) {
    triangles.push_back({q[0], q[1], q[2]});
    triangles.push_back({q[0], q[2], q[3]});
    triangles.push_back({q[0] + 8, q[2] + 8, q[1] + 8});
    triangles.push_back({q[0] + 8, q[3] + 8, q[2] + 8});
  }
  return mesh_with_distance(nodes, triangles, 40, tolerance);
}

/// Each triangle as four, `times` times over.
ShapeMesh refined(ShapeMesh mesh, int times) {
  for (; times > 0; --times) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [at, fresh] = middles.emplace(std::minmax(a, b), static_cast<int>(mesh.vertices.size()));
      if (fresh) mesh.vertices.push_back(0.5 * (mesh.vertices[a] + mesh.vertices[b]));
      return at->second;
    };
    std::vector<Vec3i> finer;
    for (const Vec3i& t : mesh.triangles) {
      const int ab = middle(t[0], t[1]), bc = middle(t[1], t[2]), ca = middle(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], ab, ca}, {t[1], bc, ab}, {t[2], ca, bc}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
  }
  return mesh;
}

/// The shapes' meshes, in host memory.
std::vector<MeshShapeView> host_meshes(const Model& model) {
  std::vector<MeshShapeView> views;
  for (const ShapeMesh& m : model.shape_meshes)
    views.push_back({m.vertices.data(), m.triangles.data(), static_cast<std::int32_t>(m.vertices.size()),
                     static_cast<std::int32_t>(m.triangles.size()), field_view(m)});
  return views;
}

void add_channel(Model& model, const Pose& pose, bool moves, int refinements = 0, double tolerance = 0) {
  model.shape_meshes.push_back(refined(channel(tolerance), refinements));
  const Shape mesh{ShapeKind::mesh,
                   {0.5, 0.5, 1},
                   static_cast<std::int32_t>(model.shape_meshes.size()) - 1,
                   Pose::identity()};
  add_rigid(model, {mesh}, pose, moves);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(MeshContacts, HoldABallFromAllSides) {
  Model model;
  add_channel(model, pose_at({0, 0.5, 0}), false);
  add_rigid_sphere(model, 0.301, {0, 0.5, 0});
  ContactScene scene(ctx, model);
  scene.find(ctx, {0.01, 0, 4});
  ASSERT_EQ(scene.search.pairs(), 1u);
  bool below = false, left = false, right = false;
  for (const RigidContact& c : scene.contacts) {
    EXPECT_EQ(c.a, 0);
    EXPECT_NEAR(c.gap, -0.001, 3e-3);
    below |= c.normal[1] < -0.99;
    left |= c.normal[0] < -0.99;
    right |= c.normal[0] > 0.99;
  }
  EXPECT_TRUE(below && left && right);
  scene.motion.pose[1].x += Point{0, 1e-4, 2e-3};
  scene.find(ctx, {0.01, 0, 4});
  int known = 0;
  for (const RigidContact& c : scene.contacts) known += c.previous >= 0;
  EXPECT_GE(known, 3);
}

// Up to its tolerance.
BACKEND_TEST(MeshContacts, OfAnAdaptiveFieldAreThoseOfARegularOne) {
  constexpr double kTolerance = 0.004;
  const auto contacts_of = [&](double tolerance, const Point& at, double radius) {
    Model model;
    add_channel(model, pose_at({0, 0.5, 0}), false, 0, tolerance);
    add_rigid_sphere(model, radius, at);
    ContactScene scene(ctx, model);
    scene.find(ctx, {0.01, 0, 4});
    return scene.contacts;
  };
  std::size_t found = 0;
  for (const double z : {-0.71, 0.013, 0.4})
    for (const double x : {-0.12, 0.003, 0.1}) {
      const Point at{x, 0.32, z};
      const auto regular = contacts_of(0, at, 0.122), adaptive = contacts_of(kTolerance, at, 0.122);
      ASSERT_EQ(adaptive.size(), regular.size()) << x << " " << z;
      for (const RigidContact& c : adaptive) {
        double nearest = 1e300;
        for (const RigidContact& r : regular)
          nearest = std::min(nearest, std::abs(c.gap - r.gap) + 0.1 * norm(c.normal - r.normal));
        EXPECT_LT(nearest, 2 * kTolerance) << x << " " << z;
        ++found;
      }
    }
  EXPECT_GE(found, 9u);
}

// A mesh of more vertices and triangles than a team has lanes, against each kind of shape, from both sides.
BACKEND_TEST(MeshContacts, ATeamFindsWhatOneLaneFinds) {
  const Pose inside = pose_at({0.003, 0.3, 0.05});
  for (const int kind : {0, 1, 2, 3})
    for (const bool mesh_first : {true, false}) {
      SCOPED_TRACE(std::to_string(kind) + (mesh_first ? " after the mesh" : " before the mesh"));
      const double tolerance = mesh_first ? 0.004 : 0;  // of the meshes that stand still
      Model model;
      if (mesh_first) add_channel(model, pose_at({0, 0.5, 0}), false, 2, tolerance);
      if (kind == 0) add_rigid_box(model, {0.298, 0.101, 0.4}, inside);
      if (kind == 1) add_rigid_sphere(model, 0.301, {0.003, 0.5, 0.05});
      if (kind >= 2) add_channel(model, pose_at({0.02, 1.495, 0.1}), true, 2, kind == 3 ? 0.002 : 0);
      if (!mesh_first) add_channel(model, pose_at({0, 0.5, 0}), false, 2);
      ContactScene scene(ctx, model);
      scene.find(ctx, {0.01, 0, Manifold::kMost});

      const std::vector<MeshShapeView> views = host_meshes(model);
      const bool turned = mesh_first && kind < 2;  // the host's function wants the mesh second
      const int a = turned ? 1 : 0, b = 1 - a;
      const ManyManifolds all = collide_mesh(model.shapes[a], scene.motion.pose[a], model.shapes[b],
                                             scene.motion.pose[b], {nullptr, views.data()}, 0.01);
      std::size_t points = 0;
      for (int k = 0; k < all.count; ++k) points += static_cast<std::size_t>(all.parts[k].count);
      ASSERT_GT(points, 3u);
      EXPECT_EQ(scene.contacts.size(), points);
      for (const RigidContact& c : scene.contacts) {
        double nearest = 1e300;
        for (int k = 0; k < all.count; ++k) {
          const Point normal = turned ? -all.parts[k].normal : all.parts[k].normal;
          for (int i = 0; i < all.parts[k].count; ++i) {
            const ManifoldPoint& p = all.parts[k].points[i];
            nearest = std::min(nearest,
                               norm(p.point - c.point) + std::abs(p.gap - c.gap) + norm(normal - c.normal));
          }
        }
        EXPECT_LT(nearest, 1e-9);
      }
    }
}

BACKEND_TEST(MeshContacts, StandOnAFloorAndCarryABox) {
  Model model;
  add_channel(model, pose_at({0, 0.5, 0}), true);
  add_rigid_box(model, {0.25, 0.1, 0.4}, pose_at({0, 0.3, 0}));
  add_channel(model, pose_at({0.05, 1.5, 0.1}), true);  // another one on top
  add_floor(model);
  ContactScene scene(ctx, model);
  scene.find(ctx, {0.01, 0, 4});
  std::map<std::pair<int, int>, int> points;
  for (const RigidContact& c : scene.contacts) {
    EXPECT_NEAR(std::abs(c.normal[1]), 1, 1e-3);
    EXPECT_NEAR(c.gap, 0, 5e-3);
    ++points[{c.a, c.b}];
  }
  EXPECT_EQ(points.size(), 3u);
  EXPECT_EQ((points[{0, -1}]), 4);
  EXPECT_EQ((points[{0, 1}]), 4);
  EXPECT_GE((points[{0, 2}]), 3);
}
