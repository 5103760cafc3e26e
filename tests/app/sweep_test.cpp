// Sweeps over a parameter: their values, and the runs in the background.
#include "app/viewer/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "app/io/file/input_error.h"
#include "app/io/scene/scene.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using test::fake;
using test::reached;

std::string sweep_words_refusal(const std::vector<std::string>& words) {
  try {
    sweep_request(words);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SweepValues, AreEquallySpacedOrHaveEqualRatios) {
  const SweepRequest linear{.key = "mu", .low = 0.25, .high = 0.75, .count = 5};
  EXPECT_EQ(sweep_values(linear), (std::vector<double>{0.25, 0.375, 0.5, 0.625, 0.75}));
  EXPECT_EQ(sweep_values({.key = "mu", .low = 0.1, .high = 0.9, .count = 9}),
            (std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}));
  EXPECT_EQ(sweep_values({.key = "mu", .low = -0.2, .high = 1, .count = 7})[1], 0);
  const std::vector<double> log =
      sweep_values({.key = "young", .low = 1e3, .high = 1e7, .logarithmic = true, .count = 5});
  ASSERT_EQ(log.size(), 5u);
  EXPECT_EQ(log.front(), 1e3);
  EXPECT_EQ(log.back(), 1e7);
  for (std::size_t i = 1; i < log.size(); ++i) EXPECT_NEAR(log[i] / log[i - 1], 10, 1e-9);
}

TEST(SweepValues, OfWholeNumbersAreRoundedAndNotRepeated) {
  EXPECT_EQ(sweep_values({.key = "contact.max_iterations", .low = 1, .high = 4, .count = 7}),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST(SweepKeys, AreTheNumericRowsOfAllTables) {
  const std::vector<std::string> keys = sweep_keys();
  for (const char* key : {"dt", "mu", "contact.omega"}) EXPECT_EQ(std::ranges::count(keys, key), 1) << key;
  for (const char* key : {"solver", "check_intersections", "model"})
    EXPECT_EQ(std::ranges::count(keys, key), 0) << key;
  for (const std::string& key : keys) EXPECT_NO_THROW(find_sweep_key(key)) << key;
  EXPECT_TRUE(std::holds_alternative<ParamEdit>(sweep_edit(find_sweep_key("dt"), 1)));
  EXPECT_TRUE(std::holds_alternative<ContactParamEdit>(sweep_edit(find_sweep_key("contact.omega"), 1)));
  EXPECT_EQ(std::get<MaterialEdit>(sweep_edit(find_sweep_key("mu"), 0.3)).material, -1);
  EXPECT_THROW(find_sweep_key("solver"), InputError);
}

TEST(SweepKeys, HaveAPresentValueUnlessMaterialsDiffer) {
  Settings settings;
  settings.materials.resize(2);
  settings.params.dt = 0.02;
  settings.contact_params.omega = 1.5;
  EXPECT_EQ(present_value(find_sweep_key("dt"), settings), 0.02);
  EXPECT_EQ(present_value(find_sweep_key("contact.omega"), settings), 1.5);
  settings.materials[0].mu = settings.materials[1].mu = 0.4;
  EXPECT_EQ(present_value(find_sweep_key("mu"), settings), 0.4);
  settings.materials[1].mu = 0.5;
  EXPECT_EQ(present_value(find_sweep_key("mu"), settings), std::nullopt);
}

TEST(SweepRequests, BeginWithARangeAroundThePresentValue) {
  Settings settings;
  settings.materials.resize(1);
  settings.materials[0].mu = 0.4;
  const SweepRequest mu = default_sweep("mu", settings);
  EXPECT_DOUBLE_EQ(mu.low, 0.1);
  EXPECT_DOUBLE_EQ(mu.high, 1.6);
  EXPECT_TRUE(mu.logarithmic);
  for (const std::string& key : sweep_keys()) {
    const SweepRequest request = default_sweep(key, settings);
    EXPECT_EQ(sweep_refusal(request), "") << key;
    const ParamInfo& row = *find_sweep_key(key).row;
    EXPECT_GE(request.low, row.low) << key;
    EXPECT_LE(request.high, row.high) << key;
  }
}

TEST(SweepRequests, AreReadFromWords) {
  const SweepRequest request = sweep_request({"contact.omega", "0.5", "1.5", "4", "20"});
  EXPECT_EQ(request.key, "contact.omega");
  EXPECT_EQ(request.low, 0.5);
  EXPECT_EQ(request.high, 1.5);
  EXPECT_EQ(request.count, 4);
  EXPECT_EQ(request.steps, 20);
  EXPECT_FALSE(request.logarithmic);
  EXPECT_TRUE(sweep_request({"mu", "1e-3", "1", "4", "20", "log"}).logarithmic);
}

TEST(SweepRequests, ThatCannotRunAreRefusedWithTheReason) {
  const std::pair<std::vector<std::string>, const char*> bad[] = {
      {{"mu", "0", "1", "5"}, "sweep needs KEY LOW HIGH COUNT STEPS"},
      {{"muu", "0", "1", "5", "9"}, "did you mean 'mu'"},
      {{"solver", "0", "1", "5", "9"}, "'solver' has no numbers"},
      {{"mu", "low", "1", "5", "9"}, "'low' is no number"},
      {{"mu", "0", "1x", "5", "9"}, "'1x' is no number"},
      {{"mu", "0", "1", "2", "9"}, "from 3 to 16 values"},
      {{"mu", "0", "1", "17", "9"}, "from 3 to 16 values"},
      {{"mu", "0", "1", "3.5", "9"}, "no whole number"},
      {{"mu", "0", "1", "5", "0"}, "from 1 to 100000 steps"},
      {{"mu", "1", "1", "5", "9"}, "below the highest"},
      {{"mu", "0", "inf", "5", "9"}, "finite"},
      {{"mu", "0", "1", "5", "9", "log"}, "begins above 0"},
      {{"mu", "0", "1", "5", "9", "lin"}, "only 'log'"},
  };
  for (const auto& [words, part] : bad)
    EXPECT_NE(sweep_words_refusal(words).find(part), std::string::npos) << sweep_words_refusal(words);
}

/// A run of a fake engine lifts all nodes by a centimetre per step.
StepRaceStart fake_start() {
  StepRaceStart start;
  start.model = test::two_tets("a").model;
  start.state = {7, 0.25, start.model.positions, start.model.velocities};
  start.params.dt = 0.01;
  return start;
}

TEST(SweepRuns, EndAtTheSameTimeWhateverTheTimeStep) {
  const StepRaceStart start = fake_start();
  const double begin = start.model.positions[0][1];
  const auto height = [&](double dt, int steps) {
    const SweepRun run =
        run_value(*fake()(), start, Command{ParamEdit{"dt", dt}}, 4 * start.params.dt, nullptr);
    EXPECT_EQ(run.end, SweepRun::End::finished) << run.message;
    EXPECT_EQ(run.steps, steps) << dt;
    return static_cast<double>(run.positions.at(0)[1]) - begin;
  };
  EXPECT_NEAR(height(0.01, 4), 0.04, 1e-6);
  EXPECT_NEAR(height(0.005, 8), 0.08, 1e-6);
  EXPECT_NEAR(height(0.025, 2), 0.016, 1e-6) << "0.6 of the way between two steps";
  EXPECT_NEAR(height(0.1, 1), 0.004, 1e-6);
}

TEST(SweepRuns, SayWhyTheyWereRefusedOrFailed) {
  const StepRaceStart start = fake_start();
  const SweepRun refused = run_value(*fake()(), start, Command{MaterialEdit{-1, "mu", -1}}, 0.05, nullptr);
  EXPECT_EQ(refused.end, SweepRun::End::refused);
  EXPECT_NE(refused.message.find("mu"), std::string::npos) << refused.message;
  EXPECT_TRUE(refused.positions.empty());
  const auto broken = fake([](test::FakeEngine& engine) {
    engine.on_step = [](int frame) {
      if (frame == 9) throw SimulationError("NaN in the state");
    };
  });
  const SweepRun failed = run_value(*broken(), start, {}, 0.05, nullptr);
  EXPECT_EQ(failed.end, SweepRun::End::failed);
  EXPECT_EQ(failed.message, "NaN in the state");
  EXPECT_EQ(failed.steps, 2);
  const std::atomic<bool> cancel = true;
  EXPECT_EQ(run_value(*fake()(), start, {}, 0.05, &cancel).end, SweepRun::End::cancelled);
}

class SweepTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder); }
  bool over(ParamSweep& sweep, Simulation& simulation) {
    return reached(simulation, [&] {
      sweep.follow(simulation);
      return !sweep.busy();
    });
  }
  static const SweepMeasure& measure(std::string_view name) {
    return *std::ranges::find(sweep_measures(), name, &SweepMeasure::name);
  }

  const fs::path folder = fs::temp_directory_path() / ("stickslip-sweep-" + std::to_string(getpid()));
};

/// Real engines: the run with the present value is that of the running scene, to the bit.
TEST_F(SweepTest, ThePresentValueLeadsToWhereTheSceneGoes) {
  const auto engine = [] { return make_engine(Backend::cpu, 1); };
  Simulation simulation(engine, [](const std::string& name, const std::string&) { return load_scene(name); });
  simulation.post(LoadScene{"rest"});
  for (int i = 0; i < 3; ++i) simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().frame == 3; }));
  // Both then go on from a state without memory.
  simulation.post(ForkState{});
  std::shared_ptr<const CapturedState> state;
  ASSERT_TRUE(reached(simulation, [&] { return (state = simulation.take_forked()) != nullptr; }));

  ParamSweep sweep(engine, {});
  sweep.ask(simulation, {.key = "young", .low = 2e4, .high = 4e4, .count = 3, .steps = 4});
  EXPECT_TRUE(sweep.busy());
  ASSERT_TRUE(over(sweep, simulation));
  const SweepStatus& status = sweep.status();
  EXPECT_EQ(status.error, "");
  ASSERT_EQ(status.runs.size(), 3u);
  ASSERT_TRUE(status.present);
  EXPECT_EQ(status.present->value, 3e4);
  EXPECT_EQ(status.present->steps, 4);
  EXPECT_GT(status.runs[0].distance, 0);
  EXPECT_EQ(status.runs[1].value, 3e4);
  EXPECT_EQ(status.runs[1].distance, 0);
  EXPECT_GT(status.runs[2].distance, 0);
  EXPECT_TRUE(status.runs[0].positions.empty()) << "a status is small";
  EXPECT_TRUE(status.file.empty());
  EXPECT_EQ(simulation.take_captured(), nullptr) << "no race was asked for";

  for (int i = 0; i < 4; ++i) simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 7; }));
  const SweepRun again = run_value(*engine(), state->start, {}, 4 * state->start.params.dt, nullptr);
  const std::span<const Vec3f> here = simulation.frame().positions();
  ASSERT_EQ(again.positions.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_EQ(norm(again.positions[i] - here[i]), 0) << i;
  EXPECT_EQ(status.present->kinetic_energy, simulation.history().back().kinetic_energy);
}

TEST_F(SweepTest, AValueThatIsRefusedLeavesTheOthers) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  ParamSweep sweep(fake(), folder);
  sweep.ask(simulation, {.key = "mu", .low = -0.5, .high = 0.5, .count = 3, .steps = 2});
  ASSERT_TRUE(over(sweep, simulation));
  const SweepStatus& status = sweep.status();
  ASSERT_EQ(status.runs.size(), 3u);
  EXPECT_EQ(status.runs[0].end, SweepRun::End::refused);
  EXPECT_NE(status.runs[0].message.find("mu"), std::string::npos);
  EXPECT_TRUE(std::isnan(status.runs[0].distance));
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(status.runs[i].end, SweepRun::End::finished);
    EXPECT_EQ(status.runs[i].distance, 0);
  }
  const SweepStrip strip = sweep_strip(status, measure("distance"));
  EXPECT_EQ(strip.heights[0], std::nullopt);
  EXPECT_EQ(strip.heights[1], 0.0);

  // One line per run, under names that all sweeps share.
  ASSERT_FALSE(status.file.empty()) << status.note;
  std::ifstream stream(status.file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "run,mu,end,steps,distance,kinetic_energy,converged,iterations,milliseconds,message");
  EXPECT_EQ(lines[1].substr(0, 8), "present,");
  EXPECT_EQ(lines[2].substr(0, 27), "swept,-0.5,refused,0,,,,,,\"") << lines[2];
  EXPECT_EQ(lines[4].substr(0, 25), "swept,0.5,finished,2,0,0,") << lines[4];
}

TEST_F(SweepTest, CancellingEndsItAndWritesNothing) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  test::Gate gate;
  const auto waits = fake([&](test::FakeEngine& engine) { engine.on_step = [&](int) { gate.pass(); }; });
  ParamSweep sweep(waits, folder);
  sweep.ask(simulation, {.key = "mu", .low = 0.1, .high = 0.5, .count = 3, .steps = 50});
  ASSERT_TRUE(reached(simulation, [&] {
    sweep.follow(simulation);
    return sweep.status().running;
  }));
  gate.wait_for_arrival();
  sweep.cancel();
  gate.open();
  ASSERT_TRUE(over(sweep, simulation));
  EXPECT_TRUE(sweep.status().runs.empty());
  EXPECT_FALSE(sweep.status().present);
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(sweep.status().error, "");

  sweep.ask(simulation, {.key = "mu", .low = 0.1, .high = 0.5, .count = 3, .steps = 1});
  ASSERT_TRUE(over(sweep, simulation));
  EXPECT_EQ(sweep.status().runs.size(), 3u) << "another one can follow";
}

TEST_F(SweepTest, IsOverWhereThereIsNoStateOrNoEngine) {
  Simulation simulation(fake(), test::two_tets);
  ParamSweep sweep([]() -> std::unique_ptr<Engine> { throw std::runtime_error("no engine today"); }, {});
  const SweepRequest request{.key = "mu", .low = 0.1, .high = 0.5, .count = 3, .steps = 1};
  sweep.ask(simulation, request);
  ASSERT_TRUE(over(sweep, simulation)) << "no scene is loaded";
  EXPECT_EQ(sweep.status().state, nullptr);
  simulation.post(LoadScene{"a"});
  sweep.ask(simulation, request);
  ASSERT_TRUE(over(sweep, simulation));
  EXPECT_EQ(sweep.status().error, "no engine today");
  EXPECT_THROW(sweep.ask(simulation, {.key = "mu", .low = 1, .high = 0}), InputError);
  EXPECT_FALSE(sweep.busy());
}

TEST_F(SweepTest, AValueThatIsPutIntoTheSceneCanBeTakenBack) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  const double before = simulation.settings().materials[0].mu;
  simulation.post(sweep_edit(find_sweep_key("mu"), 0.77));
  ASSERT_TRUE(reached(simulation, [&] { return simulation.edits().can_undo(); }));
  EXPECT_EQ(simulation.settings().materials[1].mu, 0.77);
  simulation.undo();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.settings().materials[0].mu == before; }));
  EXPECT_EQ(simulation.settings().materials[1].mu, before);
}

TEST_F(SweepTest, TheStripIsLogarithmicWhereValuesDifferMuch) {
  SweepStatus status;
  for (const double distance : {0.0, 1e-6, 1e-3}) {
    SweepRun run;
    run.distance = distance;
    run.steps = 4;
    run.converged = 2;
    status.runs.push_back(run);
  }
  SweepStrip strip = sweep_strip(status, measure("distance"));
  EXPECT_TRUE(strip.logarithmic);
  EXPECT_EQ(strip.heights[0], 0.0) << "zero is at the lower edge";
  EXPECT_GT(*strip.heights[1], 0);
  EXPECT_LT(*strip.heights[1], 0.3);
  EXPECT_EQ(strip.heights[2], 1.0);
  EXPECT_EQ(strip.present, std::nullopt);
  status.present = status.runs[2];
  status.runs[1].converged = 4;
  strip = sweep_strip(status, measure("converged"));
  EXPECT_FALSE(strip.logarithmic);
  EXPECT_EQ(strip.high, 1);
  EXPECT_EQ(strip.heights[0], 0.5);
  EXPECT_EQ(strip.heights[1], 1.0);
  EXPECT_EQ(strip.present, 0.5);
  status.runs.clear();
  EXPECT_TRUE(sweep_strip(status, measure("distance")).heights.empty());
}

}  // namespace
}  // namespace stickslip
