// Joints of solids in scene files: names, instances of arrays, what is refused; the expectation `joints`.
#include <gtest/gtest.h>

#include <span>

#include "app/io/scene/expect.h"
#include "app/io/scene/scene.h"
#include "gpu/model/solid_joints.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

std::string soft_box(const std::string& name, const std::string& keys) {
  return "[[object]]\nname = '" + name +
         "'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 0.5\nmaterial = 'foam'\n" + keys + "\n";
}

const std::string kScene =
    "[[material]]\nname = 'foam'\n" +
    soft_box("wheel", "count = [1, 1, 2]\nspacing = [0, 0, 3]\nposition = [0, 1, 0]\ntumble = 30") +
    soft_box("crate", "body = 'rigid'\nposition = [5, 1, 0]") +
    soft_box("cart", "position = [1.2, 1, 3]\nbody = 'affine'");

Scene read(const std::string& rest) { return parse_scene(kScene + rest, "j.toml"); }

std::string refusal(const std::string& rest) {
  try {
    read(rest);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

Vec3d anchor_of(const Model& model, std::size_t joint, int side) {
  std::vector<Pose> poses;
  for (const Body& body : model.bodies) poses.push_back(body.pose);
  return JointSides(model, model.joints[joint])
      .frame(side, std::span<const Pose>(poses), std::span<const Vec3d>(model.positions))
      .x;
}

TEST(SolidJointScenes, EachInstanceOfAnArrayGetsAJointThatMovesWithIt) {
  const Scene scene = read(
      "[[joint]]\nname = 'axle'\nkind = 'hinge'\nbetween = ['wheel', 'world']\nanchor = [0.1, 1.2, "
      "-0.3]\naxis = [0, 0, 1]\n");
  const Model& model = scene.model;
  ASSERT_EQ(model.joints.size(), 2U);
  const Object& first = model.objects[0];
  for (std::size_t j = 0; j < 2; ++j) {
    const Object& object = model.objects[static_cast<std::size_t>(joint_object(model, model.joints[j], 0))];
    EXPECT_EQ(object.name, "wheel." + std::to_string(j));
    EXPECT_LT(norm(anchor_of(model, j, 0) - anchor_of(model, j, 1)), 1e-12);
    // As far from each node as in the first instance.
    for (std::int32_t i = 0; i < object.node_end - object.node_begin; ++i)
      EXPECT_NEAR(
          norm(model.positions[static_cast<std::size_t>(object.node_begin + i)] - anchor_of(model, j, 0)),
          norm(model.positions[static_cast<std::size_t>(first.node_begin + i)] - anchor_of(model, 0, 0)),
          1e-12);
  }
}

TEST(SolidJointScenes, JoinSolidsRigidBodiesAndAffineBodies) {
  const Scene scene = read(
      "[[joint]]\nname = 'a'\nkind = 'ball'\nbetween = ['cart', 'wheel.1']\nanchor = [0.6, 1, 3]\n"
      "[[joint]]\nname = 'b'\nkind = 'fixed'\nbetween = ['crate', 'cart']\nanchor = [1.6, 1, 3]\n");
  const Model& model = scene.model;
  EXPECT_GE(model.joints[0].tet_a, 0);
  EXPECT_GE(model.joints[0].tet_b, 0);
  EXPECT_EQ(model.joints[1].a, 0);
  EXPECT_GE(model.joints[1].tet_b, 0);
}

TEST(SolidJointScenes, RefuseAnchorsFarFromASolidAndOneBodyTwice) {
  const std::string ball = "[[joint]]\nname = 'a'\nkind = 'ball'\nanchor = [9, 1, 0]\n";
  EXPECT_NE(
      refusal(ball + "between = ['cart', 'crate']").find("outside of 'cart': an affine body holds joints"),
      std::string::npos);
  EXPECT_NE(refusal(ball + "between = ['wheel.0', 'crate']")
                .find("outside of 'wheel.0': an elastic solid holds joints"),
            std::string::npos);
  EXPECT_NE(refusal(ball + "between = ['cart', 'cart']").find("two different bodies"), std::string::npos);
  EXPECT_NE(refusal(ball + "between = ['cart', 'carx']").find("carx"), std::string::npos);
}

TEST(SolidJointScenes, TheExpectationSeesAJointThatOpens) {
  const Scene scene = read(
      "[[joint]]\nname = 'a'\nkind = 'ball'\nbetween = ['wheel.0', 'crate']\nanchor = [0.2, 1, "
      "0.1]\n");
  ExpectationJudge judge(scene.model, {ExpectJoints{1e-3}});
  State state{0, 0.0, scene.model.positions, scene.model.velocities};
  for (const Body& body : scene.model.bodies) state.bodies.push_back({body.pose, body.velocity, body.spin});
  judge.observe({}, state);
  EXPECT_EQ(judge.verdicts().front().outcome, Verdict::Outcome::passed);
  for (Vec3d& x : state.positions) x[0] += 2e-3;
  judge.observe({}, state);
  EXPECT_EQ(judge.verdicts().front().outcome, Verdict::Outcome::failed);
}

}  // namespace
}  // namespace stickslip
