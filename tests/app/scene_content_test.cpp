// Objects that come into a running scene or leave it.
#include "app/viewer/scene_content.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "app/io/file/number_text.h"
#include "app/io/scene/scene_edit.h"
#include "app/io/scene/scene_variant.h"
#include "gpu/engine.h"
#include "tests/app/running_content.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

using test::find;
using test::pick_of;
using test::RunningContent;
using Vec3d = Vec<double, 3>;

const char* const kTwoBoxes = R"(# Two boxes.
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
position = [0, 0.1, 0]

# The upper one.
[[object]]
name = "high"
body = "rigid"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "wood"
position = [0, 0.8, 0]

[[object]]
name = "row"
body = "rigid"
shape = "box"
size = [0.1, 0.1, 0.1]
material = "wood"
position = [1, 0.05, 0]
count = [3, 1, 1]
spacing = [0.2, 0, 0]
)";

Scene boxes() { return parse_scene(kTwoBoxes, "/somewhere/boxes.toml"); }

TEST(SceneContent, AnObjectComesAndGoesWithItsText) {
  const Scene before = boxes();
  const auto more = with_object(before, shot_toml(before.model, {{0, 2, 0}, {0, -1, 0}, 0.05}));
  ASSERT_NE(find(more->model, "shot-1"), nullptr);
  EXPECT_NE(find(with_object(before,
                             "body = \"rigid\"\nname = \"mine\"\nshape = \"box\"\nsize = [1, 1, 1]\n"
                             "material = \"wood\"\nposition = [0, 9, 0]\n")
                     ->model,
                 "mine"),
            nullptr);
  EXPECT_TRUE(find(more->model, "shot-1")->is_rigid());
  EXPECT_EQ(more->model.bodies.size(), before.model.bodies.size() + 1);
  EXPECT_TRUE(more->changed);
  const auto again = with_object(*more, shot_toml(more->model, {{0, 3, 0}, {0, -1, 0}, 0.05}));
  ASSERT_NE(find(again->model, "shot-2"), nullptr);
  const auto less = without_object(*without_object(*again, "shot-2"), "shot-1");
  EXPECT_EQ(less->model.bodies.size(), before.model.bodies.size());
  const auto rest = without_object(before, "high");
  EXPECT_EQ(find(rest->model, "high"), nullptr);
  EXPECT_NE(find(rest->model, "row.2"), nullptr);
  EXPECT_EQ(rest->source.find("\"high\""), std::string::npos);
  EXPECT_NE(rest->source.find("# The upper one."), std::string::npos) << "comments stay";
}

TEST(SceneContent, JointsAndExpectationsOfAnObjectGoWithIt) {
  const Scene before = parse_scene(std::string(kTwoBoxes) + R"(
[expect]
converged = 0.9
[[expect.height]]
object = "high"
at = 1.0
low = 0.0
high = 9.0
[[expect.height]]
object = "low"
at = 1.0
low = 0.0
high = 9.0
[[expect.speed]]
object = "high"
at = 1.0
low = 0.0
high = 9.0

[[joint]]
kind = "ball"
name = "shoulder"
between = ["low", "high"]
anchor = [0, 0.5, 0]

[[joint]]
kind = "ball"
name = "foot"
between = ["low", "world"]
anchor = [0, 0, 0]

[[variant]]
name = "slippery"
set = ["mu=0.1"]
[[variant.expect.height]]
object = "high"
at = 1.0
low = 0.0
high = 9.0
)",
                                   "/somewhere/boxes.toml");
  ASSERT_EQ(before.expect.size(), 4u);
  ASSERT_EQ(before.model.joints.size(), 2u);
  const auto rest = without_object(before, "high");
  EXPECT_EQ(rest->expect.size(), 2u);
  ASSERT_EQ(rest->model.joints.size(), 1u);
  EXPECT_EQ(rest->model.joints[0].name, "foot");
  EXPECT_EQ(rest->source.find("\"high\""), std::string::npos);
  EXPECT_NE(rest->source.find("\"low\""), std::string::npos);
}

TEST(SceneContent, AShotFliesFromTheCameraToItsTarget) {
  const Scene scene = boxes();
  const Camera camera = Camera::look_at({0, 1, 4}, {0, 1, 0}, 40);
  const Shot shot = shot_along(scene.model, camera);
  EXPECT_GT(shot.radius, 0.03);
  EXPECT_LT(shot.radius, 0.2);
  EXPECT_LT(norm(shot.position + 0.5 * shot.velocity - Vec3d{0, 1, 0}), 1e-5);
  EXPECT_GT(shot.position[2], 2);
  const auto more = with_object(scene, shot_toml(scene.model, shot));
  EXPECT_EQ(shot_along(more->model, camera).radius, shot.radius) << "the next ball is as large";
}

TEST(SceneContent, BadChangesAreRefused) {
  const Scene scene = boxes();
  EXPECT_THROW(with_object(scene,
                           "name = \"low\"\nbody = \"rigid\"\nshape = \"box\"\nsize = [1, 1, 1]\n"
                           "material = \"wood\"\n"),
               InputError)
      << "the name is taken";
  EXPECT_THROW(with_object(scene, "name = \"x\"\nshape = \"bx\"\n"), InputError);
  EXPECT_THROW(with_object(scene, shot_toml(scene.model, {{0, 9, 0}, {0, 0, 0}, 0.1}) +
                                      "[[material]]\nname = \"new\"\n"),
               InputError);
  EXPECT_THROW(without_object(scene, "row.7"), InputError);
  EXPECT_THROW(without_object(scene, "none"), InputError);
  Scene textless = boxes();
  textless.source.clear();
  EXPECT_THROW(without_object(textless, "high"), InputError);
}

TEST(SceneContent, TheOthersKeepTheirState) {
  const Scene scene = boxes();
  const auto engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  engine->load(scene.model);
  for (int i = 0; i < 20; ++i) engine->step();
  const State state = engine->state();
  const auto less = without_object(scene, "low");
  const auto other = make_engine(Backend::cpu, 1);
  other->set_params(less->params);
  other->load(less->model);
  State start = other->state();
  start.barrier.stiffness = 1;
  const State carried = carried_over(scene.model, state, less->model, start);
  EXPECT_TRUE(carried.barrier.is_empty()) << "what steps left at the start belongs to another state";
  EXPECT_EQ(carried.frame, 20);
  EXPECT_EQ(carried.time, state.time);
  for (const char* name : {"high", "row.0", "row.2"}) {
    const Object &a = *find(scene.model, name), &b = *find(less->model, name);
    const BodyState &was = state.bodies[static_cast<std::size_t>(a.body)],
                    &is = carried.bodies[static_cast<std::size_t>(b.body)];
    EXPECT_EQ(was.pose.x, is.pose.x) << name;
    EXPECT_EQ(was.velocity, is.velocity) << name;
  }
  other->set_state(carried);
  other->step();
  EXPECT_EQ(other->state().frame, 21);
}

TEST(SceneContent, ACopyIsAboveItsOriginal) {
  const Scene scene = boxes();
  std::vector<Vec3f> positions;
  for (const auto& x : scene.model.positions) positions.push_back(x.cast<float>() + Vec3f{1, 0.5f, 0});
  const auto span_of = [](const Model& model, const Object& object, int axis) {
    double low = 1e300, high = -1e300;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
      low = std::min(low, model.positions[static_cast<std::size_t>(i)][axis]);
      high = std::max(high, model.positions[static_cast<std::size_t>(i)][axis]);
    }
    return std::pair(low, high);
  };
  const auto more = with_object(scene, copy_toml(scene, "high", positions));
  const Object &was = *find(scene.model, "high"), *copy = find(more->model, "high-copy-1");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->node_end - copy->node_begin, was.node_end - was.node_begin);
  const auto [low, high] = span_of(scene.model, was, 1);
  const auto [copy_low, copy_high] = span_of(more->model, *copy, 1);
  EXPECT_GT(copy_low, high + 0.5) << "above where it is now";
  EXPECT_LT(copy_low, high + 0.5 + 0.2 * (high - low));
  EXPECT_NEAR(copy_high - copy_low, high - low, 1e-6);
  EXPECT_NEAR(span_of(more->model, *copy, 0).first, span_of(scene.model, was, 0).first + 1, 1e-6);
  // Of two copies the second is above the first.
  std::vector<Vec3f> both;
  for (const auto& x : more->model.positions) both.push_back(x.cast<float>());
  for (std::int32_t i = was.node_begin; i < was.node_end; ++i)
    both[static_cast<std::size_t>(i)] += Vec3f{1, 0.5f, 0};
  const auto two = with_object(*more, copy_toml(*more, "high", both));
  const Object* second = find(two->model, "high-copy-2");
  ASSERT_NE(second, nullptr);
  EXPECT_GT(span_of(two->model, *second, 1).first, copy_high);
  // A copy of a copy, and of one body of an array.
  std::vector<Vec3f> now;
  for (const auto& x : more->model.positions) now.push_back(x.cast<float>());
  EXPECT_NE(copy_toml(*more, "high-copy-1", now).find("\"high-copy-2\""), std::string::npos);
  const auto with_row = with_object(scene, copy_toml(scene, "row.1", positions));
  ASSERT_NE(find(with_row->model, "row-copy-1"), nullptr);
  EXPECT_NEAR(span_of(with_row->model, *find(with_row->model, "row-copy-1"), 0).first, 2.15, 1e-6);
  EXPECT_EQ(with_row->model.bodies.size(), scene.model.bodies.size() + 1) << "one, not an array";
  EXPECT_THROW(copy_toml(scene, "none", positions), InputError);
}

TEST(SceneContent, SettingsStayThoseOfTheVariant) {
  const Scene slippery = load_variant("card-house", "slippery");
  const auto more = with_object(slippery, shot_toml(slippery.model, {{0, 3, 0}, {0, 0, 0}, 0.05}));
  EXPECT_EQ(more->variant, "slippery");
  for (std::size_t m = 0; m < slippery.model.materials.size(); ++m)
    EXPECT_EQ(more->model.materials[m].mu, slippery.model.materials[m].mu);
}

TEST(SceneContent, AnObjectGoesWithItsOwnTables) {
  const std::string ring =
      "\n[[object]]\nname = \"ring\"\nbody = \"rigid\"\nshape = \"box\"\nsize = [0.1, 0.1, 0.1]\n"
      "material = \"wood\"\nposition = [3, 0.05, 0]\n[object.ring]\ncount = 4\nturn = [0, 30, 0]\ncenter = "
      "[2, 0.05, "
      "0]\n";
  const Scene scene =
      parse_scene(std::string(kTwoBoxes) + ring + "\n# The end.\n[expect]\npenetration = { at_most = 1 }\n",
                  "/somewhere/boxes.toml");
  ASSERT_NE(find(scene.model, "ring.3"), nullptr);
  const std::string text = without_object_table(scene.source, scene.file, "ring");
  EXPECT_EQ(text.find("center"), std::string::npos) << text;
  EXPECT_NE(text.find("# The end.\n[expect]"), std::string::npos) << text;
  EXPECT_EQ(parse_scene(text, scene.file).model.bodies.size(), boxes().model.bodies.size());
}

TEST(SceneContent, ABodyOfAnArrayGoesAndTheOthersStay) {
  const Scene scene = boxes();
  const auto two = without_object(scene, "row.1");
  EXPECT_EQ(two->source, std::string(kTwoBoxes).replace(std::string(kTwoBoxes).rfind("[[object]]"), 10,
                                                        "[[object]]\nwithout = [1]"));
  EXPECT_EQ(find(two->model, "row.1"), nullptr);
  EXPECT_TRUE(moved_starts(scene.model, two->model).empty());
  const auto one = without_object(*two, "row.0");
  EXPECT_NE(one->source.find("without = [0, 1]"), std::string::npos) << one->source;
  ASSERT_NE(find(one->model, "row.2"), nullptr) << "it keeps its name";
  const auto none = without_object(*one, "row.2");
  EXPECT_EQ(none->source.find("row"), std::string::npos) << "an empty array goes as a whole";
  EXPECT_THROW(without_object(*two, "row.1"), InputError);
  EXPECT_THROW(without_object(scene, "row.7"), InputError);
  // Bodies that joints pair by their order cannot go.
  const Scene joined = parse_scene(
      std::string(kTwoBoxes) + "[[joint]]\nname = \"chain\"\nkind = \"ball\"\n" + "chain = \"row\"\n",
      "/somewhere/boxes.toml");
  EXPECT_THROW(without_object(joined, "row.1"), InputError);
}

TEST(SceneContent, ABodyOfAnArrayThatTurnsIsCopiedAsItStands) {
  const Scene scene = parse_scene(
      std::string(kTwoBoxes) +
          "[[object]]\nname = \"ring\"\nbody = \"rigid\"\nshape = \"box\"\nsize = [0.1, 0.2, 0.3]\n"
          "material = \"wood\"\nposition = [3, 1, 0]\nrotation = [0, 10, 0]\nvelocity = [1, 0, 0]\n"
          "colors = [\n  [1, 0, 0],\n  [0, 0, 1],\n]\n"
          "[object.ring]\ncount = 4\nturn = [0, 30, 0]\ncenter = [2, 1, 0]\n",
      "/somewhere/boxes.toml");
  const std::string keys = object_copy(scene.source, scene.file, "ring.1", "alone", {0, 0, 0});
  EXPECT_EQ(keys.find("turn"), std::string::npos) << keys;
  const auto more = with_object(scene, keys);
  const Object &was = *find(scene.model, "ring.1"), *copy = find(more->model, "alone");
  ASSERT_NE(copy, nullptr);
  for (std::int32_t i = 0; i < was.node_end - was.node_begin; ++i)
    EXPECT_LT(norm(scene.model.positions[static_cast<std::size_t>(was.node_begin + i)] -
                   more->model.positions[static_cast<std::size_t>(copy->node_begin + i)]),
              1e-8);
  const auto body = [](const Model& model, const Object& of) {
    return model.bodies[static_cast<std::size_t>(of.body)];
  };
  EXPECT_LT(norm(body(scene.model, was).velocity - body(more->model, *copy).velocity), 1e-8);
  EXPECT_EQ(copy->color, was.color);
}

TEST(SceneContent, AColliderGoes) {
  const Scene scene = parse_scene(std::string(kTwoBoxes) +
                                      "[[collider]]\nname = \"wall\"\nshape = \"box\"\nsize = [1, 1, 1]\n"
                                      "material = \"wood\"\nposition = [-3, 0.5, 0]\n",
                                  "/somewhere/boxes.toml");
  const auto rest = without_object(scene, "wall");
  EXPECT_EQ(find(rest->model, "wall"), nullptr);
  EXPECT_EQ(rest->model.bodies.size(), boxes().model.bodies.size());
  std::vector<Vec3f> positions;
  for (const auto& x : scene.model.positions) positions.push_back(x.cast<float>());
  EXPECT_THROW(copy_toml(scene, "wall", positions), InputError);
}

/// Their scene may come to list them in another order.
TEST(SceneContent, AnObjectIsFoundAgainByItsName) {
  const Model before = boxes().model, after = without_object(boxes(), "low")->model;
  EXPECT_EQ(before.objects[1].name, "high");
  EXPECT_EQ(same_object(before, after, 1), std::optional(0));
  EXPECT_EQ(same_object(before, after, 0), std::nullopt);
  EXPECT_EQ(same_object(before, after, 99), std::nullopt);
}

TEST_F(RunningContent, ARunGoesOnWithABall) {
  load(boxes);
  steps(10);
  post(MaterialEdit{-1, "mu", 0.77});
  post(AddObject{shot_toml(model(), {{0, 2, 0}, {0, -1, 0}, 0.05})});
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "shot-1") != nullptr; }));
  EXPECT_EQ(simulation->status().frame, 10);
  EXPECT_NEAR(simulation->status().time, 0.1, 1e-9);
  EXPECT_EQ(simulation->settings().materials[0].mu, 0.77);
  EXPECT_EQ(simulation->status().error, "");
  EXPECT_EQ(simulation->edits().next_undo(), "shot-1 added");
  steps(5);
  EXPECT_EQ(simulation->status().frame, 15);
  // Two at once get two names.
  simulation->post(AddObject{shot_toml(model(), {{0, 3, 0}, {0, -1, 0}, 0.05})});
  post(AddObject{shot_toml(model(), {{0, 4, 0}, {0, -1, 0}, 0.05})});
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "shot-3") != nullptr; }));
  EXPECT_EQ(simulation->status().error, "");
  post(RemoveObject{"low"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "low") == nullptr; }));
  steps(1);
  EXPECT_EQ(simulation->status().frame, 16);
  EXPECT_EQ(simulation->status().error, "");
}

TEST_F(RunningContent, WhatTheSceneRefusesChangesNothing) {
  load(boxes);
  steps(3);
  post(RemoveObject{"row.7"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return !simulation->status().error.empty(); }));
  EXPECT_NE(simulation->status().error.find("row.7"), std::string::npos);
  steps(2);
  EXPECT_EQ(simulation->status().frame, 5);
}

/// A barrier step cannot begin with overlapping solids: the run goes on without the ball.
TEST_F(RunningContent, AnOverlappingBallIsRefusedByABarrier) {
  load([] { return load_scene("slope"); });
  steps(2);
  const std::size_t objects = model().objects.size();
  const auto inside = simulation->frame().positions()[0].cast<double>();
  post(AddObject{shot_toml(model(), {inside, {0, 0, 0}, 0.2})});
  ASSERT_TRUE(test::reached(*simulation, [&] { return !simulation->status().error.empty(); }));
  EXPECT_EQ(model().objects.size(), objects);
  EXPECT_EQ(simulation->status().timeline.first, 0) << "the timeline stays";
  EXPECT_EQ(simulation->status().timeline.last, 2);
  steps(1);
  EXPECT_EQ(simulation->status().frame, 3);
}

/// A falling sheet is caught where it is, and let go again.
TEST_F(RunningContent, APinHoldsNodesWhereTheyAre) {
  load([] {
    return parse_scene(
        "[params]\ndt = 0.01\n[[material]]\nname = \"cotton\"\nyoung = 1e5\ndensity = 300\n[[object]]\nname "
        "= "
        "\"sheet\"\nbody = \"cloth\"\nshape = \"sheet\"\nsize = [0.4, 0.4]\nedge = 0.1\nthickness = 1e-3\n"
        "material = \"cotton\"\nposition = [0, 1, 0]\n",
        "/somewhere/sheet.toml");
  });
  steps(10);
  const auto height = [&](std::int32_t node) {
    return static_cast<double>(simulation->frame().positions()[static_cast<std::size_t>(node)][1]);
  };
  const std::int32_t last = model().objects[0].node_end - 1;
  const double caught = height(0), free = height(last);
  EXPECT_LT(caught, 0.99) << "it has fallen";
  post(AddPin{"sheet", {0, 1}});
  ASSERT_TRUE(test::reached(*simulation, [&] { return count_pinned(model(), 0) == 2; }));
  EXPECT_EQ(simulation->status().frame, 10);
  EXPECT_NEAR(simulation->status().time, 0.1, 1e-9);
  steps(15);
  EXPECT_NEAR(height(0), caught, 1e-6);
  EXPECT_NEAR(height(1), caught, 1e-6);
  EXPECT_LT(height(last), free - 0.1);
  // It is in the text, and so in a scene that is saved.
  const std::string from = number_text(simulation->frame().scene->model.scripted.back().begin);
  EXPECT_NE(simulation->frame().scene->source.find("nodes = [0, 1]\nfrom = " + from), std::string::npos)
      << simulation->frame().scene->source;
  post(RemovePins{"sheet"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return count_pinned(model(), 0) == 0; }));
  steps(10);
  EXPECT_LT(height(0), caught - 0.01);
  EXPECT_EQ(simulation->status().error, "");
}

TEST_F(RunningContent, APinThatDoesNotFitChangesNothing) {
  load(boxes);
  steps(2);
  post(AddPin{"low", {0}});
  ASSERT_TRUE(test::reached(*simulation, [&] { return !simulation->status().error.empty(); }));
  EXPECT_NE(simulation->status().error.find("rigid body"), std::string::npos) << simulation->status().error;
  post(RemovePins{"low"});
  ASSERT_TRUE(test::reached(*simulation, [&] {
    return simulation->status().error.find("no pin") != std::string::npos;
  })) << simulation->status().error;
  steps(1);
  EXPECT_EQ(simulation->status().frame, 3);
}

TEST(SceneContent, PinsOfAnObjectGoTogether) {
  using Nodes = std::vector<std::int32_t>;
  const Scene scene = load_scene("pinched-cloth");
  const auto held = with_pin(*with_pin(scene, "cloth", Nodes{100}, 0.25), "cloth", Nodes{100, 120, 121}, 0.5);
  EXPECT_EQ(held->model.scripted.size(), scene.model.scripted.size() + 2);
  EXPECT_EQ(held->model.scripted.back().begin, 0.5);
  EXPECT_EQ(held->model.scripted.back().nodes.size(), 2u) << "one was held already";
  EXPECT_THROW(with_pin(*held, "cloth", Nodes{100, 121}, 0.75), InputError);
  const auto let_go = without_pins(*held, "cloth");
  EXPECT_EQ(let_go->model.scripted.size(), scene.model.scripted.size() - 1) << "its own pin goes, too";
  EXPECT_THROW(without_pins(*let_go, "cloth"), InputError);
  EXPECT_THROW(with_pin(scene, "cloth", Nodes{1 << 20}, 0), InputError);
}

/// What comes back is as it was when it left; the rest goes on.
TEST_F(RunningContent, ObjectsComeBack) {
  load(boxes);
  const auto body = [&](const char* name) {
    return simulation->frame().snapshot.poses.at(static_cast<std::size_t>(find(model(), name)->body));
  };
  const auto settled = [&] { return simulation->is_caught_up(); };
  const auto undo = [&] {
    simulation->undo();
    ASSERT_TRUE(test::reached(*simulation, settled));
  };
  steps(10);
  post(AddObject{shot_toml(model(), {{0, 2, 0}, {0, -1, 0}, 0.05})});
  steps(5);
  const auto high = body("high").x, ball = body("shot-1").x;
  EXPECT_LT(ball[1], 2);
  post(RemoveObject{"high"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "high") == nullptr; }));
  steps(5);
  const auto later = body("shot-1").x;
  post(ParamEdit{"gravity", -5});
  undo();  // gravity
  EXPECT_EQ(find(model(), "high"), nullptr);
  undo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "high") != nullptr; }));
  EXPECT_EQ(body("high").x, high);
  EXPECT_EQ(body("shot-1").x, later) << "the ball goes on";
  EXPECT_EQ(simulation->status().frame, 20);
  undo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "shot-1") == nullptr; }));
  EXPECT_FALSE(simulation->frame().scene->changed) << "it is the scene of its file again";
  EXPECT_FALSE(simulation->edits().can_undo());
  steps(3);
  simulation->redo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "shot-1") != nullptr; }));
  EXPECT_EQ(body("shot-1").x, later);
  simulation->redo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "high") == nullptr; }));
  simulation->redo();
  ASSERT_TRUE(test::reached(*simulation, settled));
  EXPECT_EQ(simulation->settings().params.gravity, -5);
  steps(2);
  EXPECT_EQ(simulation->status().error, "");
  // Another scene has no contents but its own.
  post(GoToContent{7});
  ASSERT_TRUE(test::reached(*simulation, [&] { return !simulation->status().error.empty(); }));
  EXPECT_NE(simulation->status().error.find("not kept"), std::string::npos);
  post(LoadScene{"a"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "high") != nullptr; }));
  EXPECT_FALSE(simulation->edits().can_undo());
}

/// Keys are faster than the changes that they ask for.
TEST_F(RunningContent, UndoWaitsForTheChangesBefore) {
  load(boxes);
  steps(2);
  const double gravity = simulation->settings().params.gravity;
  const std::size_t objects = model().objects.size();
  const auto throw_ball = [&](double x) {
    simulation->post(AddObject{shot_toml(model(), {{x, 3, 0}, {0, -1, 0}, 0.05})});
  };
  const auto settled = [&](std::size_t count) {
    return test::reached(*simulation, [&] {
      return simulation->is_caught_up() && !simulation->is_changing_content() &&
             model().objects.size() == count;
    });
  };
  throw_ball(0);
  simulation->post(ParamEdit{"gravity", -5});
  throw_ball(1);
  throw_ball(2);
  for (int i = 0; i < 3; ++i) simulation->undo();
  ASSERT_TRUE(settled(objects + 1)) << "each ball is a step";
  EXPECT_EQ(simulation->settings().params.gravity, gravity) << "it was edited after the first ball";
  EXPECT_EQ(simulation->edits().next_undo(), "shot-1 added");
  EXPECT_EQ(simulation->edits().next_redo(), "shot-2 added");
}

/// A reset makes what was there before it meaningless.
TEST_F(RunningContent, AfterAResetObjectsComeBackAtTheStart) {
  load(boxes);
  const auto start =
      simulation->frame().snapshot.poses.at(static_cast<std::size_t>(find(model(), "high")->body)).x;
  steps(10);
  post(RemoveObject{"high"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "high") == nullptr; }));
  post(Reset{});
  simulation->undo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "high") != nullptr; }));
  EXPECT_EQ(simulation->frame().snapshot.poses.at(static_cast<std::size_t>(find(model(), "high")->body)).x,
            start);
  EXPECT_EQ(simulation->status().frame, 0);
}

/// Against a list of all contents and an index into it.
TEST_F(RunningContent, AnyOrderOfChangesUndoAndRedo) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  load(boxes);
  using Names = std::vector<std::string>;
  const auto names = [&] {
    Names all;
    for (const Object& object : model().objects) all.push_back(object.name);
    return all;
  };
  std::vector<Names> contents{names()};
  std::size_t at = 0;
  for (int n = 0; n < 40; ++n) {
    SCOPED_TRACE("change " + std::to_string(n));
    const int what = below(6);
    if (what < 3) {
      Names wanted = contents[at];
      const auto balls = std::ranges::count_if(wanted, [](auto& name) { return name.starts_with("shot-"); });
      if (what == 0 && balls > 0) {
        const std::string last = wanted.back();
        wanted.pop_back();
        post(RemoveObject{last});
      } else {
        const std::string name = "shot-" + std::to_string(100 + n);
        wanted.push_back(name);
        post(
            AddObject{"name = \"" + name + "\"\n" + shot_toml(model(), {{0.3 * n, 3, 0}, {0, -1, 0}, 0.05})});
      }
      contents.resize(at + 1);
      contents.push_back(wanted);
      ++at;
    } else if (what == 3) {
      steps(1 + below(3));
    } else if (what == 4) {
      EXPECT_EQ(simulation->edits().can_undo(), at > 0);
      at -= at > 0;
      simulation->undo();
    } else {
      EXPECT_EQ(simulation->edits().can_redo(), at + 1 < contents.size());
      at += at + 1 < contents.size();
      simulation->redo();
    }
    ASSERT_TRUE(test::reached(*simulation, [&] { return simulation->is_caught_up(); }));
    ASSERT_TRUE(test::reached(*simulation,
                              [&] { return names() == contents[at] && !simulation->is_changing_content(); }));
    ASSERT_EQ(simulation->status().error, "");
    ASSERT_EQ(simulation->frame().scene->changed, at > 0);
  }
}

TEST_F(RunningContent, APinIsTakenBack) {
  load([] { return load_scene("pinched-cloth"); });
  steps(1);
  const auto pinned = [&] {
    int nodes = 0;
    for (int k = 0; k < static_cast<int>(model().objects.size()); ++k)
      if (model().objects[static_cast<std::size_t>(k)].name == "cloth") nodes = count_pinned(model(), k);
    return nodes;
  };
  const int before = pinned();
  post(AddPin{"cloth", {120, 121}});
  ASSERT_TRUE(test::reached(*simulation, [&] { return pinned() == before + 2; }));
  EXPECT_EQ(simulation->edits().next_undo(), "a pin of cloth");
  simulation->undo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return pinned() == before; }));
  simulation->redo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return pinned() == before + 2; }));
  steps(1);
  EXPECT_EQ(simulation->status().error, "");
}

double distance(const Pick& a, const Pick& b, std::span<const Vec3f> positions) {
  return static_cast<double>(norm(position_of(a, positions) - position_of(b, positions)));
}

/// A body falls from below a collider; then a rope as long as they are apart catches it.
class RopeOf : public RunningContent, public ::testing::WithParamInterface<const char*> {
 protected:
  std::string scene() const {
    return std::string(
               "[params]\ndt = 0.01\n[[material]]\nname = \"rubber\"\nyoung = 1e6\ndensity = 1000\n"
               "[[collider]]\nname = \"beam\"\nshape = \"box\"\nsize = [1, 0.1, 0.1]\nposition = [0, 1, 0]\n"
               "material = \"rubber\"\n[[object]]\nname = \"weight\"\nshape = \"box\"\nsize = [0.2, 0.2, "
               "0.2]\n"
               "edge = 0.1\nmaterial = \"rubber\"\nposition = [0, 0.6, 0]\n") +
           GetParam();
  }
};

TEST_P(RopeOf, HoldsAndIsCut) {
  load([this] { return parse_scene(scene(), "/somewhere/rope.toml"); });
  steps(5);
  const Pick from = pick_of(model(), "beam"), to = pick_of(model(), "weight");
  const auto length_now = [&] { return distance(from, to, simulation->frame().positions()); };
  const double length = length_now();
  post(AddJoint{tie_toml(model(), to, from, simulation->frame().positions())});
  ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.size() == 1; }))
      << simulation->status().error;
  EXPECT_EQ(model().joints[0].name, "tie-1");
  double longest = 0;
  for (int n = 0; n < 30; ++n) {
    steps(1);
    longest = std::max(longest, length_now());
  }
  EXPECT_NEAR(longest, length, 0.02 * length) << "taut, and no longer than it is";
  EXPECT_EQ(simulation->status().error, "");
  post(RemoveTies{"weight"});
  ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.empty(); }));
  steps(20);
  EXPECT_GT(length_now(), length + 0.1) << "it falls again";
  simulation->undo();
  ASSERT_TRUE(test::reached(*simulation, [&] { return model().joints.size() == 1; }));
}

/// A row of boxes tied to the world by an array of joints, and a spare one.
TEST(SceneContent, NamesOfArraysAreTaken) {
  const Scene scene = parse_scene(R"([[material]]
name = "m"
[[object]]
name = "added-1"
body = "rigid"
shape = "box"
size = [0.1, 0.1, 0.1]
material = "m"
count = [3, 1, 1]
spacing = [0.3, 0, 0]
[[object]]
name = "one"
body = "rigid"
shape = "box"
size = [0.1, 0.1, 0.1]
material = "m"
position = [0, 1, 0]
[[joint]]
name = "tie-1"
kind = "ball"
between = ["added-1", "world"]
)",
                                  "/somewhere/row.toml");
  ASSERT_EQ(scene.model.joints.size(), 3u);
  EXPECT_EQ(scene.model.joints[0].name, "tie-1.0");
  EXPECT_EQ(free_object_name(scene.model, "tie-"), "tie-2");
  EXPECT_EQ(free_object_name(scene.model, "added-"), "added-2");
  EXPECT_EQ(free_object_name(scene.model, "tie-1."), "tie-1.3");
  const auto tied =
      with_joint(scene, "kind = \"ball\"\nbetween = [\"one\", \"world\"]\nanchor = [0, 1, 0]\n");
  ASSERT_EQ(tied->model.joints.size(), 4u);
  EXPECT_EQ(tied->model.joints[3].name, "tie-2");
}

/// The numbers of a list in a table.
std::vector<double> list_of(const std::string& toml, const std::string& key,
                            std::vector<std::string>* texts) {
  const std::size_t begin = toml.find("\n" + key + " = [") + key.size() + 5;
  std::istringstream list(toml.substr(begin, toml.find(']', begin) - begin));
  std::vector<double> numbers;
  for (std::string word; std::getline(list, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    numbers.push_back(std::stod(word));
    texts->push_back(word);
  }
  return numbers;
}

/// Of a place at the start, a sum of corners, and of a place now, a float.
TEST(SceneContent, AnchorsOfTiesHaveFewDigits) {
  for (const std::string body : {"body = \"rigid\"\n", ""}) {
    const Scene scene = parse_scene(
        "[[material]]\nname = \"m\"\n[[collider]]\nname = \"wall\"\nshape = \"box\"\nsize = [0.3, 0.3, 0.3]\n"
        "position = [2.1, 0.7, 0.1]\nmaterial = \"m\"\n[[object]]\nname = \"low\"\nshape = \"box\"\nsize = "
        "[0.2, "
        "0.2, 0.2]\nedge = 0.2\nmaterial = \"m\"\n" +
            body,
        "/somewhere/wall.toml");
    std::vector<Vec3f> now;
    for (const auto& x : scene.model.positions) now.push_back(x.cast<float>());
    const Pick wall = pick_of(scene.model, "wall"), low = pick_of(scene.model, "low");
    std::vector<std::string> texts;
    const std::vector<double> anchor = list_of(tie_toml(scene.model, low, wall, now), "anchor_b", &texts);
    ASSERT_EQ(anchor.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(static_cast<float>(anchor[k]), position_of(wall, now)[static_cast<int>(k)])
          << "the same float";
      EXPECT_LE(texts[k].size(), 13u) << texts[k];
    }
  }
}

TEST(NumberText, TheDecimalOfAFloatIsShort) {
  EXPECT_EQ(decimal_value(0.1f), 0.1);
  EXPECT_EQ(number_text(decimal_value(-2.3e-5f)), "-2.3e-05");
  EXPECT_EQ(rounded_decimal(2.0250000000000004), 2.025);
  EXPECT_NEAR(rounded_decimal(1.0 / 3), 1.0 / 3, 1e-15);
  for (const float value : {0.0f, 1.0f / 3, 16777216.0f, -1e-30f, 123.456f})
    EXPECT_EQ(static_cast<float>(decimal_value(value)), value);
}

INSTANTIATE_TEST_SUITE_P(Bodies, RopeOf, ::testing::Values("body = \"rigid\"\n", "body = \"affine\"\n", ""));

TEST(SceneContent, ARopeNeedsTwoBodies) {
  const Scene scene = boxes();
  std::vector<Vec3f> positions;
  for (const auto& x : scene.model.positions) positions.push_back(x.cast<float>());
  const Pick low = pick_of(scene.model, "low"), high = pick_of(scene.model, "high");
  EXPECT_THROW(tie_toml(scene.model, low, low, positions), InputError);
  const Scene mill = load_scene("rollers");
  std::vector<Vec3f> at;
  for (const auto& x : mill.model.positions) at.push_back(x.cast<float>());
  int moving = 0;
  for (const ScriptedNodes& script : mill.model.scripted) {
    const Object& object = mill.model.objects[static_cast<std::size_t>(
        mill.model.node_object[static_cast<std::size_t>(script.nodes.front())])];
    if (object.is_collider() && !script.is_static()) {
      ++moving;
      EXPECT_THROW(tie_toml(mill.model, pick_of(mill.model, object.name),
                            pick_of(mill.model, mill.model.objects[0].name), at),
                   InputError);
    }
  }
  EXPECT_GT(moving, 0);
  const auto tied = with_joint(*with_joint(scene, tie_toml(scene.model, low, high, positions)),
                               tie_toml(scene.model, high, low, positions));
  ASSERT_EQ(tied->model.joints.size(), 2u);
  EXPECT_EQ(tied->model.joints[1].name, "tie-2");
  EXPECT_EQ(without_ties(*tied, "low")->model.joints.size(), 0u);
  EXPECT_THROW(without_ties(*tied, "row"), InputError);
  EXPECT_THROW(with_joint(scene, "kind = \"ball\"\nbetween = [\"low\", \"none\"]\n"), InputError);
}

TEST_F(RunningContent, AChangedSceneCanBeSaved) {
  load(boxes);
  post(AddObject{shot_toml(model(), {{0, 2, 0}, {0, -1, 0}, 0.05})});
  ASSERT_TRUE(test::reached(*simulation, [&] { return find(model(), "shot-1") != nullptr; }));
  const Settings& now = simulation->settings();
  const std::string text = edited_scene(*simulation->frame().scene,
                                        {now.params, now.contact_params, now.materials, now.half_space_mu});
  EXPECT_NE(find(parse_scene(text, "/elsewhere/c.toml").model, "shot-1"), nullptr);
}

}  // namespace
}  // namespace stickslip
