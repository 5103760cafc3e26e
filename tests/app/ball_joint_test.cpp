// Ball joints between places that were picked in a running scene.
#include <gtest/gtest.h>

#include "app/io/scene/scene_edit.h"
#include "tests/app/running_content.h"

namespace stickslip {
namespace {

using test::find;
using test::pick_of;

/// A box falls beside one that is held; then a ball joint at a place of the other one holds it.
class BallJoint : public test::RunningContent, public ::testing::WithParamInterface<const char*> {
 protected:
  static std::string scene() {
    return std::string("solver = \"") + GetParam() + "\"\n" + R"(
[params]
dt = 0.005
[[material]]
name = "wood"
[[object]]
name = "held"
body = "rigid"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "wood"
position = [0, 1, 0]
angular_velocity = [0, 5, 1]
[[object]]
name = "other"
body = "rigid"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "wood"
position = [0.4, 1.2, 0]
[[collider]]
name = "shelf"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "wood"
position = [0, 2, 0]
)";
  }
  Pose pose_of(const std::string& name) {
    return simulation->frame().snapshot.poses[static_cast<std::size_t>(find(model(), name)->body)];
  }
  std::string toml(const Pick& from, const Pick& to) {
    const SimulationFrame& frame = simulation->frame();
    return ball_joint_toml(model(), from, to, frame.positions(), frame.snapshot.poses);
  }
  /// Posts it, makes steps, and checks that the place of `to` stays in both bodies. Returns how far it went.
  double hold(const Pick& from, const Pick& to, const std::string& other) {
    const Vec<double, 3> place = position_of(to, simulation->frame().positions()).cast<double>();
    const Vec<double, 3> in_held = pose_of("held").apply_back(place);
    const Vec<double, 3> in_other = other.empty() ? place : pose_of(other).apply_back(place);
    const std::string joint = toml(from, to);
    const std::size_t before = model().joints.size();
    post(AddJoint{joint});
    EXPECT_TRUE(test::reached(*simulation, [&] { return model().joints.size() == before + 1; }))
        << simulation->status().error;
    double travelled = 0;
    for (int n = 0; n < 40; ++n) {
      steps(1);
      const Vec<double, 3> now = pose_of("held").apply(in_held);
      EXPECT_LT(norm(now - (other.empty() ? in_other : pose_of(other).apply(in_other))), 2e-3)
          << "step " << n;
      travelled = std::max(travelled, norm(now - place));
    }
    EXPECT_EQ(simulation->status().error, "");
    return travelled;
  }
};

TEST_P(BallJoint, HoldsTwoRigidBodiesWhereTheyAre) {
  load([] { return parse_scene(scene(), "/somewhere/joint.toml"); });
  steps(20);
  const Pick from = pick_of(model(), "held"), to = pick_of(model(), "other");
  EXPECT_GT(hold(from, to, "other"), 0.05) << "both fall";
  EXPECT_EQ(model().joints[0].name, "tie-1");
  EXPECT_EQ(simulation->edits().next_undo(), "a joint added");
  simulation->undo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.empty(); }));
  simulation->redo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.size() == 1; }));
  // Saved and loaded again: the same joint, which the start of the scene may violate.
  const Joint kept = model().joints[0];
  const Scene saved = parse_scene(simulation->frame().scene->source, "/somewhere/saved.toml");
  ASSERT_EQ(saved.model.joints.size(), 1u);
  EXPECT_EQ(saved.model.joints[0].kind, JointKind::ball);
  EXPECT_LT(norm(saved.model.joints[0].frame_a.x - kept.frame_a.x), 1e-12);
  EXPECT_LT(norm(saved.model.joints[0].frame_b.x - kept.frame_b.x), 1e-12);
  post(RemoveTies{"held"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.empty(); }));
}

TEST_P(BallJoint, HoldsABodyByTheWorld) {
  load([] { return parse_scene(scene(), "/somewhere/joint.toml"); });
  steps(20);
  const Pick held = pick_of(model(), "held");
  EXPECT_LT(hold(held, held, ""), 2e-3) << "clicked twice, it is held where it is";
  EXPECT_EQ(model().joints[0].b, -1);
  EXPECT_LT(hold(held, pick_of(model(), "shelf"), "shelf"), 2e-3) << "a body that stands still";
}

TEST_P(BallJoint, ASceneThatWasSavedWithOneRuns) {
  load([] { return parse_scene(scene(), "/somewhere/joint.toml"); });
  steps(20);
  const std::string joint = toml(pick_of(model(), "held"), pick_of(model(), "other"));
  const auto tied = with_joint(*simulation->frame().scene, joint);
  const std::string text = tied->source;
  load([text] { return parse_scene(text, "/somewhere/saved.toml"); });
  const Joint& tie = model().joints.at(0);
  const auto gap = [&] {
    return norm(pose_of("held").apply(tie.frame_a.x) - pose_of("other").apply(tie.frame_b.x));
  };
  const double start = gap();
  EXPECT_GT(start, 0.01) << "one has turned since the start";
  steps(60);
  EXPECT_EQ(simulation->status().error, "");
  EXPECT_LT(gap(), 0.02 * start + 1e-3) << "the joint brings them together";
}

INSTANTIATE_TEST_SUITE_P(Solvers, BallJoint, ::testing::Values("nsgs", "ipc"));

TEST(BallJointToml, NeedsARigidBodyThatCanMove) {
  const Scene rigid = parse_scene(R"([[material]]
name = "wood"
[[object]]
name = "free"
body = "rigid"
shape = "box"
size = [1, 1, 1]
material = "wood"
position = [9, 0, 0]
[[collider]]
name = "a"
shape = "box"
size = [1, 1, 1]
material = "wood"
[[collider]]
name = "b"
shape = "box"
size = [1, 1, 1]
material = "wood"
position = [3, 0, 0]
)",
                                  "/somewhere/a.toml");
  std::vector<Vec3f> at;
  for (const auto& x : rigid.model.positions) at.push_back(x.cast<float>());
  std::vector<Pose> poses;
  for (const Body& body : rigid.model.bodies) poses.push_back(body.pose);
  const auto refusal = [&](const char* from, const char* to, std::span<const Pose> of) -> std::string {
    try {
      return ball_joint_toml(rigid.model, pick_of(rigid.model, from), pick_of(rigid.model, to), at, of);
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_NE(refusal("a", "b", poses).find("'a' cannot move"), std::string::npos);
  EXPECT_NE(refusal("a", "a", poses).find("'a' cannot move"), std::string::npos);
  EXPECT_NE(refusal("free", "a", {}).find("not known yet"), std::string::npos);
  EXPECT_NE(refusal("free", "a", poses).find("\"free\", \"a\""), std::string::npos);
  const Scene soft = parse_scene(
      "[[material]]\nname = \"m\"\n[[object]]\nname = \"soft\"\nshape = \"box\"\nsize = [1, 1, 1]\nedge = 1\n"
      "material = \"m\"\n",
      "/somewhere/soft.toml");
  const std::vector<Vec3f> there(soft.model.node_count(), Vec3f{0, 0, 0});
  const Pick jelly = pick_of(soft.model, "soft");
  EXPECT_THROW(ball_joint_toml(soft.model, jelly, jelly, there, {}), InputError) << "no rigid body";
  EXPECT_EQ(label_of_joint("name = \"x\"\nkind = \"distance\"\n"), "a rope added");
  EXPECT_EQ(label_of_joint("kind='distance'"), "a rope added");
  EXPECT_EQ(label_of_joint("kind = \"ball\"\nbetween = [\"distance\", \"world\"]\n"), "a joint added");
}

}  // namespace
}  // namespace stickslip
