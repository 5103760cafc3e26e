// Bodies that a user adds to a running scene.
#include "app/viewer/spawn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/io/scene/scene_edit.h"
#include "app/viewer/free_space.h"
#include "app/viewer/scene_content.h"
#include "gpu/engine.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr SpawnKind kKinds[] = {SpawnKind::rigid, SpawnKind::elastic, SpawnKind::affine, SpawnKind::cloth,
                                SpawnKind::rod};

const char* const kFloor = R"([params]
dt = 0.01
[[material]]
name = "wood"
young = 1e6
[[material]]
name = "rubber"
young = 1e5
[[half_space]]
mu = 0.5
[[object]]
name = "low"
shape = "box"
size = [0.2, 0.2, 0.2]
edge = 0.2
material = "rubber"
position = [0, 0.11, 0]
[[object]]
name = "high"
shape = "box"
size = [0.2, 0.2, 0.2]
edge = 0.2
material = "rubber"
position = [0, 0.6, 0]
)";

Scene floor_scene(const std::string& more = "") {
  return parse_scene(kFloor + more, "/somewhere/floor.toml");
}

std::vector<Vec3f> start_of(const Model& model) {
  std::vector<Vec3f> positions;
  for (const Vec3d& x : model.positions) positions.push_back(x.cast<float>());
  return positions;
}

const Object* find(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.objects, name, &Object::name);
  return found == model.objects.end() ? nullptr : &*found;
}

std::shared_ptr<const Scene> with_added(const Scene& scene, const SpawnRequest& request) {
  return with_object(scene, spawn_toml(scene, request, start_of(scene.model)));
}

NodeBox box_in(const Scene& scene, const std::string& name) {
  return box_of(*find(scene.model, name), scene.model.positions);
}

std::filesystem::path cone() { return assets_folder() / "meshes" / "cone.obj"; }

/// Why the scene does not run five steps with the requested body; empty: it does, and all stays finite.
std::string fault_of(const Scene& scene, const SpawnRequest& request) {
  try {
    const auto more = with_added(scene, request);
    const auto engine = make_engine(Backend::cpu, 1);
    engine->set_params(more->params);
    engine->set_contact_params(more->contact_params);
    engine->load(more->model);
    for (int i = 0; i < 5; ++i) engine->step();
    Snapshot snapshot;
    engine->snapshot(snapshot);
    EXPECT_EQ(snapshot.positions.size(), more->model.node_count());
    for (const Vec3f& x : snapshot.positions)
      for (int k = 0; k < 3; ++k) EXPECT_TRUE(std::isfinite(x[k]));
    return {};
  } catch (const std::exception& error) {
    EXPECT_STRNE(error.what(), "");
    return std::string(error.what()).empty() ? "no message" : error.what();
  }
}

/// Every kind and shape in a shipped scene.
class SpawnInto : public ::testing::TestWithParam<std::tuple<const char*, SpawnKind>> {};

TEST_P(SpawnInto, RunsOrIsRefused) {
  const auto& [name, kind] = GetParam();
  const Scene scene = load_scene(name);
  const std::string refusal = spawn_refusal(scene, scene.params, kind);
  SpawnRequest request{.kind = kind, .file = cone(), .at = scene.camera.target};
  for (const SpawnShape shape : shapes_of(kind)) {
    SCOPED_TRACE(name_of(shape));
    request.shape = shape;
    const std::string fault = fault_of(scene, request);
    EXPECT_EQ(fault.empty(), refusal.empty()) << fault;
  }
}

std::string name_of_case(const ::testing::TestParamInfo<SpawnInto::ParamType>& info) {
  std::string name =
      std::string(std::get<0>(info.param)) + "_" + std::string(name_of(std::get<1>(info.param)));
  std::ranges::replace(name, '-', '_');
  return name;
}

// Rigid bodies; solids beside colliders; cloth; rods; affine and deformable solids; bodies of all kinds.
INSTANTIATE_TEST_SUITE_P(Scenes, SpawnInto,
                         ::testing::Combine(::testing::Values("dominoes", "drop", "pinched-cloth", "elastica",
                                                              "mixed", "everything"),
                                            ::testing::ValuesIn(kKinds)),
                         name_of_case);

TEST(Spawn, RefusalsAreThoseOfTheScene) {
  const auto refusal = [](const Scene& scene, SpawnKind kind) {
    return spawn_refusal(scene, scene.params, kind);
  };
  const Scene drop = load_scene("drop");
  EXPECT_NE(refusal(drop, SpawnKind::rigid).find("affine"), std::string::npos);
  EXPECT_THROW(spawn_toml(drop, {.kind = SpawnKind::rigid}, start_of(drop.model)), InputError);
  for (const SpawnKind kind : {SpawnKind::elastic, SpawnKind::affine, SpawnKind::cloth, SpawnKind::rod})
    EXPECT_EQ(refusal(drop, kind), "");
  Scene sleeping = load_scene("dominoes");
  EXPECT_EQ(refusal(sleeping, SpawnKind::rigid), "");
  sleeping.params.sleeping = true;
  EXPECT_EQ(refusal(sleeping, SpawnKind::rigid), "");
  EXPECT_NE(refusal(sleeping, SpawnKind::elastic).find("sleeping"), std::string::npos);
  Scene textless = floor_scene();
  textless.source.clear();
  for (const SpawnKind kind : kKinds) EXPECT_NE(refusal(textless, kind), "");
  EXPECT_THROW(spawn_toml(textless, {}, start_of(textless.model)), InputError);
}

/// From a millimetre to ten metres, beside bodies of centimetres.
class SpawnSize : public ::testing::TestWithParam<std::tuple<const char*, SpawnKind>> {};

TEST_P(SpawnSize, RunsOrIsRefused) {
  const auto& [name, kind] = GetParam();
  const Scene scene = load_scene(name);
  for (const double size : {1e-3, 0.02, 1.0, 10.0}) {
    SCOPED_TRACE(size);
    const std::string fault = fault_of(scene, {.kind = kind, .size = size, .at = scene.camera.target});
    if (size > 0.01) {
      EXPECT_EQ(fault.empty(), spawn_refusal(scene, scene.params, kind).empty()) << fault;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, SpawnSize,
                         ::testing::Combine(::testing::Values("dominoes", "mixed"),
                                            ::testing::ValuesIn(kKinds)),
                         name_of_case);

TEST(Spawn, ABodyIsAboveWhatIsInItsWay) {
  const Scene scene = floor_scene();
  for (const SpawnKind kind : {SpawnKind::rigid, SpawnKind::elastic, SpawnKind::affine}) {
    SCOPED_TRACE(name_of(kind));
    // Inside the lower box: above the upper one, which it would touch on its way up.
    const auto more = with_added(scene, {.kind = kind, .size = 0.5, .at = {0, 0.1, 0}});
    const NodeBox added = box_in(*more, "added-1");
    EXPECT_GT(added.low[1], 0.7);
    EXPECT_LT(added.low[1], 0.75);
    EXPECT_NEAR(added.low[0] + added.high[0], 0, 0.03);
    EXPECT_NEAR(added.high[0] - added.low[0], 0.5, 0.03);
  }
  const auto high = with_added(scene, {.size = 0.1, .height = 0.4, .at = {0, 0.6, 0}});
  EXPECT_NEAR(box_in(*high, "added-1").low[1], 1.1, 1e-6) << "by its height above the upper box";
  const auto between = with_added(scene, {.size = 0.1, .at = {0, 0.35, 0}});
  EXPECT_NEAR(box_in(*between, "added-1").low[1], 0.3, 1e-6) << "at its place, as there is room";
  for (const SpawnKind kind : {SpawnKind::cloth, SpawnKind::rod}) {
    SCOPED_TRACE(name_of(kind));
    const auto flat = with_added(scene, {.kind = kind, .size = 0.5, .at = {0, 0.1, 0}});
    EXPECT_NEAR(box_in(*flat, "added-1").low[1], 0.21 + 0.025, 0.01) << "between the boxes";
  }
  const auto beside = with_added(scene, {.size = 0.1, .at = {1, -3, 0}});
  EXPECT_NEAR(box_in(*beside, "added-1").low[1], 0.005, 1e-6) << "above the ground";
}

/// An engine loads the start, and a scene that is saved begins there.
TEST(Spawn, TheStartsOfOthersAreInTheWay) {
  const Scene scene = floor_scene();
  std::vector<Vec3f> later = start_of(scene.model);
  for (Vec3f& x : later) x += Vec3f{3, 0, 0};
  const auto more = with_object(scene, spawn_toml(scene, {.size = 0.1, .at = {0, 0.6, 0}}, later));
  EXPECT_GT(box_in(*more, "added-1").low[1], 0.7);
  const auto now = with_object(scene, spawn_toml(scene, {.size = 0.1, .at = {3, 0.6, 0}}, later));
  EXPECT_GT(box_in(*now, "added-1").low[1], 0.7);
}

TEST(Spawn, NoBodyComesBehindAWall) {
  const Scene scene = floor_scene("[[half_space]]\nnormal = [1, 0, 0]\npoint = [-2, 0, 0]\n");
  EXPECT_NO_THROW(with_added(scene, {.size = 0.1, .at = {-1.9, 1, 0}}));
  EXPECT_THROW(with_added(scene, {.size = 0.1, .at = {-2, 1, 0}}), InputError);
}

TEST(Spawn, EachBodyHasAName) {
  auto scene = std::make_shared<const Scene>(floor_scene());
  for (const std::string name : {"added-1", "added-2", "added-3"}) {
    const std::size_t before = scene->model.objects.size();
    scene = with_added(*scene, {.size = 0.1, .at = {0, 0.1, 0}});
    ASSERT_NE(find(scene->model, name), nullptr);
    EXPECT_EQ(scene->model.objects.size(), before + 1);
  }
  EXPECT_GT(box_in(*scene, "added-3").low[1], box_in(*scene, "added-2").high[1]);
  scene = without_object(*scene, "added-2");
  EXPECT_NE(find(with_added(*scene, {})->model, "added-2"), nullptr) << "the name is free again";
}

TEST(Spawn, WhatIsLeftOpenFollowsTheScene) {
  const Scene scene = floor_scene();
  const SpawnRequest plain = completed(scene, {});
  EXPECT_EQ(plain.kind, SpawnKind::elastic);
  EXPECT_EQ(plain.shape, SpawnShape::box);
  EXPECT_EQ(plain.size, 0.2);
  EXPECT_EQ(plain.material, "rubber") << "that of the bodies, not the first of the file";
  const auto more = with_added(scene, {.size = 5});
  EXPECT_EQ(completed(*more, {}).size, 0.2) << "the next one is as large";
  EXPECT_EQ(completed(load_scene("dominoes"), {}).kind, SpawnKind::rigid);
  const Scene rods = load_scene("elastica");
  const SpawnRequest rod = completed(rods, {.kind = SpawnKind::rod});
  EXPECT_EQ(rod.shape, SpawnShape::strand);
  EXPECT_GT(rod.size, 0);
  const auto chosen = with_added(scene, {.material = "wood"});
  EXPECT_EQ(find(chosen->model, "added-1")->material, 0);
}

/// Else each cell would be in contact with many others of its sheet.
TEST(Spawn, SmallSheetsHaveFewCells) {
  for (const char* name : {"dominoes", "mixed"}) {
    SCOPED_TRACE(name);
    const Scene scene = load_scene(name);
    EXPECT_EQ(completed(scene, {.kind = SpawnKind::cloth, .size = 1}).cells, 20);
    const int cells = completed(scene, {.kind = SpawnKind::cloth, .size = 0.01}).cells;
    EXPECT_GE(cells, 2);
    EXPECT_LT(cells, 11);
    EXPECT_EQ(completed(scene, {.kind = SpawnKind::rod, .size = 1e-4}).cells, 2);
  }
}

TEST(Spawn, AMeshHasTheSizeThatIsAskedFor) {
  const Scene scene = floor_scene();
  for (const SpawnKind kind : {SpawnKind::rigid, SpawnKind::elastic, SpawnKind::affine}) {
    SCOPED_TRACE(name_of(kind));
    const auto more = with_added(
        scene, {.kind = kind, .shape = SpawnShape::mesh, .file = cone(), .size = 0.3, .at = {1, 2, 3}});
    const NodeBox box = box_in(*more, "added-1");
    const Vec3d extent = box.high - box.low, middle = 0.5 * (box.low + box.high);
    EXPECT_NEAR(std::max({extent[0], extent[1], extent[2]}), 0.3, 0.03);
    EXPECT_LT(norm(middle - Vec3d{1, 2, 3}), 0.03);
  }
  const auto refused = [&](const std::filesystem::path& file) {
    EXPECT_THROW(with_added(scene, {.shape = SpawnShape::mesh, .file = file}), InputError) << file;
  };
  refused("");
  refused("/somewhere/none.obj");
  refused("/somewhere/hair.hair");
}

TEST(Spawn, NumbersOutOfRangeAreRefused) {
  const Scene scene = floor_scene();
  const double nan = std::nan("");
  const auto refused = [&](const SpawnRequest& request) {
    EXPECT_THROW(with_added(scene, request), InputError);
  };
  for (const double size : {-1.0, 1e-9, 1e9, nan}) refused({.size = size});
  for (const int cells : {-1, 100000}) refused({.cells = cells});
  for (const double height : {-1.0, 1e9, nan}) refused({.height = height});
  for (const double x : {-1e9, nan}) refused({.at = {x, 0, 0}});
  refused({.material = "none"});
  refused({.kind = SpawnKind::elastic, .shape = SpawnShape::capsule});
  refused({.kind = SpawnKind::cloth, .shape = SpawnShape::box});
  refused({.kind = SpawnKind::rod, .shape = SpawnShape::sheet});
}

TEST(Spawn, WordsAreARequest) {
  const SpawnRequest ball = spawn_request("affine", "ball", "0.25");
  EXPECT_EQ(ball.kind, SpawnKind::affine);
  EXPECT_EQ(ball.shape, SpawnShape::ball);
  EXPECT_EQ(ball.size, 0.25);
  EXPECT_EQ(spawn_request("cloth", "sheet", "").size, 0) << "as the scene's";
  const SpawnRequest mesh = spawn_request("rigid", "some/mesh.obj", "2");
  EXPECT_EQ(mesh.shape, SpawnShape::mesh);
  EXPECT_EQ(mesh.file, "some/mesh.obj");
  EXPECT_THROW(spawn_request("soft", "ball", ""), InputError);
  EXPECT_THROW(spawn_request("rigid", "bal", ""), InputError);
  EXPECT_THROW(spawn_request("rigid", "mesh", ""), InputError);
  EXPECT_THROW(spawn_request("cloth", "ball", ""), InputError);
  for (const char* size : {"big", "0", "-1", "nan", "1m"})
    EXPECT_THROW(spawn_request("rigid", "ball", size), InputError) << size;
}

/// A run in which bodies are added.
class RunningSpawn : public ::testing::Test {
 protected:
  void load(const std::function<Scene()>& make) {
    simulation.emplace([] { return make_engine(Backend::cpu, 1); },
                       [make](const std::string&, const std::string&) { return make(); });
    simulation->post(LoadScene{"a"});
    ASSERT_TRUE(settled());
  }
  bool settled() {
    return test::reached(*simulation, [&] {
      return simulation->is_caught_up() && !simulation->is_changing_content() && simulation->frame().scene;
    });
  }
  void steps(int count) {
    const int frame = simulation->status().frame + count;
    for (int i = 0; i < count; ++i) simulation->step_once();
    ASSERT_TRUE(test::reached(*simulation, [&] {
      return simulation->is_caught_up() && simulation->frame().snapshot.frame == frame;
    }));
  }
  bool shows(const std::string& name) { return find(simulation->frame().scene->model, name) != nullptr; }
  bool reached(const std::string& name, bool there) {
    return test::reached(*simulation, [&] { return shows(name) == there; });
  }
  std::optional<Simulation> simulation;
};

TEST_F(RunningSpawn, UndoAndRedo) {
  load([] { return floor_scene(); });
  steps(3);
  add_body(*simulation, {.kind = SpawnKind::affine, .size = 0.1, .at = {0, 0.1, 0}});
  ASSERT_TRUE(reached("added-1", true)) << simulation->status().error;
  ASSERT_TRUE(settled());
  EXPECT_EQ(simulation->edits().next_undo(), "added-1 added");
  EXPECT_EQ(simulation->status().frame, 3) << "the run goes on";
  steps(2);
  simulation->undo();
  ASSERT_TRUE(reached("added-1", false));
  EXPECT_FALSE(simulation->frame().scene->changed);
  simulation->redo();
  ASSERT_TRUE(reached("added-1", true));
  ASSERT_TRUE(settled());
  steps(2);
  EXPECT_EQ(simulation->status().error, "");
}

/// As the first of its kind too.
TEST_F(RunningSpawn, EveryKindIsTakenBackAndComesAgain) {
  for (const SpawnKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    load([] { return floor_scene(); });
    steps(2);
    add_body(*simulation, {.kind = kind, .size = 0.1, .at = {0, 0.1, 0}});
    ASSERT_TRUE(reached("added-1", true)) << simulation->status().error;
    ASSERT_TRUE(settled());
    steps(1);
    simulation->undo();
    ASSERT_TRUE(reached("added-1", false));
    ASSERT_TRUE(settled());
    steps(1);
    simulation->redo();
    ASSERT_TRUE(reached("added-1", true));
    ASSERT_TRUE(settled());
    steps(1);
    EXPECT_EQ(simulation->status().error, "");
    EXPECT_EQ(simulation->status().frame, 5);
  }
}

TEST_F(RunningSpawn, ARefusalChangesNothing) {
  load([] { return load_scene("drop"); });
  const std::size_t objects = simulation->frame().scene->model.objects.size();
  EXPECT_THROW(add_body(*simulation, {.kind = SpawnKind::rigid}), InputError);
  EXPECT_THROW(add_body(*simulation, {.size = -1}), InputError);
  add_body(*simulation, {.size = 0.1, .at = {0, 0.3, 0}});
  EXPECT_THROW(add_body(*simulation, {.size = 0.1}), InputError) << "the first one is not there yet";
  ASSERT_TRUE(reached("added-1", true)) << simulation->status().error;
  EXPECT_EQ(simulation->frame().scene->model.objects.size(), objects + 1);
}

/// Also where the added body is the first rigid one, for which another solver is the default.
TEST_F(RunningSpawn, ASavedSceneOpensWithTheBody) {
  for (const SpawnKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    load([] { return floor_scene(); });
    add_body(*simulation, {.kind = kind, .size = 0.1, .at = {0, 0.1, 0}});
    ASSERT_TRUE(reached("added-1", true)) << simulation->status().error;
    ASSERT_TRUE(settled());
    steps(1);
    const Settings& settings = simulation->settings();
    const std::string text =
        edited_scene(*simulation->frame().scene,
                     {settings.params, settings.contact_params, settings.materials, settings.half_space_mu});
    const Scene again = parse_scene(text, "/elsewhere/saved.toml");
    ASSERT_NE(find(again.model, "added-1"), nullptr);
    EXPECT_EQ(again.params.solver, settings.params.solver);
    EXPECT_EQ(again.model.node_count(), simulation->frame().scene->model.node_count());
  }
}

}  // namespace
}  // namespace stickslip
