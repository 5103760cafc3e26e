// What a step's report says in JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/io/report.h"

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

}  // namespace
}  // namespace stickslip
