// The window's memory of states leaves out nodes that follow others; going back restores the same bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/io/checkpoint/checkpoint.h"
#include "app/viewer/timeline.h"
#include "gpu/engine.h"

namespace stickslip {
namespace {

struct Case {
  const char* scene;
  SolverKind solver;
  double least_ratio;  // bytes of whole states over those that are kept
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.scene; }

/// [byte] of the numbers of a state.
std::size_t bytes_of(const State& state) {
  return 24 * (state.positions.size() + state.velocities.size()) + sizeof(BodyState) * state.bodies.size();
}

class TimelineMemory : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    scene = load_scene(GetParam().scene);
    scene.params.solver = GetParam().solver;
    engine = make_engine(Backend::cpu, 1);
    engine->set_params(scene.params);
    engine->set_contact_params(scene.contact_params);
    engine->load(scene.model);
    timeline.begin(scene.model);
    for (int frame = 0; frame < 3; ++frame) {
      if (frame > 0) engine->step();
      whole.push_back(engine->state());
      timeline.add(whole.back());
    }
  }

  std::uint64_t hash_after(const State& state, bool step) {
    engine->set_state(state);
    if (step) engine->step();
    return state_hash(engine->state());
  }

  Scene scene;
  std::unique_ptr<Engine> engine;
  Timeline timeline;
  std::vector<State> whole;
};

TEST_P(TimelineMemory, RestoresTheBitsOfWholeStates) {
  for (const int frame : {1, 2, 0}) {
    const State& full = whole[static_cast<std::size_t>(frame)];
    const State restored = timeline.at(frame)->whole();
    ASSERT_EQ(restored.positions.size(), full.positions.size());
    EXPECT_EQ(hash_after(restored, false), hash_after(full, false)) << "frame " << frame;
    const bool is_exact = stepper_family(scene.params.solver) == StepperFamily::velocity;
    if (is_exact) {
      EXPECT_EQ(state_hash(engine->state()), state_hash(full)) << "frame " << frame;
    }
  }
  EXPECT_EQ(hash_after(timeline.at(1)->whole(), true), hash_after(whole[1], true));
}

TEST_P(TimelineMemory, PlacesTheNodesThatItLeftOut) {
  const State restored = timeline.at(2)->whole();
  double largest = 0, size = 0;
  for (std::size_t i = 0; i < restored.positions.size(); ++i) {
    largest = std::max(largest, norm(restored.positions[i] - whole[2].positions[i]));
    largest = std::max(largest, scene.params.dt * norm(restored.velocities[i] - whole[2].velocities[i]));
    size = std::max(size, norm(whole[2].positions[i]));
  }
  EXPECT_LE(largest, 1e-13 * std::max(1.0, size));
}

TEST_P(TimelineMemory, TakesLess) {
  const auto before = static_cast<double>(bytes_of(whole[1])),
             kept = static_cast<double>(bytes_of(timeline.at(1)->state));
  RecordProperty("bytes_of_a_state", std::to_string(before));
  RecordProperty("bytes_kept", std::to_string(kept));
  EXPECT_GE(before, GetParam().least_ratio * kept);
  EXPECT_EQ(timeline.at(1)->state.positions.capacity(), timeline.at(1)->state.positions.size());
  EXPECT_NEAR(timeline.extent().seconds, 2 * scene.params.dt, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, TimelineMemory,
    ::testing::Values(Case{"dominoes", SolverKind::velocity, 9}, Case{"bowling", SolverKind::velocity, 900},
                      Case{"box-stack", SolverKind::ipc, 4}, Case{"tablecloth", SolverKind::ipc, 1.4},
                      Case{"self-locking", SolverKind::ipc, 1.05}, Case{"mixed", SolverKind::velocity, 1.5},
                      Case{"soft-embedded", SolverKind::ipc, 2.5}, Case{"cloth-sphere", SolverKind::ipc, 1}),
    [](const auto& info) {
      std::string name = info.param.scene;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace stickslip
