#include "gpu/law/natural_map.h"

#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::block_scale;
using testing::RandomLaws;

/// A point of the section's rim with outward normal -u_T: there friction opposes u_T most.
template <int D>
Vec<double, D - 1> most_opposed(const ContactLaw<D>& law, const Vec<double, D>& u) {
  Vec<double, D - 1> t{};
  const double slip = support(law, u);
  for (int i = 1; i < D; ++i) {
    const double mu = law.mu[i - 1];
    t[i - 1] = law.set == FrictionSet::box ? (u[i] > 0 ? -mu : mu) : slip > 0 ? -mu * mu * u[i] / slip : 0.0;
  }
  return t;
}

struct Pair {
  Vec<double, 3> r, u;
};

/// (u, r) that satisfies the exact law by its definition, without De Saxce's cones.
Pair make_pair(RandomLaws& random, const ContactLaw<3>& law, BlockState state) {
  Pair pair{Vec<double, 3>::zero(), random.vector<3>()};
  const double normal = std::exp(random.normal());
  if (state == BlockState::open) {
    pair.u[0] = normal;
  } else if (state == BlockState::sticks) {
    pair.u = Vec<double, 3>::zero();
    const Vec<double, 2> inside = {random.uniform(-0.7, 0.7) * law.mu[0],
                                   random.uniform(-0.7, 0.7) * law.mu[1]};
    pair.r = normal * from_parts<3>(1, inside);
  } else {
    pair.u[0] = 0;
    pair.r = normal * from_parts<3>(1, most_opposed(law, pair.u));
  }
  return pair;
}

TEST(NaturalMap, VanishesExactlyAtCoulombsLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  const BlockState states[] = {BlockState::open, BlockState::sticks, BlockState::slides};
  for (int n = 0; n < 6000; ++n) {
    ContactLaw<3> law = random.law<3>(n % 2 ? FrictionSet::box : FrictionSet::ellipsoid, FlowRule::exact, 10);
    for (int i = 0; i < 2; ++i) law.mu[i] = std::max(law.mu[i], 0.05);
    const BlockState state = states[n % 3];
    const Pair at = make_pair(random, law, state);
    const double s = random.power(3), size = s * norm(at.r) + norm(at.u);
    EXPECT_LE(block_error(law, s, at.r, at.u), 1e-14 * size * (1 + norm(law.mu))) << n;
    EXPECT_EQ(block_state(law, s, at.r, at.u), state) << n;
    EXPECT_LE(cone_distance(law, at.r), 1e-15 * norm(at.r));
    // Every violation is detected: friction that drives sliding, tension, penetration.
    Pair wrong = at;
    if (state == BlockState::slides)
      for (int i = 1; i < 3; ++i) wrong.r[i] = -wrong.r[i];
    if (state == BlockState::open) wrong.u[0] = -wrong.u[0];
    if (state == BlockState::sticks) wrong.r = -wrong.r;
    EXPECT_GT(block_error(law, s, wrong.r, wrong.u), 1e-6 * size) << n;
  }
}

TEST(NaturalMap, DoesNotChangeWithMasses) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 1000; ++n) {
    const ContactLaw<4> law = random.law<4>(10);
    const Mat<double, 4> w = random.block<4>(100);
    const Vec<double, 4> r = random.vector<4>(), u = random.vector<4>();
    const double error = block_error(law, block_scale(w), r, u);
    for (const double mass : {1e6, 1e-6})
      EXPECT_NEAR(block_error(law, block_scale((1 / mass) * w), mass * r, u), error, 1e-12 * (1 + error));
  }
}

TEST(NaturalMap, OfJointsAndFixedBlocks) {
  const ContactLaw<3> joint{{0.5, 0.5}, FrictionSet::bilateral};
  const Vec<double, 3> r{-1, 2, 3}, u{0.1, -0.2, 0.2};
  EXPECT_DOUBLE_EQ(block_error(joint, 7, r, u), 0.3);
  EXPECT_EQ(block_state(joint, 7, r, u), BlockState::bilateral);
}

/// The associated law at u equals the exact one at the velocity shifted back.
TEST(NaturalMap, AssociatedLawOpensTheGapOfSlidingContacts) {
  const ContactLaw<3> law{{0.5, 0.5}, FrictionSet::ellipsoid, FlowRule::associated};
  const Vec<double, 3> r{2, -1, 0};
  EXPECT_LT(block_error(law, 3, r, {0.5 * 0.4, 0.4, 0}), 1e-15);
  EXPECT_GT(block_error(law, 3, r, {0, 0.4, 0}), 0.1);
}

}  // namespace
}  // namespace stickslip
