// stickslip solve, race and the lists of the contact lab; on a lab that does as told, and on the real one.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "app/cli/cli.h"
#include "app/cli/race_sweep.h"
#include "gpu/dfcp/generators.h"
#include "tests/app/fclib_fixture.h"

namespace stickslip {
namespace {

using nlohmann::json;
using testing::ScratchFolder;

/// What labs were asked for, and what they answer.
struct Script {
  std::vector<std::string> solvers;
  std::vector<LabParams> params;
  bool history = false;
  bool until_cancelled = false;
  std::function<void(SolveReport&)> answer = [](SolveReport&) {};
};

class ScriptedLab : public ContactLab {
 public:
  explicit ScriptedLab(Script& script) : script_(script) {}

  void load(const ContactProblem& problem) override {
    check(problem);
    problem_ = problem;
  }
  SolveReport solve(std::string_view solver, const LabParams& params, const Options& options) override {
    script_.solvers.emplace_back(solver);
    script_.params.push_back(params);
    script_.history = options.history;
    while (script_.until_cancelled && !*options.cancel)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    SolveReport report;
    report.solver = solver;
    report.end = script_.until_cancelled ? SolveEnd::cancelled : SolveEnd::converged;
    report.converged = !script_.until_cancelled;
    report.r.assign(problem_.size(), 0.5), report.u.assign(problem_.size(), 0.25);
    report.contacts = problem_.contacts(), report.blocks = problem_.blocks(), report.dofs = problem_.dofs();
    report.iterations = 7, report.seconds = 0.5;
    report.judgement.residual = 1e-9;
    if (options.history) report.history = {{0, 0, 1, 1}, {3, 0.1, 1e-5, 1e-3}, {7, 0.5, 1e-9, 1e-8}};
    script_.answer(report);
    return report;
  }
  Judgement judge(const std::vector<double>&) override { return {}; }

 private:
  Script& script_;
  ContactProblem problem_;
};

class CliLab : public ::testing::Test {
 protected:
  struct Result {
    int code;
    std::string out, err;
  };

  CliLab() { testing::small_local().write(problem_); }

  Result call(std::vector<std::string> arguments, bool real = false) {
    arguments.insert(arguments.begin(), "stickslip");
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const LabFactory scripted = [this](Backend, int) { return std::make_unique<ScriptedLab>(script_); };
    const int code = run_cli(static_cast<int>(argv.size()), argv.data(), make_engine,
                             real ? LabFactory(make_contact_lab) : scripted);
    const std::string out = ::testing::internal::GetCapturedStdout();
    return {code, out, ::testing::internal::GetCapturedStderr()};
  }

  void expect_bad(const std::vector<std::string>& arguments, std::initializer_list<std::string> parts) {
    std::string line;
    for (const std::string& a : arguments) line += a + " ";
    SCOPED_TRACE(line);
    const std::size_t before = folder_.files();
    const Result result = call(arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    for (const std::string& part : parts) EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(folder_.files(), before);
    EXPECT_TRUE(script_.solvers.empty());
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::vector<std::string> lines(const std::string& file) {
    std::vector<std::string> all;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }

  ScratchFolder folder_{std::string("cli_lab_") +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  std::string problem_ = path("p.hdf5");
  Script script_;
};

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
  EXPECT_EQ(call({"solve", problem_, "--warm-start"}).code, 0);  // from the solution
  script_.solvers.clear();
  raw.data.erase("/solution/r");
  raw.write(problem_);
  expect_bad({"solve", problem_, "--warm-start"}, {"--warm-start", "neither a guess nor a solution"});
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
  const std::size_t count = list_contact_solvers().size();
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

TEST_F(CliLab, RaceWhereNobodyArrivesIsExitCodeOne) {
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
  const auto solvers = list_contact_solvers();
  const auto entries = expand_sweep("nsgs.omega=0.5:1.5:3", solvers, {});
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].params.omega, 1);
  EXPECT_EQ(expand_sweep("nsgs.omega=0.5:1.5:1", solvers, {}).size(), 1u);
  for (const char* sweep : {"", "nsgs", "nsgs.omega", "nsgs.omega=1", "nsgs.omega=1:2", "nsgs.omega=1:x:3",
                            "nsgs.omega=1:1.5:0", "nsgs.omega=1:1.5:2.5", "nsgs.omega=1:1.5:1e9", "=1:2:3",
                            ".=::", "nsgs.omega=1:1.5:3:4", "nsgs.omega=nan:1:2"})
    expect_bad({"race", problem_, "--sweep", sweep}, {"--sweep", "solver.param=a:b:n"});
  expect_bad({"race", problem_, "--sweep", "nsg.omega=1:1.5:2"}, {"'nsgs'"});
  expect_bad({"race", problem_, "--sweep", "nsgs.omga=1:1.5:2"}, {"'omega'"});
  expect_bad({"race", problem_, "--sweep", "nsgs.omega=1:3:2"}, {"omega", "1.99"});
  expect_bad({"race", problem_, "--sweep", "nsgs.admm_rho=1:3:2"}, {"nsgs does not read admm_rho"});
  expect_bad({"race", problem_, "--sweep", "prox_gs.r_strategy=1:3:2"}, {"r_strategy is no number"});
}

TEST_F(CliLab, ListsOfTheLab) {
  for (const char* what : {"contact-solvers", "lab-params", "problems"}) {
    const Result text = call({"list", what}), as_json = call({"list", what, "--json"});
    EXPECT_EQ(text.code, 0);
    const json rows = json::parse(as_json.out);
    EXPECT_FALSE(rows.empty());
    for (const json& row : rows) EXPECT_NE(text.out.find(row["name"].get<std::string>()), std::string::npos);
  }
  const json solvers = json::parse(call({"list", "contact-solvers", "--json"}).out);
  EXPECT_EQ(solvers[0]["name"], "auto");
  EXPECT_FALSE(solvers[0]["params"].empty());
  EXPECT_EQ(json::parse(call({"list", "lab-params", "--json"}).out).size(), lab_param_table().size());
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
  // The file holds the same problem: it is judged alike.
  const auto lab = make_contact_lab(Backend::cpu, 1);
  const FclibFile out = read_fclib(path("out.hdf5"));
  lab->load(out.problem);
  const double residual = row["residual"];
  EXPECT_NEAR(lab->judge(out.problem.solution).residual, residual, 1e-9 + 1e-6 * residual);
}

class LongCliLab : public CliLab {};

TEST_F(LongCliLab, RaceDrawsAPlotOrSaysWhatIsMissing) {
  const Result result = call({"race", problem_, "--solvers", "nsgs,pgs", "--plot", path("r.png")});
  EXPECT_EQ(lines(path("r.csv")).size(), 7u);
  if (result.code == 1) {
    EXPECT_NE(result.err.find("matplotlib"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("race_plot.py"), std::string::npos) << result.err;
    EXPECT_EQ(folder_.files(), 2u);  // the problem and the figures
    GTEST_SKIP() << "no Python with matplotlib";
  }
  EXPECT_EQ(result.code, 0) << result.err;
  std::ifstream picture(path("r.png"), std::ios::binary);
  char head[8] = {};
  picture.read(head, sizeof head);
  EXPECT_EQ(std::string(head + 1, 3), "PNG");
  EXPECT_EQ(folder_.files(), 3u);
}

TEST_F(CliLab, HelpDocumentsExitCodesAndOptions) {
  const std::string solve = call({"solve", "--help"}).out, race = call({"race", "--help"}).out;
  for (const char* option :
       {"--solver", "--tolerance", "--max-iterations", "--time-budget", "--set", "--backend", "--threads",
        "--warm-start", "--json", "--history", "--out", "--generate", "1 not converged"})
    EXPECT_NE(solve.find(option), std::string::npos) << option;
  for (const char* option : {"--solvers", "--sweep", "--csv", "--plot", "1 none did"})
    EXPECT_NE(race.find(option), std::string::npos) << option;
}

}  // namespace
}  // namespace stickslip
