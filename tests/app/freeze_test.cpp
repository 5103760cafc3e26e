// stickslip run --freeze: contact problems of steps, with the real engine and without physics.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "app/cli/cli.h"
#include "tests/app/fclib_fixture.h"
#include "tests/app/rigid_scene.h"
#include "tests/app/scripted_engine.h"

namespace stickslip {
namespace {

const char* const two_boxes = R"(
frames = 20
[[material]]
name = "wood"
density = 500
mu = 0.5
[[half_space]]
mu = 0.5
[[object]]
name = "box"
body = "rigid"
shape = "box"
size = [0.4, 0.4, 0.4]
material = "wood"
position = [0, 0.2, 0]
count = [1, 2, 1]
spacing = [0, 0.4, 0]
)";

class Freezing : public ::testing::Test {
 protected:
  struct Result {
    int code;
    std::string err;
  };

  Result run(std::vector<std::string> arguments, const EngineFactory& factory = make_engine) {
    const std::string scene = path("boxes.toml");
    if (!std::filesystem::exists(scene)) std::ofstream(scene) << two_boxes;
    arguments.insert(arguments.begin(), {"stickslip", "run", scene, "--quiet", "--backend", "cpu"});
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = run_cli(static_cast<int>(argv.size()), argv.data(), factory);
    ::testing::internal::GetCapturedStdout();
    return {code, ::testing::internal::GetCapturedStderr()};
  }
  void expect_bad(const std::string& freeze, const std::string& part) {
    const Result result = run({"--freeze", freeze});
    EXPECT_EQ(result.code, 2) << freeze;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  testing::ScratchFolder folder_{std::string("freeze_") +
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(Freezing, WritesTheStepsThatWereAskedForAsTheySolvedThem) {
  const Result result =
      run({"--frames", "6", "--freeze", "2:" + path("a.hdf5"), "--freeze", "6:" + path("b.hdf5"), "--set",
           "contact.tolerance=1e-9", "--set", "contact.max_iterations=2000"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("stickslip race " + path("b.hdf5")), std::string::npos) << result.err;
  const FclibFile first = read_fclib(path("a.hdf5")), last = read_fclib(path("b.hdf5"));
  EXPECT_EQ(first.problem.contacts(), 8u);
  EXPECT_FALSE(last.problem.guess.empty()) << "the step before";
  // Two boxes of 32 kg at rest for a step: the lower contacts carry both.
  ASSERT_EQ(last.problem.solution.size(), 3 * last.problem.contacts());
  double carried = 0;
  for (std::size_t c = 0; c < last.problem.contacts(); ++c) carried += last.problem.solution[3 * c];
  EXPECT_NEAR(carried, 3 * 32 * 9.81 / 60, 1e-3);
  EXPECT_NE(run({"--freeze", "2:" + path("a.hdf5")}).err.find("there already"), std::string::npos);
}

TEST_F(Freezing, RefusesBadPlacesBeforeTheRun) {
  expect_bad("2", "FRAME:FILE");
  expect_bad("two:" + path("a.hdf5"), "FRAME:FILE");
  expect_bad("2x:" + path("a.hdf5"), "FRAME:FILE");
  expect_bad(":" + path("a.hdf5"), "FRAME:FILE");
  expect_bad("0:" + path("a.hdf5"), "[1, 20]");
  expect_bad("21:" + path("a.hdf5"), "[1, 20]");
  expect_bad("2:" + path("a.txt"), ".hdf5");
  expect_bad("2:" + path("none/a.hdf5"), "none");
  const std::string twice = path("a.hdf5");
  for (const std::string& other : {twice, path("./a.hdf5")})
    EXPECT_NE(run({"--freeze", "2:" + twice, "--freeze", "3:" + other}).err.find("same file"),
              std::string::npos);
  EXPECT_EQ(folder_.files(), 1u) << "the scene alone";

  std::ofstream(path("boxes.toml"))
      << "[[material]]\nname = 'soft'\n[[object]]\nname = 'box'\nshape = 'box'\n"
         "size = [1, 1, 1]\nedge = 1\n";
  expect_bad("2:" + path("a.hdf5"), "velocity level");
}

TEST_F(Freezing, SaysWhatFclibCannotHold) {
  const EngineFactory torsional = [](Backend, int) {
    ScriptedEngine::Script script;
    script.freeze = [] {
      ContactProblem problem = test::one_contact();
      problem.dim = 4;
      return problem;
    };
    return std::make_unique<ScriptedEngine>(script);
  };
  const Result result = run({"--freeze", "2:" + path("a.hdf5"), "--report", path("report.jsonl")}, torsional);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("contacts of 4 rows"), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::remove(path("report.jsonl"))) << "of the steps before";

  const EngineFactory apart = [](Backend, int) {
    ScriptedEngine::Script script;
    script.freeze = [] { return ContactProblem(); };
    return std::make_unique<ScriptedEngine>(script);
  };
  const Result nothing = run({"--freeze", "2:" + path("b.hdf5")}, apart);
  EXPECT_EQ(nothing.code, 0);
  EXPECT_NE(nothing.err.find("no contacts"), std::string::npos) << nothing.err;
  EXPECT_EQ(folder_.files(), 1u);
}

}  // namespace
}  // namespace stickslip
