// Forks of a running scene: they go on as the scene would have, beside it.
#include "app/viewer/fork.h"

#include <cmath>

#include "app/io/scene/scene.h"
#include "tests/app/fork_fixture.h"

namespace stickslip {
namespace {

using test::fake;
using test::reached;

class ForkOfRest : public test::ForkedRun {
 protected:
  ForkOfRest() : ForkedRun("rest") {}
};

TEST_F(ForkOfRest, WithTheSameSettingsBothStayEqualToTheBit) {
  EXPECT_EQ(differing_settings(forks.entries()[0].fork->from(), simulation.settings()), "");
  steps_to(12);
  const auto& distances = forks.entries()[0].distances;
  ASSERT_EQ(distances.size(), 7u);
  for (const auto& [frame, distance] : distances) {
    EXPECT_EQ(distance.mean, 0) << frame;
    EXPECT_EQ(distance.largest, 0) << frame;
  }
  EXPECT_NEAR(distances.at(12).time, 12 * simulation.settings().params.dt, 1e-9);
  const ForkStatus& status = forks.entries()[0].fork->status();
  EXPECT_EQ(status.newest()->frame, 12);
  const double dt = simulation.settings().params.dt;
  EXPECT_EQ(status.before(4 * dt), nullptr);
  EXPECT_TRUE(std::isnan(status.before(5.5 * dt)->energy));
  EXPECT_NEAR(status.before(12 * dt)->energy,
              simulation.history().back().kinetic_energy + simulation.history().back().elastic_energy +
                  simulation.history().back().gravity_energy,
              1e-12);
}

TEST_F(ForkOfRest, AChangeDrivesThemApart) {
  simulation.post(ParamEdit{"gravity", 2.0});
  simulation.post(MaterialEdit{-1, "mu", 0.05});
  steps_to(12);
  const std::string text = differing_settings(forks.entries()[0].fork->from(), simulation.settings());
  EXPECT_NE(text.find("gravity -9.81 / 2"), std::string::npos) << text;
  EXPECT_NE(text.find("mu "), std::string::npos) << text;
  double last = -1;
  for (const auto& [frame, distance] : forks.entries()[0].distances) {
    EXPECT_GT(distance.mean, last) << frame;
    EXPECT_GE(distance.largest, distance.mean);
    last = distance.mean;
  }
  EXPECT_EQ(differing_settings(forks.entries()[0].fork->from(), simulation.settings(), 1).substr(0, 7),
            "gravity");
}

/// Runs with other time steps are compared at the same times, also between two steps of the fork.
TEST_F(ForkOfRest, FollowsTheTimeNotTheFrames) {
  const double dt = simulation.settings().params.dt;
  simulation.post(ParamEdit{"dt", 2.5 * dt});
  steps_to(8);
  const ForkStatus& status = forks.entries()[0].fork->status();
  EXPECT_EQ(status.newest()->frame, 13) << "7.5 of its steps";
  EXPECT_NEAR(forks.entries()[0].distances.at(8).time, 12.5 * dt, 1e-9);
  const std::vector<Vec3f> between = status.positions_at(12.5 * dt);
  const std::vector<Vec3f> left = status.positions_at(12 * dt), right = status.positions_at(13 * dt);
  ASSERT_EQ(between.size(), left.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_LE(norm(between[i] - 0.5f * (left[i] + right[i])), 1e-6f);
  EXPECT_TRUE(status.positions_at(14 * dt).empty());
  EXPECT_TRUE(status.positions_at(4 * dt).empty());
}

TEST_F(ForkOfRest, TheSimulationWaitsForAForkThatIsSlower) {
  simulation.set_leash(7);
  simulation.play();
  ASSERT_TRUE(reached(simulation, [&] { return simulation.status().frame == 7; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  simulation.update();
  EXPECT_EQ(simulation.status().frame, 7);
  simulation.set_leash(INT_MAX);
  EXPECT_TRUE(reached(simulation, [&] { return simulation.status().frame > 9; }));
}

TEST_F(ForkOfRest, ThereAreThreeAtMostAndEachHasItsOwnNumber) {
  const auto state = std::make_shared<CapturedState>(forks.entries()[0].fork->from());
  for (int i = 0; i < 3; ++i) forks.add(state);
  ASSERT_EQ(forks.entries().size(), 3u);
  std::set<int> numbers;
  for (const Forks::Entry& entry : forks.entries()) numbers.insert(entry.number);
  EXPECT_EQ(numbers, (std::set<int>{1, 2, 3}));
  forks.remove(2);
  EXPECT_EQ(forks.entries().size(), 2u);
  forks.clear();
  EXPECT_TRUE(forks.empty());
  EXPECT_EQ(forks.leash(), INT_MAX);
}

/// The copy's velocities are changed, those of the run are not.
TEST_F(ForkOfRest, ASeedDrivesItApartFromAnUnchangedRun) {
  simulation.post(ForkState{3, 1e-3});
  std::shared_ptr<const CapturedState> state;
  ASSERT_TRUE(reached(simulation, [&] { return (state = simulation.take_forked()) != nullptr; }));
  EXPECT_EQ(state->seed, 3u);
  const State& plain = forks.entries()[0].fork->from().start.state;
  const State& changed = state->start.state;
  ASSERT_EQ(changed.velocities.size(), plain.velocities.size());
  for (std::size_t i = 0; i < plain.velocities.size(); ++i) {
    const Vec<double, 3> change = changed.velocities[i] - plain.velocities[i];
    for (int c = 0; c < 3; ++c) EXPECT_LE(std::abs(change[c]), 1.000001e-3) << i;
    EXPECT_EQ(norm(changed.positions[i] - plain.positions[i]), 0) << i;
  }
  forks.add(std::move(state));
  steps_to(9);
  for (const auto& [frame, distance] : forks.entries()[0].distances) EXPECT_EQ(distance.largest, 0) << frame;
  EXPECT_GT(forks.entries()[1].distances.at(9).mean, 0);
  EXPECT_EQ(differing_settings(forks.entries()[1].fork->from(), simulation.settings()), "seed 3, 0.001 m/s");
}

TEST_F(ForkOfRest, ForksThatAreAskedForAtOnceAreAllMadeAndASeedFixesTheirState) {
  for (const std::uint64_t seed : {1, 2}) simulation.post(ForkState{seed});
  std::vector<std::shared_ptr<const CapturedState>> states;
  const auto take = [&] {
    while (auto state = simulation.take_forked()) states.push_back(std::move(state));
    return states.size();
  };
  ASSERT_TRUE(reached(simulation, [&] { return take() == 2; }));
  simulation.post(ForkState{1});
  ASSERT_TRUE(reached(simulation, [&] { return take() == 3; }));
  const auto velocities = [&](std::size_t i) { return states[i]->start.state.velocities; };
  EXPECT_EQ(states[1]->seed, 2u);
  double apart = 0;
  for (std::size_t i = 0; i < velocities(0).size(); ++i) {
    apart += norm(velocities(0)[i] - velocities(1)[i]);
    EXPECT_EQ(norm(velocities(0)[i] - velocities(2)[i]), 0) << i;
  }
  EXPECT_GT(apart, 0);
}

TEST_F(ForkOfRest, AChangeOfNoSizeIsRefused) {
  simulation.post(ForkState{1, 0});
  EXPECT_TRUE(reached(simulation, [&] { return !simulation.status().error.empty(); }));
  EXPECT_EQ(simulation.take_forked(), nullptr);
}

TEST(Fork, OneThatFailsSaysWhyAndDoesNotDelayTheRun) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.post(ForkState{});
  std::shared_ptr<const CapturedState> state;
  ASSERT_TRUE(reached(simulation, [&] { return (state = simulation.take_forked()) != nullptr; }));
  Forks forks([]() -> std::unique_ptr<Engine> { throw std::runtime_error("no engine today"); }, {});
  forks.add(state);
  ASSERT_TRUE(reached(simulation, [&] {
    forks.update(3, 3);
    return !forks.entries()[0].fork->status().error.empty();
  }));
  EXPECT_EQ(forks.entries()[0].fork->status().error, "no engine today");
  EXPECT_EQ(forks.leash(), INT_MAX);
}

TEST(Fork, KeepsPositionsWithinItsLimit) {
  Simulation simulation(fake(), test::two_tets);
  simulation.post(LoadScene{"a"});
  simulation.post(ForkState{});
  std::shared_ptr<const CapturedState> state;
  ASSERT_TRUE(reached(simulation, [&] { return (state = simulation.take_forked()) != nullptr; }));
  const std::size_t one = state->start.model.node_count() * sizeof(Vec3f);
  Fork fork(fake(), state, {}, 3 * one);
  fork.follow(10 * state->start.params.dt);
  ASSERT_TRUE(reached(simulation, [&] {
    fork.update();
    return fork.status().newest() && fork.status().newest()->frame == 10;
  }));
  int kept = 0;
  for (const ForkStep& step : fork.status().steps) kept += step.snapshot != nullptr;
  EXPECT_EQ(fork.status().steps.size(), 11u);
  EXPECT_EQ(kept, 3);
  EXPECT_NE(fork.status().newest()->snapshot, nullptr);
}

/// A cube, each face two triangles: from a corner six edges are its outline, the six others are sharp, and no
/// diagonal is drawn.
TEST(GhostMesh, DrawsOutlinesAndSharpEdges) {
  Model model;
  for (int i = 0; i < 8; ++i) model.positions.push_back({double(i & 1), double(i >> 1 & 1), double(i >> 2)});
  model.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  model.node_object.assign(8, 0);
  model.objects.emplace_back();
  model.objects[0].node_end = 8;
  model.objects[0].tet_end = 1;  // a solid, which can move
  ASSERT_FALSE(model.objects[0].is_collider());
  std::vector<Vec3f> positions;
  for (const auto& x : model.positions) positions.push_back(x.cast<float>());
  const std::vector<GhostMesh::Line> lines = GhostMesh(model).lines(positions, {}, {5, 6, 7});
  int sharp = 0;
  for (const GhostMesh::Line& line : lines) {
    EXPECT_NEAR(norm(line.a - line.b), 1, 1e-6) << "no diagonal";
    sharp += line.sharp;
  }
  EXPECT_EQ(lines.size(), 12u);
  EXPECT_EQ(sharp, 6);
  // What cannot be told from the cube itself is left out: all, or all but the edges at a node that moved.
  EXPECT_TRUE(GhostMesh(model).lines(positions, positions, {5, 6, 7}).empty());
  std::vector<Vec3f> here = positions;
  here[7] += Vec3f{0, 0.1f, 0};
  EXPECT_EQ(GhostMesh(model).lines(positions, here, {5, 6, 7}).size(), 3u);
  EXPECT_TRUE(GhostMesh(Model{}).lines({}, {}, {1, 1, 1}).empty());
}

}  // namespace
}  // namespace stickslip
