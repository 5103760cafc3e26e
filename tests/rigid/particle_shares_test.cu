// ParticleShares compared with its rules, object by object.
#include "gpu/rigid/particle_shares.cuh"

#include <cmath>
#include <limits>
#include <vector>

#include "gpu/core/cleared.h"
#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Three objects, of which the last has a small part of the step.
struct SharesOfThree {
  explicit SharesOfThree(Context& ctx) {
    shares.load(ctx, 3);
    resize_cleared(ctx, totals, 1);
  }
  /// Measures steps of the given steepness; `size` is sum |dR|^2 / m.
  StepTotals measure(Context& ctx, const std::vector<double>& steepness, const std::vector<double>& size) {
    const double core = 0.25;
    std::vector<StepSums> of;
    for (std::size_t o = 0; o < 3; ++o) of.push_back({steepness[o] * size[o] + core, size[o], -1.0, 2.0});
    sums.upload(ctx, of);
    work.upload(ctx, std::vector<double>(3, core));
    shares.measure(ctx, sums.data(), work.data(), totals.data());
    shares.keep_largest(ctx);
    return read_back(ctx, totals.data());
  }
  std::vector<double> now(Context& ctx) {
    std::vector<double> out(3);
    copy_to_host(ctx, out.data(), shares.shares(), 3);
    return out;
  }
  ParticleShares shares;
  Buffer<StepSums> sums;
  Buffer<double> work;
  Buffer<StepTotals> totals;
};

TEST(ParticleShares, AnObjectThatIsTooSteepGetsLighterParticlesAlone) {
  Context ctx;
  SharesOfThree s(ctx);
  const std::vector<double> before = s.now(ctx);
  const StepTotals total = s.measure(ctx, {2, 0.5, 1e6}, {10, 20, 1e-3});
  EXPECT_NEAR(total.steepness, 2, 1e-12) << "the third object's step is too small to count";
  EXPECT_NEAR(total.sums[1], 30.001, 1e-12);
  EXPECT_NEAR(total.sums[2], -3, 1e-12);
  s.shares.lighten(ctx);
  const std::vector<double> after = s.now(ctx);
  EXPECT_LT(after[0], before[0] / 2);
  EXPECT_GT(after[0], before[0] / 3);
  EXPECT_EQ(after[1], before[1]);
  EXPECT_EQ(after[2], before[2]);
}

TEST(ParticleShares, RiseTowardsTheSteepestStepSeenButNotBeyond) {
  Context ctx;
  SharesOfThree s(ctx);
  const std::vector<double> before = s.now(ctx);
  s.measure(ctx, {0.8, 0.1, 0}, {10, 20, 30});
  s.measure(ctx, {0.3, 0.1, 0}, {10, 20, 30});
  s.shares.raise(ctx);
  const std::vector<double> after = s.now(ctx);
  EXPECT_GT(after[0], before[0]);
  EXPECT_LT(0.8 * after[0], before[0]) << "the steepest step would be too steep";
  EXPECT_GT(after[1], after[0]);
  EXPECT_LT(after[1], 2 * before[1]) << "a bounded rise per step";
  EXPECT_EQ(after[2], before[2]) << "nothing was learnt";
  s.shares.raise(ctx);
  EXPECT_EQ(s.now(ctx), after) << "the steps of one time step count once";
}

TEST(ParticleShares, DivideResetAndValuesThatAreNotFinite) {
  Context ctx;
  SharesOfThree s(ctx);
  const std::vector<double> first = s.now(ctx);
  s.shares.divide(ctx, 4);
  for (std::size_t o = 0; o < 3; ++o) EXPECT_EQ(s.now(ctx)[o], first[o] / 4);
  for (int i = 0; i < 40; ++i) s.shares.divide(ctx, 4);
  for (const double share : s.now(ctx)) EXPECT_GT(share, 1e-9) << "bounded from below";
  s.shares.reset(ctx);
  EXPECT_EQ(s.now(ctx), first);
  EXPECT_FALSE(std::isfinite(s.measure(ctx, {std::nan(""), 0.5, 0.5}, {1, 1, 1}).steepness));
  EXPECT_FALSE(
      std::isfinite(s.measure(ctx, {1, 1, 1}, {1, std::numeric_limits<double>::infinity(), 1}).steepness));
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND
