// The [steppers] table of a scene: what it says, and what a run makes of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "app/io/scene/scene_variant.h"
#include "app/io/scene/settings.h"
#include "tests/app/cli_lab_fixture.h"

namespace stickslip {
namespace {

using testing::CliLab;

/// A ball in free fall that is expected to stay where it is.
const std::string kScene = R"(
frames = 20
[params]
dt = 0.01
[[material]]
name = "m"
[[object]]
name = "ball"
shape = "box"
size = [0.1, 0.1, 0.1]
edge = 0.1
material = "m"
position = [0, 5, 0]
[expect]
converged = 1.0
[[expect.displacement]]
object = "ball"
direction = [0, 1, 0]
to = 0.2
low = -0.01
)";

Scene parse(const std::string& steppers) { return parse_scene(kScene + steppers, "test.toml"); }

TEST(Families, ATableHasTrueOrAReasonForEachFamily) {
  Scene scene = parse("[steppers]\nbarrier = true\nvelocity = 'creep'\n");
  ASSERT_EQ(scene.families.size(), 2u);
  EXPECT_EQ(scene.params.solver, SolverKind::ipc);
  EXPECT_EQ(scene.unmet_reason(), "");
  for (const char* solver : {"barrier_al", "nsgs", "velocity"}) {
    set_solver(scene.params, solver);
    EXPECT_EQ(scene.unmet_reason(), scene.params.solver == SolverKind::velocity ? "creep" : "") << solver;
  }
  scene = parse("");
  EXPECT_EQ(scene.unmet_reason(), "") << "the scene does not say";
  EXPECT_THROW(parse("[steppers]\nbarrier = false\n"), InputError);
  EXPECT_THROW(parse("[steppers]\nipc = true\n"), InputError);
}

// Only an expectation that fails, under the family with the reason, is excused.
TEST_F(CliLab, AnExpectationThatASceneExcludesIsSkipped) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "stickslip_families.toml";
  std::ofstream(file) << kScene << "[steppers]\nbarrier = true\nvelocity = 'it falls'\n";
  const Result fails = call({"run", file.string(), "--solver", "ipc"}),
               excused = call({"run", file.string(), "--solver", "nsgs"});
  std::filesystem::remove(file);
  EXPECT_EQ(fails.code, 1) << fails.out;
  EXPECT_EQ(excused.code, 0) << excused.out << excused.err;
  EXPECT_NE(excused.out.find("passed   expected: at least 100%"), std::string::npos) << excused.out;
  EXPECT_NE(excused.out.find("; not expected with solver = velocity: it falls"), std::string::npos)
      << excused.out;
  EXPECT_NE(excused.out.find(R"("failed":0,"passed":1,"skipped":1)"), std::string::npos) << excused.out;
}

/// A variant that catches the ball, and one that keeps what the scene says.
const std::string kVariants =
    "[steppers]\nbarrier = true\nvelocity = 'it falls'\n"
    "[[variant]]\nname = 'light'\nset = ['solver=nsgs', 'gravity=0']\n[variant.steppers]\nvelocity = "
    "true\n"
    "[variant.expect]\n[[variant.expect.displacement]]\nobject = 'ball'\ndirection = [0, 1, 0]\nto = 0.2\n"
    "low = -0.01\n"
    "[[variant]]\nname = 'short'\nset = ['solver=nsgs']\nframes = 20\n"
    "[variant.expect]\n[[variant.expect.displacement]]\nobject = 'ball'\ndirection = [0, 1, 0]\nto = 0.2\n"
    "low = -0.01\n";

TEST(Families, AVariantReplacesWhatTheSceneSaysOfAFamily) {
  Scene scene = parse(kVariants);
  choose_variant(scene, "light");
  EXPECT_EQ(scene.unmet_reason(), "");
  set_solver(scene.params, "ipc");
  EXPECT_EQ(scene.unmet_reason(), "") << "of the other family the scene's own";
  scene = parse(kVariants);
  choose_variant(scene, "short");
  EXPECT_EQ(scene.unmet_reason(), "it falls");
  EXPECT_THROW(parse(kVariants + "[variant.steppers]\nnsgs = true\n"), InputError);
}

// A variant that says that it holds there is judged, also where the scene does not.
TEST_F(CliLab, AVariantIsJudgedByWhatItSaysItself) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "stickslip_variant_families.toml";
  std::ofstream(file) << kScene << kVariants;
  const Result holds = call({"run", file.string(), "--variant", "light"}),
               fails = call({"run", file.string(), "--variant", "light", "--set", "gravity=-9"}),
               excused = call({"run", file.string(), "--variant", "short"});
  std::filesystem::remove(file);
  EXPECT_EQ(holds.code, 0) << holds.out << holds.err;
  EXPECT_EQ(fails.code, 1) << fails.out << fails.err;
  EXPECT_NE(fails.out.find(R"("failed":1)"), std::string::npos) << fails.out;
  EXPECT_EQ(excused.code, 0) << excused.out << excused.err;
}

// Each shipped scene speaks of both families, and its expectations hold under the one that it selects.
TEST(Families, EveryShippedSceneSpeaksOfBoth) {
  for (const SceneInfo& info : list_scenes()) {
    const Scene scene = load_scene(info.name);
    std::set<StepperFamily> families;
    for (const FamilyNote& note : scene.families) families.insert(note.family);
    EXPECT_EQ(families.size(), 2u) << info.name;
    EXPECT_EQ(scene.unmet_reason(), "") << info.name;
    for (const Variant& variant : scene.variants) {
      Scene chosen = scene;
      choose_variant(chosen, variant.name);
      EXPECT_EQ(chosen.unmet_reason(), "") << full_name(chosen) << " does not hold with its own solver";
    }
  }
}

}  // namespace
}  // namespace stickslip
