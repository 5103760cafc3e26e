// Lemke's method on friction cones with facets, against the definition of the law.
#include <array>
#include <cmath>
#include <numbers>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "tests/backend_test.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

std::unique_ptr<ContactLab> facet_lab(const ContactProblem& problem) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  return lab;
}

/// mu times the vertices of a polygon with `facets` corners.
std::vector<std::array<double, 2>> polygon(double mu, int facets) {
  std::vector<std::array<double, 2>> corners;
  for (int i = 0; i < facets; ++i) {
    const double angle = 2 * std::numbers::pi * i / facets;
    corners.push_back({mu * std::cos(angle), mu * std::sin(angle)});
  }
  return corners;
}

/// The law of a cone with facets: r within it, u_N >= 0, r_N u_N = 0, and friction takes as much power as any
/// friction that the cone allows.
void expect_facet_law(double mu, int facets, const double* r, const double* u, double tolerance) {
  EXPECT_GE(r[0], 0);
  EXPECT_GE(u[0], -tolerance);
  EXPECT_LE(std::fabs(r[0] * u[0]), tolerance);
  double most = 0;
  for (const auto& d : polygon(mu, facets)) most = std::max(most, -(d[0] * u[1] + d[1] * u[2]));
  EXPECT_NEAR(-(r[1] * u[1] + r[2] * u[2]), r[0] * most, tolerance);
  // Within the polygon: on the inner side of each edge, whose distance from the centre is mu cos(pi / k).
  for (int i = 0; i < facets; ++i) {
    const double angle = 2 * std::numbers::pi * (i + 0.5) / facets;
    EXPECT_LE(r[1] * std::cos(angle) + r[2] * std::sin(angle),
              mu * r[0] * std::cos(std::numbers::pi / facets) + tolerance);
  }
}

/// A contact with W = 1 that is pressed on and slides at this angle [rad].
ContactProblem sliding_contact(double angle, double mu) {
  ContactProblem p;
  p.laws.resize(1);
  p.laws[0].mu = {mu, mu, mu};
  p.W = {3, 3, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1}};
  p.q = {-1, 2 * std::cos(angle), 2 * std::sin(angle)};
  return p;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(FacetCone, ObeysItsOwnLaw) {
  for (const int facets : {4, 7, 8})
    for (unsigned seed = 0; seed < 4; ++seed) {
      const double mu = 0.3 + 0.2 * seed;
      const ContactProblem p = fixtures::random_local_problem(8, 40, 0.1, mu, seed);
      LabParams params;
      params.facets = facets;
      const SolveReport report = facet_lab(p)->solve("lemke", params);
      SCOPED_TRACE(std::to_string(facets) + " facets, mu " + std::to_string(mu) + ", seed " +
                   std::to_string(seed) + ", iterations " + std::to_string(report.iterations) + ": " +
                   report.message);
      EXPECT_TRUE(report.converged || report.message.find("facets") != std::string::npos);
      for (std::size_t c = 0; c < p.blocks(); ++c)
        expect_facet_law(mu, facets, &report.r[3 * c], &report.u[3 * c], 1e-7);
    }
}

/// The friction of a sliding contact is a vertex of the polygon, so it is off by up to pi / k.
BACKEND_TEST(FacetCone, TendsToCoulombsWithItsFacets) {
  const double mu = 0.5, angle = 0.7;
  double last = 1;
  for (const int facets : {4, 8, 16, 32, 64}) {
    LabParams params;
    params.facets = facets;
    const SolveReport report = facet_lab(sliding_contact(angle, mu))->solve("lemke", params);
    const double off = std::hypot(report.r[1] + mu * std::cos(angle), report.r[2] + mu * std::sin(angle));
    EXPECT_NEAR(report.r[0], 1, 1e-9);
    EXPECT_LE(off, 2 * mu * std::sin(0.5 * std::numbers::pi / facets) + 1e-9) << facets;
    EXPECT_LE(report.judgement.residual, last);
    last = report.judgement.residual;
  }
  EXPECT_LT(last, 0.02);
  // Along a vertex there is no error.
  LabParams params;
  EXPECT_TRUE(facet_lab(sliding_contact(std::numbers::pi / 4, mu))->solve("lemke", params).converged);
}

BACKEND_TEST(FacetCone, StacksWithRedundantContactsAndJoints) {
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    const SolveReport report = facet_lab(random_stacks(6, 2, seed))->solve("lemke", {});
    EXPECT_TRUE(report.converged || report.message.find("solves friction cones with 8 facets") == 0)
        << report.message;
    EXPECT_LT(report.judgement.residual, 0.1);
  }
  const fixtures::KnownContact pendulum = fixtures::known_contact("pendulum");
  EXPECT_TRUE(facet_lab(pendulum.problem)->solve("lemke", {}).converged);
}

BACKEND_TEST(FacetCone, RefusesWhatItCannotSolve) {
  const auto refusal = [](const ContactProblem& p, const LabParams& params) {
    const SolveReport report = facet_lab(p)->solve("lemke", params);
    EXPECT_EQ(report.end, SolveEnd::refused);
    return report.message;
  };
  LabParams small;
  small.pivot_rows = 20;
  EXPECT_NE(refusal(random_stacks(6, 2, 1), small).find("pivot_rows = 20"), std::string::npos);
  LabParams factored;
  factored.storage = DelassusStorage::factored;
  EXPECT_NE(refusal(random_stacks(6, 2, 1), factored).find("storage = assembled"), std::string::npos);
  EXPECT_NE(refusal(fixtures::known_contact("associated_slide").problem, {}).find("associated"),
            std::string::npos);
}
