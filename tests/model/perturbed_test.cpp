#include "gpu/model/perturbed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace stickslip {
namespace {

State still(std::size_t nodes, std::size_t bodies) {
  State state;
  state.positions.assign(nodes, {1, 2, 3});
  state.velocities.assign(nodes, {0, 0, 0});
  state.bodies.resize(bodies);
  return state;
}

TEST(Perturbed, ChangesVelocitiesWithinTheSize) {
  const State begin = still(200, 5);
  for (const double size : {kPerturbation, 0.25}) {
    const State changed = perturbed(begin, 3, size);
    double largest = 0, sum = 0;
    const auto note = [&](const Vec<double, 3>& velocity) {
      for (int c = 0; c < 3; ++c) {
        largest = std::max(largest, std::abs(velocity[c]));
        sum += velocity[c];
      }
    };
    for (const Vec<double, 3>& velocity : changed.velocities) note(velocity);
    for (const BodyState& body : changed.bodies) {
      note(body.velocity);
      EXPECT_EQ(norm(body.spin), 0);
    }
    EXPECT_LE(largest, size);
    EXPECT_GT(largest, 0.9 * size);
    EXPECT_LT(std::abs(sum) / 615, 0.1 * size) << "the mean is zero";
    for (const Vec<double, 3>& x : changed.positions) EXPECT_EQ(norm(x - Vec<double, 3>{1, 2, 3}), 0);
  }
}

TEST(Perturbed, DependsOnTheSeedAlone) {
  const State begin = still(4, 1);
  const State one = perturbed(begin, 1), again = perturbed(begin, 1), two = perturbed(begin, 2);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(norm(one.velocities[i] - again.velocities[i]), 0);
    EXPECT_GT(norm(one.velocities[i] - two.velocities[i]), 0);
    EXPECT_EQ(norm(perturbed(begin, 0).velocities[i]), 0) << "seed 0 changes nothing";
  }
  // The first number of the standard's generator, so that seeds mean the same on all machines.
  std::mt19937_64 random(1);
  EXPECT_EQ(one.velocities[0][0], kPerturbation * (std::ldexp(static_cast<double>(random() >> 11), -52) - 1));
}

}  // namespace
}  // namespace stickslip
