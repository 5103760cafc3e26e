// Checks the fixtures: their solutions satisfy their laws, and a plain projected fixed point finds them.
#include <gtest/gtest.h>

#include <set>

#include "tests/fixtures/contact_problems.h"

namespace stickslip {
namespace {

using fixtures::KnownContact;

std::vector<double> velocities_of(const ContactProblem& local, const std::vector<double>& s) {
  std::vector<double> u = local.q;
  for (std::size_t row = 0; row < u.size(); ++row)
    for (std::int32_t k = local.W.offsets[row]; k < local.W.offsets[row + 1]; ++k)
      u[row] += local.W.values[k] * s[local.W.indices[k]];
  return u;
}

/// sigma(u_T), and the position of r_T / r_N relative to the section: above 1 it is outside.
double support(const BlockLaw& law, const double* u, int dim) {
  double sum = 0;
  for (int i = 1; i < dim; ++i) {
    const double x = law.mu[i - 1] * u[i];
    sum += law.set == FrictionSet::box ? std::fabs(x) : x * x;
  }
  return law.set == FrictionSet::box ? sum : std::sqrt(sum);
}

bool in_cone(const BlockLaw& law, const double* s, int dim, double slack) {
  if (s[0] < -slack) return false;
  double sum = 0;
  for (int i = 1; i < dim; ++i) {
    const double bound = law.mu[i - 1] * s[0];
    if (law.set == FrictionSet::box || law.mu[i - 1] == 0) {
      if (std::fabs(s[i]) > bound + slack) return false;
    } else {
      sum += s[i] * s[i] / (law.mu[i - 1] * law.mu[i - 1]);
    }
  }
  return law.set == FrictionSet::box || std::sqrt(sum) <= s[0] + slack / 1e-3;
}

/// r in K, u~ in K*, orthogonal.
void expect_law(const BlockLaw& law, const double* s, const double* u, int dim, double scale) {
  const double slack = 1e-12 * scale;
  if (law.set == FrictionSet::bilateral) {
    for (int i = 0; i < dim; ++i) EXPECT_NEAR(u[i], 0, slack);
    return;
  }
  EXPECT_TRUE(in_cone(law, s, dim, slack));
  const double sigma = support(law, u, dim);
  const double normal = u[0] + (law.flow == FlowRule::exact ? sigma : 0);
  EXPECT_GE(normal, sigma - slack);  // K* = {x : x_N >= sigma(x_T)}
  double power = normal * s[0];
  for (int i = 1; i < dim; ++i) power += u[i] * s[i];
  EXPECT_NEAR(power, 0, slack);
}

TEST(KnownContacts, AnswersSatisfyTheLaw) {
  for (const KnownContact& known : fixtures::known_contacts()) {
    SCOPED_TRACE(known.name);
    const ContactProblem& p = known.problem;
    ASSERT_NO_THROW(check(p));
    if (!known.feasible) continue;
    ASSERT_EQ(known.u.size(), p.size());
    if (known.r.empty()) continue;
    ASSERT_EQ(known.r.size(), p.size());
    const std::vector<double> s = with_cohesion(p, known.r);
    const std::vector<double> u = velocities_of(to_local(p), s);
    double scale = 1;
    for (const double x : s) scale = std::max(scale, std::fabs(x));
    for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(u[i], known.u[i], 1e-13 * scale) << "row " << i;
    for (std::size_t c = 0; c < p.blocks(); ++c) {
      const std::size_t row = c * static_cast<std::size_t>(p.dim);
      expect_law(p.laws[c], s.data() + row, known.u.data() + row, p.dim, scale);
    }
  }
}

void project_on_disc_cone(double mu, double* r) {
  const double t = std::hypot(r[1], r[2]);
  if (t <= mu * r[0]) return;
  const double n = mu * t <= -r[0] ? 0 : (r[0] + mu * t) / (1 + mu * mu);
  for (int i = 1; i < 3; ++i) r[i] *= t > 0 ? mu * n / t : 0;
  r[0] = n;
}

/// r <- P_K(r - rho (u + mu |u_T| n)), block after block.
std::vector<double> fixed_point(const ContactProblem& local, int sweeps) {
  const SparseRows& w = local.W;
  std::vector<double> r(local.size(), 0.0);
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (std::size_t c = 0; c < local.blocks(); ++c) {
      double u[3], trace = 0;
      for (int i = 0; i < 3; ++i) {
        const std::size_t row = 3 * c + i;
        u[i] = local.q[row];
        for (std::int32_t k = w.offsets[row]; k < w.offsets[row + 1]; ++k) {
          u[i] += w.values[k] * r[w.indices[k]];
          if (w.indices[k] == static_cast<std::int32_t>(row)) trace += w.values[k];
        }
      }
      const double mu = local.laws[c].mu[0];
      u[0] += mu * std::hypot(u[1], u[2]);
      for (int i = 0; i < 3; ++i) r[3 * c + i] -= u[i] / trace;
      project_on_disc_cone(mu, r.data() + 3 * c);
    }
  return r;
}

TEST(KnownContacts, VelocitiesAreReachedWhereImpulsesAreNotUnique) {
  int found = 0;
  for (const KnownContact& known : fixtures::known_contacts()) {
    if (!known.feasible || !known.r.empty()) continue;
    SCOPED_TRACE(known.name);
    const ContactProblem local = to_local(known.problem);
    const std::vector<double> u = velocities_of(local, fixed_point(local, 4000));
    // At the transition from sticking to sliding this iteration converges like 1 / sweeps.
    const double bound = known.name == "block_critical" ? 1e-4 : 1e-7;
    for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(u[i], known.u[i], bound) << "row " << i;
    ++found;
  }
  EXPECT_EQ(found, 6);
}

TEST(KnownContacts, InfeasibleOneHasNoAnswer) {
  const KnownContact known = fixtures::known_contact("infeasible");
  const ContactProblem local = to_local(known.problem);
  // r = (1, 0, 0, 1, 0, 0) >= 0 causes no motion (W r = 0) and does work: q . r < 0 proves infeasibility
  // (Farkas).
  const std::vector<double> ray{1, 0, 0, 1, 0, 0};
  const std::vector<double> u = velocities_of(local, ray);
  double power = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(u[i] - local.q[i], 0, 1e-15);
    power += local.q[i] * ray[i];
  }
  EXPECT_LT(power, -1.9);
}

TEST(KnownContacts, NamesAreUnique) {
  std::set<std::string> names;
  for (const KnownContact& known : fixtures::known_contacts()) {
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
    EXPECT_EQ(known.problem.title, known.name);
  }
}

}  // namespace
}  // namespace stickslip
