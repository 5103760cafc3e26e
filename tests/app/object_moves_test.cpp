// Objects of a running scene that are moved and turned.
#include "app/viewer/object_moves.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/io/scene/scene_edit.h"
#include "app/viewer/pointer.h"
#include "app/viewer/scene_content.h"
#include "app/viewer/surface_overlap.h"
#include "gpu/engine.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const char* const kYard = R"(# A yard.
[params]
dt = 0.01

[[material]]
name = "wood"

[[half_space]]
mu = 0.5

[[object]]
name = "low"
body = "rigid"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "wood"
position = [0, 0.1, 0]  # on the ground

[[object]]
name = "high"
body = "rigid"
shape = "box"
size = [0.2, 0.4, 0.2]
material = "wood"
position = [0, 0.8, 0]
rotation = [0, 0, 90]
velocity = [0, 1, 0]

[[object]]
name = "row"
body = "rigid"
shape = "box"
size = [0.1, 0.1, 0.1]
material = "wood"
position = [1, 0.05, 0]
count = [3, 1, 1]
spacing = [0.2, 0, 0]

[[collider]]
name = "wall"
shape = "box"
size = [0.1, 1, 1]
material = "wood"
position = [-1, 0.5, 0]

[[collider]]
name = "fan"
shape = "box"
size = [0.1, 0.1, 1]
material = "wood"
position = [-2, 0.5, 0]
motion = { angular_velocity = [0, 1, 0], center = [-2, 0.5, 0] }
)";

Scene yard(const std::string& more = "") {
  return parse_scene(std::string(kYard) + more, "/somewhere/yard.toml");
}

const Object& object_of(const Model& model, const std::string& name) {
  return *std::ranges::find(model.objects, name, &Object::name);
}

Vec3d start_of(const Scene& scene, const std::string& name) {
  const Object& object = object_of(scene.model, name);
  Vec3d sum{0, 0, 0};
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
    sum += scene.model.positions[static_cast<std::size_t>(i)];
  return sum / (object.node_end - object.node_begin);
}

TEST(ObjectMoves, OnlyThePlaceChangesInTheText) {
  const Scene scene = yard();
  const auto moved = with_move(scene, {"low", {0.5, 0, 0.25}, {0, 0, 0}});
  std::string expected = kYard;
  expected.replace(expected.find("[0, 0.1, 0]  #"), 11, "[0.5, 0.1, 0.25]");
  EXPECT_EQ(moved->source, expected);
  EXPECT_TRUE(moved->changed);
  EXPECT_LT(norm(start_of(*moved, "low") - Vec3d{0.5, 0.1, 0.25}), 1e-9);
  EXPECT_EQ(start_of(*moved, "high"), start_of(scene, "high"));
}

TEST(ObjectMoves, ABodyLeavesItsArray) {
  const Scene scene = yard();
  const auto moved = with_move(scene, {"row.1", {0, 0.5, 1}, {0, 90, 0}});
  EXPECT_LT(norm(start_of(*moved, "row.1") - Vec3d{1.2, 0.55, 1}), 1e-8);
  for (const char* other : {"row.0", "row.2", "low", "wall"})
    EXPECT_EQ(start_of(*moved, other), start_of(scene, other));
  EXPECT_EQ(moved->model.objects.size(), scene.model.objects.size());
  EXPECT_NE(moved->source.find("without = [1]"), std::string::npos) << moved->source;
  const auto again = with_move(*moved, {"row.1", {1, 0, 0}});
  EXPECT_LT(norm(start_of(*again, "row.1") - Vec3d{2.2, 0.55, 1}), 1e-8);
  const auto rest = without_object(*again, "row.1");
  EXPECT_EQ(rest->model.objects.size(), scene.model.objects.size() - 1);
}

TEST(ObjectMoves, ATurnIsAboutTheMiddleAndAfterTheOldOne) {
  const Scene scene = yard();
  const auto moved = with_move(scene, {"high", {0, 0, 0}, {0, 90, 0}});
  EXPECT_LT(norm(start_of(*moved, "high") - start_of(scene, "high")), 1e-9);
  const Quat q = moved->model.bodies[static_cast<std::size_t>(object_of(moved->model, "high").body)].pose.q;
  const Quat before =
      scene.model.bodies[static_cast<std::size_t>(object_of(scene.model, "high").body)].pose.q;
  const Quat turned = rigid_move({0, 0, 0}, {0, 0, 0}, {0, 90, 0}).q * before;
  EXPECT_LT(norm(q.rotate({1, 2, 3}) - turned.rotate({1, 2, 3})), 1e-7);
  const auto back = with_move(*moved, {"high", {0, 0, 0}, {0, -90, 0}});
  EXPECT_NE(back->source.find("rotation = [0, 0, 90]"), std::string::npos) << back->source;
  EXPECT_NE(back->source.find("position = [0, 0.8, 0]"), std::string::npos) << back->source;
}

/// "high" swings about the world, and "row.1", of an array, is welded to "low".
const char* const kHeld = R"(
[[joint]]
name = "pivot"
kind = "hinge"
between = ["high", "world"]
anchor = [0, 1, 0]
axis = [0, 0, 1]

[[joint]]
name = "weld"
kind = "fixed"
between = ["low", "row.1"]
)";

TEST(ObjectMoves, FaultsAreNamed) {
  const Scene scene = yard(
      "\n[[joint]]\nname = \"rod\"\nkind = \"distance\"\nbetween = [\"high\", \"world\"]\nanchor_b = [0, 2, "
      "0]\n");
  EXPECT_NE(move_refusal(scene, "high", false).find("rod"), std::string::npos);
  EXPECT_EQ(move_refusal(yard(kHeld), "low", true), "") << "with one body of an array";
  EXPECT_EQ(move_refusal(scene, "row.1", true), "");
  EXPECT_NE(
      move_refusal(yard("\n[[joint]]\nname = \"two\"\nkind = \"ball\"\nbetween = [\"row\", \"world\"]\n"),
                   "row.1", false)
          .find("array"),
      std::string::npos)
      << "a joint holds each body of it";
  EXPECT_NE(move_refusal(scene, "none", false).find("no object"), std::string::npos);
  EXPECT_EQ(move_refusal(yard(kHeld), "high", true), "");
  EXPECT_EQ(move_refusal(scene, "fan", true), "");
  EXPECT_EQ(move_refusal(scene, "low", true), "");
  Scene textless = yard();
  textless.source.clear();
  EXPECT_NE(move_refusal(textless, "low", false), "");
  EXPECT_THROW(with_move(scene, {"low", {1e9, 0, 0}}), InputError);
}

TEST(ObjectMoves, AScriptMovesWithItsCollider) {
  const Scene scene = yard();
  const auto moved = with_move(scene, {"fan", {0, 1, 0.5}});
  EXPECT_NE(moved->source.find("center = [-2, 1.5, 0.5]"), std::string::npos) << moved->source;
  const Body& body = moved->model.bodies[static_cast<std::size_t>(object_of(moved->model, "fan").body)];
  const Motion& motion = moved->model.body_motions[static_cast<std::size_t>(body.motion)];
  EXPECT_LT(norm(motion.center - Vec3d{-2, 1.5, 0.5}), 1e-12);
}

TEST(ObjectMoves, AScriptTurnsWithItsCollider) {
  const Scene scene = yard(
      "\n[[collider]]\nname = \"sled\"\nshape = \"box\"\nsize = [0.1, 0.1, 0.2]\nmaterial = \"wood\"\n"
      "position = [5, 1, 0]\nrotation = [0, 20, 0]\n[collider.motion]\nvelocity = [1, 0.5, 0]\n"
      "angular_velocity = [0.3, 0, 1]\nend = 2\n[[collider.motion.key]]\ntime = 0\n"
      "[[collider.motion.key]]\ntime = 1\ntranslation = [0, 0, 2]\nrotation = [0, 90, 10]\n");
  const MoveObject move{"sled", {0.25, 4, -1}, {10, 50, 30}};
  State now;  // somewhere else than at the start, turned about there
  now.positions.assign(scene.model.node_count(), {7, 2, 1});
  now.bodies.assign(scene.model.bodies.size(), {{{7, 2, 1}, Quat::identity()}, {0, 0, 0}, {0, 0, 0}});
  const auto moved = with_move(scene, move, now);
  const Pose motion = rigid_move({7, 2, 1}, move.shift, move.turn);
  const auto path = [](const Scene& of, double time) {
    const Object& object = object_of(of.model, "sled");
    const Body& body = of.model.bodies[static_cast<std::size_t>(object.body)];
    const Motion& script = of.model.body_motions[static_cast<std::size_t>(body.motion)];
    return script.apply(of.model.positions[static_cast<std::size_t>(object.node_begin) + 3], time);
  };
  for (const double time : {0.0, 0.3, 0.9, 1.7, 5.0})
    EXPECT_LT(norm(path(*moved, time) - motion.apply(path(scene, time))), 1e-7) << time;
}

TEST(ObjectMoves, AJointAtTheWorldMovesWithItsObject) {
  const Scene scene = yard(kHeld);
  const auto moved = with_move(scene, {"high", {0.5, 0.25, 0}, {0, 90, 0}});
  EXPECT_NE(moved->source.find("anchor = [0.5, 1.25, 0]"), std::string::npos) << moved->source;
  EXPECT_NE(moved->source.find("axis = [1, 0, 0]"), std::string::npos) << moved->source;
  EXPECT_THROW(with_move(scene, {"high", {0, -0.6, 0}}), InputError) << "into the lower box";
}

TEST(ObjectMoves, ARopeEndsAtTheSamePlaceOfTheObject) {
  const Scene scene = yard(
      "\n[[joint]]\nname = \"tie-1\"\nkind = \"distance\"\nbetween = [\"low\", \"world\"]\n"
      "anchor = [0, 0.2, 0]\nanchor_b = [0, 0.5, 0]\nlow = 0\nhigh = 3\n");
  const auto moved = with_move(scene, {"low", {0.5, 0, 0}, {0, 0, 90}});
  EXPECT_NE(moved->source.find("anchor = [0.4, 0.1, 0]"), std::string::npos) << moved->source;
  EXPECT_NE(moved->source.find("anchor_b = [0, 0.5, 0]"), std::string::npos);
}

TEST(ObjectMoves, ARopeKeepsTheLengthThatItHadByTheDistanceOfItsEnds) {
  const std::string ends = "between = [\"low\", \"world\"]\nanchor = [0, 0.2, 0]\nanchor_b = [0, 0.5, 0]\n";
  const auto length_after = [&](const std::string& more, const MoveObject& move) {
    const Scene scene = yard("\n[[joint]]\nname = \"tie\"\nkind = \"distance\"\n" + ends + more);
    const Joint joint = with_move(scene, move)->model.joints.at(0);
    return Vec<double, 2>{joint.low, joint.high};
  };
  const MoveObject away{"low", {0.5, 0, 0}};
  const auto near = [](const Vec<double, 2>& seen, double low, double high) {
    EXPECT_NEAR(seen[0], low, 1e-12);
    EXPECT_NEAR(seen[1], high, 1e-12);
  };
  near(length_after("", away), 0.3, 0.3);
  near(length_after("low = 0.1\n", away), 0.1, 0.3);
  near(length_after("high = 2\n", away), 0.3, 2);
  near(length_after("low = 0\nhigh = 3\n", away), 0, 3);
}

const char* const kSheet = R"(
[[material]]
name = "cotton"
young = 1e5
density = 300
[[object]]
name = "sheet"
body = "cloth"
shape = "sheet"
size = [0.4, 0.4]
edge = 0.1
thickness = 1e-3
material = "cotton"
position = [0, 1, 0]
)";

TEST(ObjectMoves, ASpringKeepsItsLengthWithoutForce) {
  const Scene scene =
      parse_scene(std::string(kSheet) +
                      "[[spring]]\nname = \"tie\"\nbetween = [\"sheet\", \"world\"]\nanchor = "
                      "[0.2, 1, 0.2]\nanchor_b = [0.2, 1.5, 0.2]\nstiffness = 10\n",
                  "/somewhere/sheet.toml");
  ASSERT_NEAR(scene.model.springs.at(0).length, 0.5, 1e-12);
  EXPECT_NEAR(with_move(scene, {"sheet", {0, 0.25, 0}})->model.springs.at(0).length, 0.5, 1e-12);
}

TEST(ObjectMoves, ThePathOfPinnedNodesMovesWithTheirObject) {
  const Scene scene = parse_scene(std::string(kSheet) +
                                      "[[pin]]\nobject = \"sheet\"\nnodes = [0, 1]\n"
                                      "motion = { angular_velocity = [0, 2, 0], center = [0.1, 1, 0.3] }\n",
                                  "/somewhere/sheet.toml");
  const Vec3d shift{0.5, 0.25, -0.125};
  const auto moved = with_move(scene, {"sheet", shift});
  const auto path = [](const Scene& of, double time) {
    const ScriptedNodes& pin = of.model.scripted.at(0);
    const Vec3d start = of.model.positions[static_cast<std::size_t>(pin.nodes.at(0))];
    return pin.motion.apply(start, time);
  };
  EXPECT_GT(norm(path(scene, 0.5) - path(scene, 0)), 0.1);
  for (const double time : {0.0, 0.5, 1.0})
    EXPECT_LT(norm(path(*moved, time) - path(scene, time) - shift), 1e-9) << time;
}

TEST(ObjectMoves, ABoxOfAPinMustSelectTheSameNodes) {
  const Scene scene = parse_scene(
      "[[material]]\nname = \"cotton\"\nyoung = 1e5\ndensity = 300\n[[object]]\nname = \"sheet\"\nbody = "
      "\"cloth\"\nshape = \"sheet\"\nsize = [0.4, 0.4]\nedge = 0.1\nthickness = 1e-3\nmaterial = \"cotton\"\n"
      "position = [0, 1, 0]\n[[pin]]\nobject = \"sheet\"\nbox = { min = [-1, 0, -1], max = [-0.15, 2, 1] }\n",
      "/somewhere/sheet.toml");
  EXPECT_NO_THROW(with_move(scene, {"sheet", {0, 0.5, 0}}));
  EXPECT_THROW(with_move(scene, {"sheet", {-0.1, 0, 0}}), InputError);
}

TEST(ObjectMoves, AStartIsLiftedAboveOthers) {
  const Scene scene = yard();
  const auto moved = with_move(scene, {"high", {0, -0.6, 0}});
  EXPECT_GT(start_of(*moved, "high")[1], 0.3) << "it would be in the lower box";
  const auto buried = with_move(scene, {"low", {0, -3, 1}});
  EXPECT_GT(start_of(*buried, "low")[1], 0.0999) << "or in the ground";
}

TEST(SurfaceOverlap, CrossingsContainmentAndHalfSpaces) {
  const Scene scene = yard();
  const Model& model = scene.model;
  const int low = 0, high = 1;
  const OverlapRule rule{0.01, 1e-6};
  ASSERT_EQ(model.objects[0].name, "low");
  const auto with = [&](int object, const Vec3d& shift, double scale = 1) {
    std::vector<Vec3d> positions = model.positions;
    const Object& moved = model.objects[static_cast<std::size_t>(object)];
    const Vec3d middle = start_of(scene, moved.name);
    for (std::int32_t i = moved.node_begin; i < moved.node_end; ++i) {
      Vec3d& x = positions[static_cast<std::size_t>(i)];
      x = middle + shift + scale * (x - middle);
    }
    return positions;
  };
  EXPECT_EQ(overlapped_by(model, high, with(high, {0, 0, 0}), rule), "");
  EXPECT_EQ(overlapped_by(model, high, with(high, {0, -0.55, 0}), rule), "low");
  EXPECT_EQ(overlapped_by(model, high, with(high, {0, -0.7, 0}, 0.1), rule), "low") << "inside of it";
  EXPECT_EQ(overlapped_by(model, high, with(high, {0, -0.7, 0}, 1.9), rule), "half-space 1");
  EXPECT_EQ(overlapped_by(model, low, with(low, {0, -0.01, 0}), rule), "half-space 1");
  EXPECT_EQ(overlapped_by(model, low, with(low, {-0.9, 0, 0}), rule), "wall");
  EXPECT_EQ(lift_to_free(model, low, with(low, {0.3, 0, 0}), rule).value_or(-1), 0);
  EXPECT_NEAR(lift_to_free(model, low, with(low, {0.3, -0.03, 0}), rule).value_or(-1), 0.030001, 1e-9);
  EXPECT_FALSE(lift_to_free(model, low, with(low, {-0.9, 0, 0}), rule)) << "the wall is too high";
}

TEST(FreeShot, IsSoFarBackThatItOverlapsNothingNowAndAtTheStart) {
  const Scene scene = yard();
  std::vector<Vec3f> now;
  for (const Vec3d& x : scene.model.positions) now.push_back(x.cast<float>());
  const Shot free{{0.5, 0.5, 1}, {0, 0, -3}, 0.1};
  EXPECT_EQ(free_shot(scene, free, now).position, free.position);
  const Shot inside{{0, 0.8, 0}, {0, 0, -3}, 0.1};  // in "high", which is 0.2 m deep
  const Shot moved = free_shot(scene, inside, now);
  EXPECT_EQ(moved.position[0], 0);
  EXPECT_GE(moved.position[2], 0.19);
  EXPECT_LE(moved.position[2], 0.31);
  const Object& high = object_of(scene.model, "high");
  for (std::int32_t i = high.node_begin; i < high.node_end; ++i) now[static_cast<std::size_t>(i)][2] += 0.4f;
  const Shot beyond = free_shot(scene, inside, now);  // "high" starts there, and has gone on along its way
  EXPECT_GE(beyond.position[2], 0.59);
  const Shot buried{{0, -1, 0}, {1, 0, 0}, 0.1};
  EXPECT_THROW(free_shot(scene, buried, now), InputError);
}

class RunningMoves : public ::testing::Test {
 protected:
  void load(const std::function<Scene()>& make) {
    simulation.emplace([] { return make_engine(Backend::cpu, 1); },
                       [make](const std::string&, const std::string&) { return make(); });
    post(LoadScene{"a"});
    ASSERT_EQ(simulation->status().error, "");
  }
  void settle() {
    // A reset is over before its frame is drawn.
    ASSERT_TRUE(test::reached(*simulation, [&] {
      return simulation->is_caught_up() && !simulation->is_changing_content() &&
             simulation->frame().snapshot.frame == simulation->status().frame;
    }));
    simulation->update();
  }
  void post(const Command& command) {
    simulation->post(command);
    settle();
  }
  void steps(int count) {
    const int frame = simulation->status().frame + count;
    for (int i = 0; i < count; ++i) simulation->step_once();
    ASSERT_TRUE(test::reached(*simulation, [&] {
      return simulation->is_caught_up() && simulation->frame().snapshot.frame == frame;
    }));
  }
  void move(const MoveObject& wanted) {
    move_object(*simulation, wanted);
    settle();
    ASSERT_EQ(simulation->status().error, "");
  }
  Vec3d middle(const std::string& name) {
    const SimulationFrame& frame = simulation->frame();
    return pivot_of(frame.scene->model, object_of(frame.scene->model, name), frame.positions(),
                    frame.snapshot.poses);
  }
  std::optional<Simulation> simulation;
};

TEST_F(RunningMoves, ABodyIsPutElsewhereAndComesBack) {
  load([] { return yard(); });
  steps(5);
  const Vec3d low = middle("low"), high = middle("high");
  EXPECT_GT(high[1], 0.8) << "it was thrown up";
  move({"high", {0.5, 1, 0}, {0, 0, 45}});
  EXPECT_LT(norm(middle("high") - high - Vec3d{0.5, 1, 0}), 1e-6);
  EXPECT_LT(norm(middle("low") - low), 1e-9);
  EXPECT_EQ(simulation->status().frame, 5);
  EXPECT_EQ(simulation->edits().next_undo(), "high moved");
  EXPECT_NE(simulation->frame().scene->source.find("position = [0.5, 1.8, 0]"), std::string::npos);
  const Vec3d put = middle("high");
  steps(1);
  EXPECT_NEAR(middle("high")[1], put[1] - 9.81 * 1e-4, 1e-5) << "it starts from rest";
  steps(4);
  const Vec3d fallen = middle("high");
  simulation->undo();
  settle();
  EXPECT_LT(norm(middle("high") - high), 1e-6) << "where it left";
  EXPECT_EQ(simulation->frame().scene->source, kYard);
  steps(1);
  EXPECT_GT(middle("high")[1], high[1]) << "with its velocity";
  simulation->redo();
  settle();
  EXPECT_LT(norm(middle("high") - fallen), 1e-6);
  post(Reset{});
  EXPECT_LT(norm(middle("high") - Vec3d{0.5, 1.8, 0}), 1e-6);
  EXPECT_EQ(simulation->status().error, "");
}

/// Balls of an array of more than 64 are drawn with fewer triangles than a single one.
TEST_F(RunningMoves, ABodyOfALargeArrayIsPutElsewhere) {
  load([] {
    return yard(
        "\n[[object]]\nname = \"balls\"\nbody = \"rigid\"\nshape = \"sphere\"\nradius = 0.05\n"
        "material = \"wood\"\nposition = [3, 0.3, 3]\ncount = [9, 1, 9]\nspacing = [0.2, 0, 0.2]\n");
  });
  steps(3);
  const Vec3d ball = middle("balls.40"), other = middle("balls.41");
  move({"balls.40", {0, 2, 0}});
  EXPECT_LT(norm(middle("balls.40") - ball - Vec3d{0, 2, 0}), 1e-6);
  EXPECT_LT(norm(middle("balls.41") - other), 1e-9) << "it stays in its fall";
  const SimulationFrame& frame = simulation->frame();
  const Object& drawn = object_of(frame.scene->model, "balls.40");
  for (std::int32_t i = drawn.node_begin; i < drawn.node_end; ++i)
    EXPECT_NEAR(norm(frame.positions()[static_cast<std::size_t>(i)].cast<double>() - middle("balls.40")),
                0.05, 1e-3);
  steps(1);
  simulation->undo();
  settle();
  EXPECT_LT(norm(middle("balls.40") - ball), 1e-6);
  EXPECT_EQ(simulation->status().error, "");
}

TEST_F(RunningMoves, CollidersStayWhereTheyArePut) {
  load([] { return yard(); });
  steps(5);
  move({"wall", {0, 0, 2}, {0, 90, 0}});
  const Vec3d fan = middle("fan");
  move({"fan", {0, 1, 0}});
  steps(3);
  EXPECT_LT(norm(middle("wall") - Vec3d{-1, 0.5, 2}), 1e-6);
  EXPECT_LT(norm(middle("fan") - fan - Vec3d{0, 1, 0}), 1e-3) << "its script goes on";
  EXPECT_EQ(simulation->status().error, "");
}

/// A door on a post, and a chain of three links that hangs from the world.
const char* const kDoor = R"([params]
dt = 0.01
[[material]]
name = "wood"
[[half_space]]
[[collider]]
name = "post"
shape = "box"
size = [0.1, 1, 0.1]
material = "wood"
position = [0, 0.5, 0]
[[object]]
name = "door"
body = "rigid"
shape = "box"
size = [0.8, 0.8, 0.05]
material = "wood"
position = [0.5, 0.55, 0]
angular_velocity = [0, 1, 0]
velocity = [0, 0, -0.5]
[[joint]]
name = "hinge"
kind = "hinge"
between = ["door", "post"]
anchor = [0, 0.55, 0]
axis = [0, 1, 0]
[[object]]
name = "link"
body = "rigid"
shape = "box"
size = [0.05, 0.2, 0.05]
material = "wood"
position = [2, 1.5, 0]
count = [1, 3, 1]
spacing = [0, 0.3, 0]
[[joint]]
name = "chain"
kind = "ball"
chain = "link"
anchor = [2, 1.65, 0]
[[joint]]
name = "hook"
kind = "ball"
between = ["link.2", "world"]
anchor = [2, 2.2, 0]
)";

/// The largest distance between the two frames of a joint.
double gap_of_joints(const Simulation& simulation) {
  const SimulationFrame& frame = simulation.frame();
  double gap = 0;
  for (const Joint& joint : frame.scene->model.joints) {
    const auto at = [&](std::int32_t body, const Pose& own) {
      return body < 0 ? own.x : frame.snapshot.poses[static_cast<std::size_t>(body)].apply(own.x);
    };
    gap = std::max(gap, norm(at(joint.a, joint.frame_a) - at(joint.b, joint.frame_b)));
  }
  return gap;
}

TEST_F(RunningMoves, WhatJointsHoldMovesAsOne) {
  load([] { return parse_scene(kDoor, "/somewhere/door.toml"); });
  steps(20);
  const double before = gap_of_joints(*simulation);
  EXPECT_LT(before, 1e-3);
  const Vec3d door = middle("door"), post = middle("post");
  EXPECT_GT(norm(door - Vec3d{0.5, 0.55, 0}), 0.05) << "it swings";
  move({"door", {0, 0, 2}, {0, 60, 0}});
  EXPECT_LT(norm(middle("door") - door - Vec3d{0, 0, 2}), 1e-6);
  const Pose motion = rigid_move(door, {0, 0, 2}, {0, 60, 0});
  EXPECT_LT(norm(middle("post") - motion.apply(post)), 1e-6) << "about the place of the door";
  EXPECT_LT(gap_of_joints(*simulation), before + 1e-6);
  const Vec3d link = middle("link.1");
  move({"link.0", {0.5, 0.25, 0}});
  EXPECT_LT(norm(middle("link.1") - link - Vec3d{0.5, 0.25, 0}), 1e-6);
  EXPECT_NE(move_refusal(*simulation->frame().scene, "link.0", true).find("array"), std::string::npos);
  EXPECT_LT(gap_of_joints(*simulation), before + 1e-6) << "the hook in the world moves with the chain";
  steps(20);
  EXPECT_LT(gap_of_joints(*simulation), 1e-3);
  EXPECT_LT(norm(middle("link.2") - Vec3d{2.5, 2.35, 0}), 0.02) << "it hangs there";
  for (int i = 0; i < 2; ++i) {
    simulation->undo();
    settle();
  }
  EXPECT_LT(norm(middle("post") - post), 1e-6);
  EXPECT_LT(norm(middle("door") - door), 1e-6);
  EXPECT_THROW(move_object(*simulation, {"door", {0, -0.3, 0}}), InputError) << "into the ground";
  EXPECT_EQ(simulation->status().error, "");
}

TEST_F(RunningMoves, AScriptedColliderIsTurnedInItsWay) {
  load([] { return yard(); });
  steps(10);
  const Vec3d before = middle("fan");
  move({"fan", {0, 0, 0}, {0, 0, 90}});
  EXPECT_LT(norm(middle("fan") - before), 1e-6);
  const auto axis = [&] {
    const Model& model = simulation->frame().scene->model;
    const auto body = static_cast<std::size_t>(object_of(model, "fan").body);
    return model.body_motions[static_cast<std::size_t>(model.bodies[body].motion)].angular_velocity;
  };
  EXPECT_LT(norm(axis() - Vec3d{-1, 0, 0}), 1e-9) << "of its turning";
  steps(5);
  EXPECT_LT(norm(middle("fan") - before), 1e-6) << "it goes on turning in its place";
  simulation->undo();
  settle();
  EXPECT_LT(norm(axis() - Vec3d{0, 1, 0}), 1e-12);
  EXPECT_EQ(simulation->status().error, "");
}

TEST_F(RunningMoves, WhatOverlapsIsLiftedOrRefused) {
  load([] { return yard(); });
  steps(2);
  EXPECT_THROW(move_object(*simulation, {"low", {-1, 0, 0}}), InputError) << "into the wall";
  move({"low", {0.4, -0.05, 0}});
  EXPECT_GT(middle("low")[1], 0.0999);
  EXPECT_LT(middle("low")[1], 0.13);
}

/// The other kinds of bodies, and a collider, in barrier steps.
TEST_F(RunningMoves, AllKindsOfBodiesMove) {
  load([] {
    const auto object = [](const char* name, const char* keys, const char* x) {
      return "[[object]]\nname = \"" + std::string(name) + "\"\nmaterial = \"soft\"\nposition = [" + x +
             ", 1, 0]\n" + keys;
    };
    return parse_scene(
        "solver = \"ipc\"\n[params]\ndt = 0.01\n[[material]]\nname = \"soft\"\nyoung = 1e5\ndensity = "
        "300\n[[half_space]]\n" +
            object("jelly", "shape = \"box\"\nsize = [0.2, 0.2, 0.2]\nedge = 0.2\n", "0") +
            object("stiff", "body = \"affine\"\nshape = \"box\"\nsize = [0.2, 0.2, 0.2]\nedge = 0.2\n", "1") +
            object("sheet",
                   "body = \"cloth\"\nshape = \"sheet\"\nsize = [0.2, 0.2]\nedge = 0.1\nthickness = "
                   "1e-3\n",
                   "2") +
            object("rope",
                   "body = \"rods\"\nshape = \"strand\"\nlength = 0.3\nsegments = 4\ndiameter = "
                   "0.01\n",
                   "3") +
            "[[collider]]\nname = \"table\"\nshape = \"box\"\nsize = [0.2, 0.1, 0.2]\nedge = 0.2\nmaterial = "
            "\"soft\"\nposition = [4, 0.5, 0]\n",
        "/somewhere/all.toml");
  });
  for (const char* name : {"jelly", "stiff", "sheet", "rope", "table"}) {
    steps(3);
    const Vec3d before = middle(name), other = middle("stiff");
    move({name, {0, 0.5, 1}, {0, 30, 0}});
    EXPECT_LT(norm(middle(name) - before - Vec3d{0, 0.5, 1}), 1e-5) << name;
    if (std::string(name) != "stiff") {
      EXPECT_LT(norm(middle("stiff") - other), 1e-5) << "an affine body stays where it has come";
    }
    const Vec3d put = middle(name);
    steps(1);
    const double fall = put[1] - middle(name)[1];
    EXPECT_LT(fall, 2.5 * 9.81 * 1e-4) << name << " starts from rest";
    EXPECT_GT(fall, std::string(name) == "table" ? -1e-9 : 0.2 * 9.81 * 1e-4) << name;
    simulation->undo();
    settle();
    EXPECT_LT(norm(middle(name) - before), 1e-5) << name;
    EXPECT_EQ(simulation->status().error, "") << name;
  }
}

/// A drag of the gizmo's arrow posts the move that its outline has shown.
TEST_F(RunningMoves, TheGizmoMovesWhatIsSelected) {
  load([] { return yard(); });
  Camera camera = Camera::look_at({0, 0.8f, 4}, {0, 0.8f, 0}, 40);
  Pointer pointer(*simulation, camera);
  pointer.resize(400, 400);
  GizmoTool& gizmo = pointer.gizmo();
  gizmo.aim(1, 60);
  ASSERT_FALSE(gizmo.strokes().empty());
  const auto project = [&](const Vec3f& point) { return camera.project(point, 400, 400); };
  const Vec3f from = project({0.35f, 0.8f, 0}), to = project({0.85f, 0.8f, 0});
  pointer.move(from[0], from[1]);
  EXPECT_EQ(gizmo.highlighted(), GizmoPart::move_x);
  EXPECT_NE(gizmo.text().find("along x"), std::string::npos);
  const float yaw = camera.yaw;
  pointer.press(Pointer::Button::left, {});
  pointer.move(to[0], to[1]);
  EXPECT_EQ(gizmo.dragged(), 1);
  const Vec3d before = middle("high");
  const std::vector<Vec3f> outline = gizmo.dragged_positions();
  const auto node = static_cast<std::size_t>(object_of(simulation->frame().scene->model, "high").node_begin);
  EXPECT_NEAR(outline[node][0] - simulation->frame().positions()[node][0], 0.5f, 1e-2f);
  pointer.release(Pointer::Button::left);
  settle();
  EXPECT_LT(norm(middle("high") - before - Vec3d{0.5, 0, 0}), 1e-2);
  EXPECT_EQ(middle("high")[1], before[1]);
  EXPECT_EQ(camera.yaw, yaw);
  EXPECT_FALSE(pointer.take_click());
  EXPECT_TRUE(gizmo.strokes().empty()) << "until it is aimed at an object of the new scene";
  gizmo.aim(1, 60);
  // Another button ends a drag without effect.
  const Vec3f again = project(middle("high").cast<float>() + Vec3f{0.35f, 0, 0});
  pointer.move(again[0], again[1]);
  pointer.press(Pointer::Button::left, {});
  pointer.move(to[0] + 30, to[1]);
  EXPECT_EQ(gizmo.dragged(), 1);
  pointer.press(Pointer::Button::right, {});
  EXPECT_EQ(gizmo.dragged(), -1);
  pointer.release(Pointer::Button::left);
  settle();
  EXPECT_LT(norm(middle("high") - before - Vec3d{0.5, 0, 0}), 1e-2);
}

}  // namespace
}  // namespace stickslip
