// The judge compared with an oracle in plain doubles, with cases by hand, and with known solutions.
#include "gpu/dfcp/judge/judge.cuh"

#include <algorithm>
#include <cmath>
#include <random>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "tests/backend_test.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Three = std::array<double, 3>;

std::unique_ptr<ContactLab> judging_lab(const ContactProblem& problem) {
  auto lab = make_contact_lab(STICKSLIP_ON_CUDA ? Backend::cuda : Backend::cpu);
  lab->load(problem);
  return lab;
}

double length(const Three& x) { return std::hypot(x[0], x[1], x[2]); }
double inner(const Three& x, const Three& y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }

/// The closest of the candidate points: x itself, the apex, and the foot of x on the ray beside it.
Three project_coulomb(double mu, const Three& x) {
  const double t = std::hypot(x[1], x[2]);
  if (t <= mu * x[0]) return x;
  const double along = (x[0] + mu * t) / (1 + mu * mu);
  if (along <= 0 || t == 0) return {0, 0, 0};
  return {along, mu * along * x[1] / t, mu * along * x[2] / t};
}

/// s |r - P_K(r - u~ / s)| of Coulomb's law, or of a joint.
double error_of(const BlockLaw& law, double s, const Three& r, const Three& u) {
  if (law.set == FrictionSet::bilateral) return length(u);
  const double mu = law.mu[0];
  const Three z{r[0] - (u[0] + mu * std::hypot(u[1], u[2])) / s, r[1] - u[1] / s, r[2] - u[2] / s};
  const Three p = project_coulomb(mu, z);
  return s * length({r[0] - p[0], r[1] - p[1], r[2] - p[2]});
}

int state_of(const BlockLaw& law, double s, const Three& r, const Three& u) {
  if (law.set == FrictionSet::bilateral) return 3;
  const double mu = law.mu[0];
  const Three z{r[0] - (u[0] + mu * std::hypot(u[1], u[2])) / s, r[1] - u[1] / s, r[2] - u[2] / s};
  const double t = std::hypot(z[1], z[2]);
  return t <= mu * z[0] ? 1 : mu * t <= -z[0] ? 0 : 2;
}

struct Oracle {
  Judgement all;
  std::vector<BlockError> blocks;
};

/// Values for a local problem with Coulomb contacts and joints.
Oracle oracle(const ContactProblem& p, const std::vector<double>& r) {
  std::vector<double> u = p.q, diagonal(p.size(), 0.0);
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::int32_t k = p.W.offsets[i]; k < p.W.offsets[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(p.W.indices[k]);
      u[i] += p.W.values[k] * r[j];
      if (i == j) diagonal[i] = p.W.values[k];
    }
  Oracle o;
  double e2 = 0, unit2 = 0, u2 = 0, q2 = 0, r2 = 0, most_r = 0;
  for (std::size_t c = 0; c < p.blocks(); ++c) {
    const auto part = [c](const std::vector<double>& x) {
      return Three{x[3 * c], x[3 * c + 1], x[3 * c + 2]};
    };
    const Three rc = part(r), uc = part(u), qc = part(p.q), dc = part(diagonal);
    const BlockLaw& law = p.laws[c];
    const double s = (dc[0] + dc[1] + dc[2]) / 3, e = error_of(law, s, rc, uc),
                 unit = error_of(law, 1, rc, uc);
    o.blocks.push_back({e, state_of(law, s, rc, uc)});
    e2 += e * e, unit2 += unit * unit;
    u2 += inner(uc, uc), q2 += inner(qc, qc), r2 += inner(rc, rc);
    o.all.largest_error = std::max(o.all.largest_error, e);
    most_r = std::max(most_r, length(rc));
    if (law.set == FrictionSet::bilateral) continue;
    const Three inside = project_coulomb(law.mu[0], rc);
    const Three lifted{uc[0] + law.mu[0] * std::hypot(uc[1], uc[2]), uc[1], uc[2]};
    o.all.penetration = std::max(o.all.penetration, -uc[0]);
    o.all.cone_violation =
        std::max(o.all.cone_violation, length({rc[0] - inside[0], rc[1] - inside[1], rc[2] - inside[2]}));
    o.all.complementarity = std::max(o.all.complementarity, std::fabs(inner(rc, lifted)));
    o.all.dissipation -= rc[1] * uc[1] + rc[2] * uc[2];
  }
  o.all.cone_distance = o.all.cone_violation;
  o.all.cone_violation /= most_r;
  o.all.residual = std::sqrt(e2) / std::sqrt(q2);
  o.all.residual_fclib = std::sqrt(unit2) / std::sqrt(std::max({q2, u2, r2}));
  o.all.norm_q = std::sqrt(q2), o.all.norm_u = std::sqrt(u2);
  return o;
}

void expect_close(double a, double b, const char* what) { EXPECT_NEAR(a, b, 1e-12 * std::fabs(b)) << what; }

void expect_judged(const Judgement& got, const Judgement& expected) {
  expect_close(got.residual, expected.residual, "residual");
  expect_close(got.residual_fclib, expected.residual_fclib, "residual_fclib");
  expect_close(got.largest_error, expected.largest_error, "largest_error");
  expect_close(got.penetration, expected.penetration, "penetration");
  expect_close(got.cone_violation, expected.cone_violation, "cone_violation");
  expect_close(got.cone_distance, expected.cone_distance, "cone_distance");
  expect_close(got.complementarity, expected.complementarity, "complementarity");
  EXPECT_NEAR(got.dissipation, expected.dissipation,
              1e-12 * (std::fabs(expected.dissipation) + expected.complementarity));
  expect_close(got.norm_q, expected.norm_q, "norm_q");
  expect_close(got.norm_u, expected.norm_u, "norm_u");
}

/// Contacts with several mu, including zero; every seventh block is a joint.
ContactProblem mixed_problem(int blocks, unsigned seed) {
  ContactProblem p = fixtures::random_local_problem(blocks, 4 * blocks, 0.1, 0.5, seed);
  for (std::size_t c = 0; c < p.blocks(); ++c) {
    p.laws[c] = fixtures::coulomb(0.3 * static_cast<double>(c % 5));
    if (c % 7 == 3) p.laws[c].set = FrictionSet::bilateral;
  }
  return p;
}

std::vector<double> random_impulses(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> r(n);
  for (double& x : r) x = 0.3 * normal(random);
  return r;
}

ContactProblem diagonal_contact(double w, double mu, const Three& q) {
  ContactProblem p;
  p.laws = {fixtures::coulomb(mu)};
  p.W = fixtures::dense_rows(3, {w, 0, 0, 0, w, 0, 0, 0, w});
  p.q = {q[0], q[1], q[2]};
  return p;
}

std::vector<BlockError> block_errors(Context& ctx, const ContactProblem& p, const std::vector<double>& r) {
  Delassus<3> W;
  W.build(ctx, p, false);
  std::vector<ContactLaw<3>> laws(p.blocks());
  for (std::size_t c = 0; c < laws.size(); ++c)
    laws[c] = {{p.laws[c].mu[0], p.laws[c].mu[1]}, p.laws[c].set, p.laws[c].flow};
  const Buffer<ContactLaw<3>> law(ctx, std::span<const ContactLaw<3>>(laws));
  std::vector<Vec<double, 3>> blocks(p.blocks());
  for (std::size_t i = 0; i < r.size(); ++i) blocks[i / 3][static_cast<int>(i % 3)] = r[i];
  const Buffer<Vec<double, 3>> impulses(ctx, std::span<const Vec<double, 3>>(blocks));
  std::vector<BlockError> errors;
  judge_fully(ctx, W, law.data(), impulses.data(), &errors);
  return errors;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Judge, AgreesWithPlainSums) {
  FRESH_SEED(seed);
  for (const int blocks : {1, 2, 30}) {
    const ContactProblem p = mixed_problem(blocks, seed);
    const std::vector<double> r = random_impulses(p.size(), seed + 1);
    const Oracle expected = oracle(p, r);
    expect_judged(judging_lab(p)->judge(r), expected.all);
    const std::vector<BlockError> errors = block_errors(ctx, p, r);
    ASSERT_EQ(errors.size(), p.blocks());
    for (std::size_t c = 0; c < errors.size(); ++c) {
      EXPECT_NEAR(errors[c].error, expected.blocks[c].error, 1e-12 * expected.all.largest_error) << c;
      EXPECT_EQ(errors[c].state, expected.blocks[c].state) << c;
    }
  }
}

/// A problem of bodies gives the same result as its assembled W.
BACKEND_TEST(Judge, AgreesWithPlainSumsOfBodies) {
  for (const ContactProblem& p : {random_stacks(12, 3, 5), tasora_b1(20, 1), mass_chain(8, 1e6)}) {
    const std::vector<double> r = random_impulses(p.size(), 4);
    const Judgement got = judging_lab(p)->judge(r), expected = oracle(to_local(p), r).all;
    EXPECT_NEAR(got.residual, expected.residual, 1e-10 * expected.residual);
    EXPECT_NEAR(got.residual_fclib, expected.residual_fclib, 1e-10 * expected.residual_fclib);
    EXPECT_NEAR(got.penetration, expected.penetration, 1e-10 * expected.norm_u);
  }
}

BACKEND_TEST(Judge, ScaleOfMassesDoesNotMatter) {
  const ContactProblem local = mixed_problem(20, 3), bodies = random_stacks(12, 3, 5);
  const std::vector<double> r = random_impulses(local.size(), 2), rb = random_impulses(bodies.size(), 2);
  const Judgement one = judging_lab(local)->judge(r), of_bodies = judging_lab(bodies)->judge(rb);
  for (const double factor : {1e-6, 1e6}) {
    const auto times = [](std::vector<double> x, double by) {
      for (double& value : x) value *= by;
      return x;
    };
    ContactProblem scaled = local;
    scaled.W.values = times(local.W.values, 1 / factor);
    const Judgement j = judging_lab(scaled)->judge(times(r, factor));
    expect_close(j.residual, one.residual, "residual");
    expect_close(j.largest_error, one.largest_error, "largest_error");
    expect_close(j.penetration, one.penetration, "penetration");
    expect_close(j.cone_violation, one.cone_violation, "cone_violation");
    expect_close(j.complementarity, factor * one.complementarity, "complementarity");
    scaled = bodies;
    scaled.inverse_mass = times(bodies.inverse_mass, 1 / factor);
    scaled.f = times(bodies.f, factor);
    expect_close(judging_lab(scaled)->judge(times(rb, factor)).residual, of_bodies.residual, "bodies");
  }
}

/// Exact for short numbers, up to rounding for others.
BACKEND_TEST(Judge, KnownAnswersAreZeros) {
  for (const char* name : {"open", "grazing", "frictionless"}) {
    const fixtures::KnownContact known = fixtures::known_contact(name);
    EXPECT_EQ(judging_lab(known.problem)->judge(known.r).residual, 0) << name;
  }
  for (const fixtures::KnownContact& known : fixtures::known_contacts()) {
    if (known.r.empty()) continue;
    const Judgement j = judging_lab(known.problem)->judge(known.r);
    EXPECT_LE(j.residual, known.name == "chain" ? 1e-12 : 1e-14) << known.name;  // 1000 : 1 cancels digits
    EXPECT_LE(j.residual_fclib, 1e-13) << known.name;
    EXPECT_LE(j.penetration, 1e-13) << known.name;
    EXPECT_LE(j.cone_violation, 1e-15) << known.name;
  }
}

BACKEND_TEST(Judge, StatesOfKnownAnswers) {
  const auto expect = [&](const char* name, const std::vector<int>& states) {
    const fixtures::KnownContact known = fixtures::known_contact(name);
    const std::vector<BlockError> errors = block_errors(ctx, known.problem, known.r);
    ASSERT_EQ(errors.size(), states.size());
    for (std::size_t c = 0; c < states.size(); ++c) EXPECT_EQ(errors[c].state, states[c]) << name << " " << c;
  };
  expect("open", {0});
  expect("stick", {1});
  expect("slide", {2});
  expect("frictionless", {2});
  expect("two_sliding", {1, 2});
  expect("coupled_nodes", {1, 2});
  expect("pendulum", {3, 2});
  expect("hanging_chain", std::vector<int>(10, 3));
}

BACKEND_TEST(Judge, CasesByHand) {
  // At r = 0, u = q approaches by 1 m/s and z = (1/2, 0, 0): e = 2 (1/2).
  const Judgement pressing = judging_lab(diagonal_contact(2, 0.5, {-1, 0, 0}))->judge({0, 0, 0});
  EXPECT_DOUBLE_EQ(pressing.residual, 1);
  EXPECT_DOUBLE_EQ(pressing.residual_fclib, 1);
  EXPECT_DOUBLE_EQ(pressing.largest_error, 1);
  EXPECT_DOUBLE_EQ(pressing.penetration, 1);
  EXPECT_EQ(pressing.cone_violation, 0);
  EXPECT_EQ(pressing.complementarity, 0);
  // u = 2 (2, 3, 0) - n = (3, 6, 0), u~ = (6, 6, 0): z = (-1, 0, 0), so e = 2 |r|; with step 1 z = (-4, -3,
  // 0) is in the polar cone as well. The foot of r on the cone is 2.8 (1, 1/2, 0), sqrt(3.2) away.
  const Judgement pulled = judging_lab(diagonal_contact(2, 0.5, {-1, 0, 0}))->judge({2, 3, 0});
  EXPECT_DOUBLE_EQ(pulled.largest_error, 2 * std::sqrt(13.0));
  EXPECT_DOUBLE_EQ(pulled.residual, 2 * std::sqrt(13.0));  // |q| = 1
  EXPECT_DOUBLE_EQ(pulled.residual_fclib, std::sqrt(13.0 / 45.0));
  EXPECT_EQ(pulled.penetration, 0);
  EXPECT_DOUBLE_EQ(pulled.cone_violation, std::sqrt(3.2 / 13.0));
  EXPECT_DOUBLE_EQ(pulled.complementarity, 2 * 6 + 3 * 6);
  EXPECT_DOUBLE_EQ(pulled.dissipation, -18);
  EXPECT_DOUBLE_EQ(pulled.norm_q, 1);
  EXPECT_DOUBLE_EQ(pulled.norm_u, std::sqrt(45.0));
  // Impulses larger than velocities count in FCLIB's residual only: u = (0, 0, 0), r = (100, 60, 0).
  const Judgement strong = judging_lab(diagonal_contact(0.01, 0.5, {-1, -0.6, 0}))->judge({100, 60, 0});
  EXPECT_NEAR(strong.residual_fclib * std::hypot(100, 60), strong.largest_error * 100, 1e-9);
  // Sliding along +t1 at 2 m/s against r_T = -1/2 takes 1 J.
  EXPECT_DOUBLE_EQ(judging_lab(diagonal_contact(1, 0.5, {-1, 2.5, 0}))->judge({1, -0.5, 0}).dissipation, 1);
}

BACKEND_TEST(Judge, NothingAtAll) {
  EXPECT_THROW(judging_lab(ContactProblem{}), std::invalid_argument);
  // No contact.
  EXPECT_TRUE(block_errors(ctx, ContactProblem{}, {}).empty());
  // q = 0: 0 / 0 counts as solved.
  const Judgement rest = judging_lab(diagonal_contact(1, 0.5, {0, 0, 0}))->judge({0, 0, 0});
  EXPECT_EQ(rest.residual, 0);
  EXPECT_EQ(rest.residual_fclib, 0);
  // One of two contacts cannot be moved: whatever its impulse, only the other one counts.
  ContactProblem held = fixtures::node_column("held", {2, 3}, {{-1, 0, 0}, {0, 0, 0}}, 0.5);
  for (std::size_t i = 9; i < 18; ++i) held.inverse_mass[i] = 0;
  for (std::size_t i = 3; i < 6; ++i) held.f[i] = 0;
  held.jacobian.erase(held.jacobian.begin() + 1);  // the second node now touches the world
  held.block_start[2] = 2;
  const auto lab = judging_lab(held);
  EXPECT_LE(lab->judge({2, 0, 0, 0, 0, 0}).residual, 1e-15);
  EXPECT_DOUBLE_EQ(lab->judge({0, 0, 0, 0, 0, 0}).residual, 1);
  EXPECT_THROW(lab->judge({0, 0, 0}), std::invalid_argument);
}

/// If errors were relative to velocities of the iterate, a diverging iterate would appear better.
BACKEND_TEST(Judge, ResidualGrowsWithIteratesThatDiverge) {
  const std::unique_ptr<ContactLab> lab = judging_lab(diagonal_contact(1, 0.5, {-1, 2.5, 0}));
  double last = lab->judge({1, -0.5, 0}).residual;
  for (const double size : {1e3, 1e6, 1e12}) {
    const double residual = lab->judge({size, 0.4 * size, 0}).residual;
    EXPECT_GT(residual, 0.1 * size);
    EXPECT_GT(residual, last);
    last = residual;
  }
}
