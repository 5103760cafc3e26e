// Scrubbing through the iterations of a solver of the lab.
#include "app/viewer/iteration_scrub.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "tests/app/frozen_boxes.h"
#include "tests/app/rigid_scene.h"

namespace stickslip {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<ContactLab> cpu_lab() { return make_contact_lab(Backend::cpu, 1); }

/// A race that one solver has ended.
RaceStatus race_of(std::shared_ptr<const FrozenStep> step, const std::string& solver, SolveReport report,
                   const RaceSettings& settings = {}) {
  RaceStatus race;
  race.step = std::move(step);
  race.settings = settings;
  race.runs.push_back(
      {solver, 0, RaceRun::State::done, std::make_shared<const SolveReport>(std::move(report))});
  return race;
}

bool reached(IterationScrub& scrub, const std::function<bool()>& done) {
  for (int i = 0; i < 30000; ++i) {
    scrub.update();
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

std::vector<long> iterations_of(const std::vector<ScrubStop>& stops) {
  std::vector<long> iterations;
  for (const ScrubStop& stop : stops) iterations.push_back(stop.iteration);
  return iterations;
}

TEST(ScrubStops, AreAllIterationsOfAShortRun) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<HistoryPoint> history{{0, 0, 1, 1},     {1, 0, nan, nan}, {1, 0, 0.5, 0.5},
                                          {1, 0, 0.7, 0.7}, {4, 0, 0.1, 0.1}, {4, 0, nan, nan}};
  const std::vector<ScrubStop> stops = scrub_stops(history, 3);
  EXPECT_EQ(iterations_of(stops), (std::vector<long>{0, 1, 4}));
  EXPECT_EQ(stops[1].residual, 0.5) << "the best of those of one iteration";
  EXPECT_EQ(stops[2].residual, 0.1);
  EXPECT_TRUE(scrub_stops({}, 3).empty());
}

TEST(ScrubStops, SpreadInAGeometricSequenceOverManyIterations) {
  std::vector<HistoryPoint> history;
  for (long i = 0; i <= 100000; ++i) history.push_back({i, 0, 1, 1});
  for (const std::size_t most : {2u, 3u, 10u, 300u}) {
    const std::vector<long> stops = iterations_of(scrub_stops(history, most));
    ASSERT_EQ(stops.size(), most);
    EXPECT_EQ(stops.front(), 0);
    EXPECT_EQ(stops.back(), 100000);
    for (std::size_t i = 1; i < most; ++i) EXPECT_LT(stops[i - 1], stops[i]);
  }
  EXPECT_EQ(iterations_of(scrub_stops(history, 6)), (std::vector<long>{0, 9, 99, 999, 9999, 100000}));
  history.resize(301);
  EXPECT_EQ(iterations_of(scrub_stops(history, 300)).back(), 300);
}

/// Every solver that converges on boxes that stick and slide, from the impulses of the step before.
TEST(IterationScrub, BeginsAtTheWarmStartAndEndsAtTheResultOfTheRace) {
  auto frozen = std::make_shared<FrozenStep>(test::frozen_boxes(test::boxes_toml()));
  for (double& r : frozen->problem.guess) r *= 0.5;
  const RaceSettings settings{.tolerance = 1e-6, .time_budget = 1, .warm = true};
  int converged = 0;
  IterationScrub scrub(cpu_lab);
  for (const ContactSolverInfo& solver : list_lab_solvers()) {
    SCOPED_TRACE(solver.name);
    const std::unique_ptr<ContactLab> lab = cpu_lab();
    lab->load(frozen->problem);
    const SolveReport report =
        lab->solve(solver.name, race_params(*frozen, settings), {.cancel = nullptr, .history = true});
    if (!report.converged) continue;
    ++converged;
    scrub.choose(race_of(frozen, std::string(solver.name), report, settings), solver.name);
    ASSERT_FALSE(scrub.stops().empty());
    EXPECT_EQ(scrub.stop(), scrub.stops().size() - 1);
    EXPECT_EQ(scrub.iterate(), nullptr) << "nothing is solved before it is asked for";
    scrub.show(scrub.stops().size() - 1);
    ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
    EXPECT_EQ(scrub.note(), "");
    ASSERT_NE(scrub.iterate(), nullptr);
    EXPECT_EQ(scrub.iterate()->r, report.r);
    for (std::size_t i = 0; i < report.u.size(); ++i)
      EXPECT_NEAR(scrub.iterate()->u[i], report.u[i], 1e-9) << i;
    EXPECT_NEAR(scrub.figures()->residual, report.judgement.residual, 1e-9);
    scrub.show(0);
    EXPECT_EQ(scrub.stops()[0].iteration, 0);
    EXPECT_EQ(scrub.iterate()->r, frozen->problem.guess);
    EXPECT_EQ(scrub.contacts().size(), frozen->contacts.size());
  }
  EXPECT_GE(converged, 10);
}

TEST(IterationScrub, TheLastStopShowsTheContactsOfTheStep) {
  const auto frozen = std::make_shared<const FrozenStep>(test::frozen_boxes(test::boxes_toml()));
  const RaceSettings settings{.tolerance = 1e-9};
  const std::unique_ptr<ContactLab> lab = cpu_lab();
  lab->load(frozen->problem);
  const SolveReport report =
      lab->solve("nsgs", race_params(*frozen, settings), {.cancel = nullptr, .history = true});
  ASSERT_TRUE(report.converged);
  IterationScrub scrub(cpu_lab);
  scrub.choose(race_of(frozen, "nsgs", report, settings), "nsgs");
  scrub.show_iteration(1000000);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  ASSERT_TRUE(scrub.is_in_scene());
  double total = 0, of_step = 0;
  for (const ContactRecord& contact : scrub.contacts()) total += contact.normal_force;
  for (const ContactRecord& contact : frozen->contacts) of_step += contact.normal_force;
  EXPECT_NEAR(total, of_step, 1e-4 * of_step) << "the weight of both boxes";
  EXPECT_EQ(scrub.figures()->sticks + scrub.figures()->slips + scrub.figures()->open,
            static_cast<int>(frozen->contacts.size()));
  EXPECT_GE(scrub.figures()->sticks, 3);
  EXPECT_GE(scrub.figures()->slips, 3);
  EXPECT_GT(scrub.figures()->largest, 0);
  float largest = 0;
  for (const ContactRecord& contact : scrub.contacts())
    largest = std::max({largest, contact.normal_force, norm(contact.friction)});
  EXPECT_EQ(scrub.largest_force(), largest);
  scrub.show(0);
  EXPECT_EQ(scrub.figures()->largest, 0) << "a cold start";
  EXPECT_EQ(scrub.largest_force(), largest) << "arrows of all stops have one scale";
}

// ---- With a scripted lab ----

/// Judges the iterations 0, 1, 2 with residuals 1, 1/2, 1/4, then waits for the cancellation if asked to.
class HeldLab final : public ContactLab {
 public:
  HeldLab(bool waits, double factor, std::atomic<int>& solves)
      : waits_(waits), factor_(factor), solves_(solves) {}
  void load(const ContactProblem&) override {}
  SolveReport solve(std::string_view solver, const LabParams& params, const Options& options) override {
    ++solves_;
    EXPECT_EQ(params.time_budget, 0);
    EXPECT_EQ(params.max_iterations, 3);
    for (long k = 0; k < 3; ++k)
      if (options.iterates->wants(k)) {
        const double impulse = static_cast<double>(k);
        options.iterates->take({k, k < 2 ? std::pow(0.5, k) : 0.25 * factor_, {impulse, 0, 0}, {0, 0, 0}});
      }
    if (waits_)
      while (!*options.cancel) std::this_thread::sleep_for(1ms);
    else options.iterates->take({3, 0.125, {3, 0, 0}, {0, 0, 0}});
    SolveReport report;
    report.solver = solver;
    return report;
  }
  Judgement judge(const std::vector<double>&) override { return {}; }

 private:
  bool waits_;
  double factor_;
  std::atomic<int>& solves_;
};

class StagedScrub : public ::testing::Test {
 protected:
  /// A race that took three iterations.
  static RaceStatus race(const std::string& solver = "nsgs") {
    auto step = std::make_shared<FrozenStep>();
    step->problem = test::one_contact();
    step->contacts.resize(1);
    SolveReport report;
    report.history = {{0, 0, 1, 1}, {1, 0, 0.5, 0.5}, {2, 0, 0.25, 0.25}, {3, 0, 0.125, 0.125}};
    return race_of(step, solver, report);
  }
  static SimulationStatus at(int frame, bool playing = false) {
    SimulationStatus status;
    status.frame = frame;
    status.playing = playing;
    return status;
  }
  bool is_known() { return scrub.figures().has_value(); }

  std::atomic<bool> waits = false;
  std::atomic<double> factor = 1;
  std::atomic<int> solves = 0;
  IterationScrub scrub{[this] { return std::make_unique<HeldLab>(waits, factor, solves); }};
};

TEST_F(StagedScrub, KeepsTheIteratesOfARun) {
  const RaceStatus first = race(), second = race("apgd");
  scrub.choose(first, "nsgs");
  EXPECT_EQ(scrub.solver(), "nsgs");
  scrub.show_iteration(1);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  EXPECT_EQ(scrub.figures()->largest, 1);
  scrub.show(3);
  EXPECT_EQ(scrub.figures()->largest, 3);
  scrub.show(99);
  EXPECT_EQ(scrub.stop(), 3u);
  EXPECT_EQ(solves, 1);
  scrub.choose(second, "apgd");
  scrub.show(0);
  ASSERT_TRUE(reached(scrub, [&] { return is_known(); }));
  scrub.choose(first, "nsgs");
  EXPECT_EQ(scrub.figures()->largest, 3) << "at hand";
  EXPECT_EQ(solves, 2);
}

TEST_F(StagedScrub, IsCancelledByAnotherChoiceAndByTheEnd) {
  waits = true;
  const RaceStatus first = race();
  scrub.choose(first, "nsgs");
  scrub.show(3);
  ASSERT_TRUE(reached(scrub, [&] { return solves == 1; }));
  EXPECT_TRUE(scrub.is_solving());
  EXPECT_FALSE(is_known());
  EXPECT_FALSE(scrub.is_in_scene()) << "the last stop is not known";
  scrub.show(2);
  ASSERT_TRUE(reached(scrub, [&] { return is_known(); })) << "earlier stops are known before the solve ends";
  EXPECT_TRUE(scrub.is_in_scene());
  scrub.choose(first, "");
  EXPECT_TRUE(scrub.stops().empty());
  EXPECT_FALSE(scrub.is_in_scene());
  EXPECT_FALSE(is_known());
  EXPECT_FALSE(scrub.is_solving());
  scrub.choose(first, "nsgs");
  EXPECT_FALSE(is_known()) << "a run that was cancelled is not kept";
  scrub.show(1);
  ASSERT_TRUE(reached(scrub, [&] { return solves == 2 && is_known(); }));
  // The destructor cancels the second solve.
}

TEST_F(StagedScrub, TheScenesOwnContactsReturnWhenTheRunGoesOn) {
  const RaceStatus first = race();
  scrub.follow(at(7));
  scrub.choose(first, "nsgs");
  scrub.show(2);
  ASSERT_TRUE(reached(scrub, [&] { return is_known(); }));
  scrub.follow(at(7));
  scrub.choose(first, "nsgs");
  EXPECT_TRUE(scrub.is_in_scene()) << "nothing changed";
  scrub.follow(at(8));
  EXPECT_FALSE(scrub.is_in_scene());
  scrub.show(1);
  EXPECT_TRUE(scrub.is_in_scene());
  scrub.follow(at(8, true));
  EXPECT_FALSE(scrub.is_in_scene());
  scrub.show(2);
  EXPECT_FALSE(scrub.is_in_scene()) << "it plays";
  EXPECT_TRUE(is_known()) << "in numbers";
  scrub.follow(at(8));
  scrub.show(2);
  EXPECT_TRUE(scrub.is_in_scene());
  RaceStatus again = first;
  again.running = true;
  scrub.choose(again, "nsgs");
  EXPECT_FALSE(scrub.is_in_scene()) << "another race began";
  EXPECT_TRUE(scrub.stops().empty());
}

TEST_F(StagedScrub, RunsThroughItsStops) {
  scrub.choose(race(), "nsgs");
  EXPECT_FALSE(scrub.advance(IterationScrub::Clock::now() + 1h));
  scrub.play(true);
  EXPECT_EQ(scrub.stop(), 0u) << "from the start again";
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  EXPECT_FALSE(scrub.advance(IterationScrub::Clock::now()));
  for (std::size_t stop = 1; stop < 4; ++stop) {
    EXPECT_TRUE(scrub.is_playing());
    EXPECT_TRUE(scrub.advance(IterationScrub::Clock::now() + 1h));
    EXPECT_EQ(scrub.stop(), stop);
  }
  EXPECT_FALSE(scrub.is_playing()) << "at the end";
}

TEST_F(StagedScrub, SaysWhereASecondSolveDiffers) {
  factor = 2;
  scrub.choose(race(), "nsgs");
  scrub.show(1);
  ASSERT_TRUE(reached(scrub, [&] { return !scrub.is_solving(); }));
  EXPECT_NE(scrub.note().find("iteration 2 on: residual 0.5, not 0.25"), std::string::npos) << scrub.note();
}

TEST_F(StagedScrub, AProblemWithoutPositionsHasNumbersAlone) {
  RaceStatus of_file = race();
  auto step = std::make_shared<FrozenStep>(*of_file.step);
  step->contacts.clear();
  of_file.step = step;
  scrub.choose(of_file, "nsgs");
  scrub.show(3);
  ASSERT_TRUE(reached(scrub, [&] { return is_known(); }));
  EXPECT_EQ(scrub.figures()->largest, 3);
  EXPECT_EQ(scrub.figures()->sticks + scrub.figures()->slips + scrub.figures()->open, 1);
  EXPECT_TRUE(scrub.contacts().empty());
  EXPECT_FALSE(scrub.is_in_scene());
  EXPECT_NE(scrub.note().find("no positions"), std::string::npos);
}

TEST_F(StagedScrub, HasNothingToShowWithoutAResult) {
  scrub.choose(RaceStatus(), "nsgs");
  EXPECT_TRUE(scrub.stops().empty());
  scrub.show(1);
  scrub.show_iteration(1);
  scrub.play(true);
  EXPECT_FALSE(scrub.is_playing());
  EXPECT_FALSE(scrub.is_solving());
  scrub.choose(race(), "apgd");
  EXPECT_TRUE(scrub.stops().empty()) << "the race has no such solver";
  EXPECT_EQ(solves, 0);
}

}  // namespace
}  // namespace stickslip
