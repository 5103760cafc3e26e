// The barrier model of rigid bodies: masses, surfaces, constraints.
#include "gpu/model/barrier_model.h"

#include <gtest/gtest.h>

#include <map>

#include "gpu/model/affine.h"
#include "gpu/model/mass_properties.h"
#include "gpu/model/rigid_body.h"
#include "gpu/model/shape_surface.h"
#include "gpu/model/tet_volume.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

using fixtures::add_rigid;
using fixtures::add_rigid_box;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

constexpr double kTolerance = 0.02;

BarrierModel converted(const Model& scene, double skin = 1e-3) {
  return make_barrier_model(scene, body_skins(scene, skin), kTolerance);
}

TEST(BarrierModel, ControlNodesHaveMassCentreAndInertiaOfTheBody) {
  Model scene;
  const Pose pose = pose_at({0.3, 1, -2}, {0.4, -0.2, 0.9});
  add_rigid_box(scene, {0.2, 0.1, 0.05}, pose);
  scene.materials[0].density = 700;
  finalize(scene);
  const BarrierModel barrier = converted(scene);
  const Object& body = barrier.model.objects[0];
  ASSERT_TRUE(body.is_stiff() && body.is_affine() && !body.is_collider() && !body.is_deformable());
  const double mass = 700 * 0.4 * 0.2 * 0.1;
  EXPECT_NEAR(object_mass(barrier.model, body), mass, 1e-12 * mass);
  EXPECT_GT(tet_volume(barrier.model.rest_positions, control_tet(body)), 0);
  Vec3d center = Vec3d::zero();
  for (int k = 0; k < 4; ++k) center += 0.25 * barrier.model.positions[body.control_begin + k];
  EXPECT_LT(norm(center - pose.x), 1e-14);
  Mat3d inertia = Mat3d::zero();
  for (int k = 0; k < 4; ++k) {
    const Vec3d r = pose.apply_back(barrier.model.positions[body.control_begin + k]);
    inertia += (mass / 4) * (norm2(r) * Mat3d::identity() - outer(r, r));
  }
  const Mat3d want = mass_of_shape(ShapeKind::box, {0.2, 0.1, 0.05}).inertia;
  for (int e = 0; e < 9; ++e) EXPECT_NEAR(inertia.m[e], 700 * want.m[e], 1e-12 * mass) << e;
}

/// Checks that each edge is in two triangles with opposite directions. Returns the volume inside.
double closed_volume(const ShapeSurface& s) {
  std::map<std::pair<int, int>, int> edges;
  for (const Vec3i& t : s.triangles)
    for (int c = 0; c < 3; ++c) ++edges[{t[c], t[(c + 1) % 3]}];
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count, 1);
    EXPECT_EQ(edges.count({edge.second, edge.first}), 1U) << edge.first << " " << edge.second;
  }
  return mass_of_surface(s.nodes, s.triangles).volume;
}

TEST(BarrierModel, SurfacesOfShapesAreClosedAndWithinTheTolerance) {
  const Shape shapes[] = {fixtures::sphere_shape(0.3), fixtures::box_shape({0.1, 0.2, 0.3}),
                          fixtures::capsule_shape(0.1, 0.2), fixtures::capsule_shape(0.1, 0),
                          fixtures::cylinder_shape(0.2, 0.05)};
  for (const double tolerance : {0.3, 0.02, 1e-3})
    for (const Shape& shape : shapes) {
      Model scene;
      add_rigid(scene, {shape}, pose_at({0, 0, 0}));
      const ShapeSurface surface = shape_surface(scene, scene.bodies[0], tolerance);
      const double exact = mass_of_shape(shape.kind, shape.size).volume, volume = closed_volume(surface);
      EXPECT_LE(volume, exact * (1 + 1e-12));
      const double worst = shape.kind == ShapeKind::box ? 1e-12 : 3 * tolerance;
      EXPECT_GE(volume, exact * (1 - worst)) << static_cast<int>(shape.kind) << " " << tolerance;
      if (shape.kind != ShapeKind::sphere) continue;
      for (const Vec3i& t : surface.triangles) {
        const Vec3d middle = (surface.nodes[t[0]] + surface.nodes[t[1]] + surface.nodes[t[2]]) / 3;
        EXPECT_GE(norm(middle), 0.3 * (1 - tolerance) - 1e-12) << tolerance;
      }
    }
}

TEST(BarrierModel, SkinsMoveThePlanesOfABoxInward) {
  Model scene;
  add_rigid_box(scene, {0.1, 0.2, 0.3}, pose_at({0, 0, 0}));
  const ShapeSurface box = shape_surface(scene, scene.bodies[0], kTolerance);
  const std::vector<Vec3d> inner = shrunk_surface(box.nodes, box.triangles, 0.01);
  for (std::size_t i = 0; i < inner.size(); ++i)
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(inner[i][c], box.nodes[i][c] - (box.nodes[i][c] > 0 ? 0.01 : -0.01), 1e-8);
  EXPECT_NEAR(body_skins(scene, 1e-3)[0], 1e-3, 1e-15);
  EXPECT_NEAR(body_skins(scene, 1.0)[0], 0.02, 1e-15) << "a tenth of its thickness";
}

TEST(BarrierModel, BodiesThatDoNotMoveBecomeCollidersWithTheirScripts) {
  Model scene;
  fixtures::add_rigid_sphere(scene, 0.1, {0, 1, 0});
  add_rigid_box(scene, {1, 0.1, 1}, pose_at({0, -0.1, 0}), false);
  Motion motion;
  motion.velocity = {1, 0, 0};
  scene.body_motions.push_back(motion);
  scene.bodies[1].motion = 0;
  fixtures::add_ball_joint(scene, 0, 1);
  finalize(scene);
  const BarrierModel barrier = converted(scene);
  EXPECT_TRUE(barrier.model.objects[1].is_collider());
  EXPECT_EQ(barrier.control[1], -1);
  EXPECT_EQ(barrier.model.scripted.size(), 1U);
  EXPECT_EQ(barrier.model.scripted[0].motion.velocity, motion.velocity);
  ASSERT_EQ(barrier.model.exempt_objects.size(), 1U);
  EXPECT_EQ(barrier.model.exempt_objects[0], (Vec2i{0, 1}));
  ASSERT_EQ(barrier.model.constraints.size(), 1U);
  const BodyState at = scripted_state(scene, scene.bodies[1], 0.5, 0.1);
  EXPECT_NEAR(at.pose.x[0], 0.5, 1e-15);
  EXPECT_NEAR(at.velocity[0], 1, 1e-12);
}

}  // namespace
}  // namespace stickslip
