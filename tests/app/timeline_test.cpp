// The states that a window keeps, and its tripwires.
#include "app/viewer/timeline.h"

#include <gtest/gtest.h>

#include <limits>

#include "app/viewer/tripwires.h"
#include "tests/app/rigid_scene.h"

namespace stickslip {
namespace {

State state_of(int frame, std::size_t nodes = 10) {
  State state;
  state.frame = frame;
  state.time = 0.01 * frame;
  state.positions.assign(nodes, {0, 0.1 * frame, 0});
  state.velocities.assign(nodes, {0, 0, 0});
  return state;
}

Timeline of_frames(int first, int last) {
  Timeline timeline;
  for (int frame = first; frame <= last; ++frame) timeline.add(state_of(frame));
  return timeline;
}

TEST(Timeline, FindsEveryFrameItKeeps) {
  const Timeline timeline = of_frames(3, 20);
  EXPECT_EQ(timeline.extent().first, 3);
  EXPECT_EQ(timeline.extent().last, 20);
  for (int frame = 3; frame <= 20; ++frame) EXPECT_EQ(timeline.at(frame)->state.time, 0.01 * frame);
  EXPECT_EQ(timeline.at(2), nullptr);
  EXPECT_EQ(timeline.at(21), nullptr);
  EXPECT_TRUE(Timeline().extent().empty());
  EXPECT_EQ(Timeline().at(0), nullptr);
}

TEST(Timeline, AStepFromTheMiddleReplacesWhatFollowed) {
  Timeline timeline = of_frames(0, 20);
  State other = state_of(8);
  other.time = 5;
  timeline.add(other);
  EXPECT_EQ(timeline.extent().last, 8);
  EXPECT_EQ(timeline.at(8)->state.time, 5);
  EXPECT_EQ(timeline.at(7)->state.time, 0.07);
}

TEST(Timeline, KeepsNothingThatDoesNotLeadToTheNewestState) {
  Timeline timeline = of_frames(0, 5);
  timeline.add(state_of(9));
  EXPECT_EQ(timeline.extent().first, 9);
  EXPECT_EQ(timeline.extent().last, 9);
}

TEST(Timeline, TheOldestGoFirstWhenTheMemoryIsUsedUp) {
  Timeline timeline = of_frames(0, 100);
  const std::size_t all = timeline.extent().bytes;
  EXPECT_GT(all, 101u * 20u * sizeof(Vec<double, 3>));
  timeline.set_limit(all / 2);
  EXPECT_LE(timeline.extent().bytes, all / 2);
  EXPECT_NEAR(timeline.extent().first, 50, 2);
  EXPECT_EQ(timeline.extent().last, 100);
  timeline.set_contacts(100, std::vector<ContactRecord>(1000));
  EXPECT_EQ(timeline.at(100)->contacts.size(), 1000u);
  EXPECT_LE(timeline.extent().bytes, std::max(all / 2, 1000 * sizeof(ContactRecord) + all / 50))
      << "contacts count";
  timeline.set_limit(1);
  EXPECT_EQ(timeline.extent().first, 100) << "the newest stays";
  timeline.set_limit(0);
  EXPECT_TRUE(timeline.extent().empty());
  EXPECT_EQ(timeline.extent().bytes, 0u);
  timeline.add(state_of(101));
  EXPECT_TRUE(timeline.extent().empty());
}

TEST(Timeline, MomentsKeepTheContentOfTheirFrame) {
  Timeline timeline = of_frames(0, 4);
  EXPECT_TRUE(timeline.extent().edits.empty());
  const Model model;
  timeline.go_on(model, 1);
  timeline.add(state_of(4));
  timeline.add(state_of(5));
  timeline.go_on(model, 0);
  timeline.add(state_of(6));
  EXPECT_EQ(timeline.extent().first, 0) << "earlier states stay";
  EXPECT_EQ(timeline.extent().edits, (std::vector<int>{4, 6}));
  EXPECT_EQ(timeline.at(3)->content, 0);
  EXPECT_EQ(timeline.at(4)->content, 1);
  EXPECT_EQ(timeline.at(5)->content, 1);
  EXPECT_EQ(timeline.at(6)->content, 0);
  timeline.add(state_of(3));  // as if rewound to frame 2
  EXPECT_TRUE(timeline.extent().edits.empty()) << "they were in the future that was left";
  timeline.go_on(model, 2);
  for (int frame = 4; frame < 40; ++frame) timeline.add(state_of(frame));
  EXPECT_EQ(timeline.extent().edits, std::vector<int>{4});
  timeline.set_limit(timeline.extent().bytes / 2);
  EXPECT_GT(timeline.extent().first, 4);
  EXPECT_TRUE(timeline.extent().edits.empty()) << "nothing before the edit is kept";
}

StepReport good_step() {
  StepReport step;
  step.frame = 7;
  step.converged = true;
  step.kinetic_energy = 10;
  StepJudgement judged;
  judged.penetration = 1e-6;
  judged.energy_change = -0.1;
  judged.work = 0;
  judged.law.friction_work = -0.1;
  step.judgement = judged;
  step.contact_solve.emplace().penetration = 1e-6;
  return step;
}

constexpr Tripwires kAll{true, true, true, true};

TEST(Tripwires, AGoodStepTripsNone) {
  const StepReport step = good_step();
  EXPECT_EQ(tripped(kAll, step, &step), "");
  EXPECT_EQ(tripped(kAll, step, nullptr), "");
}

TEST(Tripwires, EachSeesItsOwnFaultAndNoOther) {
  const StepReport before = good_step();
  const auto check = [&](const std::function<void(StepReport&)>& spoil, bool Tripwires::*wire,
                         const char* what) {
    StepReport step = good_step();
    spoil(step);
    Tripwires only;
    only.*wire = true;
    EXPECT_NE(tripped(only, step, &before).find(what), std::string::npos) << tripped(only, step, &before);
    EXPECT_NE(tripped(only, step, &before).find("step 7"), std::string::npos);
    Tripwires others = kAll;
    others.*wire = false;
    EXPECT_EQ(tripped(others, step, &before), "");
    EXPECT_EQ(tripped({}, step, &before), "");
  };
  check(
      [](StepReport& s) {
        s.converged = false;
        s.stop_reason = "budget";
      },
      &Tripwires::unconverged, "not converged: budget");
  check([](StepReport& s) { s.contact_solve->penetration = 0.002; }, &Tripwires::overlap, "2 mm");
  check([](StepReport& s) { s.intersections = 4; }, &Tripwires::overlap, "4 intersections");
  check([](StepReport& s) { s.judgement->penetration = 0.003; }, &Tripwires::overlap, "3 mm");
  check([](StepReport& s) { s.judgement->energy_change = 0.5; }, &Tripwires::energy, "0.5 J");
  check([](StepReport& s) { s.judgement->law.friction_work = 0.2; }, &Tripwires::friction, "0.2 J");
}

TEST(Tripwires, ANumberThatIsNotFiniteTripsFirst) {
  StepReport step = good_step();
  step.converged = false;
  Tripwires wires;
  wires.unconverged = true;
  EXPECT_EQ(tripped(wires, step, &step, "the place of 'ball'"),
            "step 7: the place of 'ball' is no finite number");
  wires.not_finite = false;
  EXPECT_NE(tripped(wires, step, &step, "the place of 'ball'").find("not converged"), std::string::npos);
}

TEST(Tripwires, TheFirstObjectThatIsNotFiniteIsNamed) {
  const Model tets = test::two_tets("a").model;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  State state{0, 0, tets.positions, tets.velocities};
  EXPECT_EQ(first_not_finite(tets, state), "");
  state.velocities[5][2] = -inf;
  EXPECT_EQ(first_not_finite(tets, state), "the velocity of 'high'");
  state.positions[1][0] = nan;
  EXPECT_EQ(first_not_finite(tets, state), "the place of 'low'");
  const Model rigid = test::rigid_scene("a").model;
  State bodies{0, 0, rigid.positions, rigid.velocities};
  bodies.bodies.resize(rigid.bodies.size());
  EXPECT_EQ(first_not_finite(rigid, bodies), "");
  const std::string& name = rigid.objects[rigid.bodies.back().object].name;
  bodies.bodies.back().spin[1] = nan;
  EXPECT_EQ(first_not_finite(rigid, bodies), "the velocity of '" + name + "'");
  bodies.bodies.back().pose.q.w = nan;
  EXPECT_EQ(first_not_finite(rigid, bodies), "the place of '" + name + "'");
}

TEST(Tripwires, WorkAndBarriersExplainEnergy) {
  StepReport before = good_step(), step = good_step();
  step.judgement->energy_change = 0.5;
  step.judgement->work = 0.5;
  EXPECT_EQ(tripped(kAll, step, &before), "");
  step.judgement->work = 0;
  before.judgement->barrier_energy = 0.6;
  step.judgement->barrier_energy = 0.1;
  EXPECT_EQ(tripped(kAll, step, &before), "") << "the barrier gave it";
  step.judgement->barrier_energy = 1.2;
  EXPECT_NE(tripped(kAll, step, &before), "");
}

TEST(Tripwires, NothingIsConcludedFromWhatWasNotMeasured) {
  StepReport step = good_step();
  step.judgement->penetration = step.judgement->energy_change = step.judgement->work =
      std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(tripped(kAll, step, &step), "");
  step.judgement.reset();
  EXPECT_EQ(tripped(kAll, step, &step), "");
}

}  // namespace
}  // namespace stickslip
