// The simulation's thread goes back to states that it kept, and goes on from them.
#include "tests/app/idle_target.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using test::at_rest_after;
using test::fake;
using test::reached;

constexpr auto kIdle = SimulationStatus::Activity::idle;

bool steps_to(Simulation& simulation, int frame) {
  for (int i = simulation.status().frame; i < frame; ++i) simulation.step_once();
  return reached(simulation, [&] {
    return simulation.status().frame == frame && simulation.frame().snapshot.frame == frame &&
           simulation.status().activity == kIdle;
  });
}

bool shows(Simulation& simulation, int frame) {
  return reached(simulation, [&] {
    return simulation.status().frame == frame && simulation.frame().snapshot.frame == frame;
  });
}

double height(const Simulation& simulation) { return simulation.frame().snapshot.positions[0][1]; }

class RewindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    simulation.post(LoadScene{"a"});
    ASSERT_TRUE(steps_to(simulation, 10));
  }
  Simulation simulation{fake(), test::two_tets};
};

TEST_F(RewindTest, ShowsAnEarlierStateAndTheReportsUpToIt) {
  EXPECT_EQ(simulation.status().timeline.first, 0);
  EXPECT_EQ(simulation.status().timeline.last, 10);
  simulation.post(Rewind{4});
  ASSERT_TRUE(shows(simulation, 4));
  EXPECT_NEAR(height(simulation), 0.04, 1e-6);
  EXPECT_NEAR(simulation.frame().snapshot.time, 4.0 / 60, 1e-12);
  EXPECT_TRUE(simulation.status().restored);
  EXPECT_EQ(simulation.history().back().frame, 4);
  EXPECT_EQ(simulation.future().front().frame, 5);
  EXPECT_EQ(simulation.history().size() + simulation.future().size(), 10u);
  EXPECT_EQ(simulation.status().timeline.last, 10) << "later states stay until a step is made";
  simulation.post(Rewind{9});
  ASSERT_TRUE(shows(simulation, 9));
  EXPECT_NEAR(height(simulation), 0.09, 1e-6);
  EXPECT_EQ(simulation.history().size(), 9u);
  simulation.post(Rewind{0});
  ASSERT_TRUE(shows(simulation, 0));
  EXPECT_TRUE(simulation.history().empty());
}

TEST_F(RewindTest, GoesOnFromThereWithPresentSettings) {
  simulation.post(Rewind{4});
  simulation.post(ParamEdit{"dt", 0.1});
  ASSERT_TRUE(shows(simulation, 4));
  simulation.step_once();
  ASSERT_TRUE(shows(simulation, 5));
  EXPECT_NEAR(simulation.frame().snapshot.time, 4.0 / 60 + 0.1, 1e-12);
  EXPECT_FALSE(simulation.status().restored);
  EXPECT_EQ(simulation.status().timeline.last, 5) << "the future that was left is gone";
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().back().frame == 5; }));
  EXPECT_EQ(simulation.history().size(), 5u);
  EXPECT_TRUE(simulation.future().empty());
}

TEST_F(RewindTest, AStateThatIsNotKeptIsAnErrorAndChangesNothing) {
  simulation.post(Rewind{11});
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_NE(simulation.status().error.find("frame 11"), std::string::npos);
  EXPECT_EQ(simulation.status().frame, 10);
  simulation.post(ReturnToKept{});
  ASSERT_TRUE(reached(
      simulation, [&] { return simulation.status().error.find("no state was kept") != std::string::npos; }));
}

TEST_F(RewindTest, PausesAPlayingRun) {
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().frame > 12; }));
  simulation.post(Rewind{3});
  ASSERT_TRUE(shows(simulation, 3));
  EXPECT_FALSE(simulation.status().playing);
}

TEST_F(RewindTest, ResetAndAnotherSceneForgetWhatWasKept) {
  simulation.post(KeepState{});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().kept == 10; }));
  simulation.post(Reset{});
  ASSERT_TRUE(shows(simulation, 0));
  EXPECT_EQ(simulation.status().timeline.last, 0);
  simulation.post(ReturnToKept{});
  ASSERT_TRUE(shows(simulation, 10)) << "a kept state outlives a reset";
  EXPECT_NEAR(height(simulation), 0.1, 1e-6);
  EXPECT_EQ(simulation.status().timeline.first, 10) << "nothing kept leads there";
  ASSERT_TRUE(steps_to(simulation, 12));
  simulation.post(Rewind{10});
  ASSERT_TRUE(shows(simulation, 10));
  simulation.post(LoadScene{"b"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().scene->name == "b"; }));
  EXPECT_FALSE(simulation.status().kept);
}

TEST(Rewind, ASceneThatCannotBeReadForgetsNothing) {
  Simulation simulation(fake(), [](const std::string& name, const std::string& variant) {
    if (name == "none") throw std::invalid_argument("none: cannot be read");
    return test::two_tets(name, variant);
  });
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(steps_to(simulation, 4));
  simulation.post(KeepState{});
  ASSERT_TRUE(steps_to(simulation, 6));
  simulation.post(LoadScene{"none"});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().refusals == 1; }));
  EXPECT_EQ(simulation.status().kept, 4);
  EXPECT_EQ(simulation.frame().scene->name, "a");
  EXPECT_TRUE(simulation.status().loaded) << "the run can go on";
  simulation.post(ReturnToKept{});
  ASSERT_TRUE(shows(simulation, 4));
}

TEST_F(RewindTest, ReturnsToAKeptStateWithinTheTimeline) {
  simulation.post(KeepState{});
  ASSERT_TRUE(steps_to(simulation, 14));
  const std::shared_ptr<const Checkpoint> kept = simulation.take_kept();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->state.frame, 10);
  EXPECT_EQ(kept->materials.size(), 2u);
  EXPECT_EQ(kept->half_space_mu, std::vector<double>{0.3});
  simulation.post(ReturnToKept{});
  ASSERT_TRUE(shows(simulation, 10));
  EXPECT_EQ(simulation.status().timeline.last, 14) << "the same run";
  EXPECT_EQ(simulation.take_kept(), nullptr);
}

TEST_F(RewindTest, ALimitOfZeroKeepsNothing) {
  simulation.set_timeline_limit(0);
  ASSERT_TRUE(steps_to(simulation, 11));
  EXPECT_TRUE(simulation.status().timeline.empty());
  simulation.set_timeline_limit(Timeline::kDefaultLimit);
  ASSERT_TRUE(steps_to(simulation, 13));
  EXPECT_EQ(simulation.status().timeline.first, 12);
}

TEST_F(RewindTest, TheJournalTellsOfTheStepsOnlyIfAsked) {
  EXPECT_EQ(simulation.journal().size(), 1u);
  simulation.set_hashing(true);
  ASSERT_TRUE(steps_to(simulation, 11));
  simulation.post(Rewind{10});
  ASSERT_TRUE(shows(simulation, 10));
  ASSERT_TRUE(steps_to(simulation, 11));
  const std::vector<JournalEntry> journal = simulation.journal(1);
  ASSERT_EQ(journal.size(), 3u);
  EXPECT_EQ(std::get<Rewind>(journal[1].command).frame, 10);
  EXPECT_EQ(std::get<Stepped>(journal[0].command).hash, std::get<Stepped>(journal[2].command).hash);
  EXPECT_NE(std::get<Stepped>(journal[0].command).hash, 0u);
  EXPECT_EQ(journal[2].frame, 11);
}

TEST_F(RewindTest, EveryStepHasASampleIfAsked) {
  EXPECT_TRUE(simulation.take_samples().empty());
  simulation.want_samples(true);
  ASSERT_TRUE(steps_to(simulation, 30));
  const std::vector<StepSample> samples = simulation.take_samples();
  ASSERT_EQ(samples.size(), 20u) << "also of steps that no frame has shown";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].snapshot.frame, static_cast<int>(i) + 11);
    EXPECT_NEAR(samples[i].snapshot.positions[0][1], 0.01 * static_cast<double>(i + 11), 1e-6);
    EXPECT_EQ(samples[i].scene, simulation.frame().scene);
  }
  EXPECT_TRUE(simulation.take_samples().empty());
  ASSERT_TRUE(steps_to(simulation, 32));
  simulation.want_samples(false);
  ASSERT_TRUE(steps_to(simulation, 34));
  EXPECT_TRUE(simulation.take_samples().empty());
}

TEST(Rewind, ShowsTheContactsOfThen) {
  Simulation simulation(fake([](test::FakeEngine& engine) {
                          engine.on_step = [&engine](int frame) {
                            engine.contacts.assign(static_cast<std::size_t>(frame + 1), ContactRecord{});
                          };
                        }),
                        test::two_tets);
  simulation.post(LoadScene{"a"});
  for (int frame = 1; frame <= 4; ++frame) {
    simulation.step_once();
    ASSERT_TRUE(shows(simulation, frame));
  }
  EXPECT_EQ(simulation.frame().snapshot.contacts.size(), 4u);
  simulation.post(Rewind{2});
  ASSERT_TRUE(shows(simulation, 2));
  EXPECT_EQ(simulation.frame().snapshot.contacts.size(), 2u);
}

TEST(Rewind, ATripwirePausesAtTheStep) {
  Simulation simulation(fake([](test::FakeEngine& engine) {
                          engine.on_solve = [calls = 0](const LabParams&) mutable {
                            ContactSolveRecord solve;
                            solve.penetration = ++calls == 5 ? 0.01 : 0;
                            return solve;
                          };
                        }),
                        test::rigid_scene);
  simulation.set_pacing({.real_time = false});
  Tripwires wires;
  wires.overlap = true;
  simulation.set_tripwires(wires);
  simulation.post(LoadScene{"a"});
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().tripped.empty(); }));
  EXPECT_EQ(simulation.status().frame, 5);
  EXPECT_FALSE(simulation.status().playing);
  EXPECT_NE(simulation.status().tripped.find("step 5: bodies overlap by 10 mm"), std::string::npos)
      << simulation.status().tripped;
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().frame > 8; }));
  EXPECT_EQ(simulation.status().tripped, "") << "play goes on";
}

/// Does nothing but what actions do to a simulation.
class Recovering {
 public:
  explicit Recovering(const test::Setup& setup, const Tripwires& wires = {}, bool keeps_states = true)
      : simulation_(fake(setup), test::two_tets) {
    simulation_.set_tripwires(wires);
    if (!keeps_states) simulation_.set_timeline_limit(0);
    simulation_.set_pacing({.real_time = false});
    simulation_.post(LoadScene{"a"});
    simulation_.play();
  }
  Simulation& simulation() { return simulation_; }
  std::string reason() const { return inactive_reason(ActionId::recover, simulation_); }
  void recover() {
    test::IdleTarget target(simulation_);
    perform(ActionId::recover, target);
  }

 private:
  Simulation simulation_;
};

TEST(Rewind, AStateThatIsNotFinitePausesAndIsLeftByRecover) {
  Recovering run([](test::FakeEngine& engine) {
    engine.on_state = [](State& state) {
      if (state.frame == 6) state.positions[4][1] = std::numeric_limits<double>::quiet_NaN();
    };
  });
  Simulation& simulation = run.simulation();
  EXPECT_NE(run.reason(), "");
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().tripped.empty(); }));
  EXPECT_EQ(simulation.status().tripped, "step 6: the place of 'high' is no finite number");
  EXPECT_FALSE(simulation.status().playing);
  EXPECT_EQ(simulation.status().frame, 6);
  EXPECT_EQ(simulation.status().sound, 5);
  EXPECT_EQ(run.reason(), "");
  run.recover();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 5; }));
  ASSERT_TRUE(reached(simulation, [&] { return simulation.is_caught_up(); }));
  EXPECT_EQ(simulation.status().tripped, "");
  EXPECT_NE(run.reason(), "") << "there is nothing to recover from any more";
  for (const Vec3f& x : simulation.frame().positions()) EXPECT_TRUE(std::isfinite(x[1]));
}

TEST(Rewind, WithoutTheWireARunGoesOnAndRecoverStillFindsTheLastSoundState) {
  const auto setup = [](test::FakeEngine& engine) {
    engine.on_state = [](State& state) {
      if (state.frame >= 6) state.velocities[0][0] = std::numeric_limits<double>::infinity();
    };
    engine.on_step = [](int frame) {
      if (frame == 9) throw std::runtime_error("velocities are not finite after step 10");
    };
  };
  Tripwires none;
  none.not_finite = false;
  Recovering run(setup, none);
  Simulation& simulation = run.simulation();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().frame, 9);
  EXPECT_EQ(simulation.status().sound, 5);
  run.recover();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 5; }));
  EXPECT_EQ(simulation.status().error, "");
}

/// An edit that is refused after the wire has tripped is no fault of the step.
TEST(Rewind, RecoverLeavesTheStepThatTrippedAlsoAfterARefusedEdit) {
  const auto setup = [](test::FakeEngine& engine) {
    engine.on_report = [](StepReport& report) { report.converged = report.frame != 5; };
  };
  Tripwires wires;
  wires.unconverged = true;
  Recovering run(setup, wires);
  Simulation& simulation = run.simulation();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().tripped.empty(); }));
  simulation.post(ParamEdit{"dt", -1});
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_NE(simulation.status().tripped, "");
  run.recover();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 4; }));
  EXPECT_EQ(simulation.status().error, "");
  EXPECT_EQ(simulation.status().tripped, "");
}

TEST(Rewind, ARefusedEditIsNothingToRecoverFrom) {
  std::atomic<bool> fails = false;
  Recovering run([&](test::FakeEngine& engine) {
    engine.on_step = [&](int) {
      if (fails) throw std::runtime_error("the step has failed");
    };
  });
  Simulation& simulation = run.simulation();
  const auto refuse = [&] {
    const int before = simulation.status().refusals;
    simulation.post(ParamEdit{"dt", -1});
    ASSERT_TRUE(reached(simulation, [&] { return simulation.status().refusals > before; }));
  };
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().frame > 2; }));
  refuse();
  EXPECT_NE(simulation.status().error, "");
  EXPECT_EQ(run.reason(), "No step has failed");
  fails = true;
  simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().faulty; }));
  EXPECT_EQ(run.reason(), "");
  refuse();
  EXPECT_EQ(run.reason(), "") << "the failed step is still to be recovered from";
  run.recover();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().faulty; }));
  EXPECT_EQ(run.reason(), "No step has failed");
}

/// The step after the one that tripped is the newer fault.
TEST(Rewind, AStepThatFailsAfterOneThatTrippedIsRecoveredFromAlone) {
  const auto setup = [](test::FakeEngine& engine) {
    engine.on_report = [](StepReport& report) {
      report.converged = report.frame != 5;
      if (report.frame == 6) throw std::runtime_error("the step has failed");
    };
  };
  Tripwires wires;
  wires.unconverged = true;
  Recovering run(setup, wires);
  Simulation& simulation = run.simulation();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().tripped.empty(); }));
  simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().tripped, "");
  run.recover();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().frame, 5);
}

TEST(Rewind, TheWireWatchesWhereNoStatesAreKept) {
  const auto setup = [](test::FakeEngine& engine) {
    engine.on_state = [](State& state) {
      if (state.frame == 6) state.positions[4][1] = std::numeric_limits<double>::quiet_NaN();
    };
  };
  Recovering run(setup, {}, false);
  Simulation& simulation = run.simulation();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().tripped.empty(); }));
  EXPECT_EQ(simulation.status().frame, 6);
  EXPECT_EQ(run.reason(), "No state before it is kept: reset");
}

/// The step that fails has left the engine in a state that no frame shows.
TEST(Rewind, RecoverPutsTheStateBeforeAFailedStepBack) {
  Recovering run([](test::FakeEngine& engine) {
    engine.on_report = [](StepReport& report) {
      if (report.frame == 4) throw std::runtime_error("the step has failed");
    };
  });
  Simulation& simulation = run.simulation();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().frame, 3);
  run.recover();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().error.empty(); }));
  simulation.post(KeepState{});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().kept.has_value(); }));
  EXPECT_EQ(simulation.status().kept, 3);
  EXPECT_NEAR(simulation.take_kept()->state.positions[0][1], 0.03, 1e-12);
}

}  // namespace
}  // namespace stickslip
