// Command lines of the contact lab, with a scripted lab or the real one.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/lab.h"
#include "tests/app/fclib_fixture.h"

namespace stickslip::testing {

/// Requests to the labs, and their scripted answers.
struct Script {
  std::vector<std::string> solvers;
  std::vector<LabParams> params;
  bool history = false;
  bool until_cancelled = false;
  ContactProblem problem;  // loaded last
  std::function<void(SolveReport&)> answer = [](SolveReport&) {};
};

class ScriptedLab : public ContactLab {
 public:
  explicit ScriptedLab(Script& script) : script_(script) {}

  void load(const ContactProblem& problem) override {
    check(problem);
    problem_ = script_.problem = problem;
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

  CliLab() { small_local().write(problem_); }

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

}  // namespace stickslip::testing
