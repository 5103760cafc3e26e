// Records of any impulses of a frozen problem, against those of the engine's own step.
#include "gpu/rigid/frozen_records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "gpu/contact_lab.h"
#include "tests/app/frozen_boxes.h"

namespace stickslip {
namespace {

/// The step's impulses and their velocities, from the lab: it returns a start that is good enough.
SolveReport solution_of(const FrozenStep& step) {
  ContactProblem problem = step.problem;
  problem.guess = problem.solution;
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  lab->load(problem);
  LabParams params;
  params.tolerance = 1;
  params.warm_start = true;
  return lab->solve("nsgs", params);
}

void expect_near(const Vec<float, 3>& a, const Vec<float, 3>& b, float error) {
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], error);
}

/// Forces within rounding of the largest one, and all else of the same contact.
void expect_equal(const std::vector<ContactRecord>& seen, const std::vector<ContactRecord>& step) {
  ASSERT_EQ(seen.size(), step.size());
  float largest = 0;
  for (const ContactRecord& contact : step) largest = std::max(largest, std::abs(contact.normal_force));
  ASSERT_GT(largest, 0);
  for (std::size_t c = 0; c < step.size(); ++c) {
    SCOPED_TRACE("contact " + std::to_string(c));
    const ContactRecord &a = seen[c], &b = step[c];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.object_a, b.object_a);
    EXPECT_EQ(a.point, b.point);
    EXPECT_EQ(a.normal, b.normal);
    EXPECT_EQ(a.gap, b.gap);
    EXPECT_NEAR(a.normal_force, b.normal_force, 1e-5f * largest);
    expect_near(a.friction, b.friction, 1e-5f * largest);
    EXPECT_NEAR(a.rolling_moment, b.rolling_moment, 1e-5f * largest);
    EXPECT_NEAR(a.rolling_share, b.rolling_share, 1e-4f);
    EXPECT_NEAR(a.cone_share, b.cone_share, 1e-5f);
    EXPECT_NEAR(a.mu, b.mu, 1e-5f);
    EXPECT_NEAR(a.slip_speed, b.slip_speed, 1e-6f);
    EXPECT_NEAR(a.error, b.error, 1e-6f);
    EXPECT_EQ(a.state, b.state);
  }
}

struct Case {
  const char* name;
  std::string toml;
  int dim;
  ContactProblem::Form form;
};

class FrozenRecordsOf : public ::testing::TestWithParam<Case> {};

TEST_P(FrozenRecordsOf, AStepAreItsOwn) {
  const FrozenStep step = test::frozen_boxes(GetParam().toml);
  ASSERT_EQ(step.problem.dim, GetParam().dim);
  ASSERT_EQ(step.problem.form, GetParam().form);
  const auto count = [&](ContactState state) {
    return std::ranges::count(step.contacts, state, &ContactRecord::state);
  };
  EXPECT_GE(count(ContactState::stick), 3);
  EXPECT_GE(count(ContactState::slip), 3);
  const SolveReport solution = solution_of(step);
  const FrozenRecords records(step.problem, step.contacts, step.dt);
  EXPECT_TRUE(records.has_points());
  expect_equal(records.at(solution.r, solution.u), step.contacts);

  // Nothing of the step's solution is left in the records of other impulses.
  const std::vector<double> none(step.problem.size(), 0.0);
  const bool pulls = std::string_view(GetParam().name) == "cohesion";
  for (const ContactRecord& contact : records.at(none, none)) {
    EXPECT_TRUE(pulls ? contact.normal_force < 0 : contact.normal_force == 0) << contact.normal_force;
    EXPECT_EQ(norm(contact.friction), 0);
    EXPECT_EQ(contact.cone_share, 0);
    EXPECT_EQ(contact.slip_speed, 0);
    EXPECT_EQ(contact.rolling_moment, 0);
  }
}

using Form = ContactProblem::Form;
INSTANTIATE_TEST_SUITE_P(
    Laws, FrozenRecordsOf,
    ::testing::Values(
        Case{"plain", test::boxes_toml(), 3, Form::bodies},
        Case{"grain", test::boxes_toml("friction_kind = 'elliptic'\nmu_across = 0.2"), 3, Form::bodies},
        Case{"cohesion", test::boxes_toml("cohesion = 20", "body = 'rigid'", test::wooden_floor()), 3,
             Form::bodies},
        Case{"torsion", test::boxes_toml("torsion_radius = 0.05"), 4, Form::bodies},
        Case{"rolling", test::boxes_toml("rolling_resistance = 0.01"), 5, Form::bodies},
        Case{"solids", test::boxes_toml("young = 1e6", "edge = 0.4"), 3, Form::global}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(FrozenRecords, CountBlocksThatAreNoJointsWhereThereAreNoPoints) {
  FrozenStep step = test::frozen_boxes(test::boxes_toml());
  const SolveReport solution = solution_of(step);
  step.problem.laws[0].set = FrictionSet::bilateral;
  const FrozenRecords records(step.problem, {}, 1);
  EXPECT_FALSE(records.has_points());
  const std::vector<ContactRecord> seen = records.at(solution.r, solution.u);
  ASSERT_EQ(seen.size(), step.contacts.size() - 1);
  for (std::size_t c = 0; c < seen.size(); ++c) {
    EXPECT_EQ(seen[c].state, step.contacts[c + 1].state);
    EXPECT_NEAR(seen[c].normal_force, solution.r[3 * (c + 1)], 1e-5);
  }
  EXPECT_FALSE(FrozenRecords(step.problem, std::vector<ContactRecord>(99), 1).has_points());
}

TEST(FrozenRecords, MeasureConesFromTheirApex) {
  FrozenStep step = test::frozen_boxes(test::boxes_toml());
  const std::vector<double> none(step.problem.size(), 0.0);
  for (BlockLaw& law : step.problem.laws) law.cohesion = 1;
  for (const ContactRecord& contact : FrozenRecords(step.problem, {}, 1).at(none, none)) {
    EXPECT_EQ(contact.state, ContactState::stick) << "zero is inside a cone whose apex is a pull";
    EXPECT_EQ(contact.normal_force, 0);
  }
}

TEST(FrozenRecords, RefuseImpulsesOfAnotherProblem) {
  const FrozenStep step = test::frozen_boxes(test::boxes_toml());
  const FrozenRecords records(step.problem, step.contacts, step.dt);
  EXPECT_THROW(records.at({1, 2, 3}, {1, 2, 3}), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
