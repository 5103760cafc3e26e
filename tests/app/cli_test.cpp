#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "app/cli/cli.h"
#include "app/io/mesh/mesh.h"
#include "app/io/report/report.h"
#include "scripted_engine.h"
#include "tests/app/call_cli.h"

namespace stickslip {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const char* const scene_text = R"(
frames = 20
[params]
dt = 0.01
[[material]]
name = "soft"
[[material]]
name = "ice"
mu = 0.01
[[object]]
name = "box"
shape = "box"
size = [1, 1, 1]
edge = 0.5
material = "soft"
[[half_space]]
point = [0, -5, 0]
mu = 0.5
[expect]
gap_positive = true
[[expect.displacement]]
object = "box"
direction = [1, 0, 0]
to = 0.1
high = 0.5
)";

class Cli : public ::testing::Test {
 protected:
  struct Result {
    int code;
    std::string out, err;
    json last_line() const {
      const std::string trimmed = out.substr(0, out.find_last_not_of('\n') + 1);
      return json::parse(trimmed.substr(trimmed.rfind('\n') + 1));
    }
  };

  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("stickslip_cli_" + std::to_string(getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    scene_ = (folder_ / "scene.toml").string();
    std::ofstream(scene_) << scene_text;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result call(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "stickslip");
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code =
        call_cli(static_cast<int>(argv.size()), argv.data(), [this](Backend backend, int threads) {
          backend_ = backend;
          threads_ = threads;
          if (on_make_) on_make_();
          return std::make_unique<ScriptedEngine>(script_);
        });
    const std::string out = ::testing::internal::GetCapturedStdout();
    return {code, out, ::testing::internal::GetCapturedStderr()};
  }

  /// Bad input: one message that contains all `parts`, nothing on stdout, no new file.
  void expect_bad(const std::vector<std::string>& arguments, std::initializer_list<std::string> parts,
                  int code = 2) {
    std::string line;
    for (const std::string& a : arguments) line += a + " ";
    SCOPED_TRACE(line);
    const std::size_t before = file_count();
    const Result result = call(arguments);
    EXPECT_EQ(result.code, code);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.rfind("stickslip: ", 0), 0u) << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << " in: " << result.err;
    EXPECT_EQ(file_count(), before);
  }

  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
  std::string scene_;
  ScriptedEngine::Script script_;
  std::function<void()> on_make_;
  Backend backend_ = Backend::cuda;
  int threads_ = -1;
};

TEST_F(Cli, RunEndsWithOneJsonObject) {
  const Result result = call({"run", scene_, "--backend", "cpu", "--threads", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(backend_, Backend::cpu);
  EXPECT_EQ(threads_, 2);
  const json last = result.last_line();
  EXPECT_EQ(last["scene"], "scene");
  EXPECT_TRUE(last["variant"].is_null());
  EXPECT_EQ(last["scale"], 1);
  EXPECT_EQ(last["density"], 1);
  EXPECT_EQ(last["backend"], "cpu");
  EXPECT_EQ(last["solver"], "ipc");
  EXPECT_EQ(last["frames"], 20);
  EXPECT_GE(last["seconds"].get<double>(), 0);
  EXPECT_EQ(last["contacts_max"], 5);
  EXPECT_DOUBLE_EQ(last["gap_min"].get<double>(), 1e-3 / 20);
  EXPECT_TRUE(last["intersections"].is_null());
  EXPECT_EQ(last["newton_iterations"], 40);
  EXPECT_EQ(last["pcg_iterations"], 200);
  EXPECT_EQ(last["expect"]["passed"], 2);
  EXPECT_EQ(last["expect"]["failed"], 0);
  EXPECT_NE(result.out.find("expected: every active contact"), std::string::npos);
}

TEST_F(Cli, QuietLeavesOnlyTheJsonLine) {
  const Result result = call({"run", scene_, "--quiet", "--frames", "3"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
  EXPECT_EQ(result.last_line()["frames"], 3);
  EXPECT_EQ(result.last_line()["expect"]["skipped"], 1);
}

TEST_F(Cli, AFailedExpectationIsExitCodeOne) {
  script_.acceleration = {200, 0, 0};
  const Result result = call({"run", scene_, "--quiet"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.last_line()["expect"]["failed"], 1);
  EXPECT_NE(result.err.find("FAILED"), std::string::npos);
  EXPECT_NE(result.err.find("'box' moves along"), std::string::npos);
}

TEST_F(Cli, IntersectionsAreCountedAndFailACheckedRun) {
  Result result = call({"run", scene_, "--check-intersections", "--quiet"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.last_line()["intersections"], 0);
  script_.intersects_at = 7;
  result = call({"run", scene_, "--check-intersections", "--quiet"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.last_line()["intersections"], 3);
}

TEST_F(Cli, ARunInWhichNoStepConvergedIsAFailure) {
  script_.converges_from = 20;
  Result result = call({"run", scene_, "--quiet"});
  EXPECT_EQ(result.code, 0) << "one did";
  EXPECT_EQ(result.last_line()["converged"], 1);
  EXPECT_TRUE(result.last_line()["error"].is_null());
  script_.converges_from = 21;
  result = call({"run", scene_, "--quiet", "--report", path("report.jsonl")});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
  EXPECT_EQ(result.last_line()["converged"], 0);
  EXPECT_EQ(result.last_line()["frames"], 20);
  EXPECT_EQ(result.last_line()["error"],
            "none of 20 steps converged: the last one ended with 'iteration cap'");
  EXPECT_NE(result.err.find("stickslip: none of 20 steps converged"), std::string::npos) << result.err;
  EXPECT_TRUE(fs::exists(path("report.jsonl"))) << "what was done is kept";
  // The user requested a time budget, so this is no failure.
  script_.runs_out_of_time = true;
  result = call({"run", scene_, "--quiet"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.last_line()["converged"], 0);
  EXPECT_EQ(result.last_line()["stopped_by_budget"], 20);
}

TEST_F(Cli, ACheckedRunOfRigidBodiesSaysHowDeepMeshesOverlap) {
  Result result = call({"run", scene_, "--quiet"});
  EXPECT_TRUE(result.last_line()["overlap_max"].is_null());
  EXPECT_TRUE(result.last_line()["intersections_note"].is_null());
  script_.overlap = 2e-3;
  result = call({"run", scene_, "--check-intersections", "--report", path("report.jsonl")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.last_line()["intersections"].is_null());
  EXPECT_NE(result.last_line()["intersections_note"].get<std::string>().find("overlap_max"),
            std::string::npos);
  EXPECT_EQ(result.last_line()["overlap_max"], 2e-3);
  EXPECT_EQ(result.last_line()["overlap_of"], "'box' in 'wall'");
  EXPECT_NE(result.out.find("2 mm in, 'box' in 'wall', frame 1"), std::string::npos) << result.out;
  std::ifstream report(path("report.jsonl"));
  std::string line;
  std::getline(report, line);
  EXPECT_EQ(json::parse(line)["overlap"], 2e-3);
}

TEST_F(Cli, ElementsInsideOutAreReportedAndWarnedOf) {
  Result result = call({"run", scene_, "--quiet"});
  EXPECT_EQ(result.last_line()["inverted_max"], 0);
  EXPECT_EQ(result.err, "");
  script_.inverted_at = 7;
  result = call({"run", scene_, "--quiet", "--report", path("report.jsonl")});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.last_line()["inverted_max"], 7);
  EXPECT_NE(result.err.find("up to 7 elements were inside out (det F <= 0)"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("neo_hookean"), std::string::npos) << result.err;
  std::ifstream report(path("report.jsonl"));
  std::string line;
  for (int frame = 1; std::getline(report, line); ++frame)
    EXPECT_EQ(json::parse(line)["inverted"], frame == 7 ? 7 : 0);
}

TEST_F(Cli, ReportHoldsOneJsonLinePerStepUnderItsFinalNameOnly) {
  const Result result = call({"run", scene_, "--quiet", "--report", path("report.jsonl")});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(file_count(), 2u);
  std::ifstream report(path("report.jsonl"));
  std::string line;
  int frame = 0;
  while (std::getline(report, line)) {
    const json step = json::parse(line);
    EXPECT_EQ(step["frame"], ++frame);
    EXPECT_EQ(step["newton"].size(), 2u);
    EXPECT_TRUE(step["intersections"].is_null());
    for (const char* key :
         {"time", "seconds", "converged", "contacts", "gap_min", "kinetic_energy", "momentum", "stop_reason"})
      EXPECT_TRUE(step.contains(key)) << key;
  }
  EXPECT_EQ(frame, 20);
}

TEST_F(Cli, ASimulationErrorStopsTheRunAndKeepsWhatWasDone) {
  script_.fails_at = 6;
  Result result = call({"run", scene_, "--quiet", "--report", path("report.jsonl")});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("stickslip: NaN at node 3"), std::string::npos) << result.err;
  EXPECT_EQ(result.last_line()["frames"], 5);
  EXPECT_EQ(result.last_line()["error"], "NaN at node 3 of 'box'");
  EXPECT_TRUE(fs::exists(path("report.jsonl")));
  script_ = {};
  script_.nan_at = 4;
  result = call({"run", scene_, "--quiet"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("frame 4"), std::string::npos) << result.err;
}

TEST_F(Cli, CtrlCEndsWithWhatWasDone) {
  const std::string long_run = "100000000";
  std::thread interrupter;
  on_make_ = [&] {
    interrupter = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      kill(getpid(), SIGINT);
    });
  };
  const Result result = call({"run", scene_, "--frames", long_run, "--report", path("report.jsonl")});
  interrupter.join();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.last_line()["interrupted"].get<bool>());
  EXPECT_GT(result.last_line()["frames"].get<int>(), 0);
  EXPECT_TRUE(fs::exists(path("report.jsonl")));
}

TEST_F(Cli, BadInputGetsOneMessageAndLeavesNothing) {
  expect_bad({"run", path("none.toml")}, {"none.toml", "no such scene file"});
  expect_bad({"run", "drpo"}, {"there is no scene 'drpo'", "'drop'"});
  expect_bad({"run", scene_, "--report", path("no/folder/r.jsonl")}, {"there is no folder"});
  expect_bad({"run", scene_, "--report", folder_.string()}, {"is a folder"});
  expect_bad({"run", scene_, "--solver", "ipcc", "--report", path("r.jsonl")}, {"--solver ipcc", "'ipc'"});
  expect_bad({"run", scene_, "--backend", "gpu"}, {"unknown backend 'gpu'"});
  expect_bad({"run", scene_, "--frames", "0"}, {"frames"});
  expect_bad({"run", scene_, "--frames", "many"}, {"frames"});
  expect_bad({"run", scene_, "--threads", "-1"}, {"threads"});
  expect_bad({"run", scene_, "--scale", "0.5"}, {"--scale", "0.5"});
  expect_bad({"bench", "step", "--scale", "1000"}, {"--scale", "1000"});
  expect_bad({"run", scene_, "--frmes", "3"}, {"--frmes"});
  expect_bad({"run"}, {"scene"});
  expect_bad({"veiw"}, {"'veiw'", "'view'"});
  for (const char* size : {"1280", "0x10", "1280x720x3", "99999x99999", "-5x5"})
    expect_bad({"run", scene_, "--size", size}, {"--size", "1280x720"});
  expect_bad({"run", scene_, "--image", path("a.jpg")}, {"a.jpg", ".png"});
  expect_bad({"run", scene_, "--image", path("no/a.png")}, {"there is no folder"});
  expect_bad({"run", scene_, "--video", path("no/a.mp4")}, {"there is no folder"});
  expect_bad({"run", scene_, "--images", path("no/a")}, {"there is no folder"});
  expect_bad({}, {"subcommand"});
  expect_bad({"list", "senes"}, {"senes", "scenes"});
  expect_bad({"bench", "lbhv"}, {"'lbhv'", "'lbvh'"});
  expect_bad({"bench", "step", "--json", path("no/b.json")}, {"there is no folder"});
  expect_bad({"bench", "barrier", "--scales", "0.5"}, {"--scales", "0.5"});
  expect_bad({"bench", "barrier", "--scenes", "twst"}, {"'twst'", "'twist'"});
  expect_bad({"bench", "barrier", "--scenes", "stack", "--set", "sigma_rul=jump"},
             {"sigma_rul", "'sigma_rule'"});
  expect_bad({"bench", "barrier", "--scenes", "stack", "--set", "nsgs:sigma_rule=jump"},
             {"no method", "'nsgs'"});
  script_.refuses_load = true;
  expect_bad({"run", scene_, "--report", path("r.jsonl")}, {"scene.toml", "'a' and 'b' intersect"});
  on_make_ = [] { throw std::bad_alloc(); };
  expect_bad({"run", scene_}, {"out of memory", "too large"});
}

TEST_F(Cli, BadSettingsNameTheKeyTheRangeAndTheNearestName) {
  const auto bad = [&](const std::string& setting, std::initializer_list<std::string> parts) {
    expect_bad({"run", scene_, "--set", setting}, parts);
  };
  bad("gravty=1", {"--set gravty=1", "'gravity'"});
  bad("dt=50", {"dt = 50 s", "[1e-06, 10] s"});
  bad("dt=nan", {"dt"});
  bad("dt", {"key=value"});
  bad("=3", {"key=value"});
  bad("soft.yung=3", {"'yung'", "'young'"});
  bad("sfot.young=3", {"'sfot'", "'soft'"});
  bad("poisson=0.6", {"poisson", "0.495"});
  bad("ccd=fast", {"additive, cubic, multivariate, inclusion"});
}

TEST_F(Cli, SettingsReachTheSceneInTheirScope) {
  SceneOptions options;
  options.scene = scene_;
  options.settings = {"gravity=-1", "mu=0.2", "ice.mu=0.05", "young=5e4", "model=arap"};
  const Scene scene = prepare_scene(options);
  EXPECT_EQ(scene.params.gravity, -1);
  EXPECT_EQ(scene.model.materials[0].mu, 0.2);
  EXPECT_EQ(scene.model.materials[1].mu, 0.05);
  EXPECT_EQ(scene.model.half_spaces[0].mu, 0.2);
  EXPECT_EQ(scene.model.materials[1].young, 5e4);
  EXPECT_EQ(scene.model.materials[0].model, ElasticModel::arap);
}

TEST_F(Cli, AnAbsentDeviceIsExitCodeThree) {
  for (const BackendInfo& info : list_backends())
    if (info.backend == Backend::cuda && info.available) GTEST_SKIP() << "cuda is present";
  expect_bad({"run", scene_, "--backend", "cuda"}, {"cuda"}, 3);
}

TEST_F(Cli, ListsShowEveryEntryAlsoAsJson) {
  for (const char* what : {"scenes", "solvers", "params", "backends"}) {
    const Result text = call({"list", what}), as_json = call({"list", what, "--json"});
    EXPECT_EQ(text.code, 0);
    EXPECT_EQ(as_json.code, 0);
    const json rows = json::parse(as_json.out);
    EXPECT_FALSE(rows.empty());
    for (const json& row : rows) EXPECT_NE(text.out.find(row["name"].get<std::string>()), std::string::npos);
  }
  const json scene = json::parse(call({"list", "scenes", "--json"}).out)[0];
  for (const char* key : {"title", "description", "file", "frames", "picture"})
    EXPECT_TRUE(scene.contains(key));
  const json params = json::parse(call({"list", "params", "--json"}).out);
  EXPECT_EQ(params.size(), param_table().size() + material_table().size());
  EXPECT_EQ(params[0]["name"], "dt");
  EXPECT_EQ(params[0]["unit"], "s");

  const json solvers = json::parse(call({"list", "solvers", "--json"}).out);
  ASSERT_EQ(solvers.size(), 4u);
  EXPECT_EQ(solvers[0]["name"], "ipc");
  EXPECT_EQ(solvers[1]["name"], "barrier_al");
  EXPECT_EQ(solvers[2]["name"], "velocity");
  EXPECT_EQ(solvers[3]["name"], "ccd_al");
  const auto reads = [&](std::size_t solver, const ParamInfo& info) {
    const json& rows = solvers[solver]["params"];
    return std::find(rows.begin(), rows.end(), to_json(info)) != rows.end();
  };
  const std::string text = call({"list", "solvers"}).out;
  for (const ParamInfo& info : param_table()) {
    const std::string name = " " + std::string(info.name) + " ";
    EXPECT_NE(text.find(name), std::string::npos) << name;
    EXPECT_TRUE(reads(1, info) || reads(2, info)) << name << "belongs to no solver";
    EXPECT_EQ(reads(0, info), reads(1, info) && info.group != "augmented") << name;
  }
}

TEST_F(Cli, BenchStepMeasuresTheChosenScenes) {
  const Result result = call({"bench", "step", "--scene", "slope", "--scene", "stack", "--frames", "2",
                              "--backend", "cpu", "--json", path("bench.json")});
  EXPECT_EQ(result.code, 0) << result.err;
  std::ifstream file(path("bench.json"));
  const json bench = json::parse(file);
  ASSERT_EQ(bench.size(), 1u);
  for (const char* scene : {"slope", "stack"}) EXPECT_NE(result.out.find(scene), std::string::npos);
  EXPECT_EQ(bench[0]["figures"].size(), 14u * 2);
}

TEST_F(Cli, BenchBarrierMeasuresEveryMethodFromTheSameState) {
  const Result result = call({"bench", "barrier", "--scenes", "slope,stack", "--scales", "1", "--at", "3",
                              "--frames", "1", "--backend", "cpu", "--json", path("bench.json")});
  EXPECT_EQ(result.code, 0) << result.err;
  std::ifstream file(path("bench.json"));
  const json bench = json::parse(file)[0];
  EXPECT_EQ(bench["bench"], "barrier");
  ASSERT_EQ(bench["rows"].size(), 12u * 2);
  EXPECT_EQ(bench["figures"].size(), 12u * 2);
  for (const json& row : bench["rows"]) {
    SCOPED_TRACE(row.dump());
    EXPECT_EQ(row["start_frame"], 3);
    EXPECT_EQ(row["frames"], 1);
    EXPECT_EQ(row["intersections"], 0);
    EXPECT_GT(row["newton_iterations"], 0);
    EXPECT_GT(row["memory_bytes"], 0);
    EXPECT_TRUE(row["error"].is_null());
  }
  EXPECT_EQ(bench["memory"].size(), 3u);
  EXPECT_NE(result.out.find("stack x1"), std::string::npos) << result.out;
}

class LongCliBench : public Cli {};

// With real engines: a minute.
TEST_F(LongCliBench, BarrierTakesSettingsForAllMethodsAndForSome) {
  const auto pcg = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"stickslip", "bench",     "barrier", "--scenes", "stack",
                                       "--scales",  "1",         "--at",    "2",        "--frames",
                                       "1",         "--backend", "cpu",     "--json",   path("bench.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(call_cli(static_cast<int>(argv.size()), argv.data()), 0);
    ::testing::internal::GetCapturedStdout();
    ::testing::internal::GetCapturedStderr();
    std::ifstream file(path("bench.json"));
    const json bench = json::parse(file)[0];
    std::map<std::string, long> sums;
    for (const json& row : bench["rows"])
      sums[row["solver"].get<std::string>()] += row["pcg_iterations"].get<long>();
    return sums;
  };
  const auto plain = pcg({}), all = pcg({"--set", "pcg_tolerance=1e-8"}),
             some = pcg({"--set", "barrier_al:pcg_tolerance=1e-8"});
  EXPECT_GT(all.at("ipc"), plain.at("ipc"));
  EXPECT_EQ(some.at("ipc"), plain.at("ipc"));
  EXPECT_EQ(some.at("barrier_al"), all.at("barrier_al"));
  EXPECT_GT(some.at("barrier_al"), plain.at("barrier_al"));
}

TEST_F(Cli, ScaleReplacesTheScenesOwn) {
  const auto tets = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", scene_, "--frames", "1", "--state", path("state.msh")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(call(arguments).code, 0);
    return load_solid(path("state.msh")).tets.size();
  };
  EXPECT_EQ(tets({}), 5u * 8);
  EXPECT_EQ(tets({"--scale", "2"}), 5u * 64);
}

TEST_F(Cli, DensityMultipliesStrandsAndIsInJournalAndReport) {
  std::ofstream(path("hair.toml"))
      << "[[material]]\nname = 'm'\n[[object]]\nname = 'hair'\nbody = 'rods'\n"
         "diameter = 2e-3\nmaterial = 'm'\nshape = 'hair'\nradius = 0.1\nlength = 0.1\n"
         "strands = 2\nsegments = 3\n";
  const Result result =
      call({"run", path("hair.toml"), "--frames", "1", "--density", "2.5", "--journal", path("hair.jsonl")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.last_line()["density"], 2.5);
  std::ifstream journal(path("hair.jsonl"));
  std::string start;
  std::getline(journal, start);
  EXPECT_EQ(json::parse(start)["density"], 2.5);
  EXPECT_EQ(call({"replay", path("hair.jsonl")}).code, 0);
  expect_bad({"run", path("hair.toml"), "--density", "0"}, {"--density", "0"});
  expect_bad({"run", scene_, "--density", "2"}, {"has no rods with shape"});
}

TEST_F(Cli, BenchCcdComparesEveryMethodWithTheTruth) {
  // A point passes through a triangle; in the other query it stays above.
  const std::string still = "0,1,0,1,0,1,%\n1,1,0,1,0,1,%\n0,1,0,1,1,1,%\n";
  std::string queries = "1,4,1,1,1,4,1\n" + still + "1,4,-1,1,1,4,1\n" + still;
  queries = std::regex_replace(queries, std::regex("%"), "1");
  queries += std::regex_replace("1,4,1,1,1,4,0\n" + still + "1,4,1,2,1,4,0\n" + still, std::regex("%"), "0");
  std::ofstream(path("vertex-face.csv")) << queries;
  const Result result =
      call({"bench", "ccd", path("vertex-face.csv"), path("vertex-face.csv"), "--json", path("bench.json")});
  EXPECT_EQ(result.code, 0) << result.err;
  std::ifstream file(path("bench.json"));
  const json bench = json::parse(file);
  ASSERT_EQ(bench.size(), 1u);
  EXPECT_EQ(bench[0]["bench"], "ccd");
  ASSERT_EQ(bench[0]["rows"].size(), 24u);  // four methods in two scalar types, for two files and in total
  for (const json& row : bench[0]["rows"]) {
    EXPECT_EQ(row["queries"], row["file"] == "total" ? 4 : 2);
    EXPECT_EQ(row["false_negatives"], 0);
    EXPECT_EQ(row["false_positives"], 0);
    EXPECT_GT(row["ns_per_query"], 0);
    EXPECT_LE(row["ns_median"], row["ns_max"]);
  }
  EXPECT_EQ(bench[0]["rows"][16]["method"], "additive");
  EXPECT_EQ(bench[0]["figures"].size(), 8u);
}

TEST_F(Cli, BenchCcdRefusesWhatItCannotRead) {
  expect_bad({"bench", "ccd"}, {"needs files of queries", "bench ccd FILE..."});
  expect_bad({"bench", "ccd", path("edge-edge.csv")}, {"edge-edge.csv", "no such file"});
  std::ofstream(path("edge-edge.csv")) << "1,2,3,4,5,8,0\n1,3\n";
  expect_bad({"bench", "ccd", path("edge-edge.csv"), "--json", path("b.json")}, {"edge-edge.csv:2: "});
  expect_bad({"bench", "ccd", scene_}, {"edge-edge or vertex-face"});
}

TEST_F(Cli, EveryCommandHasHelp) {
  for (const std::string command : {"view", "run", "list", "bench"}) {
    const Result result = call({command, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.out.find("Usage"), std::string::npos) << result.out;
  }
  for (const char* option : {"--frames", "--backend", "--threads", "--solver", "--set", "--report", "--image",
                             "--images", "--video", "--size", "--check-intersections", "--quiet"})
    EXPECT_NE(call({"run", "--help"}).out.find(option), std::string::npos) << option;
  for (const char* option : {"--paused", "--quality", "--journal", "--validation", "--keys"})
    EXPECT_NE(call({"view", "--help"}).out.find(option), std::string::npos) << option;
}

}  // namespace
}  // namespace stickslip
