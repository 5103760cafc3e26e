// Background races, the file of a frozen problem, and the status bar's text about a step.
#include "app/viewer/lab_race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "app/io/fclib/fclib.h"
#include "app/io/fclib/frozen_problem.h"
#include "app/io/file/input_error.h"
#include "app/io/report/race_rank.h"
#include "app/viewer/step_text.h"
#include "tests/app/fclib_fixture.h"
#include "tests/app/rigid_scene.h"

namespace stickslip {
namespace {

using namespace std::chrono_literals;

/// A scripted lab: spg converges late, nsgs early, pgs not at all; admm waits for the cancellation.
class StagedLab final : public ContactLab {
 public:
  void load(const ContactProblem& problem) override { check(problem); }
  SolveReport solve(std::string_view solver, const LabParams& params, const Options& options) override {
    if (solver == "admm" && params.time_budget > 10)
      while (!*options.cancel) std::this_thread::sleep_for(1ms);
    if (solver == "pivot_block") throw std::invalid_argument("too many rows");
    SolveReport report;
    report.solver = solver;
    report.r = {1, 2, 3};
    report.history = {{0, 0, 1, 1}, {5, 0.5, 1e-5, 1e-5}};
    report.converged = solver == "spg" || solver == "nsgs";
    report.end = report.converged ? SolveEnd::converged : SolveEnd::time;
    report.seconds = solver == "nsgs" ? 0.1 : 0.2;
    report.judgement.residual = solver == "pgs" ? std::numeric_limits<double>::quiet_NaN() : 0.5;
    return report;
  }
  Judgement judge(const std::vector<double>&) override { return {}; }
};

std::shared_ptr<const FrozenStep> frozen() {
  auto step = std::make_shared<FrozenStep>();
  step->scene = "r";
  step->frame = 7;
  step->problem = test::one_contact();
  return step;
}

bool race_reached(LabRace& race, const std::function<bool()>& done) {
  for (int i = 0; i < 30000; ++i) {
    race.update();
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

std::unique_ptr<ContactLab> staged() { return std::make_unique<StagedLab>(); }

TEST(LabRace, RanksAllSolversAndWritesTheProblem) {
  const testing::ScratchFolder folder("lab_race");
  const auto file = folder / "r-1.hdf5";
  LabRace race(staged);
  EXPECT_EQ(race.status().step, nullptr);
  race.start(frozen(), {}, file);
  ASSERT_TRUE(race_reached(race, [&] { return race.status().step && !race.status().running; }));
  const RaceStatus& status = race.status();
  EXPECT_EQ(status.error, "");
  EXPECT_EQ(status.note, "");
  EXPECT_EQ(status.file, file);
  EXPECT_EQ(read_fclib(file).problem.contacts(), 1u);
  ASSERT_EQ(status.runs.size(), list_lab_solvers().size());
  EXPECT_EQ(status.runs[0].solver, "nsgs");
  EXPECT_EQ(status.runs[1].solver, "spg");
  EXPECT_EQ(status.runs.end()[-2].solver, "pgs") << "a NaN is behind all who tried";
  EXPECT_EQ(status.runs.back().solver, "pivot_block");
  EXPECT_EQ(status.runs.back().report->message, "too many rows");
  for (const RaceRun& run : status.runs) {
    ASSERT_EQ(run.state, RaceRun::State::done);
    EXPECT_TRUE(run.report->r.empty()) << "nobody needs that";
  }
  EXPECT_EQ(seconds_to(*status.runs[0].report, 1e-4), 0.5);
}

TEST(LabRace, CancelsAtOnceAndStartsAnew) {
  LabRace race(staged);
  race.start(frozen(), {.time_budget = 20});
  const auto running = [&] {
    return std::ranges::any_of(race.status().runs, [](const RaceRun& run) {
      return run.state == RaceRun::State::running && run.solver == "admm";
    });
  };
  ASSERT_TRUE(race_reached(race, running));
  race.cancel();
  ASSERT_TRUE(race_reached(race, [&] { return !race.status().running; }));
  EXPECT_EQ(race.status().runs.back().state, RaceRun::State::waiting) << "left out";
  race.start(frozen(), {.time_budget = 20});
  ASSERT_TRUE(race_reached(race, running));
  race.start(frozen(), {.time_budget = 1});  // replaces the running race
  ASSERT_TRUE(race_reached(race, [&] {
    return !race.status().running && std::ranges::all_of(race.status().runs, [](const RaceRun& run) {
      return run.state == RaceRun::State::done;
    });
  }));
  race.start(frozen(), {.time_budget = 20});  // the destructor cancels it
}

TEST(LabRace, GoesOnWithoutAFileAndSaysWhatIsWrongWithTheProblem) {
  const testing::ScratchFolder folder("lab_race_bad");
  LabRace race(staged);
  auto torsional = std::make_shared<FrozenStep>(*frozen());
  torsional->problem.dim = 4;
  torsional->problem.w.push_back(0);
  torsional->problem.guess.clear();
  torsional->problem.solution.clear();
  race.start(torsional, {}, folder / "r-1.hdf5");
  ASSERT_TRUE(race_reached(race, [&] { return race.status().step && !race.status().running; }));
  EXPECT_NE(race.status().note.find("4 rows"), std::string::npos) << race.status().note;
  EXPECT_EQ(race.status().runs[0].state, RaceRun::State::done);
  EXPECT_EQ(folder.files(), 0u);

  auto broken = std::make_shared<FrozenStep>(*frozen());
  broken->problem.f.pop_back();
  race.start(broken, {});
  ASSERT_TRUE(race_reached(race, [&] { return race.status().step == broken && !race.status().running; }));
  EXPECT_NE(race.status().error, "");
}

TEST(LabRace, TheRealSolversAgreeOnOneContact) {
  LabRace race([] { return make_contact_lab(Backend::cpu, 1); });
  race.start(frozen(), {});
  ASSERT_TRUE(race_reached(race, [&] { return race.status().step && !race.status().running; }));
  EXPECT_EQ(race.status().error, "");
  for (const RaceRun& run : race.status().runs) {
    ASSERT_TRUE(run.report) << run.solver;
    EXPECT_NE(run.report->end, SolveEnd::refused) << run.solver << ": " << run.report->message;
  }
  EXPECT_TRUE(race.status().runs[0].report->converged);
}

TEST(FrozenProblem, KeepsGuessAndSolutionAndFormsWForFclib) {
  const testing::ScratchFolder folder("frozen");
  ContactProblem problem = test::one_contact();
  write_frozen(folder / "a.hdf5", problem);
  FclibFile read = read_fclib(folder / "a.hdf5");
  EXPECT_EQ(read.problem.form, ContactProblem::Form::global);
  EXPECT_EQ(read.problem.guess, problem.guess);
  EXPECT_EQ(read.problem.solution, problem.solution);

  problem.laws[0].cohesion = 0.25;
  problem.softness = {0.5, 0, 0};
  write_frozen(folder / "b.hdf5", problem);
  read = read_fclib(folder / "b.hdf5");
  EXPECT_EQ(read.problem.form, ContactProblem::Form::local);
  EXPECT_NEAR(read.problem.W.values[0], 1.5, 1e-12);
  EXPECT_NEAR(read.problem.guess[0], problem.guess[0] + 0.25, 1e-12) << "from the cone's apex";

  problem.laws[0].set = FrictionSet::box;
  EXPECT_THROW(write_frozen(folder / "c.hdf5", problem), InputError);
}

TEST(StepText, SaysHowAContactSolveEnded) {
  StepReport report;
  EXPECT_EQ(solve_text(report, "nsgs"), "");
  EXPECT_FALSE(missed_tolerance(report));
  report.contacts = 1200;
  ContactSolveRecord& solve = report.contact_solve.emplace();
  solve.nu = 1.8;
  solve.residual = 2e-4;
  solve.tolerance = 1e-3;
  EXPECT_EQ(solve_text(report, "nsgs"), "nsgs   1200 contacts   nu 1.8   residual 0.0002 of 0.001");
  EXPECT_FALSE(missed_tolerance(report));
  solve.residual = 2e-3;
  EXPECT_TRUE(missed_tolerance(report));
  EXPECT_TRUE(solve_text(report, "nsgs").ends_with("not reached"));
  solve.residual = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(missed_tolerance(report));
  solve.tolerance = 0;  // penalty forces
  EXPECT_FALSE(missed_tolerance(report));
}

}  // namespace
}  // namespace stickslip
