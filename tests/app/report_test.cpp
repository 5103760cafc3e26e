// The JSON form of a step's report.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/io/report/report.h"

namespace stickslip {
namespace {

using nlohmann::json;

TEST(Report, CarriesTheConvergenceOfEveryNewtonIteration) {
  StepReport report;
  report.newton.resize(2);
  report.newton[0].contacts = 7;
  report.newton[0].augmented = 3;
  report.newton[0].barrier_stiffness = 1e4;
  report.newton[0].gap_min = 2e-5;
  report.newton[0].contact_limit_halvings = 1;
  const json rows = to_json(report)["newton"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["contacts"], 7);
  EXPECT_EQ(rows[0]["augmented"], 3);
  EXPECT_EQ(rows[0]["barrier_stiffness"], 1e4);
  EXPECT_EQ(rows[0]["gap_min"], 2e-5);
  EXPECT_EQ(rows[0]["contact_limit_halvings"], 1);
  EXPECT_TRUE(rows[1]["gap_min"].is_null()) << "there was no contact";
}

TEST(Report, CarriesMultipliersLimitsGroupsAndMemory) {
  StepReport report;
  report.augmented = 4;
  report.multiplier_max = 12.5;
  report.contact_limit_halvings = 2;
  report.contact_limit_exceeded = true;
  report.groups = {{-1, 10}, {5, 3}};
  report.memory_bytes = 1000;
  const json row = to_json(report);
  EXPECT_EQ(row["augmented"], 4);
  EXPECT_EQ(row["multiplier_max"], 12.5);
  EXPECT_EQ(row["contact_limit_halvings"], 2);
  EXPECT_EQ(row["contact_limit_exceeded"], true);
  EXPECT_EQ(row["stiffness_groups"],
            json::parse(R"([{"exponent": -1, "nodes": 10}, {"exponent": 5, "nodes": 3}])"));
  EXPECT_EQ(row["memory_bytes"], 1000);
}

TEST(Report, TheSummaryCountsWhatTheContactLimitDid) {
  StepReport report;
  report.contact_limit_halvings = 2;
  report.contact_limit_exceeded = true;
  RunSummary summary;
  for (int i = 0; i < 3; ++i) summary.add(report, 0.1);
  const json row = to_json(summary);
  EXPECT_EQ(row["contact_limit_halvings"], 6);
  EXPECT_EQ(row["contact_limit_exceeded"], 3);
}

TEST(Report, CarriesContactSolves) {
  StepReport report;
  RunSummary summary;
  summary.add(report, 0.1);
  EXPECT_TRUE(to_json(report)["contact_solve"].is_null());
  EXPECT_TRUE(to_json(summary)["residual_max"].is_null());
  ContactSolveRecord& solve = report.contact_solve.emplace();
  solve.iterations = 20;
  solve.residual = 3e-4;
  solve.penetration = 1e-3;
  solve.nu = 1.5;
  report.seconds.contact_solve = 0.25;
  summary.add(report, 0.1);
  solve.residual = 1e-4;
  summary.add(report, 0.1);
  const json row = to_json(report);
  EXPECT_EQ(row["contact_solve"]["iterations"], 20);
  EXPECT_EQ(row["contact_solve"]["nu"], 1.5);
  EXPECT_TRUE(row["contact_solve"]["message"].is_null());
  EXPECT_EQ(row["seconds"]["contact_solve"], 0.25);
  EXPECT_EQ(to_json(summary)["residual_max"], 3e-4);
  EXPECT_EQ(to_json(summary)["contact_iterations"], 40);
  EXPECT_EQ(to_json(summary)["penetration_max"], 1e-3);
}

}  // namespace
}  // namespace stickslip
