// A run goes back to times at which other objects were in the scene.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/viewer/spawn.h"
#include "gpu/engine.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

const char* const kBoxes = R"([params]
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
[[object]]
name = "high"
body = "rigid"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "wood"
position = [0, 0.8, 0]
)";

class RewindContent : public ::testing::Test {
 protected:
  void SetUp() override {
    simulation.set_hashing(true);
    simulation.post(LoadScene{"boxes"});
    ASSERT_TRUE(test::reached(simulation, [&] { return simulation.status().loaded; }));
    steps(10);
  }
  void settle() {
    ASSERT_TRUE(test::reached(simulation, [&] {
      return simulation.is_caught_up() && !simulation.is_changing_content() &&
             simulation.frame().snapshot.frame == simulation.status().frame;
    }));
    simulation.update();  // the frame of a change is published before its end is
  }
  void post(const Command& command) {
    simulation.post(command);
    settle();
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) simulation.step_once();
    settle();
  }
  void throw_ball() { post(AddObject{shot_toml(model(), {{0, 2, 0}, {0, -1, 0}, 0.05})}); }
  const Model& model() { return simulation.frame().scene->model; }
  bool has(const std::string& name) {
    return std::ranges::find(model().objects, name, &Object::name) != model().objects.end();
  }
  double height(std::size_t body) { return simulation.frame().snapshot.poses.at(body).x[1]; }
  std::uint64_t hash_of_step() {
    steps(1);
    return std::get<Stepped>(simulation.journal().back().command).hash;
  }

  Simulation simulation{
      [] { return make_engine(Backend::cpu, 1); },
      [](const std::string&, const std::string&) { return parse_scene(kBoxes, "/somewhere/boxes.toml"); }};
};

TEST_F(RewindContent, StatesBeforeAnEditStayWithTheirObjects) {
  post(Rewind{6});
  const double fallen = height(1);
  const std::uint64_t seventh = hash_of_step();
  steps(3);
  throw_ball();
  steps(5);
  EXPECT_EQ(simulation.status().timeline.first, 0);
  EXPECT_EQ(simulation.status().timeline.last, 15);
  EXPECT_EQ(simulation.status().timeline.edits, std::vector<int>{10});
  const double ball = height(2);

  post(Rewind{6});
  EXPECT_FALSE(has("shot-1"));
  EXPECT_EQ(height(1), fallen);
  EXPECT_EQ(simulation.status().error, "");
  EXPECT_EQ(simulation.status().timeline.last, 15) << "what followed stays until a step is made";
  post(Rewind{15});
  EXPECT_TRUE(has("shot-1"));
  EXPECT_EQ(height(2), ball);

  post(Rewind{6});
  EXPECT_EQ(hash_of_step(), seventh) << "the run goes on as it did without the edit";
  EXPECT_EQ(simulation.status().timeline.last, 7);
  EXPECT_TRUE(simulation.status().timeline.edits.empty());
}

TEST_F(RewindContent, UndoAndRedoFollowTheTravel) {
  throw_ball();
  steps(2);
  post(RemoveObject{"low"});
  steps(2);
  post(Rewind{3});
  EXPECT_FALSE(simulation.edits().can_undo());
  EXPECT_EQ(simulation.edits().next_redo(), "shot-1 added");
  EXPECT_TRUE(has("low"));
  post(Rewind{11});
  EXPECT_EQ(simulation.edits().next_undo(), "shot-1 added");
  EXPECT_EQ(simulation.edits().next_redo(), "low removed");
  post(Rewind{3});
  simulation.redo();
  settle();
  EXPECT_TRUE(has("shot-1")) << "the edit is made again at the earlier time";
  EXPECT_EQ(simulation.status().frame, 3);
  steps(2);
  EXPECT_EQ(simulation.status().error, "");
  EXPECT_EQ(simulation.status().timeline.edits, std::vector<int>{3});
}

TEST_F(RewindContent, AnUndoKeepsWhatWasBeforeTheEdit) {
  post(MoveObject{"high", {0.5, 0, 0}});
  steps(3);
  simulation.undo();
  settle();
  EXPECT_EQ(simulation.status().timeline.first, 0);
  EXPECT_EQ(simulation.status().timeline.last, 13);
  post(Rewind{12});
  EXPECT_EQ(simulation.frame().snapshot.poses.at(1).x[0], 0.5) << "the moved box";
  post(Rewind{4});
  EXPECT_EQ(simulation.frame().snapshot.poses.at(1).x[0], 0);
}

TEST_F(RewindContent, AKeptStateKeepsItsObjects) {
  const double fallen = height(1);
  post(KeepState{});
  post(RemoveObject{"high"});
  steps(3);
  EXPECT_EQ(simulation.status().kept, 10);
  post(ReturnToKept{});
  ASSERT_TRUE(has("high"));
  EXPECT_EQ(height(1), fallen);
  EXPECT_EQ(simulation.status().timeline.first, 0);
  EXPECT_EQ(simulation.status().timeline.last, 10) << "the state without the box gave way to the kept one";
  EXPECT_EQ(simulation.edits().next_redo(), "high removed");
}

/// The scene's file has other objects: the checkpoint has their text.
TEST_F(RewindContent, AKeptStateOfAChangedSceneIsWholeInItsFile) {
  throw_ball();
  post(MoveObject{"high", {0.5, 0, 0}, {0, 0, 30}});
  post(AddJoint{"kind = \"distance\"\nbetween = [\"high\", \"low\"]\nlow = 0\nhigh = 2\n"});
  post(MaterialEdit{-1, "mu", 0.1});
  steps(3);
  post(KeepState{});
  const std::shared_ptr<const Checkpoint> kept = simulation.take_kept();
  ASSERT_TRUE(kept);
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("stickslip-kept-" + std::to_string(getpid()) + ".hdf5");
  write_checkpoint(file, *kept);
  const Scene again = load_scene(file.string());
  std::filesystem::remove(file);
  EXPECT_TRUE(again.changed);
  EXPECT_EQ(again.name, "boxes");
  ASSERT_EQ(again.model.objects.size(), model().objects.size());
  for (std::size_t i = 0; i < model().objects.size(); ++i)
    EXPECT_EQ(again.model.objects[i].name, model().objects[i].name);
  EXPECT_EQ(again.model.joints.size(), 1u);
  EXPECT_EQ(again.model.materials[0].mu, 0.1);
  ASSERT_TRUE(again.resumed);
  EXPECT_EQ(again.resumed->frame, 13);

  Simulation other([] { return make_engine(Backend::cpu, 1); },
                   [&](const std::string&, const std::string&) { return again; });
  other.set_hashing(true);
  other.post(LoadScene{"kept"});
  other.step_once();
  ASSERT_TRUE(test::reached(other, [&] { return other.is_caught_up() && other.status().frame == 14; }));
  post(ReturnToKept{});
  EXPECT_EQ(hash_of_step(), std::get<Stepped>(other.journal().back().command).hash);
  other.post(KeepState{});
  ASSERT_TRUE(test::reached(other, [&] { return other.is_caught_up(); }));
  EXPECT_EQ(other.take_kept()->source, kept->source) << "kept again";
}

TEST_F(RewindContent, AnUndoRightAfterATravelWaitsForIt) {
  throw_ball();
  steps(2);
  simulation.post(Rewind{4});
  simulation.redo();
  settle();
  EXPECT_TRUE(has("shot-1"));
  EXPECT_EQ(simulation.status().frame, 4);
}

}  // namespace
}  // namespace stickslip
