#include "app/io/scene/scene_variant.h"
#include "app/viewer/log_buffer.h"
#include "gpu/model/step_interrupted.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using namespace std::chrono_literals;
using test::at_rest_after;
using test::elapsed;
using test::fake;
using test::Gate;
using test::other_value;
using test::reached;
using test::Setup;
using Clock = Simulation::Clock;

TEST(Simulation, LoadsAndPlaysUntilPaused) {
  Simulation simulation(fake(), test::two_tets);
  simulation.set_pacing({.real_time = false});
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  EXPECT_EQ(simulation.frame().scene->name, "a");
  EXPECT_FALSE(simulation.status().playing);
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() >= 50; }));
  simulation.pause();
  ASSERT_TRUE(reached(simulation, [&] {
    return !simulation.history().empty() &&
           simulation.frame().snapshot.frame == simulation.history().back().frame &&
           !simulation.status().playing && simulation.status().activity == SimulationStatus::Activity::idle;
  }));
  const int stopped = simulation.frame().snapshot.frame;
  EXPECT_NEAR(simulation.frame().snapshot.positions[0][1], 0.01 * stopped, 1e-3);
  std::this_thread::sleep_for(20ms);
  simulation.update();
  EXPECT_EQ(simulation.frame().snapshot.frame, stopped);
}

TEST(Simulation, TheLogCountsWhatASceneHas) {
  const auto log = std::make_shared<LogBuffer>();
  const LogCapture capture(log);
  Simulation simulation(fake(), test::rigid_scene);
  simulation.post(LoadScene{"hinged"});
  EXPECT_TRUE(reached(simulation, [&] {
    bool found = false;
    log->visit([&](const LogLine& line) {
      found |= line.text.find("3 rigid bodies, 1 joint, ") != std::string::npos;
    });
    return found;
  })) << log->last().text;
}

TEST(Simulation, TheWindowNeverWaitsForAStep) {
  Gate gate;  // blocks a step for as long as the test needs
  Simulation simulation(fake([&](test::FakeEngine& engine) { engine.on_step = [&](int) { gate.pass(); }; }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  gate.wait_for_arrival();
  // While the step is blocked, a call below that waited for it would never return.
  simulation.update();
  EXPECT_EQ(simulation.status().activity, SimulationStatus::Activity::stepping);
  simulation.post(ParamEdit{"gravity", -3});
  EXPECT_EQ(simulation.settings().params.gravity, -3) << "an edit shows before it is applied";
  for (int i = 0; i < 1000; ++i) simulation.update();
  EXPECT_EQ(simulation.settings().params.gravity, -3) << "and is not taken back while it waits";
  simulation.post(LoadScene{"b"});
  simulation.play();
  simulation.pause();
  EXPECT_TRUE(simulation.journal().size() == 1);
  EXPECT_EQ(simulation.frame().snapshot.frame, 0);
  gate.open();
  EXPECT_TRUE(reached(simulation, [&] { return simulation.frame().scene->name == "b"; }));
}

TEST(Simulation, AKeyDuringAStepAsksForOneMore) {
  Gate gate;
  Simulation simulation(fake([&](test::FakeEngine& engine) { engine.on_step = [&](int) { gate.pass(); }; }),
                        test::two_tets);
  simulation.post(LoadScene{"any"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  simulation.play();
  gate.wait_for_arrival();
  simulation.pause();
  for (int i = 0; i < 5; ++i) simulation.request_step();
  gate.open();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.is_caught_up(); }));
  EXPECT_TRUE(at_rest_after(simulation, 2)) << "one more, and not as many as a held key sends";
  simulation.request_step();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.is_caught_up(); }));
  EXPECT_TRUE(at_rest_after(simulation, 3));
}

/// Computes until it is stopped.
void compute_on(const std::atomic<bool>* cancel) {
  while (!*cancel) std::this_thread::sleep_for(1ms);
  throw StepInterrupted();
}

TEST(Simulation, AStepIsStoppedOnRequest) {
  std::atomic<bool> endless = true, stepping = false;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          engine.on_step = [&](int) {
                            stepping = true;
                            if (endless) compute_on(engine.cancel);
                          };
                        }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  for (const bool playing : {true, false}) {
    stepping = false;
    playing ? simulation.play() : simulation.step_once();
    ASSERT_TRUE(reached(simulation, [&] { return stepping.load(); }));
    simulation.interrupt();
    ASSERT_TRUE(reached(simulation,
                        [&] { return simulation.status().activity == SimulationStatus::Activity::idle; }));
    EXPECT_FALSE(simulation.status().playing);
    EXPECT_EQ(simulation.status().frame, 0);
    EXPECT_TRUE(simulation.status().error.empty()) << "it was wanted";
    EXPECT_EQ(simulation.status().faults, 0);
  }
  endless = false;
  simulation.interrupt();
  simulation.step_once();
  EXPECT_TRUE(at_rest_after(simulation, 1)) << "neither stop concerns this step";
}

TEST(Simulation, AChangeOfTheSolverIsStoppedOnRequest) {
  std::atomic<bool> changing = false;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          engine.on_params = [&](const Params& params) {
                            if (stepper_family(params.solver) != StepperFamily::velocity) return;
                            changing = true;
                            compute_on(engine.cancel);
                          };
                        }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  const Params before = simulation.settings().params;
  simulation.post(ParamEdit{"solver", static_cast<double>(SolverKind::velocity)});
  ASSERT_TRUE(reached(simulation, [&] {
    return changing && simulation.status().activity == SimulationStatus::Activity::switching;
  }));
  simulation.interrupt();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.is_caught_up(); }));
  simulation.update();
  EXPECT_EQ(simulation.settings().params.solver, before.solver);
  EXPECT_EQ(simulation.status().activity, SimulationStatus::Activity::idle);
  EXPECT_EQ(simulation.journal().size(), 1u) << "the scene alone: the change was none";
  simulation.step_once();
  EXPECT_TRUE(at_rest_after(simulation, 1));
}

TEST(Simulation, TheEndOfTheWindowStopsAStep) {
  std::atomic<bool> stepping = false;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          engine.on_step = [&](int) {
                            stepping = true;
                            compute_on(engine.cancel);
                          };
                        }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return stepping.load(); }));
  // Else this never ends.
}

TEST(LongSimulation, AStepOfTenSecondsLeavesTheWindowFast) {
  std::atomic<bool> stepping = false;
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          engine.on_step = [&](int) {
                            stepping = true;
                            std::this_thread::sleep_for(10s);
                            stepping = false;
                          };
                        }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  while (!stepping) std::this_thread::sleep_for(1ms);
  double slowest = 0;
  for (int i = 0; i < 100; ++i) {
    const Clock::time_point start = Clock::now();
    simulation.post(DragMove{{0, 0.1 * i, 0}});
    simulation.post(MaterialEdit{-1, "mu", 0.01 * i});
    simulation.update();
    slowest = std::max(slowest, elapsed(start));
  }
  EXPECT_TRUE(stepping) << "the calls above took as long as the step";
  RecordProperty("slowest_call_ms", std::to_string(1e3 * slowest));
}

TEST(Simulation, EditsActInOrderBetweenSteps) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  simulation.post(ParamEdit{"gravity", -1});
  simulation.post(ParamEdit{"dt", 0.1});
  simulation.post(ParamEdit{"gravity", -2});
  simulation.post(MaterialEdit{1, "young", 5e6});
  simulation.post(HalfSpaceEdit{0, 0.7});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 2));
  EXPECT_EQ(simulation.history().back().gravity_energy, -2);
  EXPECT_NEAR(simulation.history().back().time, 1.0 / 60 + 0.1, 1e-12);
  EXPECT_EQ(simulation.settings().materials[0].young, Material{}.young);
  EXPECT_EQ(simulation.settings().materials[1].young, 5e6);
  EXPECT_EQ(simulation.settings().half_space_mu, std::vector<double>{0.7});

  const std::vector<JournalEntry> journal = simulation.journal();
  ASSERT_EQ(journal.size(), 6u);
  EXPECT_EQ(std::get<LoadScene>(journal[0].command).scene, "a");
  EXPECT_EQ(std::get<ParamEdit>(journal[3].command).value, -2);
  for (std::size_t i = 1; i < journal.size(); ++i) {
    EXPECT_EQ(journal[i].frame, 1);
    EXPECT_GE(journal[i].wall, journal[i - 1].wall);
  }
}

/// The parameters of each step.
struct StepParams {
  std::mutex mutex;
  std::vector<Params> seen;
  Setup setup() {
    return [this](test::FakeEngine& engine) {
      engine.on_step = [this, &engine](int) {
        const std::lock_guard lock(mutex);
        seen.push_back(engine.params());
      };
    };
  }
};

TEST(Simulation, EveryParameterActsBetweenStepsAndTheJournalReplaysIt) {
  StepParams first;
  Simulation simulation(fake(first.setup()), test::two_tets);
  simulation.post(LoadScene{"a"});
  int steps = 0;
  const auto step = [&](Simulation& which) {
    which.step_once();
    ASSERT_TRUE(at_rest_after(which, ++steps));
  };
  step(simulation);
  const std::span<const ParamInfo> table = param_table();
  for (const ParamInfo& info : table) {
    const double before = get_param(&simulation.settings().params, info);
    simulation.post(ParamEdit{info.name, other_value(info, before)});
    step(simulation);
  }
  ASSERT_EQ(first.seen.size(), table.size() + 1);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const ParamInfo& info = table[i];
    const double was = get_param(&first.seen[i], info);
    EXPECT_EQ(get_param(&first.seen[i + 1], info), other_value(info, was)) << info.name;
  }
  EXPECT_EQ(first.seen.front().solver, SolverKind::ipc);
  EXPECT_EQ(first.seen.back().solver, SolverKind::ccd_al);

  StepParams second;
  Simulation again(fake(second.setup()), test::two_tets);
  steps = 0;
  for (const JournalEntry& entry : simulation.journal()) {
    while (steps < entry.frame) step(again);
    again.post(entry.command);
  }
  step(again);
  ASSERT_EQ(second.seen.size(), first.seen.size());
  for (std::size_t i = 0; i < first.seen.size(); ++i)
    for (const ParamInfo& info : table)
      EXPECT_EQ(get_param(&second.seen[i], info), get_param(&first.seen[i], info)) << i << ' ' << info.name;
}

TEST(Simulation, ASliderThatMovesOnLeavesOneEdit) {
  Gate gate;
  Simulation simulation(fake([&](test::FakeEngine& engine) { engine.on_step = [&](int) { gate.pass(); }; }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  gate.wait_for_arrival();
  for (int i = 0; i < 100; ++i) simulation.post(ParamEdit{"gravity", -i * 0.1});
  for (int i = 0; i < 100; ++i) simulation.post(MaterialEdit{i % 2, "mu", 0.01 * i});
  gate.open();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.journal().size() == 102; }));
  EXPECT_NEAR(simulation.settings().params.gravity, -9.9, 1e-12);
}

TEST(Simulation, DragLastsFromStartToEnd) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.post(DragMove{{0, 9, 0}});  // no drag yet
  simulation.post(DragStart{{{0, 1, 2}, {1, 0, 0}, {0, 2, 0}}});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  EXPECT_EQ(simulation.history().back().gravity_energy, 2);
  simulation.post(DragMove{{0, 3, 0}});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 2));
  EXPECT_EQ(simulation.history().back().gravity_energy, 3);
  simulation.post(DragEnd{});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 3));
  EXPECT_EQ(simulation.history().back().gravity_energy, Params{}.gravity);
}

TEST(Simulation, ADragOfNodesThatAreGoneIsIgnored) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  const auto nodes = static_cast<std::int32_t>(test::two_tets("a", "").model.node_count());
  simulation.post(DragStart{{{0, 1, nodes}, {1, 0, 0}, {0, 2, 0}}});
  simulation.post(DragStart{{{-1, 1, 2}, {1, 0, 0}, {0, 2, 0}}});
  simulation.post(DragMove{{0, 3, 0}});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  EXPECT_EQ(simulation.history().back().gravity_energy, Params{}.gravity);
  EXPECT_EQ(simulation.status().error, "");
  for (const JournalEntry& entry : simulation.journal())
    EXPECT_FALSE(std::holds_alternative<DragStart>(entry.command)) << "a replay would refuse it";
}

TEST(Simulation, ResetGoesBackToTheStartAndKeepsSettings) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 2));
  simulation.post(ParamEdit{"d_hat", 1e-4});
  simulation.post(Reset{});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 0; }));
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().empty(); }));
  EXPECT_EQ(simulation.settings().params.d_hat, 1e-4);
  EXPECT_EQ(simulation.frame().snapshot.positions[0][1], 0);
}

TEST(Simulation, ResetAllTakesBackEveryEditWithoutTheFile) {
  std::atomic<int> reads = 0;
  Simulation simulation(fake(), [&](const std::string& name, const std::string&) {
    ++reads;
    return test::two_tets(name);
  });
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  const Settings first = simulation.settings();
  simulation.post(ParamEdit{"gravity", -3});
  simulation.post(ContactParamEdit{"tolerance", 1e-5});
  simulation.post(MaterialEdit{1, "young", 5e6});
  simulation.post(HalfSpaceEdit{0, 0.7});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  EXPECT_EQ(simulation.history().back().gravity_energy, -3);

  simulation.post(ResetAll{});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().empty(); }));
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  EXPECT_EQ(simulation.history().back().gravity_energy, first.params.gravity) << "the engine has it, too";
  EXPECT_NEAR(simulation.frame().snapshot.positions[0][1], 0.01, 1e-6) << "one step from the start";
  EXPECT_EQ(simulation.settings().params.gravity, first.params.gravity);
  EXPECT_EQ(simulation.settings().contact_params.tolerance, first.contact_params.tolerance);
  EXPECT_EQ(simulation.settings().materials[1].young, first.materials[1].young);
  EXPECT_EQ(simulation.settings().half_space_mu, first.half_space_mu);
  EXPECT_EQ(reads, 1);
}

TEST(Simulation, AFailingStepPausesAndLeavesTheThreadAlive) {
  Simulation simulation(fake([](test::FakeEngine& engine) {
                          engine.on_step = [](int frame) {
                            if (frame == 3) throw SimulationError("NaN at node 7");
                          };
                        }),
                        test::two_tets);
  simulation.set_pacing({.real_time = false});
  simulation.post(LoadScene{"a"});
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().error, "NaN at node 7");
  EXPECT_FALSE(simulation.status().playing);
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 3; }));
  simulation.post(Reset{});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 0; }));
  simulation.step_once();
  EXPECT_TRUE(at_rest_after(simulation, 1));
  EXPECT_TRUE(simulation.status().error.empty());
}

TEST(Simulation, ASceneThatTheEngineRefusesIsShownButNotRun) {
  Simulation simulation(fake([](test::FakeEngine& engine) {
                          engine.on_load = [](const Model& model) {
                            if (model.half_spaces[0].mu == 9)
                              throw std::invalid_argument("low touches the floor");
                          };
                        }),
                        [](const std::string& name, const std::string&) {
                          Scene scene = test::two_tets(name);
                          if (name == "bad") scene.model.half_spaces[0].mu = 9;
                          return scene;
                        });
  simulation.post(LoadScene{"good"});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  simulation.play();
  simulation.post(LoadScene{"bad"});
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().error, "low touches the floor");
  EXPECT_FALSE(simulation.status().loaded);
  EXPECT_FALSE(simulation.status().playing);
  EXPECT_EQ(simulation.frame().scene->name, "bad");
  simulation.post(LoadScene{"good"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  EXPECT_TRUE(simulation.status().error.empty());
}

TEST(Simulation, LoadsTheNamedVariantOfAScene) {
  Simulation simulation(fake(), [](const std::string& name, const std::string& variant) {
    Scene scene = test::two_tets(name);
    scene.variants.push_back({"light", "on the moon", {"gravity=-1.6"}, 0, {}, {}});
    if (!variant.empty()) choose_variant(scene, variant);
    return scene;
  });
  simulation.post(LoadScene{"a", "light"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().loaded; }));
  EXPECT_EQ(simulation.frame().scene->variant, "light");
  EXPECT_EQ(full_name(*simulation.frame().scene), "a:light");
  EXPECT_EQ(simulation.settings().params.gravity, -1.6);
  simulation.post(LoadScene{"a", "heavy"});
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().error, "scene 'a' has no variant 'heavy'; it has: light");
  EXPECT_EQ(simulation.frame().scene->variant, "light") << "the loaded scene remains";
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().scene->variant.empty(); }));
  EXPECT_EQ(simulation.settings().params.gravity, Params{}.gravity);
}

TEST(Simulation, ASceneFileThatCannotBeReadLeavesTheOldOneLoaded) {
  Simulation simulation(fake(), [](const std::string& name, const std::string&) {
    if (name == "missing") throw InputError("missing: no such scene");
    return test::two_tets(name);
  });
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  ASSERT_TRUE(at_rest_after(simulation, 1));
  simulation.post(LoadScene{"missing"});
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_TRUE(simulation.status().loaded);
  EXPECT_EQ(simulation.frame().scene->name, "a");
  simulation.step_once();
  EXPECT_TRUE(at_rest_after(simulation, 2));
}

TEST(Simulation, ABadEditIsRefusedAndShownAsRefused) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.post(ParamEdit{"dt", -1});
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.settings().params.dt, Params{}.dt);
  EXPECT_EQ(simulation.journal().size(), 1u);
}

TEST(Simulation, RealTimePacingDoesNotRunAheadOfTheClock) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.play();
  const Clock::time_point start = Clock::now();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() >= 12; }));
  // Two steps of 1/60 s may come at once at the start.
  EXPECT_GE(elapsed(start), 9.0 / 60);
  simulation.set_pacing({.real_time = true, .speed = 0.1});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.pacing().speed == 0.1; }));
}

TEST(Simulation, AnEngineThatCannotBeMadeIsReportedByTheConstructor) {
  EXPECT_THROW(
      Simulation([]() -> std::unique_ptr<Engine> { throw std::runtime_error("no device"); }, test::two_tets),
      std::runtime_error);
}

TEST(Simulation, CommandsArriveDuringStepsOfTheOtherThread) {  // for the thread sanitizer
  std::atomic<int> wakes = 0;
  Simulation simulation(fake(), test::two_tets, [&] { ++wakes; });
  simulation.set_pacing({.real_time = false});
  simulation.post(LoadScene{"a"});
  simulation.play();
  for (int i = 0; i < 300; ++i) {
    simulation.post(ParamEdit{"gravity", -0.01 * i});
    if (i % 50 == 49) simulation.post(Reset{});
    if (i % 100 == 99) simulation.post(LoadScene{i % 200 == 99 ? "a" : "b"});
    simulation.update();
    const Snapshot& snapshot = simulation.frame().snapshot;
    for (const auto& x : snapshot.positions) ASSERT_TRUE(std::isfinite(x[1]));
    if (simulation.frame().scene) {
      ASSERT_EQ(snapshot.positions.size(), simulation.frame().scene->model.node_count());
    }
  }
  EXPECT_TRUE(reached(simulation, [&] { return simulation.history().size() > 10; }));
  EXPECT_GT(wakes, 0);
}

TEST(Simulation, TheFrameHasTheSceneOfTheStatus) {
  Simulation simulation(fake(), test::two_tets);
  for (int i = 1; i <= 400; ++i) {
    simulation.post(LoadScene{std::to_string(i)});
    while (simulation.status().scenes < i) simulation.update();
    ASSERT_TRUE(simulation.frame().scene);
    ASSERT_EQ(simulation.frame().scene->name, std::to_string(i));
  }
}

TEST(TripleBuffer, TheReaderSeesTheNewestAndNeverARaggedValue) {
  TripleBuffer<std::pair<int, int>> buffer;
  EXPECT_FALSE(buffer.update());
  constexpr int last = 200000;
  std::thread writer([&] {
    for (int i = 1; i <= last; ++i) {
      buffer.back() = {i, -i};
      buffer.publish();
    }
  });
  int previous = 0;
  while (previous < last) {
    if (!buffer.update()) continue;
    const auto [a, b] = buffer.front();
    ASSERT_EQ(a, -b);
    ASSERT_GT(a, previous);
    previous = a;
  }
  writer.join();
  EXPECT_FALSE(buffer.update());
}

}  // namespace
}  // namespace stickslip
