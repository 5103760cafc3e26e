// End of a solve, its report, and the history, for every solver of the lab.
#include "gpu/dfcp/judge/monitor.cuh"

#include <thread>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "tests/backend_test.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

std::unique_ptr<ContactLab> monitored_lab(const ContactProblem& problem) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  return lab;
}

/// 24 contacts of a law that all solvers support; no solver finishes in three iterations.
ContactProblem boxed_tower() {
  ContactProblem p = over_constrained(2, 6, 5);
  for (BlockLaw& law : p.laws) law.set = FrictionSet::box;
  return p;
}

template <class Check>
void with_every_solver(const Check& check) {
  for (const ContactSolverInfo& info : list_contact_solvers()) {
    SCOPED_TRACE(std::string(info.name));
    check(std::string(info.name));
  }
}

/// Requires that the report has the best iterate, and that this is no worse than zero impulses.
void expect_honest(ContactLab& lab, const ContactProblem& problem, const SolveReport& report) {
  ASSERT_EQ(report.r.size(), problem.size());
  ASSERT_EQ(report.u.size(), problem.size());
  const double judged = lab.judge(report.r).residual;
  EXPECT_NEAR(judged, report.judgement.residual, 1e-9 * judged + 1e-15);
  EXPECT_LE(judged, lab.judge(std::vector<double>(problem.size(), 0.0)).residual);
}

/// A monitor of r = 0 for one approaching contact.
struct Watched {
  Delassus<3> W;
  Buffer<ContactLaw<3>> law;
  Buffer<Vec<double, 3>> r, solution;

  explicit Watched(Context& ctx) {
    const fixtures::KnownContact known = fixtures::known_contact("stick");
    W.build(ctx, known.problem, false);
    law.upload(ctx, std::vector<ContactLaw<3>>{{{0.5, 0.5}, FrictionSet::ellipsoid, FlowRule::exact}});
    r.upload(ctx, std::vector<Vec<double, 3>>{{0, 0, 0}});
    solution.upload(ctx, std::vector<Vec<double, 3>>{{known.r[0], known.r[1], known.r[2]}});
  }
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Monitor, CountsIterationsAndChecksAtItsInterval) {
  const Watched watched(ctx);
  for (const long interval : {1L, 7L}) {
    Monitor<3> monitor(ctx, watched.W, watched.law.data(),
                       {.max_iterations = 50, .check_interval = interval});
    while (!monitor.done(watched.r.data())) {
    }
    EXPECT_EQ(monitor.iterations(), 50);
    EXPECT_EQ(monitor.end(), SolveEnd::iterations);
    // At the first iteration, at every interval, and at the last.
    EXPECT_EQ(monitor.checks(), interval == 1 ? 50 : 1 + 49 / 7);
  }
  // Without an interval it checks less and less often while nothing improves.
  Monitor<3> monitor(ctx, watched.W, watched.law.data(), {.max_iterations = 10000});
  while (!monitor.done(watched.r.data())) {
  }
  EXPECT_LT(monitor.checks(), 100);
  EXPECT_GT(monitor.checks(), 20);
}

BACKEND_TEST(Monitor, KeepsTheBest) {
  const Watched watched(ctx);
  Monitor<3> monitor(ctx, watched.W, watched.law.data(), {.tolerance = 1e-15});
  const double far = monitor.check(watched.r.data());
  EXPECT_FALSE(monitor.converged());
  Buffer<Vec<double, 3>> close(ctx, std::vector<Vec<double, 3>>{{2, -0.4, -0.19}});
  EXPECT_LT(monitor.check(close.data()), far);
  monitor.check(watched.r.data());
  EXPECT_DOUBLE_EQ(monitor.residual(), far);
  EXPECT_EQ(read_back(ctx, monitor.best())[2], -0.19);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  close.upload(ctx, std::vector<Vec<double, 3>>{{nan, nan, nan}});
  EXPECT_FALSE(monitor.done(close.data()));
  EXPECT_EQ(read_back(ctx, monitor.best())[2], -0.19);
  // Convergence overrides other reasons to end; nothing else does.
  monitor.stop(SolveEnd::stalled, "why");
  monitor.stop(SolveEnd::refused, "later");
  EXPECT_TRUE(monitor.done(watched.r.data()));
  EXPECT_EQ(monitor.end(), SolveEnd::stalled);
  EXPECT_EQ(monitor.message(), "why");
  EXPECT_TRUE(monitor.done(watched.solution.data()));
  EXPECT_EQ(monitor.end(), SolveEnd::converged);
  EXPECT_EQ(monitor.message(), "");
}

BACKEND_TEST(Monitor, HistoryIsOffTheClock) {
  const Watched watched(ctx);
  Monitor<3> monitor(ctx, watched.W, watched.law.data(),
                     {.max_iterations = 40, .check_interval = 20, .history = true});
  while (!monitor.done(watched.r.data())) {
  }
  EXPECT_EQ(monitor.checks(), 3);
  ASSERT_EQ(monitor.history().size(), 40u);
  for (std::size_t k = 0; k < 40; ++k) EXPECT_EQ(monitor.history()[k].iteration, static_cast<long>(k + 1));
  Stopwatch watch;
  watch.halt();
  const double halted = watch.seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(watch.seconds(), halted);
  watch.resume();
  EXPECT_LT(halted, watch.seconds());
}

BACKEND_TEST(Monitor, EverySolverStopsAtItsBudgets) {
  const ContactProblem problem = boxed_tower();
  const auto lab = monitored_lab(problem);
  with_every_solver([&](const std::string& solver) {
    for (const int most : {1, 3}) {
      if (solver == "lemke") continue;  // its path of pivots is one iteration
      LabParams params;
      params.max_iterations = most;
      const SolveReport report = lab->solve(solver, params);
      EXPECT_EQ(report.end, SolveEnd::iterations) << most << " " << report.message;
      EXPECT_FALSE(report.converged);
      // The pass that ends an inner method also counts.
      EXPECT_LE(report.iterations, solver.starts_with("pivot") ? most + 1 : most);
      EXPECT_GE(report.iterations, 1);
      expect_honest(*lab, problem, report);
    }
    LabParams hurried;
    hurried.time_budget = 1e-9;
    const SolveReport late = lab->solve(solver, hurried);
    EXPECT_EQ(late.end, SolveEnd::time) << late.message;
    EXPECT_FALSE(late.converged);
    EXPECT_LE(late.iterations, 2);
    expect_honest(*lab, problem, late);
  });
}

BACKEND_TEST(Monitor, EverySolverStopsOnRequest) {
  const ContactProblem problem = boxed_tower();
  const auto lab = monitored_lab(problem);
  with_every_solver([&](const std::string& solver) {
    const std::atomic<bool> already{true};
    ContactLab::Options options;
    options.cancel = &already;
    const SolveReport report = lab->solve(solver, {}, options);
    EXPECT_EQ(report.end, SolveEnd::cancelled);
    EXPECT_FALSE(report.converged);
    EXPECT_LE(report.iterations, 2);
    EXPECT_FALSE(report.message.empty());
    expect_honest(*lab, problem, report);
  });
}

/// From another thread, during a solve that would never end.
BACKEND_TEST(Monitor, EverySolverStopsOnRequestFromElsewhere) {
  const ContactProblem problem = fixtures::known_contact("infeasible").problem;
  const auto lab = monitored_lab(problem);
  with_every_solver([&](const std::string& solver) {
    std::atomic<bool> cancel{false};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      cancel = true;
    });
    ContactLab::Options options;
    options.cancel = &cancel;
    LabParams params;
    params.max_iterations = 2000000000;
    const SolveReport report = lab->solve(solver, params, options);
    other.join();
    // Newton's methods, admm and pivoting detect stagnation themselves.
    const bool endless =
        solver == "nsgs" || solver == "pgs" || solver == "prox_jacobi" || solver == "staggered";
    EXPECT_TRUE(report.end == SolveEnd::cancelled || (!endless && report.end == SolveEnd::infeasible))
        << name_of(report.end);
    EXPECT_FALSE(report.converged);
    EXPECT_EQ(report.r.size(), problem.size());
  });
}

BACKEND_TEST(Monitor, HistoryOfEverySolver) {
  for (const char* name : {"stick_full_w", "box_slide", "pendulum", "hyperstatic_box"}) {
    const auto lab = monitored_lab(fixtures::known_contact(name).problem);
    with_every_solver([&](const std::string& solver) {
      SCOPED_TRACE(name);
      ContactLab::Options options;
      options.history = true;
      const SolveReport report = lab->solve(solver, {}, options), plain = lab->solve(solver, {});
      EXPECT_TRUE(plain.history.empty());
      ASSERT_FALSE(report.history.empty());
      EXPECT_EQ(report.history.front().iteration, 0);
      EXPECT_EQ(report.history.back().iteration, report.iterations);
      double least = report.history.front().residual;
      for (std::size_t k = 1; k < report.history.size(); ++k) {
        EXPECT_GE(report.history[k].iteration, report.history[k - 1].iteration);
        EXPECT_GE(report.history[k].seconds, report.history[k - 1].seconds);
        least = std::min(least, report.history[k].residual);
      }
      EXPECT_LE(report.history.back().seconds, report.seconds);
      // The judge recomputes velocities; a solver's own velocities have a small drift.
      EXPECT_LE(least, report.judgement.residual * (1 + 1e-6) + 1e-14);
      if (!report.converged) return;
      EXPECT_NEAR(report.history.back().residual, report.judgement.residual, 1e-12);
      EXPECT_LE(report.judgement.residual, LabParams{}.tolerance);
      // Recording the history does not change the result.
      EXPECT_TRUE(plain.converged);
    });
  }
}

/// A rare check detects convergence late, at the iteration given by the interval.
BACKEND_TEST(Monitor, CheckIntervalActs) {
  const auto lab = monitored_lab(fixtures::known_contact("hyperstatic_grid").problem);
  for (const char* solver : {"nsgs", "prox_gs", "prox_jacobi"}) {
    LabParams params;
    params.check_interval = 1;
    const SolveReport often = lab->solve(solver, params);
    params.check_interval = 1000;
    const SolveReport rarely = lab->solve(solver, params);
    ASSERT_TRUE(often.converged && rarely.converged) << solver;
    EXPECT_LT(often.iterations, 1000) << solver;
    EXPECT_EQ(rarely.iterations, 1001) << solver;
    EXPECT_LE(rarely.judgement.residual, often.judgement.residual) << solver;
  }
}

/// From a solution no iteration is needed; without `warm_start` the guess is not used.
BACKEND_TEST(Monitor, WarmStartActs) {
  for (const char* name : {"box_slide", "pendulum", "cohesive_stick", "frictionless_full_w"}) {
    fixtures::KnownContact known = fixtures::known_contact(name);
    known.problem.guess = known.r;
    const auto lab = monitored_lab(known.problem);
    with_every_solver([&](const std::string& solver) {
      LabParams params;
      params.warm_start = true;
      const SolveReport warm = lab->solve(solver, params);
      EXPECT_TRUE(warm.converged);
      EXPECT_EQ(warm.end, SolveEnd::converged);
      EXPECT_EQ(warm.iterations, 0);
      for (std::size_t i = 0; i < known.r.size(); ++i) EXPECT_NEAR(warm.r[i], known.r[i], 1e-14);
      params.warm_start = false;
      EXPECT_GT(lab->solve(solver, params).iterations, 0);
    });
  }
  // From a nearby guess, fewer iterations than from zero.
  fixtures::KnownContact known = fixtures::known_contact("hyperstatic_sliding");
  known.problem.guess = monitored_lab(known.problem)->solve("nsgs", {}).r;
  for (double& x : known.problem.guess) x *= 1 + 1e-4;
  const auto lab = monitored_lab(known.problem);
  for (const char* solver : {"nsgs", "prox_gs", "prox_jacobi", "nncg"}) {
    LabParams params;
    params.warm_start = true;
    EXPECT_LT(lab->solve(solver, params).iterations, lab->solve(solver, {}).iterations) << solver;
  }
}
