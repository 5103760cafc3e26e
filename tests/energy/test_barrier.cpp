#include "gpu/energy/barrier.h"

#include "tests/energy/numeric.h"

namespace stickslip::test {
namespace {

TEST(Barrier, derivatives_match_finite_differences) {
  const double d_hat = 0.7;
  for (double d = 0.05; d < 0.69; d += 0.01) {
    const Jet2<double> b = barrier_jet(d, d_hat);
    const double h = 1e-6;
    EXPECT_DOUBLE_EQ(b.value, barrier(d, d_hat));
    EXPECT_NEAR(b.first, (barrier(d + h, d_hat) - barrier(d - h, d_hat)) / (2 * h), 1e-8);
    EXPECT_NEAR(b.second, (barrier_jet(d + h, d_hat).first - barrier_jet(d - h, d_hat).first) / (2 * h),
                1e-5);
    EXPECT_GT(b.value, 0);
    EXPECT_LT(b.first, 0);
    EXPECT_GT(b.second, 0);
  }
}

TEST(Barrier, ends_at_d_hat_with_two_continuous_derivatives) {
  const double d_hat = 1e-3;
  const Jet2<double> inside = barrier_jet(d_hat * (1 - 1e-7), d_hat), outside = barrier_jet(d_hat, d_hat);
  EXPECT_EQ(outside.value, 0);
  EXPECT_EQ(outside.first, 0);
  EXPECT_EQ(outside.second, 0);
  // Near d_hat the barrier is (d_hat - d)^3 / d_hat: all three go to zero, the second derivative linearly.
  EXPECT_NEAR(inside.value, 0, 1e-20);
  EXPECT_NEAR(inside.first, 0, 1e-13);
  EXPECT_NEAR(inside.second, 0, 1e-5);
}

TEST(Barrier, grows_without_bound_at_contact) {
  EXPECT_GT(barrier(1e-300, 1.0), 600);
  EXPECT_EQ(barrier(0.0, 1.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(barrier(-0.1, 1.0), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace stickslip::test
