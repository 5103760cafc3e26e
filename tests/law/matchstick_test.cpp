#include "gpu/law/matchstick.h"

#include "gpu/law/local_solve.h"
#include "gpu/law/natural_map.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::RandomLaws;
using V = Vec<double, 3>;

constexpr MatchstickMaterial kSticks{0.6, 0.2, 1.0};

TEST(Matchstick, BlendsByTheAngle) {
  const V n{0, 0, 1}, x{1, 0, 0};
  for (const double degrees : {0.0, 30.0, 45.0, 90.0}) {
    const double angle = degrees / 180 * std::acos(-1.0), d = 1 - degrees / 90;
    const V other{std::cos(angle), std::sin(angle), 0};
    for (const V& b : {other, -1.0 * other, 3.0 * other + 2.0 * n}) {
      const MatchstickContact contact = matchstick(2.0 * x, b, n, kSticks);
      EXPECT_NEAR(contact.law.mu[0], d * 0.2 + (1 - d) * 0.6, 1e-14);
      EXPECT_NEAR(contact.law.mu[1], d * 1.0 + (1 - d) * 0.6, 1e-14);
      if (degrees < 90) {
        EXPECT_LT(norm(contact.t - V{std::cos(angle / 2), std::sin(angle / 2), 0}), 1e-14);
      }
    }
  }
}

TEST(Matchstick, FramesAreRightHanded) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 1000; ++n) {
    const V normal = normalized(random.vector<3>());
    V a = random.vector<3>(), b = random.vector<3>();
    if (n % 7 == 0) b = -a;
    if (n % 4 == 0) a = V::zero();
    if (n % 5 == 0) b = normal;
    const MatchstickContact contact = matchstick(a, b, normal, kSticks);
    EXPECT_LT(norm(cross(contact.t, contact.b) - normal), 1e-12);
    EXPECT_NEAR(norm(contact.t), 1, 1e-14);
    EXPECT_LT(std::fabs(dot(contact.t, normal)), 1e-12);
    EXPECT_GE(contact.law.mu[0], 0.2 - 1e-15);
    EXPECT_LE(contact.law.mu[1], 1.0 + 1e-15);
    // The result does not depend on the order of the bodies.
    const MatchstickContact swapped = matchstick(b, a, normal, kSticks);
    EXPECT_LT(norm(swapped.law.mu - contact.law.mu), 1e-12);
    if (n % 4 == 0 || n % 5 == 0) {
      EXPECT_EQ(contact.law.mu, (Vec<double, 2>{0.6, 0.6}));
    }
  }
}

/// A cohesive contact resists tension up to its cohesion.
TEST(Cohesion, HoldsUpToItsStrength) {
  const Mat<double, 3> w = 0.5 * Mat<double, 3>::identity();
  const ContactLaw<3> law{{0.5, 0.5}};
  const double cohesion = 2;  // N s: stops up to 1 m/s at W_NN = 0.5
  for (const double pull : {0.5, 0.9, 1.5}) {
    const V q = shift_cohesion(V{pull, 0, 0}, w.column(0), cohesion);
    const V r = local_solve(law, w, q), u = w * r + q;
    EXPECT_LT(block_error(law, 0.5, r, u), 1e-15);
    EXPECT_NEAR(u[0], pull < 1 ? 0 : pull - 1, 1e-15);
  }
}

}  // namespace
}  // namespace stickslip
