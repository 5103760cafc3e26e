// stickslip bench steps: on real engines, at the smallest sizes.
#include "bench/program/bench_steps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/app/call_cli.h"

namespace stickslip {
namespace {

using nlohmann::json;

BackendInfo cpu_info() {
  for (const BackendInfo& info : list_backends())
    if (info.backend == Backend::cpu) return info;
  throw std::logic_error("no cpu");
}

BenchResult steps_of(const std::vector<std::string>& scenes) {
  StepBenchOptions options;
  options.scenes = scenes;
  options.threads = 1;
  options.warm = 1;
  options.steps = 2;
  return bench_sized_steps(cpu_info(), options, make_engine);
}

TEST(BenchSteps, MeasureAStepAndItsStages) {
  const BenchResult result = steps_of({"stack", "rubble"});
  std::map<std::string, double> figures;
  for (const BenchFigure& f : result.figures) {
    EXPECT_TRUE(std::isfinite(f.value) && f.value >= 0) << f.name;
    EXPECT_TRUE(figures.emplace(f.name, f.value).second) << f.name;
    EXPECT_EQ(f.peer, 0) << f.name;
  }
  const std::size_t tets = load_scene("stack").model.tets.size();
  const std::string stack = "stack, " + std::to_string(tets / 1000) + "k tets, ",
                    rubble = "rubble, 2k bodies, ";
  for (const std::string& scene : {stack, rubble})
    for (const char* what : {"step", "launches", "copies to the host", "memory"}) {
      ASSERT_TRUE(figures.count(scene + what)) << scene + what;
      EXPECT_GT(figures[scene + what], 0) << scene + what;
    }
  EXPECT_GE(figures[stack + "newton"], 1);
  EXPECT_GE(figures[stack + "pcg"], figures[stack + "newton"]);
  EXPECT_GE(figures[rubble + "contact solver"], 1);
  EXPECT_NEAR(figures[stack + "memory over tets"] * static_cast<double>(tets),
              1e6 * figures[stack + "memory"], 1);
  EXPECT_NEAR(figures[rubble + "memory over bodies"] * 2000, 1e6 * figures[rubble + "memory"], 1);
  double stages = 0;
  for (const char* what :
       {"broad phase", "contacts", "assembly", "linear solve", "ccd", "line search", "other"})
    stages += figures[stack + what];
  EXPECT_LE(stages, 1.01 * figures[stack + "step"]);
}

TEST(BenchSteps, NoteWhatWasPublishedForALargerScene) {
  const BenchResult result = steps_of({"bowl"});
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("RTX 4090"), std::string::npos) << result.notes[0];
  EXPECT_EQ(result.figures[0].peer, 0) << "another size is no comparison";
}

TEST(BenchSteps, AreComparedOnlyWithWhatIsAsLarge) {
  const PublishedStep published{3400, 826e3, 2200, 8.2, "theirs"};
  EXPECT_TRUE(published.is_like(832e3, 1800));
  EXPECT_TRUE(published.is_like(760e3, 9000));
  EXPECT_FALSE(published.is_like(832e3, 900)) << "a fall without contacts";
  EXPECT_FALSE(published.is_like(700e3, 2200));
  EXPECT_FALSE(published.is_like(1e6, 2200));
}

void expect_published_sizes(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto [tets, published] = full_and_published_tets(name);
    EXPECT_NEAR(tets / published, 1, 0.1) << name << ": " << tets;
  }
}

TEST(BenchSteps, HaveThePublishedSizes) {
  expect_published_sizes({"roller", "tube-twist", "staircase", "staircase-dragons", "rods-twist"});
}

TEST(LongBenchSteps, HaveThePublishedSizesOfLargeScenes) {
  expect_published_sizes({"bowl", "noodles", "noodles-200", "puffer-net", "pachinko", "light-net"});
}

TEST(BenchSteps, RefuseAnUnknownScene) { EXPECT_THROW(steps_of({"dorp"}), InputError); }

TEST(BenchSteps, MoreBodiesStandOnEachOtherAndFinerOnesGrow) {
  EXPECT_EQ(with_more_bodies("count = [1, 4, 2]\ngrow = \"count\"\nmax_count = 2\ncount = [2, 4, 1]\n", 3),
            "count = [1, 12, 2]\ngrow = \"edge\"\nmax_count = 2\ncount = [2, 12, 1]\n");
  const Scene scene = load_scene("noodles");
  std::ifstream file(scene.file);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(parse_scene(with_more_bodies(text, 2), scene.file).model.tets.size(),
            2 * scene.model.tets.size());
}

TEST(BenchSteps, WriteJsonThatCanBeRead) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("stickslip_steps_" + std::to_string(getpid()) + ".json");
  const std::string file = path.string();
  const char* arguments[] = {"stickslip",  "bench",     "steps",   "--scenes",  "stack",
                             "--warm",     "0",         "--steps", "1",         "--json",
                             file.c_str(), "--backend", "cpu",     "--threads", "1"};
  ::testing::internal::CaptureStdout();
  const int code = call_cli(static_cast<int>(std::size(arguments)), arguments);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  std::ifstream stream(path);
  const json bench = json::parse(stream);
  std::filesystem::remove(path);
  ASSERT_EQ(bench.size(), 1u);
  EXPECT_EQ(bench[0]["bench"], "steps");
  EXPECT_GT(bench[0]["figures"].size(), 10u);
  EXPECT_NE(out.find("waits of the host"), std::string::npos) << out;
}

}  // namespace
}  // namespace stickslip
