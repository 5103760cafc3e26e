#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/dfcp/solvers/velocity_system.cuh"
#include "tests/backend_test.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <int D>
std::vector<Vec<double, D>> random_impulses(std::size_t n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<Vec<double, D>> x(n);
  for (auto& v : x)
    for (int i = 0; i < D; ++i) v[i] = normal(random);
  return x;
}

/// |(I + C W) d - b| / |b| for random C and b, with W d by the operator.
template <int D>
double velocity_system_error(Context& ctx, const ContactProblem& problem, unsigned seed) {
  Delassus<D> W;
  W.build(ctx, problem, true);
  const std::size_t n = W.blocks();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Mat<double, D>> c(n, Mat<double, D>::zero());
  for (std::size_t k = 0; k < n; ++k) {
    if (k % 3 == 0) continue;  // open contacts have no slope
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) c[k](i, j) = (i == j ? 3 : 0.3) + 0.3 * normal(random);
  }
  const std::vector<Vec<double, D>> b = random_impulses<D>(n, random);
  Buffer<Mat<double, D>> slope(ctx, c);
  Buffer<Vec<double, D>> right(ctx, b), d(ctx, n), product(ctx, n);
  VelocitySystem<D> system(ctx, W);
  if (!system.solve(slope.data(), right.data(), d.data())) return 1e300;
  W.apply(ctx, d.data(), product.data(), false);
  const auto x = d.download(ctx), w = product.download(ctx);
  double error = 0, size = 0;
  for (std::size_t k = 0; k < n; ++k) {
    error += norm2(x[k] + c[k] * w[k] - b[k]);
    size += norm2(b[k]);
  }
  return std::sqrt(error / size);
}

/// With compliance in every second contact, and softness in some rows.
ContactProblem yielding(ContactProblem p) {
  for (std::size_t c = 0; c < p.blocks(); c += 2) p.laws[c].compliance = 0.5;
  return p;
}

std::unique_ptr<ContactLab> al_lab(const ContactProblem& problem) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  return lab;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(VelocitySystem, SolvesItsEquation) {
  EXPECT_LT(velocity_system_error<3>(ctx, random_stacks(10, 1, 1), 1), 1e-9);
  EXPECT_LT(velocity_system_error<3>(ctx, yielding(random_stacks(10, 1, 2)), 2), 1e-9);
  EXPECT_LT(velocity_system_error<3>(ctx, tasora_b1(20, 1), 3), 1e-9);
  const std::vector<std::array<double, 3>> rest(5, {0, 0, 0});
  EXPECT_LT(velocity_system_error<3>(ctx, fixtures::node_column("column", {1, 2, 3, 4, 5}, rest, 0.5), 4),
            1e-9);
}

/// Problems with contacts far beyond the degrees of freedom, on which no other solver reaches this tolerance
/// within minutes.
BACKEND_TEST(NewtonAl, SolvesWallsFarBeyondNuOfOne) {
  LabParams params;
  params.tolerance = 1e-8;
  params.max_iterations = 5000;
  const SolveReport report = al_lab(tasora_b4(30))->solve("newton_al", params);
  EXPECT_GT(report.nu, 5);
  EXPECT_TRUE(report.converged) << report.judgement.residual;
  EXPECT_LT(report.iterations, 1000);
}

BACKEND_TEST(NewtonAl, BodiesAndAssembledBlocksAgree) {
  LabParams params;
  params.tolerance = 1e-9;
  params.max_iterations = 3000;
  const auto lab = al_lab(random_stacks(10, 2, 3));
  params.storage = DelassusStorage::factored;
  const SolveReport bodies = lab->solve("newton_al", params);
  params.storage = DelassusStorage::assembled;
  const SolveReport blocks = lab->solve("newton_al", params);
  ASSERT_TRUE(bodies.converged);
  ASSERT_TRUE(blocks.converged);
  double most = 0, size = 0;
  for (std::size_t i = 0; i < bodies.u.size(); ++i) {
    most = std::max(most, std::fabs(bodies.u[i] - blocks.u[i]));
    size = std::max(size, std::fabs(bodies.u[i]));
  }
  EXPECT_LT(most, 1e-5 * size);
}

/// Where the penalty starts does not matter for what is found.
BACKEND_TEST(NewtonAl, AnyFirstPenaltyWillDo) {
  LabParams params;
  params.tolerance = 1e-8;
  params.max_iterations = 5000;
  const auto lab = al_lab(granular_column(100, 1));
  for (const double rho : {1e-2, 1.0, 1e4}) {
    params.al_rho = rho;
    EXPECT_TRUE(lab->solve("newton_al", params).converged) << rho;
  }
}

/// Coulomb's law has several solutions where contacts are this redundant, with different velocities: which
/// one is found depends on the penalty. The associated law, a convex problem, has one velocity, and `apgd`
/// finds the same.
BACKEND_TEST(NewtonAl, WallHasSeveralSolutionsUnlessTheLawIsAssociated) {
  LabParams params;
  params.tolerance = 1e-9;
  params.max_iterations = 5000;
  ContactProblem problem = tasora_b4(30);
  const auto largest_difference = [](const SolveReport& a, const SolveReport& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.u.size(); ++i) most = std::max(most, std::fabs(a.u[i] - b.u[i]));
    return most;
  };
  const auto solve_with = [&](const std::string& solver, double rho) {
    params.al_rho = rho;
    SolveReport report = al_lab(problem)->solve(solver, params);
    EXPECT_TRUE(report.converged) << solver << " " << rho << ": " << report.judgement.residual;
    return report;
  };
  EXPECT_GT(largest_difference(solve_with("newton_al", 0.1), solve_with("newton_al", 1000)), 1e-3);
  for (BlockLaw& law : problem.laws) law.flow = FlowRule::associated;
  const SolveReport soft = solve_with("newton_al", 0.1);
  EXPECT_LT(largest_difference(soft, solve_with("newton_al", 1000)), 1e-6);
#if !STICKSLIP_ON_CUDA  // tens of thousands of iterations, too many for the emulated device
  params.max_iterations = 200000;
  EXPECT_LT(largest_difference(soft, solve_with("apgd", 1)), 1e-4);
#endif
}
