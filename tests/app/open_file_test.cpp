// Files that are dropped on the window, and meshes as scenes.
#include "app/viewer/open_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "app/io/fclib/frozen_problem.h"
#include "app/io/file/input_error.h"
#include "app/io/scene/mesh_scene.h"
#include "gpu/dfcp/problem/generators.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class OpenFile : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  fs::path written(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  void open(const fs::path& file) {
    open_file(
        file, simulation, [&](std::shared_ptr<const FrozenStep> step) { raced = std::move(step); },
        [&](const fs::path& journal) { replayed = journal; });
  }
  /// A cube of this size [m], without its top if it is open.
  fs::path cube(const std::string& name, double size, bool open = false) const {
    std::string text;
    for (int i = 0; i < 8; ++i)
      text += "v " + std::to_string(size * (i & 1)) + " " + std::to_string(size * ((i >> 1) & 1)) + " " +
              std::to_string(size * ((i >> 2) & 1)) + "\n";
    text += "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 1 5 7 3\nf 2 4 8 6\n";
    return written(name, open ? text : text + "f 3 7 8 4\n");
  }

  const fs::path folder = fs::temp_directory_path() / ("stickslip-open-" + std::to_string(getpid()));
  Simulation simulation{test::fake(), test::two_tets};
  std::shared_ptr<const FrozenStep> raced;
  fs::path replayed;
};

TEST_F(OpenFile, ScenesAndMeshesAreLoaded) {
  for (const char* name : {"a.toml", "b.txt", "c.obj", "d.stl", "e.hair", "f.hdf5"}) {
    open(written(name, "anything"));
    ASSERT_TRUE(
        test::reached(simulation, [&] { return simulation.is_caught_up() && simulation.status().loaded; }));
    const std::vector<JournalEntry> journal = simulation.journal();
    ASSERT_TRUE(std::holds_alternative<LoadScene>(journal.back().command)) << name;
    EXPECT_EQ(std::get<LoadScene>(journal.back().command).scene, (folder / name).string());
  }
  EXPECT_EQ(simulation.journal().size(), 6u);
  EXPECT_FALSE(raced);
}

TEST_F(OpenFile, AContactProblemIsRaced) {
  const ContactProblem problem = generate("hyperstatic", 4, 1);
  write_frozen(folder / "legs.hdf5", problem);
  open(folder / "legs.hdf5");
  ASSERT_TRUE(raced);
  EXPECT_EQ(raced->scene, "legs");
  EXPECT_TRUE(raced->is_of_file());
  EXPECT_EQ(raced->problem.contacts(), problem.contacts());
  EXPECT_TRUE(simulation.journal().empty());
}

TEST_F(OpenFile, AJournalIsReplayed) {
  open(written("a.jsonl", "anything"));
  EXPECT_EQ(replayed, folder / "a.jsonl");
  EXPECT_TRUE(simulation.journal().empty());
}

TEST_F(OpenFile, OtherFilesAreLeftAlone) {
  for (const char* name : {"b.png", "c"}) open(written(name, "anything"));
  simulation.update();
  EXPECT_TRUE(simulation.journal().empty());
  EXPECT_FALSE(raced);
  EXPECT_TRUE(replayed.empty());
}

TEST_F(OpenFile, AClosedSurfaceBecomesASolidAboveTheGround) {
  const Scene scene = load_scene(cube("a cube.obj", 0.4).string());
  EXPECT_EQ(scene.title, "a cube");
  ASSERT_EQ(scene.model.objects.size(), 1u);
  EXPECT_FALSE(scene.model.tets.empty());
  ASSERT_EQ(scene.model.half_spaces.size(), 1u);
  double low = 1e300, high = -1e300, side = 0;
  for (const auto& x : scene.model.positions) {
    low = std::min<double>(low, x[1]);
    high = std::max<double>(high, x[1]);
    side = std::max<double>(side, std::fabs(x[0]));
  }
  EXPECT_NEAR(low, 0.2 * 0.4, 1e-6);
  EXPECT_NEAR(high - low, 0.4, 1e-6);
  EXPECT_NEAR(side, 0.2, 1e-6) << "above the origin";
}

TEST_F(OpenFile, SizesOfOtherUnitsAreScaled) {
  for (const double size : {40.0, 300.0, 1e-3}) {
    const Scene scene = load_scene(cube("c.obj", size).string());
    EXPECT_NE(scene.title.find("c, scaled by "), std::string::npos) << scene.title;
    double side = 0;
    for (const auto& x : scene.model.positions) side = std::max<double>(side, std::fabs(x[0]));
    EXPECT_NEAR(side, 0.15, 1e-6) << size;
  }
}

TEST_F(OpenFile, AnOpenSurfaceBecomesCloth) {
  const Scene scene = load_scene(cube("box.obj", 0.4, true).string());
  EXPECT_TRUE(scene.model.tets.empty());
  EXPECT_FALSE(scene.model.positions.empty());
}

TEST_F(OpenFile, BadMeshesSayWhatIsWrong) {
  EXPECT_THROW(load_scene(written("a.obj", "v 1 2\n").string()), InputError);
  EXPECT_THROW(load_scene(written("b.obj", "v 1 2 3\nv 1 2 3\nv 1 2 3\nf 1 2 3\n").string()), InputError);
  EXPECT_THROW(load_scene((folder / "none.stl").string()), InputError);
  std::string thin = "v 0 0 0\nv 1 0 0\nv 0 1e-5 0\nv 1 1e-5 0\nv 0 0 1\nv 1 0 1\nv 0 1e-5 1\nv 1 1e-5 1\n";
  thin += "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 1 5 7 3\nf 2 4 8 6\nf 3 7 8 4\n";
  try {
    load_scene(written("thin.obj", thin).string());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("too thin"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(is_mesh_name("a.ply"));
  EXPECT_TRUE(is_mesh_name("A.STL"));
  EXPECT_FALSE(is_mesh_name("a.toml"));
}

}  // namespace
}  // namespace stickslip
