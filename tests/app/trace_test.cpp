// `run --trace`: the timeline for chrome://tracing and Perfetto.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "app/cli/cli.h"
#include "app/io/report/trace_file.h"
#include "tests/app/scripted_engine.h"

namespace stickslip {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const char* const falling_box = R"(
frames = 3
[[material]]
name = "soft"
[[object]]
name = "box"
shape = "box"
size = [1, 1, 1]
edge = 0.5
material = "soft"
position = [0, 0.501, 0]
[[half_space]]
mu = 0.5
)";

class TraceOfRun : public ::testing::Test {
 protected:
  TraceOfRun() {
    folder_ = fs::temp_directory_path() / ("stickslip_trace_" + std::to_string(getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    std::ofstream(folder_ / "box.toml") << falling_box;
  }
  ~TraceOfRun() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  int call(std::vector<std::string> arguments, const EngineFactory& factory = make_engine) {
    arguments.insert(arguments.begin(), "stickslip");
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = run_cli(static_cast<int>(argv.size()), argv.data(), factory);
    ::testing::internal::GetCapturedStdout();
    errors_ = ::testing::internal::GetCapturedStderr();
    return code;
  }
  json events(const std::string& file) const {
    std::ifstream in(path(file));
    return json::parse(in)["traceEvents"];
  }

  fs::path folder_;
  std::string errors_;
};

struct TimeSpan {
  double begin, end;
};

/// Every range lies inside the range that is open at its start, or begins after its end.
void expect_nested(std::vector<TimeSpan> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const TimeSpan& a, const TimeSpan& b) {
    return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
  });
  std::vector<double> open;
  constexpr double rounding = 2e-3;  // of both ends to nanoseconds [us]
  for (const TimeSpan& range : ranges) {
    EXPECT_GE(range.end, range.begin);
    while (!open.empty() && open.back() <= range.begin + rounding) open.pop_back();
    if (!open.empty()) {
      EXPECT_LE(range.end, open.back() + rounding);
    }
    open.push_back(range.end);
  }
}

void expect_nested_tracks(const json& events) {
  std::map<int, std::vector<TimeSpan>> tracks;
  for (const json& e : events)
    if (e["ph"] == "X")
      tracks[e["tid"].get<int>()].push_back(
          {e["ts"].get<double>(), e["ts"].get<double>() + e["dur"].get<double>()});
  for (const auto& [track, ranges] : tracks) expect_nested(ranges);
}

std::set<std::string> names_of(const json& events, const char* phase) {
  std::set<std::string> names;
  for (const json& e : events)
    if (e["ph"] == phase) names.insert(e["name"].get<std::string>());
  return names;
}

int count_of(const json& events, const std::string& name) {
  return static_cast<int>(
      std::count_if(events.begin(), events.end(), [&](const json& e) { return e["name"] == name; }));
}

/// The share of the steps' time that their stages cover.
double coverage(const json& events) {
  double steps = 0, stages = 0;
  std::vector<TimeSpan> step_ranges, others;
  for (const json& e : events) {
    if (e["ph"] != "X") continue;
    const TimeSpan range{e["ts"].get<double>(), e["ts"].get<double>() + e["dur"].get<double>()};
    (e["name"] == "step" ? step_ranges : others).push_back(range);
  }
  for (const TimeSpan& r : step_ranges) steps += r.end - r.begin;
  std::sort(others.begin(), others.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
  double reached = 0;
  for (const TimeSpan& r : others) {
    stages += std::max(0.0, r.end - std::max(r.begin, reached));
    reached = std::max(reached, r.end);
  }
  return stages / steps;
}

TEST_F(TraceOfRun, NamesTheStagesOfABarrierStep) {
  ASSERT_EQ(call({"run", path("box.toml"), "--backend", "cpu", "--quiet", "--trace", path("t.json")}), 0)
      << errors_;
  const json all = events("t.json");
  expect_nested_tracks(all);
  EXPECT_EQ(count_of(all, "step"), 3);
  const std::set<std::string> spans = names_of(all, "X");
  for (const char* name : {"predict", "contacts", "minimise", "newton iteration", "assembly", "linear solve",
                           "ccd", "broad phase", "line search", "diagnostics"})
    EXPECT_TRUE(spans.count(name)) << name;
  for (const char* name :
       {"contacts", "residual", "iterations", "copies to host", "bytes", "allocations", "memory"})
    EXPECT_TRUE(names_of(all, "C").count(name)) << name;
  EXPECT_GT(coverage(all), 0.5);
  std::set<int> frames;
  for (const json& e : all)
    if (e["ph"] == "X") frames.insert(e["args"]["frame"].get<int>());
  EXPECT_EQ(frames, (std::set<int>{1, 2, 3}));
}

TEST_F(TraceOfRun, NamesTheStagesOfARigidStep) {
  ASSERT_EQ(call({"run", "box-stack", "--backend", "cpu", "--frames", "3", "--quiet", "--trace",
                  path("t.json"), "--report", path("r.jsonl")}),
            0)
      << errors_;
  const json all = events("t.json");
  expect_nested_tracks(all);
  const std::set<std::string> spans = names_of(all, "X");
  for (const char* name : {"step", "contacts", "broad phase", "narrow phase", "islands", "predict",
                           "contact problem", "assembly", "contact solve", "advance", "place nodes"})
    EXPECT_TRUE(spans.count(name)) << name;
  EXPECT_GT(coverage(all), 0.5);
  // The report has their sums.
  std::ifstream report(path("r.jsonl"));
  std::string line;
  std::getline(report, line);
  const json rows = json::parse(line)["spans"];
  ASSERT_TRUE(rows.is_array());
  EXPECT_EQ(rows[0]["name"], "step");
  EXPECT_EQ(rows[0]["count"], 1);
  EXPECT_GT(rows[0]["host_ms"], 0.0);
  EXPECT_TRUE(rows[0]["device_ms"].is_null()) << "the CPU has no clock of its own";
  double stages = 0;
  for (const json& row : rows)
    if (row["depth"] == 1) stages += row["host_ms"].get<double>();
  EXPECT_LE(stages, rows[0]["host_ms"].get<double>());
}

TEST_F(TraceOfRun, TracingChangesNoBit) {
  const auto end_of = [&](bool traced) {
    std::vector<std::string> line{
        "run", path("box.toml"), "--backend", "cpu", "--quiet", "--state", path(traced ? "a.msh" : "b.msh")};
    if (traced) line.insert(line.end(), {"--trace", path("t.json")});
    EXPECT_EQ(call(line), 0) << errors_;
    std::ifstream in(path(traced ? "a.msh" : "b.msh"));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(end_of(true), end_of(false));
}

TEST_F(TraceOfRun, AFailedRunLeavesAWholeFile) {
  ScriptedEngine::Script script;
  script.fails_at = 3;
  script.traces = true;
  EXPECT_EQ(call({"run", path("box.toml"), "--quiet", "--backend", "cpu", "--trace", path("t.json")},
                 [&](Backend, int) { return std::make_unique<ScriptedEngine>(script); }),
            1);
  const json all = events("t.json");
  EXPECT_EQ(count_of(all, "step"), 2);
  expect_nested_tracks(all);
}

TEST_F(TraceOfRun, ALostDeviceLeavesWholeFilesOfWhatWasDone) {
  ScriptedEngine::Script script;
  script.loses_device_at = 4;
  script.traces = true;
  EXPECT_EQ(call({"run", path("box.toml"), "--frames", "9", "--quiet", "--backend", "cpu", "--trace",
                  path("t.json"), "--report", path("r.jsonl"), "--state", path("s.msh")},
                 [&](Backend, int) { return std::make_unique<ScriptedEngine>(script); }),
            3);
  EXPECT_NE(errors_.find("stickslip: the device is lost: made up; the last frame is kept, restart with "
                         "--backend cpu"),
            std::string::npos)
      << errors_;
  EXPECT_EQ(count_of(events("t.json"), "step"), 3);
  std::ifstream report(path("r.jsonl"));
  std::string line;
  int steps = 0;
  for (; std::getline(report, line); ++steps) EXPECT_EQ(json::parse(line)["frame"], steps + 1);
  EXPECT_EQ(steps, 3);
  EXPECT_FALSE(fs::exists(path("s.msh"))) << "there is no state to write";
}

TEST_F(TraceOfRun, CtrlCLeavesAWholeFile) {
  ScriptedEngine::Script script;
  script.traces = true;
  std::thread interrupter;
  EXPECT_EQ(call({"run", path("box.toml"), "--frames", "100000000", "--backend", "cpu", "--quiet", "--trace",
                  path("t.json")},
                 [&](Backend, int) {
                   interrupter = std::thread([] {
                     std::this_thread::sleep_for(std::chrono::milliseconds(100));
                     kill(getpid(), SIGINT);
                   });
                   return std::make_unique<ScriptedEngine>(script);
                 }),
            0);
  interrupter.join();
  EXPECT_GT(count_of(events("t.json"), "step"), 0);
}

TEST_F(TraceOfRun, ABadPlaceIsRefusedBeforeAnythingRuns) {
  EXPECT_EQ(call({"run", path("box.toml"), "--backend", "cpu", "--trace", path("no/t.json")}), 2);
  EXPECT_NE(errors_.find("there is no folder"), std::string::npos) << errors_;
  EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
}

TEST_F(TraceOfRun, DeviceTimesHaveATrackOfTheirOwn) {
  StepReport report;
  report.frame = 7;
  report.trace = {
      {"step", 0, 1.0, 2.0, 1.1, 1.9}, {"solve", 1, 1.2, 1.5, -1, -1}, {"ccd", 1, 1.5, 1.75, 1.6, 1.8}};
  report.newton.resize(1);
  report.newton[0].gradient_norm = std::numeric_limits<double>::quiet_NaN();
  report.contacts = 4;
  report.counters.copies_to_host = 9;
  report.memory_bytes = 1000;
  TraceFile file(path("t.json"), "a \"name\"");
  file.add({});
  file.add(report);
  EXPECT_FALSE(fs::exists(path("t.json")));
  file.commit();
  const json all = events("t.json");
  std::vector<json> device, tracks;
  for (const json& e : all) {
    if (e["ph"] == "X" && e["tid"] == 2) device.push_back(e);
    if (e["name"] == "thread_name") tracks.push_back(e["args"]["name"]);
  }
  EXPECT_EQ(tracks, (std::vector<json>{"host", "device"}));
  ASSERT_EQ(device.size(), 2u);
  EXPECT_EQ(device[1]["name"], "ccd");
  EXPECT_DOUBLE_EQ(device[1]["ts"], 1.6e6);
  EXPECT_NEAR(device[1]["dur"].get<double>(), 0.2e6, 1e-3);
  EXPECT_EQ(device[1]["args"]["frame"], 7);
  EXPECT_EQ(count_of(all, "residual"), 0) << "a NaN is no figure";
  EXPECT_EQ(count_of(all, "process_name"), 1);
  for (const json& e : all) {
    if (e["ph"] != "C") continue;
    EXPECT_DOUBLE_EQ(e["ts"], 2e6);
    if (e["name"] == "memory") {
      EXPECT_EQ(e["args"]["bytes"], 1000);
    }
  }
}

}  // namespace
}  // namespace stickslip
