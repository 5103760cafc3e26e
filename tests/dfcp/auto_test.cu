// `auto` alternates sweeps, extrapolation, Newton and interior points.
#include <cmath>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/dfcp/solvers/interior_point.cuh"
#include "tests/backend_test.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

SolveReport solved(const ContactProblem& problem, const LabParams& params = {}, int threads = 0) {
  const auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu, threads);
  lab->load(problem);
  return lab->solve("auto", params);
}

void expect_solved(const ContactProblem& problem, const LabParams& params = {}) {
  const SolveReport one = solved(problem, params, 1);
  EXPECT_TRUE(one.converged) << problem.title << " " << one.judgement.residual << " " << one.message;
  EXPECT_LE(one.judgement.residual, 1e-8) << problem.title;
  if (STICKSLIP_ON_CUDA) return;
  const SolveReport two = solved(problem, params, 2);
  EXPECT_EQ(one.r, two.r) << problem.title;
  EXPECT_EQ(one.iterations, two.iterations) << problem.title;
}

template <class Change>
ContactProblem with_laws(ContactProblem p, const Change& change) {
  for (std::size_t c = 0; c < p.blocks(); ++c)
    if (p.laws[c].set != FrictionSet::bilateral) change(p.laws[c], c);
  return p;
}

/// Adds a torsional row to each contact: W is that of three rows, with a diagonal entry of similar size.
ContactProblem with_torsion(const ContactProblem& three) {
  const ContactProblem local = to_local(three);
  ContactProblem p;
  p.title = three.title + " with torsion";
  p.dim = 4;
  p.laws = local.laws;
  for (BlockLaw& law : p.laws) law.mu[2] = 0.3 * law.mu[0];
  p.W.offsets = {0};
  for (std::size_t c = 0; c < local.blocks(); ++c) {
    double diagonal = 0;
    for (std::size_t i = 3 * c; i < 3 * c + 3; ++i) {
      for (std::int32_t k = local.W.offsets[i]; k < local.W.offsets[i + 1]; ++k) {
        const std::int32_t column = local.W.indices[k];
        p.W.indices.push_back(4 * (column / 3) + column % 3);
        p.W.values.push_back(local.W.values[k]);
        if (column == static_cast<std::int32_t>(i)) diagonal += local.W.values[k] / 3;
      }
      p.W.offsets.push_back(static_cast<std::int32_t>(p.W.indices.size()));
      p.q.push_back(local.q[i]);
    }
    p.W.indices.push_back(static_cast<std::int32_t>(4 * c + 3));
    p.W.values.push_back(diagonal);
    p.W.offsets.push_back(static_cast<std::int32_t>(p.W.indices.size()));
    p.q.push_back(0.02 * std::sin(static_cast<double>(c)));
  }
  p.W.rows = p.W.columns = static_cast<std::int32_t>(p.q.size());
  return p;
}

/// Whether interior points alone solve the problem from zero.
bool solved_by_interior_points(Context& ctx, const ContactProblem& problem, double tolerance) {
  Delassus<3> W;
  W.build(ctx, problem, false);
  std::vector<ContactLaw<3>> laws(problem.blocks());
  for (std::size_t c = 0; c < laws.size(); ++c)
    laws[c] = {{problem.laws[c].mu[0], problem.laws[c].mu[1]}, problem.laws[c].set, problem.laws[c].flow};
  const Buffer<ContactLaw<3>> law(ctx, std::span<const ContactLaw<3>>(laws));
  Buffer<Vec<double, 3>> r(ctx, problem.blocks());
  LabParams params;
  Colouring colouring;
  Monitor<3> monitor(ctx, W, law.data(), {.tolerance = tolerance});
  System<3> s{ctx, W, law.data(), params, monitor, colouring, r.data()};
  NewtonSystem<3> system(ctx, W, {NewtonLinear::direct, 1e-12, 1000});
  InteriorPoint<3> interior(s, system);
  return interior.run(80) && monitor.converged();
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Auto, KnownContacts) {
  for (const fixtures::KnownContact& known : fixtures::known_contacts())
    if (known.feasible) expect_solved(known.problem);
}

BACKEND_TEST(Auto, GeneratedProblems) {
  expect_solved(random_stacks(20, 4, 1));
  expect_solved(over_constrained(5, 4, 1));
  expect_solved(mass_chain(10, 1e6));
  expect_solved(granular_column(300, 1));
  expect_solved(tasora_b3(10));
}

BACKEND_TEST(Auto, AllLaws) {
  const ContactProblem stacks = random_stacks(10, 2, 3);
  expect_solved(with_laws(stacks, [](BlockLaw& law, std::size_t) { law.mu = {0.3, 0.6, 0}; }));
  expect_solved(with_laws(stacks, [](BlockLaw& law, std::size_t) { law.set = FrictionSet::box; }));
  expect_solved(with_laws(stacks, [](BlockLaw& law, std::size_t) { law.flow = FlowRule::associated; }));
  expect_solved(with_laws(stacks, [](BlockLaw& law, std::size_t) { law.mu = {}; }));
  expect_solved(with_laws(stacks, [](BlockLaw& law, std::size_t c) {
    if (c % 4 == 1) law.flow = FlowRule::associated;
    if (c % 4 == 2) law.set = FrictionSet::box;
    if (c % 4 == 3) law.mu = {0.5, 0, 0};
  }));
  expect_solved(tasora_b1(20, 1));
  expect_solved(with_torsion(stacks));
  expect_solved(with_torsion(fixtures::known_contact("pendulum").problem));
}

/// Each part of `auto` can be switched off.
BACKEND_TEST(Auto, ParametersAct) {
  const ContactProblem problem = over_constrained(2, 6, 5);
  const auto impulses = [&](auto change) {
    LabParams params;
    change(params);
    const SolveReport report = solved(problem, params);
    EXPECT_TRUE(report.converged) << report.judgement.residual << " " << report.message;
    return report.r;
  };
  const std::vector<double> plain = impulses([](LabParams&) {});
  EXPECT_NE(impulses([](LabParams& p) { p.auto_sweeps = 3; }), plain);
  EXPECT_NE(impulses([](LabParams& p) { p.auto_memory = 0; }), plain);
  EXPECT_NE(impulses([](LabParams& p) { p.auto_direct_rows = 0; }), plain);
  impulses([](LabParams& p) { p.storage = DelassusStorage::factored; });
}

BACKEND_TEST(Auto, InfeasibleProblemsAreRecognised) {
  LabParams params;
  params.max_iterations = 2000;
  for (const long balls : {1L, 5L, 30L}) {
    const SolveReport report = solved(infeasible(balls), params);
    EXPECT_EQ(report.end, SolveEnd::infeasible) << balls;
    EXPECT_FALSE(report.converged);
    EXPECT_NE(report.message.find("infeasible"), std::string::npos) << report.message;
  }
}

BACKEND_TEST(InteriorPoint, SolvesByItself) {
  for (const char* name : {"open", "stick", "slide", "slide_full_w", "stick_full_w", "frictionless_full_w",
                           "elliptic_slide", "associated_slide", "two_sliding", "pendulum", "coupled_nodes"})
    EXPECT_TRUE(solved_by_interior_points(ctx, fixtures::known_contact(name).problem, 1e-6)) << name;
  for (unsigned seed = 0; seed < 3; ++seed)
    EXPECT_TRUE(solved_by_interior_points(ctx, fixtures::random_local_problem(12, 60, 0.3, 0.3, seed), 1e-6));
  // W is singular: the last digits need Newton.
  EXPECT_TRUE(solved_by_interior_points(ctx, random_stacks(20, 4, 1), 1e-5));
  // The method has no interior for box friction.
  EXPECT_FALSE(solved_by_interior_points(ctx, fixtures::known_contact("box_slide").problem, 1e-6));
}
