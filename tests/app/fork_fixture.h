// A scene run by a real engine, with a fork from its fifth frame.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "app/io/scene/scene.h"
#include "app/viewer/fork.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip::test {

class ForkedRun : public ::testing::Test {
 protected:
  explicit ForkedRun(std::string scene) : scene_name(std::move(scene)) {}
  static std::unique_ptr<Engine> engine() { return make_engine(Backend::cpu, 1); }

  void SetUp() override {
    simulation.set_pacing({.real_time = false});
    simulation.post(LoadScene{scene_name});
    steps_to(5);
    simulation.post(ForkState{});
    std::shared_ptr<const CapturedState> state;
    ASSERT_TRUE(reached(simulation, [&] { return (state = simulation.take_forked()) != nullptr; }));
    EXPECT_EQ(state->start.state.frame, 5);
    EXPECT_EQ(simulation.take_forked(), nullptr) << "taken once";
    forks.add(std::move(state));
  }
  /// As the window does: one step after the other, each followed by the forks.
  void steps_to(int frame) {
    for (int next = simulation.status().frame + 1; next <= frame; ++next) {
      simulation.step_once();
      ASSERT_TRUE(reached(simulation, [&] {
        forks.update(simulation.status().frame, simulation.status().time);
        simulation.set_leash(forks.leash());
        return simulation.frame().snapshot.frame == next && forks.leash() > next;
      })) << next;
      forks.compare(simulation.frame());
    }
  }

  const std::string scene_name;
  Simulation simulation{engine, [](const std::string& name, const std::string&) { return load_scene(name); }};
  Forks forks{engine, {}};
};

}  // namespace stickslip::test
