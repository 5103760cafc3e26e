// stickslip race and its sweeps, with a scripted lab.
#include <nlohmann/json.hpp>

#include "app/cli/race_sweep.h"
#include "tests/app/cli_lab_fixture.h"

namespace stickslip {
namespace {

using nlohmann::json;
using testing::CliLab;

TEST_F(CliLab, RacesMayDoWithoutATimeLimit) {
  call({"race", problem_, "--solvers", "pgs", "--time-budget", "0"});
  call({"race", problem_, "--solvers", "pgs", "--set", "time_budget=0"});
  call({"race", problem_, "--solvers", "pgs", "--set", "time_budget=3"});
  call({"race", problem_, "--solvers", "pgs"});
  ASSERT_EQ(script_.params.size(), 4u);
  EXPECT_EQ(script_.params[0].time_budget, 0);
  EXPECT_EQ(script_.params[1].time_budget, 0);
  EXPECT_EQ(script_.params[2].time_budget, 3);
  EXPECT_EQ(script_.params[3].time_budget, 5);
}

TEST_F(CliLab, RaceRanksAllSolvers) {
  script_.answer = [](SolveReport& report) {
    if (report.solver == "pgs") report.seconds = 0.25;
    if (report.solver == "spg")
      report.converged = false, report.end = SolveEnd::time, report.judgement.residual = 1e-3;
    if (report.solver == "apgd")
      report.converged = false, report.end = SolveEnd::time, report.judgement.residual = 1e-5;
    if (report.solver == "pivot_block")
      report.converged = false, report.end = SolveEnd::refused, report.message = "too many rows";
  };
  const Result result = call({"race", problem_, "--json", "--csv", path("r.csv")});
  EXPECT_EQ(result.code, 0) << result.err;
  const json race = json::parse(result.out);
  const json& ranking = race["ranking"];
  const std::size_t count = list_lab_solvers().size();
  ASSERT_EQ(ranking.size(), count);
  EXPECT_EQ(ranking[0]["solver"], "pgs");
  EXPECT_EQ(ranking[0]["seconds_to_1e-4"], 0.1);
  EXPECT_EQ(ranking[count - 3]["solver"], "apgd");
  EXPECT_EQ(ranking[count - 2]["solver"], "spg");
  EXPECT_EQ(ranking[count - 1]["solver"], "pivot_block");
  EXPECT_EQ(lines(path("r.csv")).size(), 1 + 3 * count);
  EXPECT_EQ(script_.params[0].time_budget, 5);
  const Result text = call({"race", problem_, "--solvers", "spg,pgs"});
  EXPECT_LT(text.out.find("pgs"), text.out.find("spg"));
}

TEST_F(CliLab, RaceWithoutConvergenceIsExitCodeOne) {
  script_.answer = [](SolveReport& report) { report.converged = false; };
  EXPECT_EQ(call({"race", problem_, "--solvers", "nsgs"}).code, 1);
}

TEST_F(CliLab, RaceSweepsAParameter) {
  const Result result = call({"race", problem_, "--json", "--sweep", "prox_gs.r_scale=0.01:100:5", "--sweep",
                              "spg.spg_memory=1:3:5", "--solvers", "nsgs"});
  EXPECT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(script_.params.size(), 9u);
  EXPECT_EQ(script_.solvers[0], "nsgs");
  EXPECT_EQ(script_.params[1].r_scale, 0.01);
  EXPECT_NEAR(script_.params[3].r_scale, 1, 1e-12);
  EXPECT_EQ(script_.params[5].r_scale, 100);
  EXPECT_EQ(script_.params[7].spg_memory, 2);
  EXPECT_EQ(json::parse(result.out)["ranking"][1]["name"], "prox_gs r_scale=0.01");
}

TEST_F(CliLab, SweepsAreEvenBelowOneDecadeAndBadOnesAreRefused) {
  const auto solvers = list_lab_solvers();
  const auto entries = expand_sweep("nsgs.omega=0.5:1.5:3", solvers, {});
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].params.omega, 1);
  EXPECT_EQ(expand_sweep("nsgs.omega=0.5:1.5:1", solvers, {}).size(), 1u);
  expect_bad({"race", problem_, "--sweep", ""}, {"--sweep", "must not be empty"});
  for (const char* sweep : {"nsgs", "nsgs.omega", "nsgs.omega=1", "nsgs.omega=1:2", "nsgs.omega=1:x:3",
                            "nsgs.omega=1:1.5:0", "nsgs.omega=1:1.5:2.5", "nsgs.omega=1:1.5:1e9", "=1:2:3",
                            ".=::", "nsgs.omega=1:1.5:3:4", "nsgs.omega=nan:1:2"})
    expect_bad({"race", problem_, "--sweep", sweep}, {"--sweep", "solver.param=a:b:n"});
  expect_bad({"race", problem_, "--sweep", "nsg.omega=1:1.5:2"}, {"'nsgs'"});
  expect_bad({"race", problem_, "--sweep", "nsgs.omga=1:1.5:2"}, {"'omega'"});
  expect_bad({"race", problem_, "--sweep", "nsgs.omega=1:3:2"}, {"omega", "1.99"});
  expect_bad({"race", problem_, "--sweep", "nsgs.admm_rho=1:3:2"},
             {"nsgs does not read admm_rho", "read by admm"});
  expect_bad({"race", problem_, "--sweep", "prox_jacobi.prox_local_steps=1:3:3"},
             {"prox_jacobi does not read prox_local_steps", "read by prox_gs, nncg"});
  expect_bad({"race", problem_, "--sweep", "staggered.sm_sweeps=1:3:3"}, {"read by pgs_sm"});
  expect_bad({"race", problem_, "--sweep", "newton_fb.rho_n=1:3:3"}, {"read by auto, newton_ac"});
  expect_bad({"race", problem_, "--sweep", "prox_gs.r_strategy=1:3:2"}, {"r_strategy is no number"});
}

class LongCliLab : public CliLab {};

TEST_F(LongCliLab, RaceDrawsAPlotOrSaysWhatIsMissing) {
  const Result result = call({"race", problem_, "--solvers", "nsgs,pgs", "--plot", path("r.png")});
  if (result.code == 2) {
    EXPECT_NE(result.err.find("matplotlib"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("race_plot.py"), std::string::npos) << result.err;
    EXPECT_EQ(folder_.files(), 1u) << "it says so before it solves anything";
    GTEST_SKIP() << "no Python with matplotlib";
  }
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(lines(path("r.csv")).size(), 7u);
  std::ifstream picture(path("r.png"), std::ios::binary);
  char head[8] = {};
  picture.read(head, sizeof head);
  EXPECT_EQ(std::string(head + 1, 3), "PNG");
  EXPECT_EQ(folder_.files(), 3u);
}

}  // namespace
}  // namespace stickslip
