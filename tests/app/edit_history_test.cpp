// Undo and redo of edits.
#include "app/viewer/edit_history.h"

#include <gtest/gtest.h>

#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

struct EditHistoryTest : ::testing::Test {
  EditHistoryTest() {
    settings.materials.resize(2);
    settings.half_space_mu = {0.5};
    history.observe(settings, 0);
  }
  void see(double time) { history.observe(settings, time); }
  void apply(const std::vector<Command>& edits) {
    for (const Command& edit : edits) {
      if (const auto* param = std::get_if<ParamEdit>(&edit)) apply_edit(*param, settings.params);
      if (const auto* contact = std::get_if<ContactParamEdit>(&edit))
        apply_edit(*contact, settings.contact_params);
      if (const auto* material = std::get_if<MaterialEdit>(&edit)) apply_edit(*material, settings.materials);
      if (const auto* plane = std::get_if<HalfSpaceEdit>(&edit)) apply_edit(*plane, settings.half_space_mu);
    }
    see(1e6);
  }

  Settings settings;
  EditHistory history;
};

TEST_F(EditHistoryTest, TakesEachKindOfEditBackAndMakesItAgain) {
  const Settings start = settings;
  settings.params.gravity = -3;
  see(1);
  settings.contact_params.omega = 1.25;
  see(2);
  settings.materials[1].mu = 0.9;
  see(3);
  settings.half_space_mu[0] = 0.1;
  see(4);
  EXPECT_EQ(history.next_undo(), "mu of a half-space");
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(history.can_undo());
    apply(history.undo());
  }
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(settings.params.gravity, start.params.gravity);
  EXPECT_EQ(settings.contact_params.omega, start.contact_params.omega);
  EXPECT_EQ(settings.materials[1].mu, start.materials[1].mu);
  EXPECT_EQ(settings.half_space_mu[0], 0.5);
  EXPECT_EQ(history.next_redo(), "gravity");
  for (int i = 0; i < 3; ++i) apply(history.redo());
  EXPECT_EQ(settings.materials[1].mu, 0.9);
  EXPECT_EQ(settings.half_space_mu[0], 0.5);
  settings.params.gravity = -1;  // another future
  see(1e6 + 1);
  EXPECT_FALSE(history.can_redo());
  apply(history.undo());
  EXPECT_EQ(settings.params.gravity, -3);
}

TEST_F(EditHistoryTest, TheMoveOfASliderIsOneStep) {
  const double before = settings.params.gravity;
  for (int i = 1; i <= 50; ++i) {
    settings.params.gravity = -0.1 * i;
    see(1 + 0.02 * i);
  }
  apply(history.undo());
  EXPECT_EQ(settings.params.gravity, before);
  EXPECT_FALSE(history.can_undo());
  apply(history.redo());
  EXPECT_EQ(settings.params.gravity, -5);
  settings.params.gravity = -7;  // much later
  see(2e6);
  apply(history.undo());
  EXPECT_EQ(settings.params.gravity, -5);
}

TEST_F(EditHistoryTest, ARefusedEditLeavesNothing) {
  settings.params.gravity = -3;
  see(1);
  settings.params.dt = 0.5;
  see(5);
  settings.params.dt = Params{}.dt;
  history.observe(settings, 9, false);
  apply(history.undo());
  EXPECT_NE(settings.params.gravity, -3);
  EXPECT_FALSE(history.can_undo());
}

TEST_F(EditHistoryTest, WhatTheUserTakesBackByHandIsAnEdit) {
  settings.params.dt = 0.5;
  see(5);
  settings.params.dt = Params{}.dt;
  see(9);
  apply(history.undo());
  EXPECT_EQ(settings.params.dt, 0.5);
}

TEST_F(EditHistoryTest, KeepsABoundedNumberOfSteps) {
  for (std::size_t i = 0; i < 3 * EditHistory::kMost; ++i) {
    settings.params.gravity = -1 - 0.001 * static_cast<double>(i);
    see(10.0 * static_cast<double>(i));
  }
  std::size_t steps = 0;
  for (; history.can_undo(); ++steps) apply(history.undo());
  EXPECT_EQ(steps, EditHistory::kMost);
}

TEST_F(EditHistoryTest, AnotherSceneHasNoEdits) {
  settings.params.gravity = -3;
  see(1);
  settings.materials.resize(5);
  see(2);
  EXPECT_FALSE(history.can_undo());
}

/// The content that these edits go to; -1: they are none or others.
int content_of(const std::vector<Command>& edits) {
  return edits.size() == 1 && std::holds_alternative<GoToContent>(edits[0])
             ? std::get<GoToContent>(edits[0]).content
             : -1;
}

TEST_F(EditHistoryTest, ObjectsComeAndGoAmongSettings) {
  history.observe(ContentChange{0, 1, "shot-1 added"}, 1);
  settings.params.gravity = -3;
  see(2);
  history.observe(ContentChange{1, 2, "low removed"}, 3);
  EXPECT_EQ(history.next_undo(), "low removed");
  EXPECT_EQ(content_of(history.undo()), 1);
  see(3.5);
  EXPECT_EQ(history.next_redo(), "low removed");
  history.settle(1);
  EXPECT_EQ(history.next_undo(), "gravity");
  apply(history.undo());
  EXPECT_EQ(content_of(history.undo()), 0);
  history.settle(0);
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(content_of(history.redo()), 1);
  history.settle(1);
  EXPECT_EQ(history.next_redo(), "gravity");
  history.observe(ContentChange{1, 3, "shot-2 added"}, 7);  // another future
  EXPECT_FALSE(history.can_redo());
  EXPECT_EQ(content_of(history.undo()), 1);
  history.settle(1);
  EXPECT_EQ(content_of(history.redo()), 3);
}

TEST_F(EditHistoryTest, TravelInTimeUndoesTheEditsOnItsWay) {
  history.observe(ContentChange{0, 1, "shot-1 added"}, 1);
  history.observe(ContentChange{1, 2, "low removed"}, 2);
  history.observe(ContentChange{2, 0, "going to another time", true}, 3);
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(history.next_redo(), "shot-1 added");
  history.observe(ContentChange{0, 1, "going to another time", true}, 4);
  EXPECT_EQ(history.next_undo(), "shot-1 added");
  EXPECT_EQ(history.next_redo(), "low removed");
  history.settle(1);
  settings.params.gravity = -3;
  see(5);
  // An edit of settings is between: settings stay, so the travel is an edit of its own.
  history.observe(ContentChange{1, 0, "going to another time", true}, 6);
  history.settle(0);
  EXPECT_EQ(history.next_undo(), "going to another time");
  EXPECT_EQ(content_of(history.undo()), 1);
  history.settle(1);
  EXPECT_EQ(history.next_undo(), "gravity");
}

/// Else it would be in the way of all edits before it.
TEST_F(EditHistoryTest, AChangeThatCannotBeTakenBackIsDropped) {
  settings.params.gravity = -3;
  see(1);
  history.observe(ContentChange{0, 1, "low removed"}, 2);
  settings.params.dt = 0.5;
  see(3);
  apply(history.undo());
  EXPECT_EQ(content_of(history.undo()), 0);
  history.settle(1);  // low does not fit where it was
  EXPECT_EQ(history.next_undo(), "gravity");
  EXPECT_EQ(history.next_redo(), "dt");
  history.observe(ContentChange{1, 2, "shot-1 added"}, 1e6 + 1);
  EXPECT_EQ(content_of(history.undo()), 1);
  history.settle(1);
  EXPECT_EQ(content_of(history.redo()), 2);
  history.settle(1);
  EXPECT_FALSE(history.can_redo());
  EXPECT_EQ(history.next_undo(), "gravity");
}

TEST(SimulationUndo, PostsEditsAndForgetsThemWithTheScene) {
  Simulation simulation{test::fake(), test::two_tets};
  const auto settled = [&] { return simulation.is_caught_up() && simulation.status().loaded; };
  simulation.post(LoadScene{"a"});
  ASSERT_TRUE(test::reached(simulation, settled));
  EXPECT_FALSE(simulation.edits().can_undo());
  const double mu = simulation.settings().materials[1].mu, gravity = simulation.settings().params.gravity;
  simulation.post(MaterialEdit{-1, "mu", 0.77});
  simulation.post(ParamEdit{"gravity", -2});
  ASSERT_TRUE(test::reached(simulation, settled));
  simulation.undo();
  EXPECT_EQ(simulation.settings().params.gravity, gravity);
  simulation.undo();
  ASSERT_TRUE(test::reached(simulation, settled));
  EXPECT_EQ(simulation.settings().materials[1].mu, mu);
  EXPECT_FALSE(simulation.edits().can_undo());
  simulation.redo();
  ASSERT_TRUE(test::reached(simulation, settled));
  EXPECT_EQ(simulation.settings().materials[0].mu, 0.77);
  EXPECT_EQ(simulation.settings().materials[1].mu, 0.77);
  EXPECT_TRUE(simulation.edits().can_redo());
  simulation.post(ResetAll{});
  ASSERT_TRUE(test::reached(simulation, settled));
  EXPECT_EQ(simulation.settings().materials[1].mu, mu);
  simulation.undo();
  ASSERT_TRUE(test::reached(simulation, settled));
  EXPECT_EQ(simulation.settings().materials[1].mu, 0.77) << "a reset can be taken back, too";
  simulation.post(ResetAll{});  // takes the only edit back, and is an edit, too
  ASSERT_TRUE(test::reached(simulation, settled));
  simulation.undo();
  ASSERT_TRUE(test::reached(simulation, settled));
  EXPECT_EQ(simulation.settings().materials[1].mu, 0.77);
  simulation.post(LoadScene{"b"});
  ASSERT_TRUE(test::reached(simulation, settled));
  EXPECT_FALSE(simulation.edits().can_undo());
  EXPECT_FALSE(simulation.edits().can_redo());
}

}  // namespace
}  // namespace stickslip
