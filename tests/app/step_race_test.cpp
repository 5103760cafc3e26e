// Races of steppers: one run, the ranking, the command line, and the race in the background of the window.
#include "app/io/report/step_race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/io/report/report.h"
#include "app/viewer/stepper_race.h"
#include "gpu/core/device_lost.h"
#include "tests/app/cli_lab_fixture.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using nlohmann::json;
using test::fake;
using test::reached;
using testing::CliLab;

StepRun run_of(const std::string& stepper, double residual, double seconds,
               StepRun::End end = StepRun::End::finished) {
  StepRun run;
  run.stepper = stepper;
  run.end = end;
  run.seconds = seconds;
  run.judged = std::isfinite(residual);
  run.worst.residual = residual;
  return run;
}

TEST(StepRace, RanksByResidualThenTime) {
  std::vector<StepRun> runs{run_of("refused", 0, 0, StepRun::End::refused),
                            run_of("lawless", NAN, 0.1),
                            run_of("slow", 1e-4, 2),
                            run_of("bad", 1e-1, 0.1),
                            run_of("fast", 1e-4, 1),
                            run_of("failed", 1e-9, 0.1, StepRun::End::failed)};
  std::ranges::stable_sort(runs, [](const StepRun& a, const StepRun& b) { return ranks_before(a, b); });
  std::vector<std::string> order;
  for (const StepRun& run : runs) order.push_back(run.stepper);
  EXPECT_EQ(order, (std::vector<std::string>{"fast", "slow", "bad", "lawless", "refused", "failed"}));
}

TEST(StepRace, NamesEveryStepperOnce) {
  const std::vector<std::string> names = all_steppers();
  for (const char* name : {"ipc", "barrier_al", "nsgs", "manifold_gs", "penalty_explicit"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  EXPECT_EQ(std::ranges::count(names, "velocity"), 0);
}

StepRaceStart start_of(Scene scene, int frames) {
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  engine->set_contact_params(scene.contact_params);
  engine->load(scene.model);
  for (int i = 0; i < frames; ++i) engine->step();
  return {scene.model, scene.params, scene.contact_params, engine->state()};
}

// A run reports what the engine's own steps from that state report.
TEST(StepRace, ARunIsTheStepsOfItsStepper) {
  const StepRaceStart start = start_of(load_scene("box-stack"), 3);
  EXPECT_EQ(start.state.frame, 3);
  const auto engine = make_engine(Backend::cpu, 1), same = make_engine(Backend::cpu, 1);
  const StepRun run = run_stepper(*engine, start, "nsgs", 2, nullptr);
  ASSERT_EQ(run.end, StepRun::End::finished) << run.message;
  EXPECT_EQ(run.steps, 2);
  EXPECT_EQ(engine->state().frame, 5);
  Params params = start.params;
  params.solver = SolverKind::velocity;
  params.contact_solver = ContactSolverKind::nsgs;
  same->set_params(params);
  same->set_contact_params(start.contact);
  same->load(start.model);
  same->set_state(start.state);
  const StepReport a = same->step(), b = same->step();
  EXPECT_EQ(run.worst.residual, std::max(a.judgement->residual, b.judgement->residual));
  EXPECT_EQ(run.worst.energy_change, a.judgement->energy_change + b.judgement->energy_change);
  EXPECT_EQ(run.energy, b.kinetic_energy + b.elastic_energy + b.gravity_energy);
  EXPECT_GE(run.overlap, 0);
  EXPECT_EQ(run.positions.size(), start.model.node_count());
  EXPECT_GT(run.seconds, 0);
}

TEST(StepRace, RefusalsAndCancellationsAreResults) {
  const StepRaceStart start = start_of(load_scene("rest"), 1);
  const auto engine = make_engine(Backend::cpu, 1);
  const StepRun refused = run_stepper(*engine, start, "nsgs", 2, nullptr);
  if (refused.end == StepRun::End::refused) {
    EXPECT_NE(refused.message, "");
    EXPECT_TRUE(to_json(refused)["judgement"].is_null());
  }
  const std::atomic<bool> cancel = true;
  const auto other = make_engine(Backend::cpu, 1);
  const StepRun cancelled = run_stepper(*other, start, "ipc", 2, &cancel);
  EXPECT_EQ(cancelled.end, StepRun::End::cancelled) << cancelled.message;
  EXPECT_EQ(cancelled.steps, 0);
  EXPECT_THROW(run_stepper(*other, start, "ipcc", 2, nullptr), std::invalid_argument);
}

/// A start of a scene with a rigid body, made at velocity level, before its first step.
StepRaceStart start_of_bodies() {
  const Scene scene = test::rigid_scene("r");
  StepRaceStart start{scene.model, scene.params, scene.contact_params, {}};
  start.state.positions = scene.model.positions;
  start.state.velocities = scene.model.velocities;
  return start;
}

// What a switch to the other family alters in the state is part of the result. Within a family, the engine's
// note is about the scene's start, which is not where the race begins.
TEST(StepRace, KeepsTheNoteOfASwitch) {
  test::FakeEngine engine;
  engine.note = "bodies were moved apart by 2 mm";
  const StepRun switched = run_stepper(engine, start_of_bodies(), "ipc", 1, nullptr);
  EXPECT_EQ(switched.end, StepRun::End::finished) << switched.message;
  EXPECT_EQ(switched.note, engine.note);
  EXPECT_EQ(to_json(switched)["note"], engine.note);
  EXPECT_EQ(run_stepper(engine, start_of_bodies(), "nsgs", 1, nullptr).note, "");
}

// A lost device ends the race: no stepper refused anything.
TEST(StepRace, ALostDeviceIsNoRefusal) {
  test::FakeEngine engine;
  engine.on_load = [](const Model&) { throw DeviceLost("unplugged"); };
  EXPECT_THROW(run_stepper(engine, start_of_bodies(), "ipc", 1, nullptr), DeviceLost);
  engine.on_load = [](const Model&) { throw std::runtime_error("no"); };
  EXPECT_EQ(run_stepper(engine, start_of_bodies(), "ipc", 1, nullptr).end, StepRun::End::refused);
}

// Whatever a step throws ends this stepper only, and its reason is kept with the steps that were made. The
// engine may have no state then: it is not read.
TEST(StepRace, AStepThatThrowsIsAFailure) {
  for (const std::function<void()>& fail : std::vector<std::function<void()>>{
           [] { throw SimulationError("NaN at node 3"); }, [] { throw std::runtime_error("NaN at node 3"); },
           [] { throw std::invalid_argument("NaN at node 3"); },
           [] { throw std::logic_error("NaN at node 3"); }}) {
    test::FakeEngine engine;
    engine.on_step = [&](int frame) {
      if (frame == 2) fail();
    };
    engine.on_snapshot = [] { throw std::runtime_error("there is no state"); };
    const StepRun run = run_stepper(engine, start_of_bodies(), "nsgs", 5, nullptr);
    EXPECT_EQ(run.end, StepRun::End::failed);
    EXPECT_EQ(run.message, "NaN at node 3");
    EXPECT_EQ(run.steps, 2);
    EXPECT_TRUE(run.positions.empty());
  }
  test::FakeEngine full;
  full.on_load = [](const Model&) { throw std::bad_alloc(); };
  EXPECT_EQ(run_stepper(full, start_of_bodies(), "nsgs", 5, nullptr).end, StepRun::End::failed);
}

TEST(StepRace, BothBarrierSteppersAreJudged) {
  const StepRaceStart start = start_of(load_scene("rest"), 8);
  for (const char* stepper : {"ipc", "barrier_al"}) {
    const auto engine = make_engine(Backend::cpu, 2);
    const StepRun run = run_stepper(*engine, start, stepper, 3, nullptr);
    ASSERT_EQ(run.end, StepRun::End::finished) << run.message;
    EXPECT_TRUE(run.judged);
    EXPECT_GT(run.contacts, 0);
    EXPECT_EQ(run.intersections, 0);
    EXPECT_EQ(run.worst.penetration, 0);
    EXPECT_LE(run.worst.law.friction_work, 0);
    EXPECT_GT(run.worst.residual, 0);
    const json row = to_json(run);
    for (const JudgementInfo& info : judgement_table()) EXPECT_TRUE(row["judgement"].contains(info.name));
  }
}

TEST_F(CliLab, RacesSteppersOnAScene) {
  const Result result = call({"race", "box-stack", "--steppers", "nsgs,ipc,manifold_gs,nsgs", "--frame", "2",
                              "--steps", "2", "--threads", "2", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json race = json::parse(result.out);
  EXPECT_EQ(race["scene"], "box-stack");
  EXPECT_EQ(race["solver"], "auto");
  EXPECT_EQ(race["frame"], 2);
  ASSERT_EQ(race["ranking"].size(), 3u);
  EXPECT_LE(race["ranking"][0]["judgement"]["residual"], race["ranking"][1]["judgement"]["residual"]);
  for (const json& row : race["ranking"])
    EXPECT_TRUE(row["stepper"] == "ipc" || row["end"] == "finished") << row;
  const Result text = call({"race", "rest", "--steppers", "ipc,barrier_al", "--steps", "1"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* part : {"residual", "ms/step", "ipc", "barrier_al", "energy J"})
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
}

// An entrant that fails is a row of the table with its reason; the others finish.
TEST_F(CliLab, ARaceGoesOnAfterAFailure) {
  int engines = 0;
  const auto factory = [&](Backend, int) {
    auto engine = std::make_unique<test::FakeEngine>();
    // The first engine makes the state; the second races `nsgs`.
    if (++engines == 2) engine->on_step = [](int) { throw std::logic_error("a broken solver"); };
    return std::unique_ptr<Engine>(std::move(engine));
  };
  const char* argv[] = {"stickslip", "race", "box-stack", "--steppers", "nsgs,pgs", "--steps", "2", "--json"};
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run_cli(static_cast<int>(std::size(argv)), argv, factory, make_contact_lab);
  const std::string out = ::testing::internal::GetCapturedStdout(),
                    err = ::testing::internal::GetCapturedStderr();
  ASSERT_EQ(code, 0) << err;
  const json ranking = json::parse(out)["ranking"];
  ASSERT_EQ(ranking.size(), 2u);
  EXPECT_EQ(ranking[0]["stepper"], "pgs");
  EXPECT_EQ(ranking[0]["end"], "finished");
  EXPECT_EQ(ranking[1]["stepper"], "nsgs");
  EXPECT_EQ(ranking[1]["end"], "failed");
  EXPECT_EQ(ranking[1]["message"], "a broken solver");
}

// Boxes on the ground touch it; barrier steps make their surfaces smaller, and the race says so.
TEST_F(CliLab, ARaceSaysWhatASwitchAltered) {
  const Result text = call({"race", "slide", "--steppers", "ipc,nsgs", "--frame", "5", "--steps", "1",
                            "--set", "contact_skin=0", "--threads", "1"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("ipc: 5 rigid bodies touch"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("nsgs: "), std::string::npos) << text.out;
}

TEST_F(CliLab, BadRacesOfSteppersAreRefused) {
  expect_bad({"race", "box-stack", "--steppers", "nsg"}, {"--steppers nsg", "'nsgs'"});
  expect_bad({"race", "--steppers", "nsgs"}, {"needs a scene"});
  expect_bad({"race", "no-such-scene", "--steppers", "nsgs"}, {"no-such-scene"});
  expect_bad({"race", "box-stack", "--frame", "2"}, {"--steppers"});
  expect_bad({"race", "box-stack", "--steppers", "nsgs", "--tolerance", "1e-3"}, {"--tolerance"});
  expect_bad({"race", "box-stack", "--steppers", "nsgs", "--generate", "random_stacks"}, {"--generate"});
  expect_bad({"race", "box-stack", "--steppers", "nsgs", "--set", "contact.tolerence=1"}, {"tolerance"});
  expect_bad({"race", "box-stack", "--steppers", "nsgs", "--picture-dir", "/no/such/folder/x"}, {"/no/such"});
}

TEST(StepperRace, RunsAllSteppersInTheBackground) {
  Simulation simulation([] { return make_engine(Backend::cpu, 1); }, test::two_tets);
  simulation.post(LoadScene{"tets"});
  simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() == 1; }));
  simulation.post(MaterialEdit{-1, "young", 2e4});
  simulation.post(CaptureState{});
  std::shared_ptr<const CapturedState> state;
  ASSERT_TRUE(reached(simulation, [&] { return (state = simulation.take_captured()) != nullptr; }));
  EXPECT_EQ(state->scene, "tets");
  EXPECT_EQ(state->start.state.frame, 1);
  EXPECT_EQ(state->start.model.materials[0].young, 2e4);
  EXPECT_EQ(simulation.take_captured(), nullptr) << "taken once";

  StepperRace race([] { return make_engine(Backend::cpu, 1); });
  race.start(state, {.steps = 1});
  const auto over = [&] {
    race.update();
    return race.status().state && !race.status().running;
  };
  for (int i = 0; i < 240000 && !over(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(over());
  const StepperRaceStatus& status = race.status();
  EXPECT_EQ(status.error, "");
  EXPECT_TRUE(status.waiting.empty());
  ASSERT_EQ(status.runs.size(), all_steppers().size());
  for (const char* stepper : {"ipc", "barrier_al"}) {
    const auto run = std::ranges::find(status.runs, stepper, &StepRun::stepper);
    EXPECT_EQ(run->end, StepRun::End::finished) << run->message;
    EXPECT_EQ(run->steps, 1);
    EXPECT_TRUE(run->positions.empty());
  }
  EXPECT_EQ(simulation.history().size(), 1u) << "the race does not move the simulation";
}

TEST(StepperRace, IsCancelled) {
  auto state = std::make_shared<CapturedState>();
  const Scene scene = test::rigid_scene("r");
  state->start = {scene.model, scene.params, scene.contact_params, {}};
  state->start.state.positions = scene.model.positions;
  state->start.state.velocities = scene.model.velocities;
  std::atomic<int> made = 0;
  StepperRace race([&] {
    ++made;
    return std::make_unique<test::FakeEngine>();
  });
  race.start(state, {.steps = 1000000});
  for (int i = 0; i < 10000 && made == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  race.cancel();
  for (int i = 0; i < 30000 && (race.update(), race.status().running); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(race.status().running);
  EXPECT_LT(race.status().runs.size(), all_steppers().size());
}

}  // namespace
}  // namespace stickslip
