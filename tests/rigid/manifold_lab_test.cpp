// manifold_gs on problems of the lab: the answers of the other solvers, on frozen steps and made problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/rigid/manifold/manifold_problem.h"
#include "tests/fixtures/contact_problems.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

using V3 = Vec<double, 3>;

JacobianBlock point_rows(std::int32_t body, double sign, const V3 (&axes)[3], const V3& arm) {
  JacobianBlock entry;
  entry.body = body;
  for (int i = 0; i < 3; ++i) {
    const V3 turn = cross(arm, axes[i]);
    for (int k = 0; k < 3; ++k) {
      entry.rows[static_cast<std::size_t>(6 * i + k)] = sign * axes[i][k];
      entry.rows[static_cast<std::size_t>(6 * i + 3 + k)] = sign * turn[k];
    }
  }
  return entry;
}

/// `boxes` cubes of 1 kg and 1 m above each other, four points each, pushed sideways by `push` [m/s] after a
/// step of gravity. The second tangential rows of odd boxes point the other way; points of a box come in a
/// mixed order.
ContactProblem tower(int boxes, double mu, double push) {
  ContactProblem p;
  p.title = "tower";
  p.form = ContactProblem::Form::bodies;
  p.inverse_mass.assign(static_cast<std::size_t>(36 * boxes), 0.0);
  p.f.assign(static_cast<std::size_t>(6 * boxes), 0.0);
  p.block_start.push_back(0);
  for (int b = 0; b < boxes; ++b) {
    double* a = p.inverse_mass.data() + 36 * b;
    for (int i = 0; i < 6; ++i) a[7 * i] = i < 3 ? 1 : 6;
    p.f[static_cast<std::size_t>(6 * b)] = push * (b + 1) / boxes;
    p.f[static_cast<std::size_t>(6 * b + 1)] = -0.0981;
  }
  for (int k = 0; k < 4; ++k)
    for (int b = 0; b < boxes; ++b) {
      const double x = k < 2 ? -0.5 : 0.5, z = k % 2 == 0 ? -0.5 : 0.5, hand = b % 2 == 0 ? 1 : -1;
      const V3 axes[3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, -hand}};
      p.jacobian.push_back(point_rows(b, 1, axes, {x, -0.5, z}));
      if (b > 0) p.jacobian.push_back(point_rows(b - 1, -1, axes, {x, 0.5, z}));
      p.block_start.push_back(static_cast<std::int32_t>(p.jacobian.size()));
      BlockLaw law;
      law.mu = {mu, mu, 0};
      p.laws.push_back(law);
    }
  p.w.assign(p.size(), 0.0);
  check(p);
  return p;
}

TEST(ManifoldLab, FindsTheManifoldsOfATower) {
  const ContactProblem p = tower(5, 0.3, 1);
  ManifoldProblem m;
  ASSERT_EQ(read_manifolds(p, m), "");
  ASSERT_EQ(m.start.size(), 6u);
  EXPECT_EQ(m.start.back(), 20);
  for (std::size_t k = 0; k + 1 < m.start.size(); ++k) EXPECT_EQ(m.start[k + 1] - m.start[k], 4);
}

TEST(ManifoldLab, AgreesWithTheOtherSolvers) {
  for (const int boxes : {1, 3, 5})
    for (const double mu : {0.0, 0.3, 0.8})
      for (const double push : {0.0, 0.02, 2.0}) {
        const ContactProblem p = tower(boxes, mu, push);
        SCOPED_TRACE(std::to_string(boxes) + " boxes, mu " + std::to_string(mu) + ", push " +
                     std::to_string(push));
        const auto lab = make_contact_lab(Backend::cpu);
        lab->load(p);
        LabParams params;
        params.tolerance = 1e-9;
        const SolveReport manifolds = lab->solve("manifold_gs", params);
        ASSERT_TRUE(manifolds.converged) << manifolds.judgement.residual << " " << manifolds.message;
        EXPECT_GT(manifolds.iterations, 0);
        const SolveReport sweeps = lab->solve("nsgs", params);
        ASSERT_TRUE(sweeps.converged);
        // Impulses of four points are not unique, velocities are.
        const std::vector<double> v = velocities(p, manifolds.r), w = velocities(p, sweeps.r);
        for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], w[i], 1e-6 * (1 + push));
      }
}

TEST(ManifoldLab, StartsFromAGuess) {
  ContactProblem p = tower(10, 0.5, 0);
  const auto lab = make_contact_lab(Backend::cpu);
  lab->load(p);
  LabParams params;
  params.warm_start = true;
  const SolveReport cold = lab->solve("manifold_gs", params);
  ASSERT_TRUE(cold.converged);
  p.guess = cold.r;
  lab->load(p);
  const SolveReport warm = lab->solve("manifold_gs", params);
  EXPECT_TRUE(warm.converged);
  EXPECT_LT(warm.iterations, cold.iterations);
}

/// As FCLIB has it: A and H of all bodies as matrices.
ContactProblem as_global(const ContactProblem& p) {
  ContactProblem g = p;
  g.form = ContactProblem::Form::global;
  g.inverse_mass.clear();
  g.jacobian.clear();
  g.block_start.clear();
  const auto dofs = static_cast<std::int32_t>(6 * p.bodies());
  g.A = {dofs, dofs, {0}, {}, {}};
  for (std::int32_t i = 0; i < dofs; ++i) {
    g.A.indices.push_back(i);
    g.A.values.push_back(1 / p.inverse_mass[static_cast<std::size_t>(36 * (i / 6) + 7 * (i % 6))]);
    g.A.offsets.push_back(i + 1);
  }
  g.H = {static_cast<std::int32_t>(p.size()), dofs, {0}, {}, {}};
  for (std::size_t row = 0; row < p.size(); ++row) {
    const auto first = p.jacobian.begin() + p.block_start[row / 3],
               last = p.jacobian.begin() + p.block_start[row / 3 + 1];
    std::vector<JacobianBlock> entries(first, last);
    std::ranges::sort(entries, {}, &JacobianBlock::body);
    for (const JacobianBlock& entry : entries)
      for (std::size_t k = 0; k < 6; ++k)
        if (const double value = entry.rows[6 * (row % 3) + k]; value != 0) {
          g.H.indices.push_back(6 * entry.body + static_cast<std::int32_t>(k));
          g.H.values.push_back(value);
        }
    g.H.offsets.push_back(static_cast<std::int32_t>(g.H.indices.size()));
  }
  check(g);
  return g;
}

TEST(ManifoldLab, TakesGlobalProblemsOfRigidBodies) {
  const ContactProblem p = tower(3, 0.4, 0.3);
  ContactProblem global = as_global(p);
  const auto lab = make_contact_lab(Backend::cpu);
  lab->load(global);
  const SolveReport report = lab->solve("manifold_gs", {});
  ASSERT_TRUE(report.converged) << report.judgement.residual << " " << report.message;
  const std::vector<double> v = velocities(p, report.r), w = velocities(global, report.r);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], w[i], 1e-9);
  global.A.values[0] *= 2;  // no body has three masses
  ManifoldProblem m;
  EXPECT_NE(read_manifolds(global, m).find("other entries than masses"), std::string::npos);
}

TEST(ManifoldLab, KeepsAHistoryAndItsBudget) {
  const ContactProblem p = tower(20, 0.5, 0);
  const auto lab = make_contact_lab(Backend::cpu);
  lab->load(p);
  LabParams params;
  const SolveReport report = lab->solve("manifold_gs", params, {.history = true});
  EXPECT_TRUE(report.converged);
  ASSERT_GT(report.history.size(), 3u);
  for (std::size_t k = 1; k < report.history.size(); ++k)
    EXPECT_GT(report.history[k].iteration, report.history[k - 1].iteration);
  params.max_iterations = 3;
  params.tolerance = 1e-14;
  const SolveReport cut = lab->solve("manifold_gs", params);
  EXPECT_FALSE(cut.converged);
  EXPECT_EQ(cut.end, SolveEnd::iterations);
  EXPECT_LE(cut.iterations, 4);
}

TEST(ManifoldLab, RefusesWhatIsNotMadeOfRigidBodies) {
  const auto refusal = [](const ContactProblem& p) {
    const auto lab = make_contact_lab(Backend::cpu);
    lab->load(p);
    const SolveReport report = lab->solve("manifold_gs", {});
    EXPECT_EQ(report.end, SolveEnd::refused);
    EXPECT_FALSE(report.converged);
    return report.message;
  };
  EXPECT_NE(refusal(fixtures::known_contact("slide_full_w").problem).find("not given by bodies"),
            std::string::npos);
  ContactProblem p = tower(2, 0.3, 1);
  p.laws[1].cohesion = 0.1;
  EXPECT_NE(refusal(p).find("block 1 has cohesion"), std::string::npos);
  p = tower(2, 0.3, 1);
  p.inverse_mass[7] *= 2;
  EXPECT_NE(refusal(p).find("body 0 is not a rigid body"), std::string::npos);
}

/// Blocks that no manifold can hold: other laws, joints, given velocities and softness along tangents, rows
/// of no point.
TEST(ManifoldLab, SolvesBlocksOfAnyLawBesideManifolds) {
  struct Case {
    const char* name;
    void (*change)(ContactProblem& p);
  };
  constexpr Case kCases[] = {{"elliptic",
                              [](ContactProblem& p) {
                                p.laws[3].mu = {0.3, 0.1, 0};
                              }},
                             {"box", [](ContactProblem& p) { p.laws[4].set = FrictionSet::box; }},
                             {"associated", [](ContactProblem& p) { p.laws[5].flow = FlowRule::associated; }},
                             {"bilateral", [](ContactProblem& p) { p.laws[2].set = FrictionSet::bilateral; }},
                             {"driven", [](ContactProblem& p) { p.w[3 * 2 + 1] = 0.5; }},
                             {"soft", [](ContactProblem& p) { p.laws[1].compliance = 0.2; }},
                             {"no point", [](ContactProblem& p) { p.jacobian[0].rows[4] += 0.1; }}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    ContactProblem p = tower(3, 0.3, 0.05);
    c.change(p);
    check(p);
    ManifoldProblem m;
    ASSERT_EQ(read_manifolds(p, m), "");
    EXPECT_EQ(m.blocks.size(), 1u);
    EXPECT_EQ(m.points.size(), 11u);
    const auto lab = make_contact_lab(Backend::cpu);
    lab->load(p);
    LabParams params;
    params.tolerance = 1e-9;
    params.max_iterations = 20000;
    const SolveReport manifolds = lab->solve("manifold_gs", params), sweeps = lab->solve("nsgs", params);
    ASSERT_TRUE(manifolds.converged) << manifolds.judgement.residual << " " << manifolds.message;
    ASSERT_TRUE(sweeps.converged);
    const std::vector<double> v = velocities(p, manifolds.r), w = velocities(p, sweeps.r);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], w[i], 1e-6);
  }
}

/// Every generator: solved as nsgs solves it, or refused with a reason.
TEST(ManifoldLab, SolvesOrRefusesEveryGeneratedProblem) {
  int solved = 0;
  for (const GeneratorInfo& info : list_generators()) {
    SCOPED_TRACE(info.name);
    const ContactProblem p = generate(info.name, 3, 1);
    const auto lab = make_contact_lab(Backend::cpu);
    lab->load(p);
    LabParams params;
    params.tolerance = 1e-6;
    params.max_iterations = 20000;
    const SolveReport report = lab->solve("manifold_gs", params);
    if (report.end == SolveEnd::refused) {
      EXPECT_FALSE(report.message.empty());
      continue;
    }
    solved += report.converged ? 1 : 0;
    EXPECT_EQ(report.converged, lab->judge(report.r).residual <= 1.0001e-6) << report.message;
    EXPECT_LE(report.judgement.cone_violation, 1e-12);
  }
  EXPECT_GT(solved, 2);
}

}  // namespace
}  // namespace stickslip
