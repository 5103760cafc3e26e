// stickslip solve and the lists of the contact lab, with a scripted lab and the real one.
#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/app/cli_lab_fixture.h"

namespace stickslip {
namespace {

using nlohmann::json;
using testing::CliLab;

TEST_F(CliLab, SolvePrintsOneJsonObject) {
  const Result result = call({"solve", problem_, "--solver", "nsgs", "--json", "--backend", "cpu"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
  const json row = json::parse(result.out);
  EXPECT_EQ(row["problem"], "p.hdf5");
  EXPECT_EQ(row["solver"], "nsgs");
  EXPECT_EQ(row["contacts"], 2);
  EXPECT_TRUE(row["dofs"].is_null());
  EXPECT_EQ(row["iterations"], 7);
  EXPECT_EQ(row["residual"], 1e-9);
  EXPECT_EQ(row["converged"], true);
  EXPECT_EQ(row["end"], "converged");
  EXPECT_EQ(row["backend"], "cpu");
  for (const char* key :
       {"seconds", "setup_seconds", "residual_fclib", "penetration", "cone_violation", "complementarity",
        "dissipation", "nu", "lambda_max", "lambda_min", "colours", "message"})
    EXPECT_TRUE(row.contains(key)) << key;
  EXPECT_FALSE(script_.history);
}

TEST_F(CliLab, SolveReportsInWordsWithoutConvergenceAsExitCodeOne) {
  script_.answer = [](SolveReport& report) {
    report.converged = false, report.end = SolveEnd::infeasible;
    report.message = "no velocity satisfies all contacts";
  };
  const Result result = call({"solve", problem_});
  EXPECT_EQ(result.code, 1);
  for (const char* part :
       {"2 contacts", "auto", "NOT converged, infeasible", "no velocity satisfies", "1.000e-09"})
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
}

TEST_F(CliLab, SettingsReachTheSolver) {
  call({"solve", problem_, "--solver", "admm", "--tolerance", "1e-6", "--max-iterations", "50",
        "--time-budget", "2.5", "--set", "admm_rho=3", "--set", "r_strategy=local", "--warm-start"});
  ASSERT_EQ(script_.params.size(), 1u);
  EXPECT_EQ(script_.solvers[0], "admm");
  const LabParams& params = script_.params[0];
  EXPECT_EQ(params.tolerance, 1e-6);
  EXPECT_EQ(params.max_iterations, 50);
  EXPECT_EQ(params.time_budget, 2.5);
  EXPECT_EQ(params.admm_rho, 3);
  EXPECT_EQ(params.r_strategy, RFactorStrategy::local);
  EXPECT_TRUE(params.warm_start);
}

TEST_F(CliLab, WarmStartsNeedSomethingToStartFrom) {
  testing::RawFile raw = testing::small_local();
  raw.data.erase("/guesses/1/r"), raw.data.erase("/guesses/number_of_guesses");
  raw.write(problem_);
  EXPECT_EQ(call({"solve", problem_, "--warm-start"}).code, 0);  // warm start from the solution
  script_.solvers.clear();
  raw.data.erase("/solution/r");
  raw.write(problem_);
  expect_bad({"solve", problem_, "--warm-start"}, {"--warm-start", "neither a guess nor a solution"});
}

TEST_F(CliLab, WarmStartsAreTheSameHoweverTheyAreAskedFor) {
  testing::RawFile raw = testing::small_local();
  raw.data.erase("/guesses/1/r"), raw.data.erase("/guesses/number_of_guesses");
  raw.write(problem_);
  EXPECT_EQ(call({"solve", problem_, "--set", "warm_start=true"}).code, 0);
  EXPECT_FALSE(script_.problem.guess.empty());
  EXPECT_EQ(script_.problem.guess, script_.problem.solution);
  EXPECT_EQ(call({"solve", problem_}).code, 0);
  EXPECT_TRUE(script_.problem.guess.empty());
  script_.solvers.clear();
  for (const char* command : {"solve", "race"}) {
    expect_bad({command, "--generate", "tasora_b3", "--size", "1", "--warm-start"},
               {"tasora_b3", "neither a guess nor a solution"});
    expect_bad({command, "--generate", "tasora_b3", "--size", "1", "--set", "warm_start=true"},
               {"tasora_b3", "neither a guess nor a solution"});
  }
}

TEST_F(CliLab, LawsFromTheCommandLine) {
  const auto law = [&](const std::string& name) {
    EXPECT_EQ(call({"solve", problem_, "--law", name}).code, 0);
    return script_.problem.laws.at(0);
  };
  const BlockLaw exact = law("exact");
  EXPECT_EQ(exact.set, FrictionSet::ellipsoid);
  EXPECT_EQ(exact.flow, FlowRule::exact);
  EXPECT_GT(exact.mu[0], 0);
  EXPECT_EQ(law("associated").flow, FlowRule::associated);
  EXPECT_EQ(law("associated").mu, exact.mu);
  EXPECT_EQ(law("box").set, FrictionSet::box);
  EXPECT_EQ(law("box").flow, FlowRule::exact);
  EXPECT_EQ(law("frictionless").mu, (std::array<double, 4>{}));
  EXPECT_EQ(call({"race", problem_, "--law", "box", "--solvers", "pgs"}).code, 0);
  EXPECT_EQ(script_.problem.laws.at(1).set, FrictionSet::box);
  EXPECT_EQ(json::parse(call({"race", problem_, "--law", "box", "--json"}).out)["law"], "box");
  script_.solvers.clear();
  expect_bad({"solve", problem_, "--law", "slippery"}, {"--law", "frictionless"});
  // The law changes contacts only, not joints.
  ContactProblem joint = script_.problem;
  joint.laws[0].set = FrictionSet::bilateral;
  for (const char* name : {"exact", "associated", "box", "frictionless"}) {
    apply_law(joint, name);
    EXPECT_EQ(joint.laws[0].set, FrictionSet::bilateral);
  }
}

TEST_F(CliLab, WhatShowsWhileWIsBuiltIsBadInput) {
  script_.answer = [](SolveReport& report) {
    if (report.solver != "pgs") throw std::invalid_argument("A is not positive definite");
  };
  const Result solve = call({"solve", problem_, "--solver", "nsgs"});
  EXPECT_EQ(solve.code, 2);
  EXPECT_EQ(solve.out, "");
  EXPECT_NE(solve.err.find("p.hdf5: A is not positive definite"), std::string::npos) << solve.err;
  const Result race = call({"race", problem_, "--solvers", "nsgs,pgs", "--json"});
  EXPECT_EQ(race.code, 0) << race.err;
  const json ranking = json::parse(race.out)["ranking"];
  ASSERT_EQ(ranking.size(), 2u);
  EXPECT_EQ(ranking[0]["solver"], "pgs");
  EXPECT_EQ(ranking[1]["end"], "refused");
  EXPECT_NE(ranking[1]["message"].get<std::string>().find("not positive definite"), std::string::npos);
  EXPECT_EQ(call({"race", problem_, "--solvers", "nsgs"}).code, 1);
}

TEST_F(CliLab, SolveWritesHistoryAndSolution) {
  const Result result = call({"solve", problem_, "--history", path("h.csv"), "--out", path("out.hdf5")});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> csv = lines(path("h.csv"));
  ASSERT_EQ(csv.size(), 4u);
  EXPECT_EQ(csv[0], "solver,setting,iteration,seconds,residual,residual_fclib");
  EXPECT_EQ(csv[2], "auto,,3,0.1,1e-05,0.001");
  const FclibFile out = read_fclib(path("out.hdf5"));
  EXPECT_EQ(out.solution.r, std::vector<double>(6, 0.5));
  EXPECT_EQ(out.solution.u, std::vector<double>(6, 0.25));
  EXPECT_EQ(out.guesses.size(), 1u);
  EXPECT_EQ(out.problem.title, "two");
}

TEST_F(CliLab, CtrlCReturnsTheBestIterateMarkedNotConverged) {
  script_.until_cancelled = true;
  std::thread interrupter([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(getpid(), SIGINT);
  });
  const Result result = call({"solve", problem_, "--json"});
  interrupter.join();
  EXPECT_EQ(result.code, 1);
  const json row = json::parse(result.out);
  EXPECT_EQ(row["end"], "cancelled");
  EXPECT_EQ(row["converged"], false);
}

TEST_F(CliLab, BadInputGetsOneMessage) {
  for (const char* command : {"solve", "race"}) {
    expect_bad({command}, {"a problem is needed", "--generate"});
    expect_bad({command, problem_, "--generate", "tasora_b3"}, {"a problem is needed"});
    expect_bad({command, path("none.hdf5")}, {"none.hdf5", "no such file"});
    expect_bad({command, problem_, "--set", "tolrance=1"}, {"--set tolrance=1", "'tolerance'"});
    expect_bad({command, problem_, "--set", "tolerance"}, {"key=value"});
    expect_bad({command, problem_, "--set", "omega=7"}, {"--set omega=7", "omega", "1.99"});
    expect_bad({command, problem_, "--set", "storage=dense"}, {"assembled", "factored"});
    expect_bad({command, problem_, "--tolerance", "-1"}, {"--tolerance", "[1e-15, 1]"});
    expect_bad({command, problem_, "--tolerance", "small"}, {"--tolerance"});
    expect_bad({command, problem_, "--time-budget", "-1"}, {"--time-budget"});
    expect_bad({command, problem_, "--max-iterations", "2.5"}, {"--max-iterations", "whole"});
    expect_bad({command, problem_, "--backend", "gpu"}, {"unknown backend 'gpu'"});
    expect_bad({command, problem_, "--size", "3"}, {"--generate"});
    expect_bad({command, "--generate", "tasora_b33"}, {"tasora_b33", "tasora_b3"});
    expect_bad({command, "--generate", "tasora_b3", "--size", "0"}, {"--size"});
  }
  expect_bad({"solve", problem_, "--solver", "nsg"}, {"'nsg'", "'nsgs'"});
  expect_bad({"solve", problem_, "--solver", "zzzzzz"}, {"list contact-solvers"});
  expect_bad({"solve", problem_, "--history", path("no/h.csv")}, {"there is no folder"});
  expect_bad({"solve", problem_, "--out", path("no/o.hdf5")}, {"there is no folder"});
  expect_bad({"race", problem_, "--solvers", "nsgs,prx_gs"}, {"'prx_gs'", "'prox_gs'"});
  expect_bad({"race", problem_, "--csv", path("no/r.csv")}, {"there is no folder"});
  expect_bad({"race", problem_, "--plot", path("r.jpg")}, {"r.jpg", ".png"});
  testing::RawFile raw = testing::small_local();
  raw.reals("/fclib_local/W/x")[0] = -1;
  raw.write(problem_);
  expect_bad({"solve", problem_}, {"p.hdf5", "W"});
}

TEST_F(CliLab, ListsOfTheLab) {
  for (const char* what : {"contact-solvers", "step-solvers", "lab-params", "problems"}) {
    const Result text = call({"list", what}), as_json = call({"list", what, "--json"});
    EXPECT_EQ(text.code, 0);
    const json rows = json::parse(as_json.out);
    EXPECT_FALSE(rows.empty());
    for (const json& row : rows) EXPECT_NE(text.out.find(row["name"].get<std::string>()), std::string::npos);
  }
  const json solvers = json::parse(call({"list", "contact-solvers", "--json"}).out);
  EXPECT_EQ(solvers[0]["name"], "auto");
  EXPECT_FALSE(solvers[0]["params"].empty());
  const json steps = json::parse(call({"list", "step-solvers", "--json"}).out);
  EXPECT_EQ(steps.size(), find_param(param_table(), "contact_solver")->choices.size());
  const auto of_the_lab = [](const json& row) { return row["lab"].get<bool>(); };
  EXPECT_EQ(std::ranges::count_if(steps, of_the_lab), static_cast<std::ptrdiff_t>(solvers.size()));
  EXPECT_EQ(json::parse(call({"list", "lab-params", "--json"}).out).size(), lab_param_table().size());
}

TEST_F(CliLab, EveryParameterIsReadBySomeSolverAndEveryGroupHasOne) {
  std::set<std::string_view> groups, read;
  for (const ParamInfo& row : lab_param_table()) groups.insert(row.group);
  for (const ContactSolverInfo& solver : list_stepping_solvers()) {
    EXPECT_EQ(solver.groups.front(), "stop") << solver.name;
    read.insert(solver.groups.begin(), solver.groups.end());
  }
  EXPECT_EQ(groups, read);
  const std::string text = call({"list", "contact-solvers"}).out;
  EXPECT_NE(text.find("stop, sweep, relaxation, staggered "), std::string::npos) << text;
}

TEST_F(CliLab, TheRealLabSolvesAFileAndAGeneratedProblem) {
  const Result file = call({"solve", problem_, "--solver", "nsgs", "--json", "--backend", "cpu"}, true);
  EXPECT_EQ(file.code, 0) << file.err << file.out;
  EXPECT_LE(json::parse(file.out)["residual"].get<double>(), 1e-8);
  const Result made = call({"solve", "--generate", "tasora_b3", "--size", "2", "--solver", "nsgs", "--json",
                            "--backend", "cpu", "--tolerance", "1e-4", "--out", path("out.hdf5")},
                           true);
  EXPECT_NE(made.code, 2) << made.err;
  const json row = json::parse(made.out);
  EXPECT_EQ(row["problem"], "tasora_b3");
  EXPECT_EQ(row["form"], "bodies");
  // The file has the same problem: the judgement is equal.
  const auto lab = make_contact_lab(Backend::cpu, 1);
  const FclibFile out = read_fclib(path("out.hdf5"));
  lab->load(out.problem);
  const double residual = row["residual"];
  EXPECT_NEAR(lab->judge(out.problem.solution).residual, residual, 1e-9 + 1e-6 * residual);
}

TEST_F(CliLab, AnUnsymmetricMatrixIsUsedAndSaid) {
  FclibFile file = testing::random_global(3, 4, 0);
  const auto solve = [&](bool as_json) {
    write_fclib(path("m.hdf5"), file);
    std::vector<std::string> words{"solve", path("m.hdf5"), "--solver", "nsgs", "--backend", "cpu"};
    if (as_json) words.emplace_back("--json");
    const Result result = call(words, true);
    EXPECT_EQ(result.code, 0) << result.err << result.out;
    return result.out;
  };
  json row = json::parse(solve(true));
  EXPECT_EQ(row["asymmetry"], 0);
  EXPECT_LE(row["equation_residual"].get<double>(), 1e-12);
  EXPECT_EQ(solve(false).find("asymmetry"), std::string::npos);

  testing::add_skew(file.problem, 4);
  row = json::parse(solve(true));
  EXPECT_DOUBLE_EQ(row["asymmetry"].get<double>(), asymmetry_of(file.problem.A).relative);
  EXPECT_LE(row["equation_residual"].get<double>(), 1e-12);
  const std::string said = solve(false);
  for (const char* part : {"asymmetry     M(", "used as it stands", "equations     |M v - H r - f| / |f|"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
  EXPECT_EQ(said.find("half of a symmetric matrix"), std::string::npos) << said;

  // Only the upper triangle.
  std::vector<std::vector<double>> m = testing::dense(testing::random_global(3, 4, 0).problem.A);
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) m[i][j] = 0;
  file.problem.A = testing::sparse(m);
  EXPECT_NE(solve(false).find("half of a symmetric matrix"), std::string::npos);

  // A local problem has no equations of motion.
  row = json::parse(call({"solve", problem_, "--solver", "nsgs", "--json", "--backend", "cpu"}, true).out);
  EXPECT_TRUE(row["equation_residual"].is_null());
}

TEST_F(CliLab, HelpDocumentsExitCodesAndOptions) {
  const std::string solve = call({"solve", "--help"}).out, race = call({"race", "--help"}).out;
  for (const char* option :
       {"--solver", "--tolerance", "--max-iterations", "--time-budget", "--set", "--law", "--backend",
        "--threads", "--warm-start", "--json", "--history", "--out", "--generate", "1 not converged"})
    EXPECT_NE(solve.find(option), std::string::npos) << option;
  for (const char* option : {"--solvers", "--sweep", "--csv", "--plot", "1 none did"})
    EXPECT_NE(race.find(option), std::string::npos) << option;
}

}  // namespace
}  // namespace stickslip
