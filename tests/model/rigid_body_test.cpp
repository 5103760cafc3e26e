#include "gpu/model/rigid_body.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

Model with_stone() {
  Model model;
  model.material_names = {"stone"};
  model.materials.resize(1);
  return model;
}

const std::vector<Vec3d> kCubeCorners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};

/// A hammer: a light handle along y and a head across its end.
BodyForm hammer() {
  BodyPart handle = make_part(ShapeKind::cylinder, {0.02, 0.15, 0.02});
  handle.mass = scaled(handle.mass, 0.5);
  BodyPart head =
      make_part(ShapeKind::box, {0.08, 0.03, 0.03}, {{0.02, 0.18, 0}, rotation_by(Vec3d{0, 0, 0.3})});
  head.nodes = {{-0.08, 0, 0}, {0.08, 0, 0}, {0, 0.03, 0}, {0, 0, 0.03}};
  head.triangles = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
  const std::array<BodyPart, 2> parts{handle, head};
  return assemble({parts.begin(), parts.end()});
}

std::string fault_of(const Model& good, const std::function<void(Model&)>& change) {
  Model model = good;
  change(model);
  try {
    finalize(model);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(RigidBody, FormStandsAtItsCentreAndPrincipalAxes) {
  const BodyForm form = hammer();
  ASSERT_EQ(form.shapes.size(), 2u);
  // In the body's frame the parts' centre of mass is the origin, and there are no products of inertia.
  BodyPart handle = make_part(ShapeKind::cylinder, {0.02, 0.15, 0.02}, form.shapes[0].pose);
  handle.mass = scaled(handle.mass, 0.5);
  const BodyPart head = make_part(ShapeKind::box, {0.08, 0.03, 0.03}, form.shapes[1].pose);
  const std::array<MassProperties, 2> masses{moved(handle.mass, handle.shape.pose),
                                             moved(head.mass, head.shape.pose)};
  const MassProperties all = united(masses);
  EXPECT_NEAR(all.volume, form.volume, 1e-15);
  EXPECT_LT(norm(all.center), 1e-15);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(all.inertia(i, j), i == j ? form.volume * form.unit_inertia[i] : 0,
                  1e-9 * trace(all.inertia));
  // Both frames put a drawn node at the same position.
  EXPECT_LT(norm(form.frame.apply(form.nodes[1]) -
                 Pose{{0.02, 0.18, 0}, rotation_by(Vec3d{0, 0, 0.3})}.apply({0.08, 0, 0})),
            1e-15);
  EXPECT_THROW(assemble({}), std::invalid_argument);
}

TEST(RigidBody, ObjectNodesStartWhereTheBodyPutsThem) {
  Model model = with_stone();
  BodyStart start;
  start.pose = {{1, 2, 3}, rotation_by(Vec3d{0.2, 0.5, -0.1})};
  start.velocity = {1, 0, 0};
  start.spin = {0, 0, 4};
  add_body(model, "hammer", hammer(), 0, start);
  BodyPart cube = make_hull_part(model, kCubeCorners);
  EXPECT_LT(norm(cube.shape.pose.x - Vec3d{0.5, 0.5, 0.5}), 1e-15);
  Object& second = add_body(model, "cube", assemble({cube}), 0, {});
  EXPECT_EQ(second.node_end - second.node_begin, 8);
  EXPECT_EQ(second.triangle_end - second.triangle_begin, 12);
  EXPECT_LT(norm(model.bodies[1].pose.x - Vec3d{0.5, 0.5, 0.5}), 1e-15);
  EXPECT_NEAR(model.bodies[1].unit_inertia[2], 1.0 / 6, 1e-14);
  finalize(model);
  EXPECT_TRUE(model.edges.empty()) << "rigid bodies touch by their shapes";
  EXPECT_TRUE(model.surface_nodes.empty());
  const stickslip::Body& body = model.bodies[0];
  for (int i = 0; i < model.objects[0].node_end; ++i) {
    EXPECT_LT(norm(model.positions[i] - body.pose.apply(model.rest_positions[i])), 1e-14);
    EXPECT_LT(
        norm(model.velocities[i] - (body.velocity + cross(body.spin, model.positions[i] - body.pose.x))),
        1e-14);
  }
}

TEST(RigidBody, MeshPartsKeepHoles) {
  // A slab with a square hole: the centre of mass lies in the hole.
  std::vector<Vec3d> nodes;
  for (const double y : {-0.1, 0.1})
    for (const double h : {1.0, 0.5})
      for (const auto& [x, z] : {std::pair{-h, -h}, {h, -h}, {h, h}, {-h, h}}) nodes.push_back({x, y, z});
  std::vector<Vec3i> triangles;
  for (int i = 0; i < 4; ++i) {
    const int j = (i + 1) % 4;
    const auto quad = [&](int a, int b, int c, int d) {
      triangles.push_back({a, b, c});
      triangles.push_back({a, c, d});
    };
    quad(i, j, j + 4, i + 4);            // below
    quad(i + 8, i + 12, j + 12, j + 8);  // above
    quad(i, i + 8, j + 8, j);            // outside
    quad(i + 4, j + 4, j + 12, i + 12);  // hole
  }
  Model model = with_stone();
  const BodyForm form = assemble({make_mesh_part(model, nodes, triangles, 24)});
  EXPECT_NEAR(form.volume, 0.2 * (4 - 1), 1e-14);
  add_body(model, "frame", form, 0, {});
  finalize(model);
  const ShapeMesh& mesh = model.shape_meshes[0];
  const Vec3d at = (Vec3d{0, 0, 0} - mesh.grid_origin) / mesh.grid_spacing;
  const auto n = mesh.grid_nodes;
  EXPECT_NEAR(mesh.distance[std::lround(at[0]) + n[0] * (std::lround(at[1]) + n[1] * std::lround(at[2]))],
              0.5, 1e-6);
}

TEST(RigidBody, BadBodiesAreRefusedByName) {
  Model good = with_stone();
  add_body(good, "hammer", hammer(), 0, {});
  add_body(good, "cube", assemble({make_hull_part(good, kCubeCorners)}), 0, {});
  EXPECT_EQ(fault_of(good, [](Model&) {}), "");
  const auto expect = [&](const char* what, const std::function<void(Model&)>& change) {
    EXPECT_NE(fault_of(good, change).find(what), std::string::npos) << what << ": " << fault_of(good, change);
  };
  expect("'hammer': a rigid body needs a positive mass", [](Model& m) { m.bodies[0].volume = 0; });
  expect("positive mass", [](Model& m) { m.bodies[0].mass = -1; });
  expect("moments of inertia", [](Model& m) { m.bodies[0].unit_inertia = {1, 0.1, 0.1}; });
  expect("unit quaternion", [](Model& m) { m.bodies[0].pose.q.w += 0.01; });
  expect("not finite", [](Model& m) { m.bodies[0].spin[1] = std::nan(""); });
  expect("needs a shape", [](Model& m) { m.bodies[0].shape_end = m.bodies[0].shape_begin; });
  expect("'hammer': the sizes", [](Model& m) { m.shapes[1].size[2] = 0; });
  expect("'cube': face 0 of its hull", [](Model& m) {
    m.hulls[0].vertices[0] = {0.1, 0.1, 0.1};
    for (int c = 0; c < 3; ++c) m.shapes[2].size[c] = 0.5;
  });
  expect("bounding box", [](Model& m) { m.shapes[2].size[0] = 0.6; });
  expect("no hull 5", [](Model& m) { m.shapes[2].data = 5; });
  expect("body's pose puts it", [](Model& m) { m.positions[2][0] += 0.1; });
  expect("cannot follow a motion", [](Model& m) {
    m.bodies[0].motion = 0;
    m.body_motions.resize(1);
  });
  expect("rigid body: its nodes cannot be held", [](Model& m) { m.scripted.push_back({{0}, {}}); });
  expect("carry no forces", [](Model& m) { m.forces.push_back({{0}, {0, 1, 0}}); });
  expect("belongs to no object", [](Model& m) { m.objects[1].body = 0; });
  EXPECT_THROW(make_part(ShapeKind::box, {1, 0, 1}), std::invalid_argument);
  EXPECT_THROW(make_part(ShapeKind::sphere, {-1, 0, 0}), std::invalid_argument);
}

TEST(RigidBody, JointFramesCoincideAtTheStart) {
  Model model = with_stone();
  BodyStart a, b;
  a.pose = {{0, 1, 0}, rotation_by(Vec3d{0.3, 0.1, 0})};
  b.pose = {{2, 1, 0}, rotation_by(Vec3d{0, -1, 0.4})};
  add_body(model, "a", hammer(), 0, a);
  add_body(model, "b", hammer(), 0, b);
  const Vec3d axis = normalized(Vec3d{-1, 0.2, 0.5});
  add_joint(model, {.name = "elbow", .kind = JointKind::hinge, .a = 0, .b = 1}, {{1, 1, 0}, turn_of_x(axis)});
  finalize(model);
  const Joint& joint = model.joints[0];
  const Pose at_a = model.bodies[0].pose * joint.frame_a, at_b = model.bodies[1].pose * joint.frame_b;
  for (const Pose& at : {at_a, at_b}) {
    EXPECT_LT(norm(at.x - Vec3d{1, 1, 0}), 1e-14);
    EXPECT_LT(norm(at.q.rotate({1, 0, 0}) - axis), 1e-14);
  }
  EXPECT_LT(norm(at_a.q.rotate({0, 1, 0}) - at_b.q.rotate({0, 1, 0})), 1e-14);
  EXPECT_LT(norm(turn_of_x({-2, 0, 0}).rotate({1, 0, 0}) - Vec3d{-1, 0, 0}), 1e-15);

  const auto expect = [&](const char* what, const std::function<void(Model&)>& change) {
    EXPECT_NE(fault_of(model, change).find(what), std::string::npos)
        << what << ": " << fault_of(model, change);
  };
  expect("'elbow': there is no body 9", [](Model& m) { m.joints[0].b = 9; });
  expect("two different bodies", [](Model& m) { m.joints[0].b = 0; });
  expect("moves by itself", [](Model& m) {
    m.bodies[0].moves = false;
    m.joints[0].b = -1;
  });
  expect("unit quaternions", [](Model& m) { m.joints[0].frame_b.q.w = 3; });
  expect("distance needs", [](Model& m) { m.joints[0].kind = JointKind::distance; });
  expect("a motor", [](Model& m) {
    m.joints[0].kind = JointKind::ball;
    m.joints[0].motor_limit = 1;
  });
  expect("ratio", [](Model& m) {
    m.joints[0].kind = JointKind::gear;
    m.joints[0].ratio = 0;
  });
}

}  // namespace
}  // namespace stickslip
