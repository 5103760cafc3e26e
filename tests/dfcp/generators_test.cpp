#include "gpu/dfcp/problem/generators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

double nu(const ContactProblem& p) {
  return 3.0 * static_cast<double>(p.contacts()) / static_cast<double>(p.dofs());
}

double mass(const ContactProblem& p, std::size_t body) { return 1 / p.inverse_mass[36 * body]; }

bool same(const ContactProblem& a, const ContactProblem& b) {
  return a.description == b.description && a.f == b.f && a.w == b.w && a.inverse_mass == b.inverse_mass &&
         a.block_start == b.block_start && a.jacobian.size() == b.jacobian.size() &&
         std::equal(a.jacobian.begin(), a.jacobian.end(), b.jacobian.begin(),
                    [](const JacobianBlock& x, const JacobianBlock& y) {
                      return x.body == y.body && x.rows == y.rows;
                    });
}

/// The three directions of an entry are orthonormal, and right-handed on the body that the normal impulse
/// pushes.
void expect_frame(const JacobianBlock& block, bool pushed) {
  double d[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) d[i][j] = block.rows[6 * i + j];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j)
      EXPECT_NEAR(std::inner_product(d[i], d[i] + 3, d[j], 0.0), i == j ? 1 : 0, 1e-12);
  double determinant = 0;
  for (int i = 0; i < 3; ++i)
    determinant += d[0][i] * (d[1][(i + 1) % 3] * d[2][(i + 2) % 3] - d[1][(i + 2) % 3] * d[2][(i + 1) % 3]);
  EXPECT_NEAR(determinant, pushed ? 1 : -1, 1e-12);
}

TEST(Generators, AllAreGoodProblemsAndDeterministic) {
  FRESH_SEED(seed);
  for (const GeneratorInfo& info : list_generators()) {
    SCOPED_TRACE(info.name);
    const ContactProblem p = generate(info.name, 0, seed);
    ASSERT_NO_THROW(check(p));
    EXPECT_EQ(p.form, ContactProblem::Form::bodies);
    EXPECT_EQ(p.title, info.name);
    EXPECT_FALSE(p.description.empty());
    EXPECT_TRUE(same(p, generate(info.name, info.default_size, seed)));
    for (std::size_t c = 0; c < p.blocks(); c += 1 + p.blocks() / 100) {
      if (p.laws[c].set == FrictionSet::bilateral) continue;
      for (int e = p.block_start[c]; e < p.block_start[c + 1]; ++e)
        expect_frame(p.jacobian[e], e == p.block_start[c]);
    }
    // The smallest size, and an irregular one.
    for (const long size : {1, 7}) ASSERT_NO_THROW(check(to_local(generate(info.name, size, seed)))) << size;
  }
  EXPECT_FALSE(same(generate("granular_column", 100, 1), generate("granular_column", 100, 2)));
  EXPECT_FALSE(same(generate("random_stacks", 10, 1), generate("random_stacks", 10, 2)));
}

/// The impulses on the two bodies are equal and opposite.
TEST(Generators, ActionIsReaction) {
  for (const std::string_view name : generator_names()) {
    const ContactProblem p = generate(name, 0, 3);
    for (std::size_t c = 0; c < p.blocks(); ++c) {
      if (p.block_start[c + 1] - p.block_start[c] != 2) continue;
      const JacobianBlock *a = &p.jacobian[p.block_start[c]], *b = a + 1;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) ASSERT_EQ(a->rows[6 * i + j] + b->rows[6 * i + j], 0) << name << " " << c;
    }
  }
}

TEST(Generators, CountsOfTheBenchmarks) {
  const ContactProblem b1 = tasora_b1(1000, 5);
  EXPECT_EQ(b1.bodies(), 1000U);
  EXPECT_EQ(b1.contacts(), 0U);
  std::size_t rows = b1.size();
  for (const double e : row_compliance(b1)) rows -= e > 0 ? 1 : 0;
  EXPECT_EQ(rows, 3500U);
  EXPECT_EQ(b1.blocks(), 1167U);

  const ContactProblem b2 = tasora_b2(1000, 5);
  EXPECT_EQ(b2.bodies(), 1000U);
  EXPECT_EQ(b2.contacts(), 3525U);
  for (const BlockLaw& law : b2.laws) EXPECT_EQ(law.mu[0], 0);
  for (std::size_t body = 1; body < 1000; ++body) EXPECT_EQ(mass(b2, body), mass(b2, 0));

  const ContactProblem b3 = tasora_b3(20);
  EXPECT_EQ(b3.bodies(), 20U);
  EXPECT_EQ(b3.contacts(), 80U);
  for (std::size_t body = 0; body < 20; ++body) EXPECT_NEAR(mass(b3, body), body % 2 == 0 ? 1 : 1000, 1e-9);

  const ContactProblem b4 = tasora_b4(750);
  EXPECT_EQ(b4.bodies(), 751U);
  EXPECT_NEAR(mass(b4, 750), 500, 1e-9);
  EXPECT_NEAR(b4.f[6 * 750 + 2], -5000, 1e-9);  // momentum of the ball
  std::map<std::pair<int, int>, int> pairs;     // contacts per pair of bricks; 1 with the ball
  for (std::size_t c = 0; c < b4.blocks(); ++c)
    if (b4.block_start[c + 1] - b4.block_start[c] == 2)
      ++pairs[{b4.jacobian[b4.block_start[c]].body, b4.jacobian[b4.block_start[c] + 1].body}];
  int struck = 0;
  for (const auto& [pair, count] : pairs) {
    EXPECT_EQ(count, pair.first == 750 ? 1 : 4) << pair.first << " on " << pair.second;
    struck += pair.first == 750 ? 1 : 0;
  }
  EXPECT_GT(struck, 4);
  EXPECT_EQ(pairs.size() - struck, 30 * 24 + 29 * 49U);  // head joints, bed joints
}

TEST(Generators, RatiosAndCountsAreAsAsked) {
  const ContactProblem chain = mass_chain(7, 1e6);
  EXPECT_NEAR(mass(chain, 6) / mass(chain, 0), 1e6, 1e-3);
  EXPECT_EQ(chain.contacts(), 28U);
  for (const double wanted : {0.5, 2.0, 10.0}) EXPECT_DOUBLE_EQ(nu(over_constrained(wanted, 4, 1)), wanted);
  for (int k = 10; k < 60; ++k) EXPECT_DOUBLE_EQ(nu(over_constrained(0.05 * k, 10, 1)), 0.05 * k);
  EXPECT_EQ(granular_column(12345, 1).contacts(), 12345U);
  const ContactProblem stacks = random_stacks(50, 7, 2);
  EXPECT_EQ(stacks.bodies(), 50U);
  EXPECT_GT(stacks.contacts(), 4 * 50U);  // a tilted overlap has up to eight corners
  EXPECT_LE(stacks.contacts(), 8 * 50U);
  EXPECT_EQ(hyperstatic(9).contacts(), 13U);
}

/// Each of four corners carries a quarter of the weight above it.
TEST(Generators, TowersCarryTheirWeight) {
  const double fall = -9.81 * 0.01;
  for (const ContactProblem& p : {mass_chain(6, 100), tasora_b3(20)}) {
    std::vector<double> r(p.size(), 0.0);
    double above = 0;
    for (std::size_t body = p.bodies(); body-- > 0;) {
      above += mass(p, body);
      for (std::size_t k = 4 * body; k < 4 * body + 4; ++k) r[3 * k] = -0.25 * above * fall;
    }
    for (const double v : velocities(p, r)) EXPECT_NEAR(v, 0, 1e-9);
  }
  // Without impulses all bodies fall equally.
  const ContactProblem p = tasora_b3(4);
  const std::vector<double> v = velocities(p, std::vector<double>(p.size(), 0.0));
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], i % 6 == 1 ? fall : 0, 1e-12);
}

TEST(Generators, ContactNormalsOfBallsPassThroughTheirCentres) {
  const ContactProblem p = granular_column(3000, 9);
  for (std::size_t c = 0; c < p.blocks(); ++c) {
    EXPECT_LE(p.w[3 * c], 0);
    EXPECT_GT(p.w[3 * c], -0.2 * 0.0035 / 0.01);                   // no overlap beyond a third of a radius
    for (int e = p.block_start[c]; e < p.block_start[c + 1]; ++e)  // the normal passes through the centre
      for (int j = 3; j < 6; ++j) EXPECT_NEAR(p.jacobian[e].rows[j], 0, 1e-12);
  }
  EXPECT_NEAR(nu(p), 1.35, 0.35);
}

TEST(Generators, InfeasibleHasAFarkasRay) {
  for (const long balls : {1, 5}) {
    const ContactProblem p = infeasible(balls), local = to_local(p);
    // Unit impulses along the row of balls cause no motion, and q . r < 0.
    std::vector<double> r(p.size(), 0.0), u(p.size(), 0.0);
    double power = 0;
    for (std::size_t c = 0; c < p.blocks(); ++c)
      if (std::fabs(p.jacobian[p.block_start[c]].rows[0]) == 1) {
        r[3 * c] = 1;
        power += local.q[3 * c];
      }
    EXPECT_NEAR(power, -2, 1e-12);
    for (std::size_t row = 0; row < u.size(); ++row) {
      for (int k = local.W.offsets[row]; k < local.W.offsets[row + 1]; ++k)
        u[row] += local.W.values[k] * r[local.W.indices[k]];
      EXPECT_NEAR(u[row], 0, 1e-12);
    }
  }
}

TEST(Generators, RefuseWhatTheyCannotMake) {
  const auto message = [](auto call) {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message([] { generate("granular_colum", 0, 0); }),
            "unknown generator 'granular_colum': did you mean 'granular_column'?");
  EXPECT_EQ(message([] { generate("xyz", 0, 0); }).find("unknown generator 'xyz'"), 0U);
  EXPECT_EQ(message([] { generate("tasora_b4", -2, 0); }),
            "size of tasora_b4 (bricks) is -2 and must be in [1, 1000000]");
  EXPECT_NE(message([] { random_stacks(3, 4, 0); }).find("stacks is 4"), std::string::npos);
  EXPECT_NE(message([] { mass_chain(3, 0.5); }).find("ratio is 0.5"), std::string::npos);
  EXPECT_NE(message([] { over_constrained(0, 3, 0); }).find("nu is 0"), std::string::npos);
  EXPECT_NE(message([] { granular_column(0, 0); }).find("contacts is 0"), std::string::npos);
}

TEST(LongGenerators, HundredThousandContactsInSeconds) {
  const auto start = std::chrono::steady_clock::now();
  const ContactProblem p = granular_column(100000, 1);
  check(p);
  const ContactProblem local = to_local(p);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(local.size(), 300000U);
  EXPECT_LT(seconds.count(), 20);  // about 1 s on an idle machine
}

}  // namespace
}  // namespace stickslip
