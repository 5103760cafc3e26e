// Scrubbing through the Newton iterations of a barrier step.
#include "app/viewer/step_scrub.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "app/io/scene/scene.h"
#include "app/io/scene/settings.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Engine> scrub_engine() { return make_engine(Backend::cpu, 1); }

bool reached(StepScrub& scrub, const std::function<bool()>& done) {
  for (int i = 0; i < 60000; ++i) {
    scrub.update();
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

/// The scene after some steps, and what its next step is.
struct ScrubbedStep {
  std::shared_ptr<CapturedState> state = std::make_shared<CapturedState>();
  StepReport report;
  std::vector<Vec3f> positions;
};

ScrubbedStep next_step(const std::string& name, const std::string& solver, int frames) {
  const Scene scene = load_scene(name);
  const std::unique_ptr<Engine> engine = scrub_engine();
  Params params = scene.params;
  set_solver(params, solver);
  engine->set_params(params);
  engine->load(scene.model);
  for (int i = 0; i < frames; ++i) engine->step();
  ScrubbedStep next;
  next.state->scene = name;
  next.state->solver = solver;
  next.state->start = {scene.model, params, scene.contact_params, engine->state()};
  engine->set_state(next.state->start.state);
  next.report = engine->step();
  Snapshot end;
  engine->snapshot(end);
  next.positions = end.positions;
  return next;
}

class StepScrubOf : public ::testing::TestWithParam<const char*> {};

// The distance between two iterates is what the whole step says of its Newton step.
TEST_P(StepScrubOf, IteratesLeadFromTheStateToTheEndOfTheStep) {
  const ScrubbedStep next = next_step("rest", GetParam(), 3);
  const std::vector<NewtonRecord>& records = next.report.newton;
  ASSERT_GT(records.size(), 1u);
  StepScrub scrub(scrub_engine);
  scrub.start(next.state);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  EXPECT_EQ(scrub.status().error, "");
  EXPECT_EQ(scrub.status().note, "");
  EXPECT_TRUE(scrub.status().complete);
  EXPECT_EQ(scrub.status().converged, next.report.converged);
  EXPECT_EQ(scrub.status().end, next.report.stop_reason);
  ASSERT_EQ(scrub.stops().size(), records.size());
  const double dt = next.state->start.params.dt;
  for (std::size_t i = 0; i < records.size(); ++i) {
    SCOPED_TRACE(i);
    const StepIterate& iterate = scrub.stops()[i];
    EXPECT_EQ(iterate.iteration, static_cast<int>(i) + 1);
    ASSERT_TRUE(iterate.snapshot);
    // ccd_al moves the bodies towards its iterates as far as nothing is in the way.
    if (i == 0 || next.state->solver == "ccd_al") continue;
    double moved = 0;
    for (std::size_t n = 0; n < iterate.snapshot->positions.size(); ++n) {
      const Vec3f way = iterate.snapshot->positions[n] - scrub.stops()[i - 1].snapshot->positions[n];
      for (int k = 0; k < 3; ++k) moved = std::max(moved, std::abs(static_cast<double>(way[k])));
    }
    // Positions are floats of about 1 m.
    EXPECT_NEAR(moved, records[i].step_length * records[i].step_norm * dt, 3e-7);
  }
  EXPECT_EQ(scrub.stops().back().snapshot->positions, next.positions);
  EXPECT_FALSE(scrub.stops().back().snapshot->contacts.empty());
  scrub.show(scrub.stops().size() - 1);
  EXPECT_EQ(scrub.distance_to_end(), 0);
  scrub.show(0);
  EXPECT_GT(scrub.distance_to_end(), 0);
}

INSTANTIATE_TEST_SUITE_P(Steppers, StepScrubOf, ::testing::Values("ipc", "barrier_al", "ccd_al"),
                         [](const auto& solver) { return std::string(solver.param); });

TEST(StepScrub, ShowsTheFirstIterateAndLeavesWhenTheRunMoves) {
  const ScrubbedStep next = next_step("rest", "ipc", 3);
  StepScrub scrub(scrub_engine);
  SimulationStatus paused;
  paused.frame = 3;
  scrub.follow(paused);
  EXPECT_FALSE(scrub.is_in_scene());
  EXPECT_EQ(scrub.distance_to_end(), -1);
  scrub.start(next.state);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  EXPECT_EQ(scrub.stop(), 0u);
  EXPECT_TRUE(scrub.is_in_scene());
  scrub.show_iteration(1000000);
  EXPECT_EQ(scrub.stop(), scrub.stops().size() - 1);
  scrub.follow(paused);
  EXPECT_TRUE(scrub.is_in_scene());
  SimulationStatus moved = paused;
  moved.frame = 4;
  scrub.follow(moved);
  EXPECT_FALSE(scrub.is_in_scene());
  scrub.show(0);
  EXPECT_TRUE(scrub.is_in_scene()) << "the step that was made stays at hand";
  moved.playing = true;
  scrub.follow(moved);
  EXPECT_FALSE(scrub.is_in_scene());
  scrub.show(1);
  EXPECT_FALSE(scrub.is_in_scene()) << "the run plays";
}

TEST(StepScrub, RunsThroughAllStops) {
  const ScrubbedStep next = next_step("rest", "ipc", 3);
  StepScrub scrub(scrub_engine);
  scrub.start(next.state);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  StepScrub::Clock::time_point now = StepScrub::Clock::now();
  scrub.play(true);
  EXPECT_FALSE(scrub.advance(now)) << "the first one is shown for a while";
  std::size_t shown = 1;
  while (scrub.is_playing() && shown < 1000) {
    now += 1s;
    shown += scrub.advance(now);
  }
  EXPECT_EQ(shown, scrub.stops().size());
  EXPECT_EQ(scrub.stop(), scrub.stops().size() - 1);
}

TEST(StepScrub, AnotherStepTakesThePlaceOfThatWhichIsMade) {
  const ScrubbedStep first = next_step("rest", "ipc", 1), second = next_step("slope", "ipc", 2);
  StepScrub scrub(scrub_engine);
  scrub.start(first.state);
  scrub.start(second.state);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  EXPECT_EQ(scrub.status().state, second.state);
  EXPECT_EQ(scrub.stops().size(), second.report.newton.size());
  EXPECT_EQ(scrub.stops().back().snapshot->positions, second.positions);
}

TEST(StepScrub, TellsWhyThereIsNoStep) {
  const ScrubbedStep next = next_step("rest", "ipc", 1);
  next.state->start.state.positions.pop_back();
  StepScrub scrub(scrub_engine);
  scrub.start(next.state);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  EXPECT_NE(scrub.status().error, "");
  EXPECT_TRUE(scrub.stops().empty());
  scrub.show(3);
  EXPECT_FALSE(scrub.is_in_scene());
}

}  // namespace
}  // namespace stickslip
