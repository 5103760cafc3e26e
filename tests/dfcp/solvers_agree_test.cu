// All solvers on all problems with known solutions, and compared with each other.
#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "tests/backend_test.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

std::unique_ptr<ContactLab> lab_with(const ContactProblem& problem) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  return lab;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

/// Solvers that do not converge on a fixture; names separated by spaces.
struct Exception {
  std::string solvers, fixtures;
  SolveEnd end;
};

const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> all{
      // With sliding, the pyramid has another solution.
      {"pgs pgs_jacobi pgs_sm pivot_incremental pivot_block",
       "slide slide_full_w elliptic_slide associated_slide torsional_slide cohesive_slide compliant_slide "
       "coupled_nodes",
       SolveEnd::stalled},
      // So have cones with facets. With torsion they are a double pyramid, smaller than the ellipsoid.
      {"lemke",
       "slide slide_full_w elliptic_slide torsional_slide torsional_stick cohesive_slide compliant_slide "
       "coupled_nodes",
       SolveEnd::stalled},
      // Four corners can share a load in many ways. Solvers that take contacts in turn find impulses outside
      // the disc that the box allows. Those that update all at once (pgs_jacobi) or start from the least
      // impulses (pivoting) share the load evenly.
      {"pgs pgs_sm",
       "block_below block_critical block_above hyperstatic_box hyperstatic_grid hyperstatic_sliding",
       SolveEnd::stalled},
      // The associated rule couples normal and tangential impulses.
      {"staggered lemke", "associated_slide", SolveEnd::refused},
      // K is nearly a half space: full steps of the minimum map alternate between the sides of the cone.
      {"newton_minmap", "huge_mu", SolveEnd::stalled},
      // At the critical angle sticking and sliding coincide: first-order methods converge ever more slowly.
      {"nsgs prox_gs prox_jacobi staggered", "block_critical", SolveEnd::iterations},
      // 1000 : 1 with the heavy ones on top: a sweep carries an impulse one contact further, in small parts.
      {"nsgs prox_gs prox_jacobi staggered pgs pgs_jacobi", "chain", SolveEnd::iterations},
  };
  return all;
}

bool names(const std::string& list, const std::string& word) {
  return (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

SolveEnd expected_end(const std::string& solver, const fixtures::KnownContact& known) {
  if (!known.feasible) return SolveEnd::infeasible;
  for (const Exception& e : exceptions())
    if (names(e.solvers, solver) && names(e.fixtures, known.name)) return e.end;
  return SolveEnd::converged;
}

/// n nodes in a row on the ground, each connected to the next by a spring. Every degree of freedom has a
/// contact, and W is regular, as for a soft body.
ContactProblem elastic_row(int n, double mu, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  ContactProblem p;
  p.title = "elastic_row";
  p.form = ContactProblem::Form::global;
  p.laws.assign(static_cast<std::size_t>(n), fixtures::coulomb(mu));
  p.A.rows = p.A.columns = p.H.rows = p.H.columns = 3 * n;
  p.A.offsets = p.H.offsets = {0};
  for (int i = 0; i < 3 * n; ++i) {
    p.H.indices.push_back(i);
    p.H.values.push_back(1);
    p.H.offsets.push_back(i + 1);
    const bool first = i < 3, last = i >= 3 * n - 3;
    for (const int j : {i - 3, i, i + 3}) {
      if (j < 0 || j >= 3 * n) continue;
      p.A.indices.push_back(j);
      p.A.values.push_back(j == i ? (first || last ? 2.0 : 3.0) : -1.0);
    }
    p.A.offsets.push_back(static_cast<std::int32_t>(p.A.indices.size()));
    p.f.push_back(normal(random) - (i % 3 == 0 ? 1 : 0));
  }
  p.w.assign(p.f.size(), 0.0);
  return p;
}

ContactProblem with_boxes(ContactProblem p) {
  for (BlockLaw& law : p.laws) law.set = FrictionSet::box;
  return p;
}

/// All of them converge, to the velocities of the first.
void expect_agreement(const ContactProblem& problem, const std::vector<std::string>& solvers,
                      double tolerance) {
  const auto lab = lab_with(problem);
  std::vector<double> u;
  for (const std::string& solver : solvers) {
    const SolveReport report = lab->solve(solver, {});
    ASSERT_TRUE(report.converged) << problem.title << " " << solver << " " << report.judgement.residual << " "
                                  << report.message;
    if (u.empty()) u = report.u;
    EXPECT_LT(largest_difference(report.u, u), tolerance) << problem.title << " " << solver;
  }
}

std::vector<std::string> solvers_of_the_cone() {
  std::vector<std::string> solvers;
  for (const ContactSolverInfo& info : list_contact_solvers())
    if (info.law != "box" && info.law != "polyhedral") solvers.emplace_back(info.name);
  return solvers;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Solvers, AllOnAllKnownProblems) {
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) {
    const auto lab = lab_with(known.problem);
    for (const ContactSolverInfo& info : list_contact_solvers()) {
      const std::string solver(info.name);
      SCOPED_TRACE(solver + " on " + known.name);
      LabParams params;
      params.max_iterations = 3000;
      const SolveReport report = lab->solve(solver, params);
      EXPECT_STREQ(name_of(report.end), name_of(expected_end(solver, known)))
          << report.judgement.residual << " " << report.message;
      EXPECT_EQ(report.converged, report.end == SolveEnd::converged);
      if (!report.converged) {
        EXPECT_TRUE(report.end == SolveEnd::iterations || !report.message.empty());
        continue;
      }
      EXPECT_LE(report.judgement.residual, params.tolerance);
      EXPECT_LE(largest_difference(known.u, report.u), known.tolerance);
      if (known.r.empty()) continue;
      double size = 0;
      for (const double x : known.r) size = std::max(size, std::fabs(x));
      EXPECT_LE(largest_difference(known.r, report.r), known.tolerance * std::max(size, 1e-3));
    }
  }
}

/// The table contains only existing solvers and fixtures.
BACKEND_TEST(Solvers, ExceptionsAreOfThoseThatExist) {
  std::string solvers, problems;
  for (const ContactSolverInfo& info : list_contact_solvers()) solvers += std::string(info.name) + " ";
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) problems += known.name + " ";
  const auto expect_known = [](const std::string& list, const std::string& all) {
    std::istringstream words(list);
    for (std::string word; words >> word;) EXPECT_TRUE(names(all, word)) << word;
  };
  for (const Exception& e : exceptions()) {
    expect_known(e.solvers, solvers);
    expect_known(e.fixtures, problems);
  }
}

BACKEND_TEST(Solvers, OfTheExactLawAgree) {
  const std::vector<std::string> solvers = solvers_of_the_cone();
  for (unsigned seed = 0; seed < 3; ++seed) {
    expect_agreement(fixtures::random_local_problem(12, 60, 0.3, 0.3, seed), solvers, 1e-6);
    expect_agreement(elastic_row(30, 0.3, seed), solvers, 1e-6);
    expect_agreement(elastic_row(8, 0.8, seed), solvers, 1e-6);
  }
}

/// At every tolerance: the residual weights an excess over the cone by s_c, which is negligible between heavy
/// bodies.
BACKEND_TEST(Solvers, ReturnImpulsesInsideTheirCones) {
  ContactProblem heavy = fixtures::random_local_problem(12, 60, 0.3, 0.3, 1);
  for (double& w : heavy.W.values) w *= 1e-5;
  const auto lab = lab_with(heavy);
  for (const std::string& solver : solvers_of_the_cone())
    for (const double tolerance : {1e-2, 1e-4, 1e-6}) {
      LabParams params;
      params.tolerance = tolerance;
      const SolveReport report = lab->solve(solver, params);
      EXPECT_TRUE(report.converged) << solver;
      EXPECT_LE(report.judgement.cone_violation, 1e-14) << solver << " " << tolerance;
    }
}

BACKEND_TEST(Solvers, OfOtherLawsAgree) {
  ContactProblem elliptic = elastic_row(12, 0.3, 4);
  for (BlockLaw& law : elliptic.laws) law.mu = {0.2, 0.5, 0};
  expect_agreement(elliptic, solvers_of_the_cone(), 1e-6);
  ContactProblem smooth = elastic_row(12, 0, 5);
  std::vector<std::string> all;
  for (const ContactSolverInfo& info : list_contact_solvers()) all.emplace_back(info.name);
  expect_agreement(smooth, all, 1e-6);
  ContactProblem joints = elastic_row(12, 0, 6);
  for (std::size_t c = 0; c < joints.blocks(); c += 3) joints.laws[c].set = FrictionSet::bilateral;
  expect_agreement(joints, all, 1e-6);
}

BACKEND_TEST(Solvers, OfBoxesAgree) {
  std::vector<std::string> solvers{"nsgs", "prox_gs", "newton_ac", "auto",
                                   "lemke"};  // solvers of any friction set
  for (const ContactSolverInfo& info : list_contact_solvers())
    if (info.law == "box") solvers.emplace_back(info.name);
  for (unsigned seed = 0; seed < 3; ++seed)
    expect_agreement(with_boxes(elastic_row(15, 0.3, seed)), solvers, 1e-6);
}

/// Under the associated rule the velocity is the one closest to the free one, in the metric of A, with u_N >=
/// mu |u_T| everywhere. For a box that slides without turning: the projection of (-g dt, push) onto a cone.
BACKEND_TEST(Solvers, TheAssociatedRuleLiftsASlidingBox) {
  const double mu = 0.5, push = 0.5, g = fixtures::kImpulsePerMass;
  const double along = (push - mu * g) / (1 + mu * mu), gap = mu * along;
  ContactProblem associated = fixtures::known_contact("hyperstatic_sliding").problem;
  for (BlockLaw& law : associated.laws) law.flow = FlowRule::associated;
  const auto lab = lab_with(associated);
  LabParams convex;
  convex.de_saxce = false;
  for (const std::string& solver : solvers_of_the_cone()) {
    if (solver == "staggered") continue;  // refuses the associated rule
    const SolveReport report = lab->solve(solver, convex);
    ASSERT_TRUE(report.converged) << solver << " " << report.judgement.residual;
    for (std::size_t c = 0; c < associated.blocks(); ++c) {
      EXPECT_NEAR(report.u[3 * c], gap, 1e-7) << solver;
      EXPECT_NEAR(report.u[3 * c + 1], along, 1e-7) << solver;
      EXPECT_NEAR(report.u[3 * c + 2], 0, 1e-7) << solver;
    }
  }
  // The exact rule does not lift it.
  const SolveReport exact =
      lab_with(fixtures::known_contact("hyperstatic_sliding").problem)->solve("spg", {});
  ASSERT_TRUE(exact.converged);
  EXPECT_NEAR(exact.u[0], 0, 1e-7);
  EXPECT_NEAR(exact.u[1], push - mu * g, 1e-7);
}
