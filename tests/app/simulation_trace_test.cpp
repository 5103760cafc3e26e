// The window's simulation with traces, and after a lost device.
#include <atomic>

#include "gpu/core/device_lost.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using test::fake, test::reached;

std::size_t traced(const std::deque<StepReport>& history) {
  std::size_t count = 0;
  for (const StepReport& report : history) count += !report.trace.empty();
  return count;
}

TEST(SimulationTrace, IsOfTheNewestStepAloneAndOnlyWhereItIsWanted) {
  Simulation simulation(fake(), test::two_tets);
  simulation.set_pacing({.real_time = false});
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() == 1; }));
  EXPECT_EQ(traced(simulation.history()), 0u);
  EXPECT_FALSE(simulation.tracing());
  simulation.set_tracing(true);
  EXPECT_TRUE(simulation.tracing());
  for (int i = 0; i < 5; ++i) simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() == 6; }));
  EXPECT_EQ(traced(simulation.history()), 1u);
  EXPECT_FALSE(simulation.history().back().trace.empty());
  simulation.set_tracing(false);
  simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.history().size() == 7; }));
  EXPECT_EQ(traced(simulation.history()), 0u);
}

TEST(SimulationTrace, StaysOnWithAnotherEngine) {
  Simulation simulation(fake(), [](const std::string& name, const std::string&) {
    Scene scene = name == "rigid" ? test::rigid_scene(name) : test::two_tets(name);
    if (name == "rigid") scene.params.solver = SolverKind::velocity;
    return scene;
  });
  simulation.set_pacing({.real_time = false});
  simulation.set_tracing(true);
  for (const char* name : {"soft", "rigid"}) {
    simulation.post(LoadScene{name});
    simulation.step_once();
    ASSERT_TRUE(reached(simulation, [&] {
      return simulation.frame().scene && simulation.frame().scene->name == name &&
             simulation.history().size() == 1;
    }));
    EXPECT_EQ(traced(simulation.history()), 1u) << name;
  }
}

TEST(SimulationTrace, ALostDeviceKeepsTheLastFrameAndPauses) {
  std::atomic<bool> lost{false};
  Simulation simulation(fake([&](test::FakeEngine& engine) {
                          const auto fail_when_lost = [&] {
                            if (lost) throw DeviceLost("made up");
                          };
                          engine.on_step = [=](int) { fail_when_lost(); };
                          engine.on_snapshot = fail_when_lost;
                        }),
                        test::two_tets);
  simulation.set_pacing({.real_time = false});
  simulation.post(LoadScene{"a"});
  for (int i = 0; i < 3; ++i) simulation.step_once();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 3; }));
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame > 3; }));
  lost = true;
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.status().error, DeviceLost("made up").what());
  EXPECT_FALSE(simulation.status().playing);
  simulation.update();
  const int kept = simulation.frame().snapshot.frame;
  const float height = simulation.frame().snapshot.positions.at(0)[1];
  EXPECT_GT(kept, 3);
  // All later requests fail in the same way, and the thread stays alive.
  simulation.post(Reset{});
  simulation.step_once();
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.status().playing; }));
  simulation.update();
  EXPECT_EQ(simulation.frame().snapshot.frame, kept);
  EXPECT_EQ(simulation.frame().snapshot.positions.at(0)[1], height);
}

}  // namespace
}  // namespace stickslip
