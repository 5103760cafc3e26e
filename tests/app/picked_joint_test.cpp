// Joints between places that were picked in a running scene.
#include <gtest/gtest.h>

#include <fstream>
#include <numbers>

#include "app/io/scene/scene_edit.h"
#include "app/viewer/journal_file.h"
#include "app/viewer/object_moves.h"
#include "app/viewer/replay.h"
#include "tests/app/running_content.h"

namespace stickslip {
namespace {

using test::find;
using test::pick_of;

/// Two boxes fall, one of them turns; then a joint at a place of the other one holds it.
class PickedJoint : public test::RunningContent, public ::testing::WithParamInterface<const char*> {
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
    return joint_toml(model(), choice, from, to, frame.positions(), frame.snapshot.poses);
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
  /// Posts a joint of this choice between "held" and "other".
  void attach(const JointChoice& wanted) {
    choice = wanted;
    post(AddJoint{toml(pick_of(model(), "held"), pick_of(model(), "other"))});
    ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.size() == 1; }))
        << simulation->status().error;
  }
  /// The motion of "other" as "held" sees it, of which the frame is that of the joint in "held".
  Pose of_other() {
    const Joint& joint = model().joints.at(0);
    const Pose a = pose_of("held") * joint.frame_a, b = pose_of("other") * joint.frame_b;
    const Quat back = a.q.conjugate();
    return Pose{-back.rotate(a.x), back} * b;
  }
  JointChoice choice;
};

TEST_P(PickedJoint, HoldsTwoRigidBodiesWhereTheyAre) {
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

TEST_P(PickedJoint, HoldsABodyByTheWorld) {
  load([] { return parse_scene(scene(), "/somewhere/joint.toml"); });
  steps(20);
  const Pick held = pick_of(model(), "held");
  EXPECT_LT(hold(held, held, ""), 2e-3) << "clicked twice, it is held where it is";
  EXPECT_EQ(model().joints[0].b, -1);
  EXPECT_LT(hold(held, pick_of(model(), "shelf"), "shelf"), 2e-3) << "a body that stands still";
}

/// How far the two frames of a joint of a kind come apart in what it holds, and go in what it leaves free.
struct Apart {
  double held_m = 0, held_rad = 0, free_m = 0, free_rad = 0;
};
Apart apart(JointKind kind, const Pose& b) {
  const Vec<double, 3> turn = rotation_vector(normalized(b.q));
  const bool slides = kind == JointKind::slider, turns = kind == JointKind::hinge;
  const Vec<double, 3> x{1, 0, 0};
  return {norm(b.x - (slides ? b.x[0] : 0) * x), norm(turn - (turns ? turn[0] : 0) * x),
          slides ? std::abs(b.x[0]) : 0, turns ? std::abs(turn[0]) : 0};
}

TEST_P(PickedJoint, HoldsWhatItsKindHoldsFromThePoseOfThen) {
  for (const JointKind kind : {JointKind::hinge, JointKind::slider, JointKind::fixed}) {
    SCOPED_TRACE(joint_kind_names[static_cast<std::size_t>(kind)]);
    load([&] {
      std::string text = scene();
      if (kind == JointKind::slider)
        text.replace(text.find("position = [0.4"), 0, "velocity = [0.3, 0, 0]\n");
      return parse_scene(text, "/somewhere/joint.toml");
    });
    steps(20);
    const JointAxis axis = kind == JointKind::hinge ? JointAxis::y : JointAxis::x;
    const Quat start = pose_of("held").q;
    EXPECT_GT(norm(rotation_vector(start)), 0.4) << "it has turned since the start";
    ASSERT_NO_FATAL_FAILURE(attach({kind, axis}));
    EXPECT_EQ(model().joints[0].kind, kind);
    if (choice.has_axis()) {
      const Vec<double, 3> along = (pose_of("held").q * model().joints[0].frame_a.q).rotate({1, 0, 0});
      EXPECT_NEAR(along[axis == JointAxis::y ? 1 : 0], 1, 1e-9) << "where the body is now";
    }
    const Apart first = apart(kind, of_other());
    EXPECT_LT(first.held_m, 1e-6);
    EXPECT_LT(first.held_rad, 1e-9) << "nothing is to be turned";
    Apart most;
    for (int n = 0; n < 40; ++n) {
      steps(1);
      const Apart now = apart(kind, of_other());
      most.held_m = std::max(most.held_m, now.held_m);
      most.held_rad = std::max(most.held_rad, now.held_rad);
      most.free_m = std::max(most.free_m, now.free_m);
      most.free_rad = std::max(most.free_rad, now.free_rad);
    }
    EXPECT_LT(most.held_m, 2e-3);
    EXPECT_LT(most.held_rad, 1e-2);
    if (kind == JointKind::hinge) {
      EXPECT_GT(most.free_rad, 0.1) << "it still turns about the axis";
    }
    if (kind == JointKind::slider) {
      EXPECT_GT(most.free_m, 0.01) << "it still goes along the axis";
    }
    // Saved and loaded again: the same joint.
    const Joint kept = model().joints[0];
    const Joint saved =
        parse_scene(simulation->frame().scene->source, "/somewhere/saved.toml").model.joints.at(0);
    EXPECT_EQ(saved.kind, kind);
    EXPECT_TRUE(saved.frame_a.x == kept.frame_a.x && saved.frame_b.x == kept.frame_b.x);
    EXPECT_TRUE(saved.frame_a.q.w == kept.frame_a.q.w && saved.frame_a.q.v == kept.frame_a.q.v);
    EXPECT_TRUE(saved.frame_b.q.w == kept.frame_b.q.w && saved.frame_b.q.v == kept.frame_b.q.v);
    simulation->undo();
    ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.empty(); }));
    simulation->redo();
    ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.size() == 1; }));
  }
}

/// The normal of the face, and a hinge at a collider, which turns with nothing.
TEST_P(PickedJoint, AHingeTurnsAboutTheFaceThatWasClicked) {
  load([] { return parse_scene(scene(), "/somewhere/joint.toml"); });
  steps(20);
  choice.kind = JointKind::hinge;
  const Pick held = pick_of(model(), "held");
  const auto corner = [&](int k) {
    return simulation->frame().positions()[static_cast<std::size_t>(held.triangle[k])].cast<double>();
  };
  const Vec<double, 3> normal = normalized(cross(corner(1) - corner(0), corner(2) - corner(0)));
  post(AddJoint{toml(held, held)});
  ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.size() == 1; }))
      << simulation->status().error;
  for (int n = 0; n < 20; ++n) {
    const Joint& joint = model().joints[0];
    const Vec<double, 3> axis = (pose_of("held").q * joint.frame_a.q).rotate({1, 0, 0});
    EXPECT_LT(norm(axis - normal), 1e-2) << "step " << n;
    EXPECT_LT(norm(joint.frame_b.q.rotate({1, 0, 0}) - normal), 1e-6) << "held by the world";
    steps(1);
  }
}

TEST_P(PickedJoint, MovesWithItsBodies) {
  load([] { return parse_scene(scene(), "/somewhere/joint.toml"); });
  steps(20);
  ASSERT_NO_FATAL_FAILURE(attach({JointKind::fixed, JointAxis::normal}));
  const Joint before = model().joints[0];
  const int content = simulation->status().content;
  post(MoveObject{"held", {0, 0, 1}, {0, 0, 30}});
  ASSERT_TRUE(test::reached(*simulation, [&] { return simulation->status().content > content; }))
      << simulation->status().error;
  const Joint& after = model().joints[0];
  // The frames of a joint may turn about its axis, both alike.
  const auto between = [](const Joint& joint, const Vec<double, 3>& v) {
    return (joint.frame_b.q * joint.frame_a.q.conjugate()).rotate(v);
  };
  for (const Vec<double, 3>& v : {Vec<double, 3>{1, 0, 0}, {0, 1, 0}})
    EXPECT_LT(norm(between(after, v) - between(before, v)), 1e-6);
  EXPECT_LT(norm(after.frame_a.x - before.frame_a.x), 1e-6);
  EXPECT_LT(norm(after.frame_b.x - before.frame_b.x), 1e-6);
}

TEST_P(PickedJoint, AJournalRepeatsEveryStateBitForBit) {
  const std::string file = ::testing::TempDir() + "/joint-" + std::to_string(getpid()) + ".jsonl";
  const auto make = [] { return parse_scene(scene(), "/somewhere/joint.toml"); };
  simulation.emplace([] { return make_engine(Backend::cpu, 1); },
                     [make](const std::string&, const std::string&) { return make(); });
  simulation->set_hashing(true);
  post(LoadScene{"a"});
  steps(20);
  ASSERT_NO_FATAL_FAILURE(attach({JointKind::hinge, JointAxis::y}));
  steps(10);
  {
    JournalFile journal(file);
    JournalStart start;
    start.scene = "a";
    start.backend = "cpu";
    journal.start(start);
    for (const JournalEntry& entry : simulation->journal()) journal.add(entry, model());
  }
  ReplayOptions options;
  options.journal = file;
  options.make_engine = [] { return make_engine(Backend::cpu, 1); };
  options.load_scene = [make](const std::string&, const std::string&, const JournalStart&) { return make(); };
  const ReplayReport report = replay(options);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.equal, 30);
  EXPECT_EQ(report.differing, 0);
  std::filesystem::remove(file);
}

TEST_P(PickedJoint, ASceneThatWasSavedWithOneRuns) {
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

/// The bodies begin turned by what one has turned until then.
TEST_P(PickedJoint, ASceneThatWasSavedWithAHingeTurnsThemTogether) {
  load([] { return parse_scene(scene(), "/somewhere/joint.toml"); });
  steps(20);
  choice = {JointKind::hinge, JointAxis::x};
  const std::string joint = toml(pick_of(model(), "held"), pick_of(model(), "other"));
  const std::string text = with_joint(*simulation->frame().scene, joint)->source;
  load([text] { return parse_scene(text, "/somewhere/saved.toml"); });
  const double start = apart(JointKind::hinge, of_other()).held_rad;
  EXPECT_GT(start, 0.3);
  steps(60);
  EXPECT_EQ(simulation->status().error, "");
  EXPECT_LT(apart(JointKind::hinge, of_other()).held_rad, 0.05 * start);
}

INSTANTIATE_TEST_SUITE_P(Solvers, PickedJoint, ::testing::Values("nsgs", "ipc"));

TEST(PickedJointToml, NeedsARigidBodyThatCanMove) {
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
      return joint_toml(rigid.model, {}, pick_of(rigid.model, from), pick_of(rigid.model, to), at, of);
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
  EXPECT_THROW(joint_toml(soft.model, {}, jelly, jelly, there, {}), InputError) << "no rigid body";
  EXPECT_EQ(label_of_joint("name = \"x\"\nkind = \"distance\"\n"), "a rope added");
  EXPECT_EQ(label_of_joint("kind='distance'"), "a rope added");
  EXPECT_EQ(label_of_joint("kind = \"ball\"\nbetween = [\"distance\", \"world\"]\n"), "a joint added");
}

}  // namespace
}  // namespace stickslip
