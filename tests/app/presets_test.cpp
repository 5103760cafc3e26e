// Presets of parameters: files, what of them is refused, and what applying one does to a run.
#include "app/viewer/presets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "app/io/file/temporary_folder.h"
#include "app/viewer/judged_model.h"
#include "app/viewer/preset_edits.h"
#include "gpu/model/scene_traits.h"
#include "tests/app/running_content.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class PresetsTest : public ::testing::Test {
 protected:
  std::string refusal(const std::string& name) {
    try {
      presets.edits(name, Settings{}, model);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories(folder);
    std::ofstream(presets.file_of(name)) << text;
  }
  /// The settings with these edits.
  static Settings applied(Settings settings, const std::vector<Command>& edits) {
    for (const Command& edit : edits) {
      if (const auto* param = std::get_if<ParamEdit>(&edit)) apply_edit(*param, settings.params);
      if (const auto* contact = std::get_if<ContactParamEdit>(&edit))
        apply_edit(*contact, settings.contact_params);
    }
    return settings;
  }
  static void expect_equal(const Settings& a, const Settings& b) {
    for (const ParamInfo& row : param_table())
      EXPECT_EQ(get_param(&a.params, row), get_param(&b.params, row)) << row.name;
    for (const ParamInfo& row : lab_param_table())
      EXPECT_EQ(get_param(&a.contact_params, row), get_param(&b.contact_params, row)) << row.name;
  }

  const TemporaryFolder root;
  const fs::path folder = root.path() / "new" / "presets";
  Presets presets{folder};
  const Model model = test::rigid_scene("a").model;
};

TEST_F(PresetsTest, OneThatIsSavedLeadsBackToItsSettings) {
  EXPECT_TRUE(presets.names().empty()) << "the folder does not exist yet";
  Settings kept;
  for (const ParamInfo& row : param_table())
    if (row.choices.empty())
      set_param(&kept.params, row, test::other_value(row, get_param(&kept.params, row)));
  for (const ParamInfo& row : lab_param_table())
    set_param(&kept.contact_params, row, test::other_value(row, get_param(&kept.contact_params, row)));
  kept.params.contact_solver = ContactSolverKind::pgs;
  kept.params.dt = 0.0123456789012345;
  presets.save("all-changed", kept);
  presets.save("Other_1", Settings{});
  EXPECT_EQ(presets.names(), (std::vector<std::string>{"Other_1", "all-changed"}));
  const Presets again(folder);
  EXPECT_EQ(again.names(), presets.names()) << "another run of the program";
  expect_equal(applied(Settings{}, again.edits("all-changed", Settings{}, model)), kept);
  EXPECT_TRUE(again.edits("all-changed", kept, model).empty()) << "nothing differs";
  presets.save("all-changed", Settings{});
  EXPECT_TRUE(presets.edits("all-changed", Settings{}, model).empty()) << "it was replaced";
  presets.remove("all-changed");
  EXPECT_EQ(presets.names(), std::vector<std::string>{"Other_1"});
  EXPECT_FALSE(fs::exists(presets.file_of("all-changed")));
}

TEST_F(PresetsTest, AFileOfFewKeysLeavesTheOtherSettings) {
  write("few", "[params]\ngravity = -1.5\n[contact]\nomega = 1.25\n");
  Settings settings;
  settings.params.dt = 0.007;
  const Settings now = applied(settings, presets.edits("few", settings, model));
  EXPECT_EQ(now.params.gravity, -1.5);
  EXPECT_EQ(now.contact_params.omega, 1.25);
  EXPECT_EQ(now.params.dt, 0.007);
  EXPECT_EQ(presets.edits("few", settings, model).size(), 2u);
}

TEST_F(PresetsTest, WhatIsBrokenIsRefusedWithTheFileAndTheReason) {
  const auto expect = [&](const std::string& text, const std::string& reason) {
    write("broken", text);
    const std::string message = refusal("broken");
    EXPECT_NE(message.find("broken.toml"), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  expect("[params\n", ":1:");
  expect("[params]\ngravty = 1\n", "did you mean 'gravity'");
  expect("[params]\ngravity = 1\ndt = -1\n", "dt");
  expect("[params]\ngravity = \"down\"\n", "gravity");
  expect("[contact]\nomega = 1e9\n", "omega");
  expect("[material]\nmu = 1\n", "material");
  const Model cloth =
      parse_scene(
          "[[material]]\nname = \"m\"\n[[object]]\nname = \"sheet\"\nbody = \"cloth\"\nshape = "
          "\"sheet\"\nsize = [1, 1]\nedge = 0.5\nthickness = 1e-3\nmaterial = \"m\"\n[[object]]\n"
          "name = \"ball\"\nbody = \"rigid\"\nshape = \"sphere\"\nradius = 0.1\nmaterial = \"m\"\n"
          "position = [0, 3, 0]\n",
          "/somewhere/cloth.toml")
          .model;
  write("broken", "[params]\nsolver = \"velocity\"\nshock_propagation = true\n");
  EXPECT_THROW(presets.edits("broken", Settings{}, cloth), InputError) << "with cloth among rigid bodies";
  EXPECT_FALSE(presets.edits("broken", Settings{}, model).empty());
  write("broken", "[params]\nstabilisation = \"projection\"\n");
  try {
    presets.edits("broken", Settings{}, cloth);
    ADD_FAILURE() << "a choice that the model cannot have";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("stabilisation = \"projection\": "), std::string::npos)
        << error.what();
  }
  expect(std::string(2 << 20, '#'), "too long");
  EXPECT_NE(refusal("none").find("there is no preset 'none'"), std::string::npos);
  for (const char* name : {"", "../x", "a b", "a.b", "a/b", "\xc3\xa4"}) {
    EXPECT_THROW(presets.save(name, Settings{}), InputError) << name;
    EXPECT_THROW(presets.remove(name), InputError) << name;
  }
  EXPECT_THROW(presets.save(std::string(61, 'a'), Settings{}), InputError);
  EXPECT_THROW(Presets(fs::path()).save("a", Settings{}), InputError) << "nowhere to keep it";
}

/// Who opens a pipe waits until somebody writes into it.
TEST_F(PresetsTest, PipesAndFoldersAreNone) {
  write("file", "[params]\n");
  fs::create_directory(presets.file_of("folder"));
  ASSERT_EQ(mkfifo(presets.file_of("pipe").c_str(), 0600), 0);
  fs::create_symlink(presets.file_of("file"), presets.file_of("link"));
  fs::create_symlink(folder / "nowhere", presets.file_of("broken"));
  presets.refresh();
  EXPECT_EQ(presets.names(), (std::vector<std::string>{"file", "link"}));
  for (const char* name : {"folder", "pipe", "broken"}) {
    EXPECT_NE(refusal(name).find("there is no preset"), std::string::npos) << name;
    EXPECT_THROW(presets.remove(name), InputError) << name;
  }
  for (const char* name : {"folder", "pipe"})
    EXPECT_THROW(presets.save(name, Settings{}), InputError) << name;
}

TEST_F(PresetsTest, TheFolderIsThatOfTheWindowsMemory) {
  const char* before = std::getenv("XDG_CONFIG_HOME");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_CONFIG_HOME", "/somewhere", 1);
  EXPECT_EQ(Presets::default_folder(), "/somewhere/stickslip/presets");
  before == nullptr ? unsetenv("XDG_CONFIG_HOME") : setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
}

TEST_F(PresetsTest, ApplyingOneIsOneStepOfUndo) {
  Simulation simulation(test::fake(), test::rigid_scene);
  EXPECT_THROW(save_preset(simulation, presets, "early"), InputError) << "no scene is loaded";
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(test::reached(simulation, [&] { return simulation.status().loaded; }));
  ASSERT_TRUE(test::reached(simulation, [&] { return simulation.is_caught_up(); }));
  const double gravity = simulation.settings().params.gravity;
  write("few", "[params]\ngravity = -1.5\ndt = 0.003\n[contact]\nomega = 1.25\n");
  apply_preset(simulation, presets, "few");
  EXPECT_EQ(simulation.settings().params.gravity, -1.5);
  ASSERT_TRUE(test::reached(simulation, [&] { return simulation.is_caught_up(); }));
  EXPECT_EQ(simulation.settings().params.dt, 0.003);
  EXPECT_EQ(simulation.settings().contact_params.omega, 1.25);
  EXPECT_EQ(simulation.edits().next_undo(), "3 settings");
  simulation.undo();
  ASSERT_TRUE(test::reached(simulation, [&] { return simulation.is_caught_up(); }));
  EXPECT_EQ(simulation.settings().params.gravity, gravity);
  EXPECT_FALSE(simulation.edits().can_undo());
  // Of the same settings, and at once: steps of their own, unlike moves of a slider.
  simulation.post(ParamEdit{"gravity", -2});
  write("low", "[params]\ngravity = -1\n");
  write("high", "[params]\ngravity = -20\n");
  apply_preset(simulation, presets, "low");
  apply_preset(simulation, presets, "high");
  simulation.post(ParamEdit{"gravity", -3});
  for (const double before : {-20.0, -1.0, -2.0, gravity}) {
    simulation.undo();
    ASSERT_TRUE(test::reached(simulation, [&] { return simulation.is_caught_up(); }));
    EXPECT_EQ(simulation.settings().params.gravity, before);
  }
  EXPECT_FALSE(simulation.edits().can_undo());
  write("broken", "[params]\ngravity = -1.5\ndt = -3\n");
  EXPECT_THROW(apply_preset(simulation, presets, "broken"), InputError);
  EXPECT_EQ(simulation.settings().params.gravity, gravity) << "none of it is applied";
}

/// A ball that bounces, which barrier steps cannot have and leave out only where they are told to.
class PresetOfDropping : public test::RunningContent {
 protected:
  void SetUp() override {
    load([] {
      return parse_scene(R"(solver = "nsgs"
[[material]]
name = "rubber"
restitution = 0.5
[[object]]
name = "ball"
body = "rigid"
shape = "sphere"
radius = 0.1
material = "rubber"
)",
                         "/somewhere/bounce.toml");
    });
    presets.save("velocity", simulation->settings());
    std::ofstream(presets.file_of("barrier")) << "[params]\ndrop_unsupported = true\nsolver = \"ipc\"\n";
    std::ofstream(presets.file_of("strict")) << "[params]\ndrop_unsupported = false\n";
  }
  void settle() {
    ASSERT_TRUE(test::reached(*simulation, [&] { return simulation->is_caught_up(); }));
    EXPECT_EQ(simulation->status().error, "");
  }
  void apply(const std::string& name) {
    apply_preset(*simulation, presets, name);
    settle();
  }
  SolverKind solver() { return simulation->settings().params.solver; }

  const TemporaryFolder root;
  Presets presets{root.path()};
};

TEST_F(PresetOfDropping, TheWayThereAndBackIsOneOfSettingsThatTheSceneCanHave) {
  apply("barrier");
  EXPECT_EQ(solver(), SolverKind::ipc);
  apply("velocity");
  EXPECT_EQ(solver(), SolverKind::velocity);
  EXPECT_FALSE(simulation->settings().params.drop_unsupported);
  for (const bool back : {true, true, false, false}) {
    back ? simulation->undo() : simulation->redo();
    settle();
    EXPECT_EQ(solver() == SolverKind::ipc, simulation->settings().params.drop_unsupported);
  }
  EXPECT_EQ(solver(), SolverKind::velocity);
}

// The engine judges by the materials as they are: with what they had at the start of the scene, a preset
// would be refused without need, or applied by half.
TEST_F(PresetOfDropping, MaterialsAreThoseOfNow) {
  std::ofstream(presets.file_of("plain")) << "[params]\nsolver = \"ipc\"\n";
  EXPECT_THROW(apply_preset(*simulation, presets, "plain"), InputError) << "restitution";
  simulation->post(MaterialEdit{-1, "restitution", 0});
  settle();
  apply("plain");
  EXPECT_EQ(solver(), SolverKind::ipc);
  apply("velocity");
  simulation->post(MaterialEdit{-1, "tresca", 3});
  settle();
  try {
    apply_preset(*simulation, presets, "plain");
    ADD_FAILURE() << "barrier steps have no Tresca friction";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Tresca friction of 'rubber'"), std::string::npos)
        << error.what();
  }
  settle();
  EXPECT_EQ(solver(), SolverKind::velocity);
}

// A property of a material that no object has is no reason.
TEST_F(PresetOfDropping, MaterialsThatNothingIsMadeOfAreNoReason) {
  Model model = simulation->frame().scene->model;
  model.material_names.push_back("unused");
  model.materials.push_back({});
  std::vector<Material> now = model.materials;
  now[0].restitution = 0;
  now[1].restitution = 0.9;
  const ParamInfo& row = *find_param(param_table(), "solver");
  const auto ipc = static_cast<std::size_t>(SolverKind::ipc);
  EXPECT_EQ(barred_choice_reason(row, ipc, judged_model(model, now)), "");
  EXPECT_NE(barred_choice_reason(row, ipc, judged_model(model, model.materials)), "");
}

TEST_F(PresetOfDropping, OneThatTheSolverOfNowCannotTakeIsRefused) {
  apply("barrier");
  try {
    apply_preset(*simulation, presets, "strict");
    ADD_FAILURE() << "barrier steps have no restitution";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("restitution of 'rubber'"), std::string::npos) << error.what();
  }
  settle();
  EXPECT_TRUE(simulation->settings().params.drop_unsupported);
  apply("velocity");
  apply("strict");
}

}  // namespace
}  // namespace stickslip
