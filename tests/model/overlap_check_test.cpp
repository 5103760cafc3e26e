// Depth of overlapping meshes, compared with known overlaps.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gpu/model/overlap_check.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// A rigid box with its nodes at their world positions.
void add_mesh_box(Model& model, const std::string& name, const Vec3d& half, const Vec3d& center,
                  const Quat& turn = Quat::identity(), bool moves = true) {
  const auto first = static_cast<std::int32_t>(model.positions.size());
  for (int i = 0; i < 8; ++i) {
    const Vec3d corner{(i & 1) != 0 ? half[0] : -half[0], (i & 2) != 0 ? half[1] : -half[1],
                       (i & 4) != 0 ? half[2] : -half[2]};
    model.positions.push_back(center + turn.rotate(corner));
  }
  Object object;
  object.name = name;
  object.triangle_begin = static_cast<std::int32_t>(model.triangles.size());
  const Vec4i faces[6] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (const Vec4i& f : faces) {
    model.triangles.push_back({first + f[0], first + f[1], first + f[2]});
    model.triangles.push_back({first + f[0], first + f[2], first + f[3]});
  }
  object.triangle_end = static_cast<std::int32_t>(model.triangles.size());
  object.body = static_cast<std::int32_t>(model.bodies.size());
  stickslip::Body body;
  body.object = static_cast<std::int32_t>(model.objects.size());
  body.moves = moves;
  model.bodies.push_back(body);
  model.objects.push_back(object);
}

MeshOverlap deepest(const Model& model) { return OverlapCheck(model).deepest(model.positions); }

TEST(OverlapCheck, BoxesThatOverlapByAKnownDepth) {
  const Quat turn = rotation_by(Vec3d{0.3, -0.8, 0.4});
  for (const Vec3d& shift : {Vec3d{0, 0, 0}, Vec3d{0.07, 0, 0.03}, Vec3d{0.1, 0, 0.1}}) {
    Model model;
    add_mesh_box(model, "low", {0.2, 0.1, 0.2}, {0, 0, 0}, turn);
    add_mesh_box(model, "high", {0.2, 0.1, 0.2}, turn.rotate(Vec3d{0, 0.199, 0} + shift), turn);
    const MeshOverlap found = deepest(model);
    EXPECT_NEAR(found.depth, 0.001, 1e-12) << shift[0];
    EXPECT_NE(found.in, found.of);
  }
  Model apart;
  add_mesh_box(apart, "low", {0.2, 0.1, 0.2}, {0, 0, 0}, turn);
  add_mesh_box(apart, "high", {0.2, 0.1, 0.2}, turn.rotate(Vec3d{0, 0.2001, 0}), turn);
  EXPECT_EQ(deepest(apart).depth, 0);
  EXPECT_EQ(describe(deepest(apart), apart), "");
}

TEST(OverlapCheck, ABarThroughAPlateAndABoxInsideAnotherAreSeen) {
  Model crossed;  // no node of either is inside the other
  add_mesh_box(crossed, "plate", {1, 0.05, 1}, {0, 0, 0});
  add_mesh_box(crossed, "bar", {0.1, 2, 0.1}, {0.2, 0, 0.1});
  EXPECT_NEAR(deepest(crossed).depth, 0.05, 1e-12);
  EXPECT_EQ(describe(deepest(crossed), crossed), "'bar' in 'plate'");
  Model swallowed;
  add_mesh_box(swallowed, "large", {1, 1, 1}, {0, 0, 0});
  add_mesh_box(swallowed, "small", {0.1, 0.1, 0.1}, {0.3, 0, 0});
  EXPECT_GT(deepest(swallowed).depth, 0.6);
  EXPECT_EQ(describe(deepest(swallowed), swallowed), "'small' in 'large'");
}

/// At most the distance by which the boxes must move apart along any of the axes that can separate them.
TEST(OverlapCheck, DepthIsALowerBoundOfThePenetration) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&](double size) {
    const double x = uniform(rng), y = uniform(rng), z = uniform(rng);
    return size * Vec3d{x, y, z};
  };
  const Vec3d half{0.3, 0.2, 0.1};
  int overlapping = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Model model;
    const Quat turns[2] = {rotation_by(random(3)), rotation_by(random(3))};
    const Vec3d centers[2] = {{0, 0, 0}, random(0.4)};
    for (int i = 0; i < 2; ++i) add_mesh_box(model, "box", half, centers[i], turns[i]);
    std::vector<Vec3d> axes;
    for (int i = 0; i < 3; ++i)
      for (const Quat& turn : turns) {
        Vec3d axis{0, 0, 0};
        axis[i] = 1;
        axes.push_back(turn.rotate(axis));
      }
    for (int i = 0; i < 6; i += 2)
      for (int k = 1; k < 6; k += 2)
        if (const Vec3d axis = cross(axes[i], axes[k]); norm(axis) > 1e-9) axes.push_back(normalized(axis));
    double penetration = 1e9;  // separating axes: exact for boxes
    for (const Vec3d& axis : axes) {
      double reach = 0;
      for (const Quat& turn : turns)
        for (int c = 0; c < 3; ++c) {
          Vec3d side{0, 0, 0};
          side[c] = half[c];
          reach += std::fabs(dot(axis, turn.rotate(side)));
        }
      penetration = std::min(penetration, reach - std::fabs(dot(axis, centers[1])));
    }
    const double seen = deepest(model).depth;
    EXPECT_LE(seen, std::max(penetration, 0.0) + 1e-12) << trial;
    if (penetration > 0) {
      ++overlapping;
      EXPECT_GT(seen, 0.2 * penetration) << trial;
    }
  }
  EXPECT_GT(overlapping, 100);
}

TEST(OverlapCheck, HalfSpacesCountAndJointsAndWhatStandsStillDoNot) {
  Model model;
  add_mesh_box(model, "a", {0.1, 0.1, 0.1}, {0, 0.07, 0});
  add_mesh_box(model, "b", {0.1, 0.1, 0.1}, {0.15, 0.3, 0});
  add_mesh_box(model, "c", {0.1, 0.1, 0.1}, {0.22, 0.3, 0});
  model.half_spaces.push_back({{0, 2, 0}, 0, 0.3});
  EXPECT_NEAR(deepest(model).depth, 0.1, 0.04) << "b and c";
  Joint joint;
  joint.a = 2;
  joint.b = 1;
  model.joints.push_back(joint);
  EXPECT_NEAR(deepest(model).depth, 0.03, 1e-12);
  EXPECT_EQ(describe(deepest(model), model), "'a' in half-space 0");
  model.joints[0].collide = true;
  EXPECT_GT(deepest(model).depth, 0.05);
  model.bodies[1].moves = model.bodies[2].moves = false;
  EXPECT_NEAR(deepest(model).depth, 0.03, 1e-12);
}

}  // namespace
}  // namespace stickslip
