// Proximal solvers, projected rows, NNCG and staggering: properties of each.
#include <algorithm>
#include <cmath>
#include <random>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/dfcp/solvers/prox_block.h"
#include "gpu/law/local_solve.h"
#include "tests/backend_test.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr RFactorStrategy kStrategies[] = {RFactorStrategy::global, RFactorStrategy::local,
                                           RFactorStrategy::blocked};

std::unique_ptr<ContactLab> prox_lab(const ContactProblem& problem) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  return lab;
}

void expect_solves(const fixtures::KnownContact& known, const char* solver, const LabParams& params) {
  SCOPED_TRACE(std::string(solver) + " " + known.name);
  const SolveReport report = prox_lab(known.problem)->solve(solver, params);
  ASSERT_TRUE(report.converged) << report.judgement.residual << " " << report.message;
  for (std::size_t i = 0; i < known.u.size(); ++i) EXPECT_NEAR(report.u[i], known.u[i], known.tolerance);
}

template <int D>
Mat<double, D> random_spd(std::mt19937& random) {
  std::normal_distribution<double> gauss;
  Mat<double, D> a{};
  for (double& x : a.m) x = gauss(random);
  Mat<double, D> w = a * a.transposed();
  for (int i = 0; i < D; ++i) w(i, i) += 0.1;
  return w;
}

/// A fixed point r under any step size solves the block's own problem.
template <int D>
void expect_fixed_points(std::mt19937& random, FrictionSet set, FlowRule flow) {
  std::normal_distribution<double> gauss;
  std::uniform_real_distribution<double> between(0.2, 0.9);
  for (int attempt = 0; attempt < 20; ++attempt) {
    ContactLaw<D> law;
    for (int i = 0; i < D - 1; ++i) law.mu[i] = attempt % 5 == 0 && i == 0 ? 0.0 : between(random);
    law.set = set;
    law.flow = flow;
    const Mat<double, D> w = random_spd<D>(random);
    Vec<double, D> q{};
    for (int i = 0; i < D; ++i) q[i] = gauss(random) - (i == 0 ? 1.0 : 0.0);
    const Vec<double, D> exact = local_solve(law, w, q);
    for (const RFactorStrategy strategy : kStrategies) {
      ProxBlock<D> block = prepare_prox(law, w, strategy, 0.5 / trace(w), 1.0);
      for (const double factor : {0.1, 1.0}) {
        const Vec<double, D> u = w * exact + q;
        EXPECT_LT(norm(prox_step(law, block, factor, exact, u) - exact), 1e-9 * (1 + norm(exact)));
        EXPECT_LT(norm(prox_block(law, block, w, factor, 3, exact, u) - exact), 1e-9 * (1 + norm(exact)));
      }
    }
  }
}

double objective(const Mat<double, 2>& metric, const Vec<double, 2>& r, const Vec<double, 2>& u,
                 double factor, const Vec<double, 2>& x) {
  return dot(x - r, metric * (x - r)) / (2 * factor) + dot(u, x);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(ProxBlock, ExactSolutionsAreFixedPoints) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  for (const FrictionSet set : {FrictionSet::ellipsoid, FrictionSet::box, FrictionSet::bilateral})
    for (const FlowRule flow : {FlowRule::exact, FlowRule::associated}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(set)) + " " + std::to_string(static_cast<int>(flow)));
      expect_fixed_points<3>(random, set, flow);
      expect_fixed_points<4>(random, set, flow);
    }
}

/// No point of the section has a smaller objective.
BACKEND_TEST(ProxBlock, TangentialStepIsTheLeastOfAllPoints) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  std::normal_distribution<double> gauss;
  std::uniform_real_distribution<double> between(0, 1);
  for (int attempt = 0; attempt < 100; ++attempt) {
    ContactLaw<3> law{{between(random), between(random)},
                      attempt % 2 == 0 ? FrictionSet::ellipsoid : FrictionSet::box,
                      FlowRule::exact};
    const Mat<double, 3> w = random_spd<3>(random);
    ProxBlock<3> block = prepare_prox(law, w, kStrategies[attempt % 3], 0.3, 1.0);
    const Vec<double, 2> r{gauss(random), gauss(random)}, u{gauss(random), gauss(random)};
    const double radius = between(random), factor = between(random) + 0.1;
    const Vec<double, 2> best = prox_tangential(law, block, factor, radius, r, u);
    EXPECT_LT(norm(best - project_section(law, radius, best)), 1e-12);
    const double least = objective(block.metric, r, u, factor, best);
    for (int k = 0; k < 200; ++k) {
      const Vec<double, 2> x = project_section(law, radius, {gauss(random), gauss(random)});
      EXPECT_GE(objective(block.metric, r, u, factor, x), least - 1e-10 * (1 + std::fabs(least)));
    }
  }
}

/// Going row by row takes more than twenty passes from a coupling of a half on, and thousands where rows are
/// nearly the same.
BACKEND_TEST(ProxBlock, ABoxOfCoupledRowsIsExact) {
  const ContactLaw<3> law{{0.5, 0.5}, FrictionSet::box, FlowRule::exact};
  for (const double near : {-0.9999, -0.63, 0.3, 0.5, 0.6, 0.63, 0.7, 0.9, 0.9999}) {
    ProxBlock<3> block;
    block.metric = Mat<double, 2>::from_columns({{1, near}, {near, 1}});
    // M x = pull at (0.3, -0.2), inside; with the larger pull row 0 ends at its bound of 1.
    const Vec<double, 2> inside{0.3, -0.2}, corner{1, 0.25};
    const Vec<double, 2> pull = block.metric * inside,
                         larger = block.metric * corner + Vec<double, 2>{0.1, 0};
    EXPECT_LT(norm(prox_tangential(law, block, 1.0, 2.0, {0, 0}, -pull) - inside), 1e-11);
    EXPECT_LT(norm(prox_tangential(law, block, 1.0, 2.0, {0, 0}, -larger) - corner), 1e-11);
  }
}

BACKEND_TEST(Prox, EveryStrategySolves) {
  for (const char* name : {"slide_full_w", "elliptic_slide", "associated_slide", "torsional_slide",
                           "hyperstatic_grid", "pendulum", "coupled_nodes"})
    for (const RFactorStrategy strategy : kStrategies) {
      LabParams params;
      params.r_strategy = strategy;
      const fixtures::KnownContact known = fixtures::known_contact(name);
      expect_solves(known, "prox_gs", params);
      expect_solves(known, "prox_jacobi", params);
      params.prox_local_steps = 1;
      expect_solves(known, "prox_gs", params);
    }
}

BACKEND_TEST(Prox, FactorsFarTooLargeOrSmallRecover) {
  const fixtures::KnownContact known = fixtures::known_contact("hyperstatic_grid");
  LabParams params;
  for (const double scale : {1e-2, 1e2, 1e5}) {
    params.r_scale = scale;
    expect_solves(known, "prox_gs", params);
    expect_solves(known, "prox_jacobi", params);
  }
}

BACKEND_TEST(Prox, WithoutTheAdaptiveRuleJacobiDoesNotConverge) {
  const auto lab = prox_lab(fixtures::known_contact("hyperstatic_grid").problem);
  LabParams params;
  params.max_iterations = 3000;
  EXPECT_TRUE(lab->solve("prox_jacobi", params).converged);
  params.r_adaptive = false;
  EXPECT_FALSE(lab->solve("prox_jacobi", params).converged);
}

/// W = 1, q = -1, factor 2.5: the iterates are 2.5, 0, 2.5, ... with steps that do not grow. The printed rule
/// keeps them all; ours sees that they turn back.
BACKEND_TEST(Prox, ThePrintedRuleMissesACycle) {
  ContactProblem p;
  p.laws.resize(1);
  p.W = {3, 3, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1}};
  p.q = {-1, 0, 0};
  const auto lab = prox_lab(p);
  LabParams params;
  params.r_scale = 2.5;
  params.max_iterations = 1000;
  EXPECT_TRUE(lab->solve("prox_jacobi", params).converged);
  params.r_rule = AdaptiveRFactors::printed;
  EXPECT_FALSE(lab->solve("prox_jacobi", params).converged);
  params.r_scale = 1.5;
  EXPECT_TRUE(lab->solve("prox_jacobi", params).converged);
}

BACKEND_TEST(Prox, ThePrintedRuleSolves) {
  for (const char* name : {"slide_full_w", "elliptic_slide", "hyperstatic_grid"}) {
    LabParams params;
    params.r_rule = AdaptiveRFactors::printed;
    expect_solves(fixtures::known_contact(name), "prox_gs", params);
    expect_solves(fixtures::known_contact(name), "prox_jacobi", params);
  }
}

BACKEND_TEST(Prox, RelaxedStepsHaveTheSameSolution) {
  const fixtures::KnownContact known = fixtures::known_contact("hyperstatic_sliding");
  for (const double omega : {0.5, 1.3}) {
    LabParams params;
    params.omega = omega;
    expect_solves(known, "prox_gs", params);
    expect_solves(known, "staggered", params);
  }
}

BACKEND_TEST(Pgs, BoxesAreSolvedAndOtherLawsStallWithAMessage) {
  for (const char* solver : {"pgs", "pgs_jacobi", "nncg"}) {
    LabParams params;
    params.nncg_sweep = NncgSweep::pgs;
    expect_solves(fixtures::known_contact("box_slide"), solver, params);
    expect_solves(fixtures::known_contact("pendulum"), solver, params);
    const SolveReport report =
        prox_lab(fixtures::known_contact("slide_full_w").problem)->solve(solver, params);
    EXPECT_EQ(report.end, SolveEnd::stalled);
    EXPECT_NE(report.message.find("box friction"), std::string::npos) << report.message;
    EXPECT_GT(report.judgement.residual, 1e-3);
    EXPECT_LT(report.iterations, 1000);
  }
}

BACKEND_TEST(Sor, OverRelaxationHalvesTheIterationsOfAColumn) {
  const std::vector<std::array<double, 3>> falling(20, {-1, 0, 0});
  const auto lab = prox_lab(fixtures::node_column("column", std::vector<double>(20, 1.0), falling, 0));
  for (const char* solver : {"pgs", "prox_gs", "staggered"}) {
    LabParams params;
    params.staggered_sweeps = 1;
    const SolveReport plain = lab->solve(solver, params);
    params.omega = 1.6;
    const SolveReport relaxed = lab->solve(solver, params);
    ASSERT_TRUE(plain.converged && relaxed.converged) << solver;
    EXPECT_LT(2 * relaxed.iterations, plain.iterations) << solver;
  }
}

BACKEND_TEST(Nncg, AcceleratesEverySweep) {
  const ContactProblem problem = mass_chain(6, 10);
  const auto lab = prox_lab(problem);
  LabParams params;
  params.max_iterations = 20000;
  const SolveReport sweeps = lab->solve("nsgs", params);
  for (const NncgSweep sweep : {NncgSweep::nsgs, NncgSweep::prox}) {
    params.nncg_sweep = sweep;
    const SolveReport report = lab->solve("nncg", params);
    EXPECT_TRUE(report.converged);
    EXPECT_LT(2 * report.iterations, sweeps.iterations);
  }
}

BACKEND_TEST(Staggered, NeedsTheExactRule) {
  const SolveReport report =
      prox_lab(fixtures::known_contact("associated_slide").problem)->solve("staggered", LabParams{});
  EXPECT_EQ(report.end, SolveEnd::refused);
  EXPECT_NE(report.message.find("associated"), std::string::npos);
}

BACKEND_TEST(Staggered, CountsSweepsAndKeepsWithinTheLimit) {
  LabParams params;
  for (const int sweeps : {1, 7, 50}) {
    params.staggered_sweeps = sweeps;
    expect_solves(fixtures::known_contact("slide_full_w"), "staggered", params);
    expect_solves(fixtures::known_contact("pendulum"), "staggered", params);
    params.max_iterations = 30;
    const SolveReport report = prox_lab(fixtures::known_contact("chain").problem)->solve("staggered", params);
    EXPECT_EQ(report.end, SolveEnd::iterations);
    EXPECT_LE(report.iterations, 30);
    params.max_iterations = 100000;
  }
}

/// Two of a joint's rows are equal: W of its block has rank 2.
BACKEND_TEST(Staggered, SolvesJointsWithDependentRows) {
  for (const double omega : {1.0, 1.3, 0.7}) {
    ContactProblem p;
    p.laws.resize(2);
    p.laws[0].set = FrictionSet::bilateral;
    p.laws[1].mu = {0.5, 0.5, 0.5};
    std::vector<double> w(36, 0.0);
    for (int i = 0; i < 6; ++i) w[7 * i] = i < 2 ? 1.0 : 2.0;
    w[1] = w[6] = 1;    // rows 0 and 1
    w[15] = w[20] = 1;  // row 2 and the contact's normal
    p.W = fixtures::dense_rows(6, w);
    p.q = {-1, -1, 0.5, -1, 0.4, 0};
    LabParams params;
    params.omega = omega;
    params.max_iterations = 20000;
    const SolveReport report = prox_lab(p)->solve("staggered", params);
    EXPECT_TRUE(report.converged) << omega << " " << report.judgement.residual << " " << report.message;
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(report.u[i], 0, 1e-7);
    // u_2 = 2 r_2 + r_3 + 0.5 = 0 and u_3 = r_2 + 2 r_3 - 1 = 0
    EXPECT_NEAR(report.r[3], 2.5 / 3, 1e-6);
    EXPECT_NEAR(report.r[0] + report.r[1], 1, 1e-6);
  }
}
