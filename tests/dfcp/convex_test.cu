// spg, apgd and admm, the fixed point on De Saxce's shift around them, and certificates of infeasible
// problems.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/body_problem.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/dfcp/solvers/damped_solver.cuh"
#include "gpu/dfcp/solvers/infeasible.cuh"
#include "tests/backend_test.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr const char* kConvex[] = {"spg", "apgd", "admm"};

std::unique_ptr<ContactLab> convex_lab(const ContactProblem& problem, int threads = 0) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu, threads);
  lab->load(problem);
  return lab;
}

LabParams few_iterations() {
  LabParams params;
  params.max_iterations = 20000;
  return params;
}

/// Infeasibility certificate for the result of an unsuccessful solve.
Infeasibility certificate_of(Context& ctx, const ContactProblem& problem,
                             const std::atomic<bool>* cancel = nullptr) {
  Delassus<3> W;
  W.build(ctx, problem, false);
  std::vector<ContactLaw<3>> laws(problem.blocks());
  for (std::size_t c = 0; c < laws.size(); ++c) {
    laws[c].mu = {problem.laws[c].mu[0], problem.laws[c].mu[1]};
    laws[c].set = problem.laws[c].set;
  }
  const Buffer<ContactLaw<3>> law(ctx, std::span<const ContactLaw<3>>(laws));
  Buffer<Vec<double, 3>> r(ctx, problem.blocks());
  fill(ctx, r.data(), problem.blocks(), Vec<double, 3>::zero());
  LabParams params;
  Colouring colouring;
  Monitor<3> monitor(ctx, W, law.data(), {.cancel = cancel});
  System<3> system{ctx, W, law.data(), params, monitor, colouring, r.data()};
  return certify_infeasible(system, r.data());
}

/// Blocks of joints that do not act on each other; the entries within a block of W differ by orders of
/// magnitude.
ContactProblem joints_apart(std::size_t blocks) {
  ContactProblem p;
  p.title = "joints apart";
  p.laws.resize(blocks);
  for (BlockLaw& law : p.laws) law.set = FrictionSet::bilateral;
  const auto rows = static_cast<std::int32_t>(3 * blocks);
  p.W.rows = p.W.columns = rows;
  p.W.offsets.push_back(0);
  for (std::int32_t i = 0; i < rows; ++i) {
    p.W.indices.push_back(i);
    p.W.values.push_back(std::pow(10.0, (5 * i) % 7 - 3));
    p.W.offsets.push_back(i + 1);
    p.q.push_back(1 + 0.1 * (i % 4));
  }
  return p;
}

/// Boxes in a row on the ground, pushed sideways, of 1 and 100 kg by turns. Joints of one, two and three rows
/// by turns hold neighbours together.
ContactProblem jointed_train(int boxes) {
  BodyProblem build;
  const Vec3d half{0.5, 0.25, 0.25};
  for (int k = 0; k < boxes; ++k) {
    RigidBody box = solid_box(k % 2 == 0 ? 1 : 100, half);
    box.position = {1.2 * k, half[1], 0};
    box.velocity = {0.1 * (k % 3), 0, 0.3};
    build.add(box);
    for (const double x : {-half[0], half[0]})
      for (const double z : {-half[2], half[2]}) {
        ContactPoint contact;
        contact.a = k;
        contact.point = {box.position[0] + x, 0, z};
        contact.mu = 0.2;
        build.add(contact);
      }
    if (k > 0) build.add_joint(k - 1, k, {1.2 * k - 0.6, half[1], 0}, 1 + k % 3);
  }
  return build.take("train", "");
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Convex, SolvesWhatIsKnown) {
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) {
    const auto lab = convex_lab(known.problem);
    for (const char* solver : kConvex) {
      SCOPED_TRACE(std::string(solver) + " " + known.name);
      const SolveReport report = lab->solve(solver, few_iterations());
      if (!known.feasible) {
        EXPECT_EQ(report.end, SolveEnd::infeasible) << report.message;
        continue;
      }
      ASSERT_TRUE(report.converged) << report.judgement.residual << " " << report.message;
      for (std::size_t i = 0; i < known.u.size(); ++i) EXPECT_NEAR(report.u[i], known.u[i], known.tolerance);
    }
  }
}

BACKEND_TEST(Convex, SolvesUnderEveryParameter) {
  const ContactProblem problem = over_constrained(2, 3, 5);
  const auto lab = convex_lab(problem);
  const auto expect = [&](const char* solver, const LabParams& params) {
    const SolveReport report = lab->solve(solver, params);
    EXPECT_TRUE(report.converged) << solver << " " << report.judgement.residual << " " << report.message;
  };
  LabParams params = few_iterations();
  params.tolerance = 1e-6;
  for (const char* solver : kConvex) expect(solver, params);
  params.de_saxce_inner = 0.01;
  params.spg_precondition = false;
  params.restart = false;
  params.spg_memory = 1;
  params.admm_relaxation = 1;
  params.admm_rho = 0.1;
  for (const char* solver : kConvex) expect(solver, params);
  params.storage = DelassusStorage::factored;
  params.admm_adaptive = false;
  for (const char* solver : kConvex) expect(solver, params);
}

/// Each row of a joint is a set of its own [Tasora13]: where P is W itself, one step is exact.
BACKEND_TEST(Convex, RowsOfJointsKeepTheirOwnPreconditioner) {
  const ContactProblem problem = joints_apart(20);
  const auto lab = convex_lab(problem);
  LabParams params = few_iterations();
  const SolveReport report = lab->solve("spg", params);
  ASSERT_TRUE(report.converged) << report.judgement.residual << " " << report.message;
  EXPECT_LE(report.iterations, 2);
  for (std::size_t i = 0; i < problem.q.size(); ++i) {
    const double want = -problem.q[i] / problem.W.values[i];
    EXPECT_NEAR(report.r[i], want, 1e-9 * std::fabs(want));
  }
  params.spg_precondition = false;
  EXPECT_GT(lab->solve("spg", params).iterations, 10);
}

/// Under the associated law velocities are unique, even with four contacts per box.
BACKEND_TEST(Convex, SpgAgreesWithAdmmOnJointsOfFewRows) {
  ContactProblem problem = jointed_train(9);
  LabParams params = few_iterations();
  const SolveReport coulomb = convex_lab(problem)->solve("spg", params);
  EXPECT_TRUE(coulomb.converged) << coulomb.judgement.residual << " " << coulomb.message;
  for (BlockLaw& law : problem.laws) law.flow = FlowRule::associated;
  const auto lab = convex_lab(problem);
  const SolveReport other = lab->solve("admm", params);
  ASSERT_TRUE(other.converged) << other.judgement.residual << " " << other.message;
  for (const DelassusStorage storage : {DelassusStorage::assembled, DelassusStorage::factored}) {
    params.storage = storage;
    const SolveReport report = lab->solve("spg", params);
    ASSERT_TRUE(report.converged) << report.judgement.residual << " " << report.message;
    for (std::size_t i = 0; i < other.u.size(); ++i) EXPECT_NEAR(report.u[i], other.u[i], 1e-5) << i;
  }
}

/// Sliding under the associated law opens the gap by mu |u_T|, only if that law is selected.
BACKEND_TEST(Convex, TheAssociatedLawOpensGaps) {
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) {
    if (known.name != "slide") continue;
    LabParams params = few_iterations();
    params.de_saxce = false;
    for (const char* solver : kConvex) {
      const SolveReport report = convex_lab(known.problem)->solve(solver, params);
      EXPECT_EQ(report.end, SolveEnd::stalled);
      EXPECT_NE(report.message.find("associated"), std::string::npos) << report.message;
    }
    ContactProblem associated = known.problem;
    associated.laws[0].flow = FlowRule::associated;
    for (const char* solver : kConvex) {
      const SolveReport report = convex_lab(associated)->solve(solver, params);
      ASSERT_TRUE(report.converged) << solver;
      EXPECT_NEAR(report.u[0], 0.5 * std::hypot(report.u[1], report.u[2]), 1e-7);
    }
  }
}

BACKEND_TEST(Convex, MassesAndThreadsChangeNothing) {
  const ContactProblem problem = mass_chain(10, 1000);
  ContactProblem heavy = problem;
  for (double& x : heavy.inverse_mass) x *= 0x1p-20;
  for (double& x : heavy.f) x *= 0x1p20;
  for (const char* solver : kConvex) {
    LabParams params;
    params.max_iterations = 200;
    params.tolerance = 1e-7;
    const SolveReport one = convex_lab(problem, 1)->solve(solver, params),
                      two = convex_lab(problem, 2)->solve(solver, params),
                      scaled = convex_lab(heavy, 1)->solve(solver, params);
    EXPECT_EQ(one.r, two.r) << solver;
    EXPECT_NEAR(scaled.judgement.residual, one.judgement.residual, 1e-3 * one.judgement.residual) << solver;
  }
}

/// Both ways to solve (W + R) x = b.
BACKEND_TEST(Convex, DampedSystems) {
  const ContactProblem problem = over_constrained(2, 3, 5);
  LabParams params;
  Colouring colouring;
  for (const bool factored : {false, true}) {
    Delassus<3> W;
    W.build(ctx, problem, factored);
    const std::vector<ContactLaw<3>> laws(problem.blocks());
    const Buffer<ContactLaw<3>> law(ctx, std::span<const ContactLaw<3>>(laws));
    Monitor<3> monitor(ctx, W, law.data(), {});
    Buffer<Vec<double, 3>> x(ctx, W.blocks()), b(ctx, W.blocks()), image(ctx, W.blocks()),
        damping(ctx, W.blocks());
    System<3> system{ctx, W, law.data(), params, monitor, colouring, x.data()};
    fill(ctx, damping.data(), W.blocks(), Vec<double, 3>::filled(0.1));
    fill(ctx, b.data(), W.blocks(), Vec<double, 3>{1, -2, 3});
    fill(ctx, x.data(), W.blocks(), Vec<double, 3>::zero());
    DampedSolver<3> solver(system);
    EXPECT_EQ(solver.direct(), !factored);
    ASSERT_TRUE(solver.set(damping.data()));
    ASSERT_TRUE(solver.solve(b.data(), x.data(), 1e-10));
    W.apply(ctx, x.data(), image.data(), false);
    const auto left = image.download(ctx), at = x.download(ctx), right = b.download(ctx);
    for (std::size_t c = 0; c < at.size(); ++c) EXPECT_LT(norm(left[c] + 0.1 * at[c] - right[c]), 1e-9);
  }
}

/// Conjugate gradients through several pauses, and their end by a cancellation.
BACKEND_TEST(Convex, DampedSystemsOfManyIterations) {
  const ContactProblem problem = mass_chain(60, 1e3);
  LabParams params;
  Colouring colouring;
  Delassus<3> W;
  W.build(ctx, problem, true);
  const std::vector<ContactLaw<3>> laws(problem.blocks());
  const Buffer<ContactLaw<3>> law(ctx, std::span<const ContactLaw<3>>(laws));
  Buffer<Vec<double, 3>> x(ctx, W.blocks()), b(ctx, W.blocks()), image(ctx, W.blocks()),
      damping(ctx, W.blocks());
  fill(ctx, damping.data(), W.blocks(), Vec<double, 3>::filled(1e-9));
  Vec<double, 3>* right = b.data();
  launch(ctx, W.blocks(), [=] SS_LAMBDA(std::size_t c) {
    right[c] = {std::sin(1.0 + c), std::cos(3.0 * c), std::sin(0.1 * c)};
  });
  // In the image of W, where the damping does not decide.
  W.apply(ctx, right, image.data(), false);
  copy(ctx, right, image.data(), W.blocks());
  for (const bool cancelled : {false, true}) {
    const std::atomic<bool> cancel{cancelled};
    Monitor<3> monitor(ctx, W, law.data(), {.cancel = &cancel});
    System<3> system{ctx, W, law.data(), params, monitor, colouring, x.data()};
    DampedSolver<3> solver(system);
    ASSERT_TRUE(solver.set(damping.data()));
    fill(ctx, x.data(), W.blocks(), Vec<double, 3>::zero());
    const bool solved = solver.solve(right, x.data(), 1e-6);
    EXPECT_EQ(solved, !cancelled);
    W.apply(ctx, x.data(), image.data(), false);
    const auto left = image.download(ctx), at = x.download(ctx), want = b.download(ctx);
    double error = 0;
    for (std::size_t c = 0; c < at.size(); ++c) error += norm2(left[c] + 1e-9 * at[c] - want[c]);
    EXPECT_EQ(std::sqrt(error) < 1e-5, !cancelled) << std::sqrt(error);
  }
}

BACKEND_TEST(Infeasible, IsFoundWithItsVelocity) {
  for (const long balls : {1L, 5L, 30L, 200L}) {
    const Infeasibility seen = certificate_of(ctx, infeasible(balls));
    ASSERT_TRUE(seen.found) << balls;
    // The walls approach at 2 m/s in total, shared by the contacts of the row.
    EXPECT_EQ(seen.blocks, static_cast<std::size_t>(balls + 1));
    EXPECT_NEAR(seen.velocity, 2.0 / static_cast<double>(balls + 1), 1e-6);
    EXPECT_NE(seen.message.find("infeasible"), std::string::npos);
  }
}

BACKEND_TEST(Infeasible, IsNotSearchedForAfterACancellation) {
  const std::atomic<bool> cancel{true};
  EXPECT_FALSE(certificate_of(ctx, infeasible(30), &cancel).found);
}

BACKEND_TEST(Infeasible, IsNeverSaidOfAFeasibleProblem) {
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) {
    if (!known.feasible || known.problem.dim != 3) continue;
    EXPECT_FALSE(certificate_of(ctx, known.problem).found) << known.name;
  }
  EXPECT_FALSE(certificate_of(ctx, hyperstatic(16)).found);
  EXPECT_FALSE(certificate_of(ctx, mass_chain(10, 1e6)).found);
  EXPECT_FALSE(certificate_of(ctx, over_constrained(5, 4, 3)).found);
  EXPECT_FALSE(certificate_of(ctx, tasora_b1(30, 1)).found);
  EXPECT_FALSE(certificate_of(ctx, tasora_b4(10)).found);
  EXPECT_FALSE(certificate_of(ctx, random_stacks(10, 3, 1)).found);
  for (unsigned seed = 0; seed < 5; ++seed)
    EXPECT_FALSE(certificate_of(ctx, fixtures::random_local_problem(10, 20, 0.1, 0.5, seed)).found);
}
