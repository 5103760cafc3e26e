// pgs_sm, pivot_incremental and pivot_block: solvers of box friction that end with an exact solution.
#include "gpu/contact_lab.h"
#include "tests/backend_test.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr const char* kSolvers[] = {"pgs_sm", "pivot_incremental", "pivot_block"};

std::unique_ptr<ContactLab> box_lab() {
  return make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
}

double largest_box_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

ContactProblem boxed(ContactProblem p) {
  for (BlockLaw& law : p.laws) law.set = FrictionSet::box;
  return p;
}

/// Whether box friction equals the problem's own law: boxes, joints, no friction.
bool is_boxed(const ContactProblem& p) {
  return std::all_of(p.laws.begin(), p.laws.end(), [](const BlockLaw& law) {
    return law.set == FrictionSet::bilateral ||
           (law.set == FrictionSet::box && law.flow == FlowRule::exact) || law.mu == std::array<double, 4>{};
  });
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(BoxDirect, KnownContacts) {
  const auto l = box_lab();
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) {
    l->load(known.problem);
    for (const char* solver : kSolvers) {
      SCOPED_TRACE(known.name + std::string(" ") + solver);
      LabParams params;
      params.max_iterations = 3000;
      const SolveReport report = l->solve(solver, params);
      if (!known.feasible) {
        EXPECT_FALSE(report.converged);
      } else if (report.converged) {
        EXPECT_LT(largest_box_difference(report.u, known.u), known.tolerance);
      } else {
        EXPECT_FALSE(is_boxed(known.problem)) << name_of(report.end) << " " << report.message;
        EXPECT_EQ(report.end, SolveEnd::stalled) << report.iterations;
        EXPECT_NE(report.message.find("solves box friction"), std::string::npos) << report.message;
      }
    }
  }
}

BACKEND_TEST(BoxDirect, AllAgree) {
  const auto l = box_lab();
  // Little friction: then box-Coulomb problems have a unique solution.
  l->load(boxed(fixtures::random_local_problem(12, 60, 0.3, 0.15, 11)));
  std::vector<double> u;
  for (const char* solver : {"pgs", "pgs_sm", "pivot_incremental", "pivot_block", "nsgs", "newton_ac"}) {
    const SolveReport report = l->solve(solver, {});
    ASSERT_TRUE(report.converged) << solver << " " << report.message;
    if (u.empty()) u = report.u;
    EXPECT_LT(largest_box_difference(report.u, u), 1e-6) << solver;
  }
}

BACKEND_TEST(BoxDirect, RedundantContacts) {
  const auto l = box_lab();
  l->load(boxed(fixtures::known_contact("hyperstatic_sliding").problem));
  for (const char* solver : kSolvers) {
    const SolveReport report = l->solve(solver, {});
    EXPECT_TRUE(report.converged) << solver << " " << name_of(report.end) << " " << report.judgement.residual;
  }
}

BACKEND_TEST(BoxDirect, InfeasibleIsSaid) {
  const auto l = box_lab();
  l->load(fixtures::known_contact("infeasible").problem);
  for (const char* solver : {"pivot_incremental", "pivot_block"}) {
    const SolveReport report = l->solve(solver, {});
    EXPECT_EQ(report.end, SolveEnd::infeasible) << solver << " " << report.message;
  }
}

BACKEND_TEST(BoxDirect, PivotingRefusesWhatItCannot) {
  const auto l = box_lab();
  l->load(fixtures::known_contact("pendulum").problem);
  LabParams params;
  params.pivot_rows = 5;
  for (const char* solver : {"pivot_incremental", "pivot_block"}) {
    const SolveReport report = l->solve(solver, params);
    EXPECT_EQ(report.end, SolveEnd::refused);
    EXPECT_NE(report.message.find("pivot_rows = 5"), std::string::npos) << report.message;
  }
  params = {};
  params.storage = DelassusStorage::factored;
  EXPECT_EQ(l->solve("pivot_block", params).end, SolveEnd::refused);
  EXPECT_NE(l->solve("pgs_sm", params).end, SolveEnd::refused);
}

BACKEND_TEST(BoxDirect, SubspaceSolvesSaveSweeps) {
  const auto l = box_lab();
  l->load(boxed(fixtures::known_contact("chain").problem));
  const SolveReport sweeps = l->solve("pgs", {}), subspace = l->solve("pgs_sm", {});
  ASSERT_TRUE(subspace.converged) << subspace.message;
  EXPECT_LT(2 * subspace.iterations, sweeps.iterations);
  LabParams params;
  params.sm_sweeps = 1;
  EXPECT_NE(l->solve("pgs_sm", params).iterations, subspace.iterations);
}
