#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/dfcp/solvers/newton_maps.h"
#include "gpu/dfcp/solvers/nonsmooth_newton.cuh"
#include "tests/backend_test.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr const char* kNewtons[] = {"newton_ac", "newton_fb", "newton_minmap", "newton_ncp"};

std::unique_ptr<ContactLab> newton_lab() {
  return make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
}

double newton_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

/// A System for a problem with contacts only.
struct Stage {
  Context& ctx;
  Delassus<3> W;
  Buffer<ContactLaw<3>> law;
  Buffer<Vec<double, 3>> r;
  LabParams params;
  Colouring colouring;

  Stage(Context& context, const ContactProblem& problem) : ctx(context) {
    W.build(ctx, problem, false);
    std::vector<ContactLaw<3>> laws(problem.blocks());
    for (std::size_t c = 0; c < laws.size(); ++c) laws[c].mu = {problem.laws[c].mu[0], problem.laws[c].mu[1]};
    law.upload(ctx, laws);
    r.resize(ctx, problem.blocks());
  }
};

std::vector<Vec<double, 3>> random_blocks(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Vec<double, 3>> x(n);
  for (auto& v : x)
    for (int i = 0; i < 3; ++i) v[i] = normal(random);
  return x;
}

/// (B W + A) d against central differences of Phi along d.
template <class Map>
void expect_derivative(Stage& stage, const Map& map) {
  Monitor<3> monitor(stage.ctx, stage.W, stage.law.data(), {});
  System<3> s{stage.ctx, stage.W, stage.law.data(), stage.params, monitor, stage.colouring, stage.r.data()};
  NonsmoothNewton<3, Map> newton(s, map);
  const std::size_t n = stage.W.blocks();
  const auto r = random_blocks(n, 7), d = random_blocks(n, 8);
  constexpr double kStep = 1e-6;
  // At its centre the proximal term vanishes; elsewhere it counts.
  stage.r.upload(stage.ctx, random_blocks(n, 9));
  newton.recentre();
  const auto minus_f = [&](double t) {
    std::vector<Vec<double, 3>> moved(n);
    for (std::size_t c = 0; c < n; ++c) moved[c] = r[c] + t * d[c];
    stage.r.upload(stage.ctx, moved);
    newton.update_velocities();
    newton.linearise();
    std::vector<Vec<double, 3>> f(n);
    copy_to_host(stage.ctx, f.data(), newton.minus_f(), n);
    return f;
  };
  const auto behind = minus_f(-kStep), ahead = minus_f(kStep);
  minus_f(0);
  Buffer<Vec<double, 3>> direction(stage.ctx, d), slope(stage.ctx, n);
  newton.system().apply({0, newton.shift().relative}, direction.data(), slope.data());
  const auto computed = slope.download(stage.ctx);
  for (std::size_t c = 0; c < n; ++c)
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(computed[c][i], (behind[c][i] - ahead[c][i]) / (2 * kStep),
                  1e-6 * (1 + std::fabs(computed[c][i])));
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(NonsmoothNewton, DerivativeOfTheWholeSystem) {
  Stage stage(ctx, fixtures::random_local_problem(12, 40, 0.1, 0.5, 1));
  const ContactLaw<3>* law = stage.law.data();
  expect_derivative(stage, AlartCurnierMap<3>{law, stage.W.diagonal(), stage.W.scale(), 0.7, 1.3});
  expect_derivative(stage, FischerBurmeisterMap<3>{law, stage.W.scale(), 1.3});
  expect_derivative(stage, MinimumMap<3>{law, stage.W.scale(), 0.7});
}

/// Both functions and both systems solve what the other Newton methods solve, to the same velocities.
BACKEND_TEST(NonsmoothNewton, ComplementarityFunctionsAgreeWithTheCone) {
  const auto l = newton_lab();
  for (const unsigned seed : {1U, 2U, 3U}) {
    l->load(fixtures::random_local_problem(15, 60, 0.1, 0.5, seed));
    const SolveReport cone = l->solve("newton_ac", {});
    ASSERT_TRUE(cone.converged);
    for (const NcpFunction function : {NcpFunction::fischer_burmeister, NcpFunction::minimum})
      for (const NcpSystem system : {NcpSystem::newton, NcpSystem::fixed_point})
        for (const NewtonLinear linear : {NewtonLinear::direct, NewtonLinear::krylov}) {
          LabParams params;
          params.ncp_function = function;
          params.ncp_system = system;
          params.newton_linear = linear;
          const SolveReport report = l->solve("newton_ncp", params);
          ASSERT_TRUE(report.converged)
              << static_cast<int>(function) << static_cast<int>(system) << static_cast<int>(linear) << " "
              << report.judgement.residual << " " << report.message;
          EXPECT_LT(newton_difference(report.u, cone.u), 1e-6);
        }
  }
}

/// Conjugate gradients and a factorisation solve the same symmetric system.
BACKEND_TEST(NonsmoothNewton, SymmetricSystemsByConjugateGradients) {
  Stage stage(ctx, fixtures::random_local_problem(15, 60, 0.1, 0.5, 2));
  const std::size_t n = stage.W.blocks();
  std::vector<Mat<double, 3>> a(n, Mat<double, 3>::zero()), b(n, Mat<double, 3>::identity());
  const auto values = random_blocks(n, 3);
  for (std::size_t c = 0; c < n; ++c)
    for (int i = 0; i < 3; ++i) a[c](i, i) = std::exp(3 * values[c][i]);
  const Buffer<Vec<double, 3>> right(ctx, random_blocks(n, 4));
  Buffer<Vec<double, 3>> x(ctx, n);
  std::vector<std::vector<Vec<double, 3>>> solutions;
  for (const NewtonLinear method : {NewtonLinear::direct, NewtonLinear::krylov}) {
    NewtonSystem<3> system(ctx, stage.W, {method, 1e-13, 1000, {}, true});
    copy_to_device(ctx, system.impulse_blocks(), a.data(), n);
    copy_to_device(ctx, system.velocity_blocks(), b.data(), n);
    ASSERT_TRUE(system.solve({0.01, 0.02}, right.data(), x.data()));
    solutions.push_back(x.download(ctx));
  }
  for (std::size_t c = 0; c < n; ++c) EXPECT_LT(norm(solutions[0][c] - solutions[1][c]), 1e-9);
}

BACKEND_TEST(NonsmoothNewton, DirectAndKrylovSolveTheSameSystem) {
  const ContactProblem problem = fixtures::random_local_problem(15, 60, 0.1, 0.5, 2);
  Stage stage(ctx, problem);
  const std::size_t n = problem.blocks();
  const auto values = random_blocks(6 * n, 3);
  std::vector<Mat<double, 3>> a(n), b(n);
  for (std::size_t c = 0; c < n; ++c) {
    b[c] = Mat<double, 3>::from_columns({values[6 * c], values[6 * c + 1], values[6 * c + 2]}) * 0.1 +
           Mat<double, 3>::identity();
    a[c] = Mat<double, 3>::from_columns({values[6 * c + 3], values[6 * c + 4], values[6 * c + 5]}) * 0.1 +
           0.5 * Mat<double, 3>::identity();
  }
  const Buffer<Vec<double, 3>> right(ctx, random_blocks(n, 4));
  Buffer<Vec<double, 3>> x(ctx, n), back(ctx, n);
  std::vector<Vec<double, 3>> solutions[2];
  const Shift shift{0.01, 0.02};
  for (const NewtonLinear method : {NewtonLinear::direct, NewtonLinear::krylov}) {
    NewtonSystem<3> system(ctx, stage.W, {method, 1e-12, 1000});
    EXPECT_EQ(system.direct(), method == NewtonLinear::direct);
    copy_to_device(ctx, system.impulse_blocks(), a.data(), n);
    copy_to_device(ctx, system.velocity_blocks(), b.data(), n);
    ASSERT_TRUE(system.solve(shift, right.data(), x.data()));
    solutions[method == NewtonLinear::krylov] = x.download(ctx);
    system.apply(shift, x.data(), back.data());
    const auto got = back.download(ctx), wanted = right.download(ctx);
    for (std::size_t c = 0; c < n; ++c) EXPECT_LT(norm(got[c] - wanted[c]), 1e-9);
  }
  for (std::size_t c = 0; c < n; ++c) EXPECT_LT(norm(solutions[0][c] - solutions[1][c]), 1e-8);
}

BACKEND_TEST(NonsmoothNewton, KnownContacts) {
  const auto l = newton_lab();
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) {
    l->load(known.problem);
    for (const char* solver : kNewtons)
      for (const NewtonLinear method : {NewtonLinear::direct, NewtonLinear::krylov}) {
        SCOPED_TRACE(known.name + std::string(" ") + solver +
                     (method == NewtonLinear::direct ? " direct" : " krylov"));
        LabParams params;
        params.newton_linear = method;
        params.max_iterations = 1000;
        const SolveReport report = l->solve(solver, params);
        // K with mu = 1e4 is nearly a half space: r = 0 is within 2e-6 of its law, and full steps of the
        // minimum map alternate between the sides of the cone.
        const bool flat = known.name == "huge_mu" && solver == std::string("newton_minmap");
        EXPECT_EQ(report.converged, known.feasible && !flat)
            << report.message << " " << report.judgement.residual;
        if (report.converged) {
          EXPECT_LT(newton_difference(report.u, known.u), known.tolerance);
        } else {
          EXPECT_FALSE(report.message.empty());
        }
      }
  }
}

BACKEND_TEST(NonsmoothNewton, QuadraticNearTheSolution) {
  const auto l = newton_lab();
  for (const char* solver : kNewtons) {
    SCOPED_TRACE(solver);
    ContactProblem p = fixtures::random_local_problem(20, 90, 0.2, 0.4, 5);
    // An open contact has r = 0, where eta of newton_ncp has no derivative: there it converges linearly. So
    // all contacts press here, with little coupling between them.
    const bool is_ncp = solver == std::string("newton_ncp");
    if (is_ncp) {
      p = fixtures::random_local_problem(20, 4000, 0.2, 0.4, 5);
      for (std::size_t c = 0; c < p.blocks(); ++c) p.q[3 * c] = -3 - std::fabs(p.q[3 * c]);
    }
    l->load(p);
    LabParams params;
    params.tolerance = 1e-13;
    ContactLab::Options options;
    options.history = true;
    const SolveReport report = l->solve(solver, params, options);
    ASSERT_TRUE(report.converged) << report.message;
    EXPECT_LT(report.iterations, 40);
    for (std::size_t c = 0; is_ncp && c < p.blocks(); ++c) ASSERT_GT(report.r[3 * c], 0);
    // Near the solution every step squares the error up to a constant.
    const double near = is_ncp ? 1e-5 : 1e-3, constant = is_ncp ? 1e4 : 1e3;
    for (std::size_t k = 1; k < report.history.size(); ++k) {
      const double before = report.history[k - 1].residual, after = report.history[k].residual;
      if (before < near) {
        EXPECT_LT(after, std::max(constant * before * before, 1e-13)) << before;
      }
    }
  }
}

BACKEND_TEST(NonsmoothNewton, SingularDelassus) {
  const auto l = newton_lab();
  // Twice as many rows as degrees of freedom.
  l->load(fixtures::random_local_problem(16, 24, 0, 0.6, 6));
  for (const char* solver : kNewtons) {
    const SolveReport report = l->solve(solver, {});
    EXPECT_TRUE(report.converged ||
                (report.end == SolveEnd::stalled && report.message.find("nu > 1") != std::string::npos))
        << solver << " " << name_of(report.end);
  }
}

BACKEND_TEST(NonsmoothNewton, DirectNeedsEntries) {
  const auto l = newton_lab();
  l->load(fixtures::known_contact("pendulum").problem);
  LabParams params;
  params.storage = DelassusStorage::factored;
  params.newton_linear = NewtonLinear::direct;
  const SolveReport refused = l->solve("newton_ac", params);
  EXPECT_EQ(refused.end, SolveEnd::refused);
  EXPECT_NE(refused.message.find("storage = assembled"), std::string::npos);
  params.newton_linear = NewtonLinear::automatic;
  EXPECT_TRUE(l->solve("newton_ac", params).converged);
}

/// Without safeguards the method breaks down where contacts outnumber degrees of freedom [Bertails11], and
/// not before.
BACKEND_TEST(NonsmoothNewton, AsPrintedFailsBeyondNuOfOne) {
  const auto l = newton_lab();
  LabParams printed;
  printed.section_radius = SectionRadius::impulse;
  printed.newton_safeguards = false;
  printed.newton_regularisation = 0;
  printed.max_iterations = 200;
  const auto unsolved = [&](double nu, const LabParams& params) {
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      l->load(over_constrained(nu, 6, seed));
      count += l->solve("newton_ac", params).converged ? 0 : 1;
    }
    return count;
  };
  EXPECT_EQ(unsolved(0.5, printed), 0);
  EXPECT_GE(unsolved(3, printed), 5);
  EXPECT_LE(unsolved(3, LabParams{}), 1);
}

/// A contact that touches without an impulse is the point where the derivative is a choice.
BACKEND_TEST(NonsmoothNewton, BothDerivativesAtTheOriginSolve) {
  const auto l = newton_lab();
  std::vector<std::vector<double>> after_one;
  for (const auto origin : {FischerBurmeisterOrigin::diagonal, FischerBurmeisterOrigin::printed}) {
    ContactProblem p = fixtures::random_local_problem(4, 20, 0.3, 0.5, 3);
    for (int i = 0; i < 3; ++i) p.q[static_cast<std::size_t>(i)] = 0;
    l->load(p);
    LabParams params;
    params.fb_origin = origin;
    EXPECT_TRUE(l->solve("newton_fb", params).converged);
    params.max_iterations = 1;
    after_one.push_back(l->solve("newton_fb", params).r);
  }
  EXPECT_TRUE(after_one[0] != after_one[1]);
}

/// Every parameter of the group has an effect: undamped steps and few cuts end elsewhere, or after another
/// count.
BACKEND_TEST(NonsmoothNewton, ParametersAct) {
  const auto l = newton_lab();
  const auto outcome = [&](auto change) {
    LabParams params;
    params.max_iterations = 6;
    change(params);
    std::vector<double> r;
    for (unsigned seed = 0; seed < 6; ++seed) {
      l->load(fixtures::random_local_problem(12, 24, 0.05, 1, seed));
      const SolveReport report = l->solve("newton_ac", params);
      r.insert(r.end(), report.r.begin(), report.r.end());
    }
    return r;
  };
  const auto plain = outcome([](LabParams&) {});
  EXPECT_TRUE(plain != outcome([](LabParams& p) { p.rho_n = 10; }));
  EXPECT_TRUE(plain != outcome([](LabParams& p) { p.rho_t = 0.1; }));
  EXPECT_TRUE(plain != outcome([](LabParams& p) { p.newton_regularisation = 0.1; }));
  EXPECT_TRUE(plain != outcome([](LabParams& p) { p.newton_damped = false; }));
  EXPECT_TRUE(plain != outcome([](LabParams& p) { p.newton_cuts = 0; }));
  EXPECT_TRUE(plain != outcome([](LabParams& p) { p.newton_safeguards = false; }));
  EXPECT_TRUE(plain != outcome([](LabParams& p) { p.section_radius = SectionRadius::impulse; }));
  const auto krylov = outcome([](LabParams& p) { p.newton_linear = NewtonLinear::krylov; });
  EXPECT_TRUE(plain != krylov);
  const auto coarse = [](LabParams& p) {
    p.newton_linear = NewtonLinear::krylov;
    p.krylov_tolerance = 0.3;
  };
  EXPECT_TRUE(krylov != outcome(coarse));
  const auto few = [](LabParams& p) {
    p.newton_linear = NewtonLinear::krylov;
    p.krylov_iterations = 2;
  };
  EXPECT_TRUE(krylov != outcome(few));
}
