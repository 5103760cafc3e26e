// Bundles on the command line: written by a run or a session, done again when the files of the scene are
// gone.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/io/checkpoint/checkpoint.h"
#include "app/io/file/output_file.h"
#include "app/io/scene/scene_variant.h"
#include "app/viewer/scene_content.h"
#include "app/viewer/session_journal.h"
#include "gpu/engine.h"
#include "tests/app/call_cli.h"
#include "tests/app/ipc_fixture.h"
#include "tests/app/mesh_fixture.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// A body from a mesh file that falls on the ground.
std::string cube_scene(const std::string& mesh) {
  return "[params]\ndt = 0.01\n[[material]]\nname = \"stone\"\nmu = 0.4\n[[half_space]]\n[[object]]\nname = "
         "\"cube\"\nbody = \"rigid\"\nfile = \"" +
         mesh +
         "\"\nposition = [0, 0.01, 0]\nangular_velocity = [1, 2, 3]\n[[variant]]\nname = \"slow\"\nset = "
         "[\"gravity=-1\"]\n";
}

class BundleReplay : public MeshFiles {
 protected:
  struct Result {
    int code;
    std::string out, err;
    nlohmann::json last_line() const {
      const std::string trimmed = out.substr(0, out.find_last_not_of('\n') + 1);
      return nlohmann::json::parse(trimmed.substr(trimmed.rfind('\n') + 1));
    }
  };

  BundleReplay() {
    fs::create_directories(place / "scenes");
    fs::create_directories(place / "meshes");
    std::string text;
    for (int i = 0; i < 8; ++i)
      text += "v " + std::to_string(0.2 * (i & 1)) + " " + std::to_string(0.2 * ((i >> 1) & 1)) + " " +
              std::to_string(0.2 * ((i >> 2) & 1)) + "\n";
    std::ofstream(place / "meshes" / "cube.obj")
        << text << "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 1 5 7 3\nf 2 4 8 6\nf 3 7 8 4\n";
    std::ofstream(scene) << cube_scene("../meshes/cube.obj");
  }

  static Result call(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "stickslip");
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = call_cli(static_cast<int>(argv.size()), argv.data());
    std::string out = ::testing::internal::GetCapturedStdout();
    return {code, std::move(out), ::testing::internal::GetCapturedStderr()};
  }
  Result run(const std::string& what, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"run",      what, "--backend", "cpu",      "--threads",  "1",
                                   "--frames", "12", "--quiet",   "--bundle", file.string()};
    words.insert(words.end(), more.begin(), more.end());
    return call(words);
  }
  /// Does the bundle again without the files that it is of.
  void expect_same_states(int steps) const {
    fs::remove_all(place);
    const Result again =
        call({"replay", file.string(), "--verify", "--quiet", "--backend", "cpu", "--threads", "1"});
    EXPECT_EQ(again.code, exit_good) << again.err;
    EXPECT_EQ(again.last_line()["equal"], steps) << again.out;
    EXPECT_EQ(again.last_line()["differing"], 0);
    EXPECT_TRUE(again.last_line().contains("device_then"));
  }

  const fs::path place = folder_ / "place", scene = place / "scenes" / "yard.toml";
  const fs::path file = folder_ / "a.stickslip";
};

TEST_F(BundleReplay, TheLevelOfTheLogIsThatOfBeforeAgain) {
  ASSERT_EQ(run(scene.string()).code, exit_good);
  const auto before = spdlog::get_level();
  ASSERT_EQ(before, spdlog::level::info);
  EXPECT_EQ(call({"replay", file.string(), "--quiet", "--backend", "cpu"}).code, exit_good);
  EXPECT_EQ(spdlog::get_level(), before);
  EXPECT_EQ(call({"replay", "none.jsonl"}).code, exit_bad_input);
  EXPECT_EQ(spdlog::get_level(), before) << "also after an error";
}

TEST_F(BundleReplay, OfARunHasTheSameStatesWithoutItsFiles) {
  const Result ran = run(scene.string(), {"--variant", "slow", "--set", "mu=0.2"});
  ASSERT_EQ(ran.code, exit_good) << ran.err;
  expect_same_states(12);
}

TEST_F(BundleReplay, OfAShippedSceneToo) {
  ASSERT_EQ(run("box-stack", {"--solver", "nsgs", "--set", "mu=0.3"}).code, exit_good);
  expect_same_states(12);
}

TEST_F(BundleReplay, OfACheckpointGoesOnFromItsState) {
  const std::string kept = (place / "kept.hdf5").string();
  ASSERT_EQ(call({"run", scene.string(), "--backend", "cpu", "--threads", "1", "--frames", "20", "--quiet",
                  "--set", "gravity=-5", "--checkpoint", kept})
                .code,
            exit_good);
  ASSERT_EQ(run(kept, {"--set", "mu=0.1"}).code, exit_good);
  expect_same_states(12);
}

/// The checkpoint names a mesh by a path from the scene's folder, the bundle has the mesh.
TEST_F(BundleReplay, OfACheckpointOfAChangedSceneToo) {
  const Scene first = load_scene(scene.string());
  const std::shared_ptr<const Scene> changed = with_object(
      first, "name = \"copy\"\nbody = \"rigid\"\nfile = \"../meshes/cube.obj\"\nposition = [1, 0.4, 0]\n");
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->set_params(changed->params);
  engine->load(changed->model);
  for (int i = 0; i < 5; ++i) engine->step();
  const fs::path kept = place / "kept.hdf5";
  write_checkpoint(kept, make_checkpoint(*changed, engine->state()));
  const Result ran = run(kept.string());
  ASSERT_EQ(ran.code, exit_good) << ran.err;
  expect_same_states(12);
}

TEST_F(BundleReplay, OfScriptsAndMeshesHasTheScenesMadeOfThem) {
  {
    const stickslip::testing::IpcFolder scripts;
    const fs::path script =
        scripts.script("ground 0.1 0\nshapes input 1\ninput/tetMeshes/grid.msh 0 0.51 0  0 0 0  1 1 1");
    const Result ran = run(script.string());
    ASSERT_EQ(ran.code, exit_good) << ran.err;
  }
  EXPECT_NE(read_bundle(file).find("scenes/0/input/tetMeshes/grid.msh"), nullptr);
  expect_same_states(12);
  const stickslip::testing::IpcFolder meshes;
  fs::create_directories(place);
  fs::rename(meshes.root / "input" / "tetMeshes" / "grid.msh", place / "grid.msh");
  const Result ran = run((place / "grid.msh").string());
  ASSERT_EQ(ran.code, exit_good) << ran.err;
  expect_same_states(12);
}

/// A scene file that was edited while the window was open, and a copy of an object with an absolute path.
TEST_F(BundleReplay, OfASessionHasEachSceneAsItWasLoaded) {
  const std::string mesh = (place / "meshes" / "cube.obj").string();
  std::ofstream(scene) << cube_scene(mesh);
  Simulation simulation([] { return make_engine(Backend::cpu, 1); }, load_variant);
  simulation.set_hashing(true);
  const auto idle = [&] { return simulation.is_caught_up(); };
  const auto steps = [&](int count) {
    for (int i = 0; i < count; ++i) simulation.step_once();
    ASSERT_TRUE(test::reached(simulation, idle));
  };
  SessionJournal journal("");
  JournalStart start;
  start.scene = scene.string();
  start.backend = "cpu";
  journal.add([&](JournalWriter& writer) { writer.start(start); });
  simulation.post(LoadScene{scene.string()});
  steps(5);
  simulation.post(
      AddObject{"name = \"copy\"\nbody = \"rigid\"\nfile = \"" + mesh + "\"\nposition = [0, 0.5, 0]\n"});
  ASSERT_TRUE(test::reached(simulation, idle));
  ASSERT_EQ(simulation.status().error, "");
  steps(5);
  std::ofstream(scene) << cube_scene("../meshes/cube.obj") << "[steppers]\nvelocity = true\n";
  simulation.post(LoadScene{scene.string(), "slow"});
  steps(5);
  journal.follow(simulation, simulation.frame().scene->model);
  write_bundle(file, {"stickslip", "cpu", "", ""}, journal.text(), simulation.opened(), "");
  EXPECT_EQ(read_bundle(file).scenes.size(), 2u);
  expect_same_states(15);
}

TEST_F(BundleReplay, ShowsAndUnpacksWhatIsInIt) {
  ASSERT_EQ(run(scene.string()).code, exit_good);
  fs::remove_all(place);
  const std::string to = (folder_ / "to").string();
  const Result shown = call({"bundle", file.string(), "--extract", to});
  EXPECT_EQ(shown.code, exit_good) << shown.err;
  for (const std::string& part :
       {std::string("stickslip "), std::string("backend: cpu"), std::string("of which 12 are steps"),
        scene.string(), std::string("scenes/0/meshes/cube.obj")})
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << " in: " << shown.out;
  EXPECT_EQ(
      call({"run", to + "/scenes/0/scenes/yard.toml", "--frames", "2", "--quiet", "--backend", "cpu"}).code,
      exit_good);
  EXPECT_EQ(call({"replay", to + "/journal.jsonl", "--quiet", "--backend", "cpu"}).code, exit_failed)
      << "the journal alone names the file that is gone";
  EXPECT_EQ(call({"bundle", file.string(), "--extract", to}).code, exit_bad_input);
}

TEST_F(BundleReplay, NamesTheFileThatIsWrong) {
  const auto refused = [](const Result& result, std::initializer_list<std::string> parts) {
    EXPECT_EQ(result.code, exit_bad_input) << result.out;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << " in: " << result.err;
  };
  refused(call({"run", scene.string(), "--bundle", (folder_ / "a.tar").string()}), {"a.tar", ".stickslip"});
  refused(call({"run", scene.string(), "--bundle", "/nowhere/a.stickslip"}), {"/nowhere"});
  refused(call({"replay", file.string()}), {"a.stickslip", "no such file"});
  ASSERT_EQ(run(scene.string()).code, exit_good);
  const std::string bytes = read(file);
  const std::string cut = write("cut.stickslip", bytes.substr(0, 3000)).string();
  refused(call({"replay", cut}), {"cut.stickslip", "byte"});
  refused(call({"bundle", cut}), {"cut.stickslip", "byte"});
  refused(call({"run", file.string()}), {"a.stickslip", "is a bundle"});
}

TEST_F(BundleReplay, AnOversizedJournalIsNotWritten) {
  JournalText journal(300);
  journal.start({});
  EXPECT_FALSE(journal.is_full());
  EXPECT_NE(journal.text().find("\"start\""), std::string::npos);
  journal.add_action(1, 0.1, std::string(300, 'a'));
  journal.add_action(1, 0.1, "a");
  EXPECT_TRUE(journal.is_full());
  EXPECT_THROW(journal.text(), OutputError);
}

}  // namespace
}  // namespace stickslip
