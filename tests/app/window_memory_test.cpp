// What the window keeps between runs.
#include "app/viewer/window_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class WindowMemoryTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder); }
  const fs::path folder = fs::temp_directory_path() / ("stickslip-memory-" + std::to_string(getpid()));
  const fs::path file = folder / "stickslip" / "window.json";
};

TEST_F(WindowMemoryTest, ReadsWhatItWrote) {
  WindowMemory memory;
  memory.scene = "pyramid";
  memory.variant = "steep";
  memory.width = 1000;
  memory.height = 640;
  memory.quality = Quality::high;
  memory.panels = memory.patterns = false;
  memory.overlays.contacts = memory.overlays.cones = true;
  memory.timeline_megabytes = 12;
  Camera camera;
  camera.target = {1, 2, 3};
  camera.distance = 4;
  camera.yaw = -1;
  memory.cameras["drop"] = camera;
  memory.sections = {{"View", false}, {"Time", true}};
  memory.scale = ContactScale::slip;
  memory.arrows = ForceArrows::bodies;
  memory.surfaces = SurfaceColors::bending;
  memory.filter.open = memory.filter.unconverged = false;
  memory.pictures = {3, true, 60};
  memory.race = {1e-8, 20, true};
  memory.stepper_race.steps = 30;
  memory.output = "/some/where/else";
  write_window_memory(file, memory);
  const WindowMemory seen = read_window_memory(file);
  EXPECT_EQ(seen.scene, memory.scene);
  EXPECT_EQ(seen.variant, memory.variant);
  EXPECT_EQ(seen.width, 1000);
  EXPECT_EQ(seen.height, 640);
  EXPECT_EQ(seen.quality, Quality::high);
  EXPECT_FALSE(seen.panels || seen.patterns);
  EXPECT_TRUE(seen.overlays.contacts && seen.overlays.cones);
  EXPECT_FALSE(seen.overlays.normals);
  EXPECT_EQ(seen.timeline_megabytes, 12);
  ASSERT_TRUE(seen.cameras.contains("drop"));
  EXPECT_EQ(seen.cameras.at("drop").target, camera.target);
  EXPECT_EQ(seen.cameras.at("drop").yaw, -1);
  EXPECT_EQ(seen.sections, memory.sections);
  EXPECT_EQ(seen.scale, ContactScale::slip);
  EXPECT_EQ(seen.arrows, ForceArrows::bodies);
  EXPECT_EQ(seen.surfaces, SurfaceColors::bending);
  EXPECT_FALSE(seen.filter.open || seen.filter.unconverged);
  EXPECT_TRUE(seen.filter.stick && seen.filter.slip);
  EXPECT_EQ(seen.pictures.scale, 3);
  EXPECT_TRUE(seen.pictures.transparent);
  EXPECT_EQ(seen.pictures.rate, 60);
  EXPECT_EQ(seen.race.tolerance, 1e-8);
  EXPECT_EQ(seen.race.time_budget, 20);
  EXPECT_TRUE(seen.race.warm);
  EXPECT_EQ(seen.stepper_race.steps, 30);
  EXPECT_EQ(seen.output, "/some/where/else");
}

TEST_F(WindowMemoryTest, NonsenseLeavesTheDefaults) {
  fs::create_directories(file.parent_path());
  for (const char* text :
       {"", "{", "[]", "3", R"({"width": "wide", "overlays": 7, "cameras": [1], "quality": 3})",
        R"({"quality": "best", "timeline": "much", "cameras": {"a": {"target": [1, 2]},
                               "b": {"target": [0, 0, 0], "distance": -1}, "c": 5}})",
        R"({"marks": {"colours": 7, "arrows": "all", "stick": 1}, "lab": {"tolerance": -1, "seconds": "long",
            "steps": 1e9}, "pictures": {"scale": true, "rate": []}, "output": "relative"})",
        R"({"marks": 3, "lab": [], "pictures": "large", "output": 5})", R"({"sections": {"View": 3}})",
        R"({"sections": [true]})"}) {
    std::ofstream(file) << text;
    const WindowMemory seen = read_window_memory(file);
    EXPECT_EQ(seen.width, 1280) << text;
    EXPECT_EQ(seen.quality, Quality::automatic) << text;
    EXPECT_EQ(seen.timeline_megabytes, 256) << text;
    EXPECT_TRUE(seen.cameras.empty()) << text;
    EXPECT_TRUE(seen.sections.empty()) << text;
    EXPECT_EQ(seen.scale, ContactScale::state) << text;
    EXPECT_TRUE(seen.filter.stick) << text;
    EXPECT_EQ(seen.race.tolerance, RaceSettings{}.tolerance) << text;
    EXPECT_EQ(seen.race.time_budget, RaceSettings{}.time_budget) << text;
    EXPECT_TRUE(seen.stepper_race.steps == StepperRaceSettings{}.steps || seen.stepper_race.steps == 1000)
        << text;
    EXPECT_EQ(seen.pictures.scale, 1) << text;
    EXPECT_TRUE(seen.output.empty()) << text;
  }
  std::ofstream(file) << R"({"width": -5, "height": 1000000})";
  EXPECT_EQ(read_window_memory(file).width, 320);
  EXPECT_EQ(read_window_memory(file).height, 16384);
}

TEST_F(WindowMemoryTest, LivesWhereSettingsBelong) {
  setenv("XDG_CONFIG_HOME", "/some/where", 1);
  EXPECT_EQ(window_memory_file(), "/some/where/stickslip/window.json");
  unsetenv("XDG_CONFIG_HOME");
  const fs::path of_home = window_memory_file();
  EXPECT_TRUE(of_home.empty() || of_home.string().ends_with("/.config/stickslip/window.json"));
}

}  // namespace
}  // namespace stickslip
