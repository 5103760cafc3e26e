// Laws of friction that depend on the solution: how two surfaces combine, and how coefficients follow it.
#include "gpu/rigid/friction_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace stickslip {
namespace {

using V3d = Vec<double, 3>;

ContactSurface surface(double mu, double mu_static = 0) {
  Material m;
  m.mu = mu;
  m.mu_static = mu_static;
  return contact_surface(m);
}
SurfacePair pair_of(const ContactSurface& a, const ContactSurface& b, double mu) {
  return surface_pair(a, b, mu, V3d{1, 0, 0}, V3d{1, 0, 0});
}

TEST(FrictionPairs, StaticCoefficientsKeepTheRatioOfTheirMeans) {
  const double mean = std::sqrt(0.2 * 0.5);
  SurfacePair pair = pair_of(surface(0.2, 0.4), surface(0.5, 0.6), mean);
  EXPECT_DOUBLE_EQ(pair.mu_static, std::sqrt(0.4 * 0.6));
  EXPECT_TRUE(pair.lags());
  pair = pair_of(surface(0.2, 0.4), surface(0.5), mean);
  EXPECT_DOUBLE_EQ(pair.mu_static, std::sqrt(0.4 * 0.5));
  // A coefficient that is set for the pair has the same ratio.
  pair = pair_of(surface(0.2, 0.4), surface(0.5), 0.8);
  EXPECT_NEAR(pair.mu_static, 0.8 * std::sqrt(2), 1e-15);
  pair = pair_of(surface(0, 0.4), surface(0.5), 0);
  EXPECT_DOUBLE_EQ(pair.mu_static, std::sqrt(0.4 * 0.5));
  EXPECT_DOUBLE_EQ(coefficient_at(pair, 0, 0), pair.mu_static);
  pair = pair_of(surface(0.2), surface(0.5), mean);
  EXPECT_EQ(pair.mu_static, mean);
  EXPECT_FALSE(pair.lags());
}

TEST(FrictionPairs, OtherLaws) {
  ContactSurface a = surface(0.2), b = surface(0.5);
  a.tresca = 4;
  EXPECT_EQ(pair_of(a, b, 0.3).tresca, 0) << "b is Coulomb's";
  b.tresca = 9;
  EXPECT_EQ(pair_of(a, b, 0.3).tresca, 6);
  EXPECT_EQ(pair_of(a, half_space_surface(0.3), 0.3).tresca, 4);
  a.tangential_restitution = -0.5;
  b.tangential_restitution = 0.3;
  EXPECT_EQ(pair_of(a, b, 0.3).tangential_restitution, -0.5);
  b.tangential_restitution = 0.5;
  EXPECT_EQ(pair_of(a, b, 0.3).tangential_restitution, 0.5);
  a.viscous = 0.1;
  b.viscous = 0.3;
  EXPECT_EQ(pair_of(a, b, 0.3).viscous, 0.3);
}

TEST(FrictionPairs, OnlyMatchsticksHaveACoefficientOfCrossedGrains) {
  ContactSurface a = surface(0.2), b = surface(0.6);
  a.friction_kind = b.friction_kind = FrictionKind::matchstick;
  a.mu_across = 0.4;
  b.mu_across = 0.9;
  const double mean = std::sqrt(0.2 * 0.6);
  EXPECT_EQ(pair_of(a, b, mean).mu_crossed, 0) << "that of mu and mu_across";
  a.mu_crossed = 0.5;
  EXPECT_DOUBLE_EQ(pair_of(a, b, mean).mu_crossed, std::sqrt(0.5 * std::sqrt(0.6 * 0.9)));
  b.mu_crossed = 0.1;
  EXPECT_DOUBLE_EQ(pair_of(a, b, mean).mu_crossed, std::sqrt(0.5 * 0.1));
  a.friction_kind = b.friction_kind = FrictionKind::elliptic;
  EXPECT_EQ(pair_of(a, b, mean).mu_crossed, 0);
}

TEST(FrictionPairs, TensorsAddUpInOnePlane) {
  ContactSurface a = surface(0.2), b = surface(0.6);
  a.friction_kind = b.friction_kind = FrictionKind::tensor;
  a.mu_across = 0.3;
  b.mu_across = 0.9;
  a.mu_skew = b.mu_skew = 0.1;
  const V3d n{0, 1, 0}, x{1, 0, 0}, z{0, 0, 1};
  const double mu = 0.4;  // of the pair: kappa = 1/2
  const FrictionFrame parallel = friction_frame(n, surface_pair(a, b, mu, x, x)),
                      crossed = friction_frame(n, surface_pair(a, b, mu, x, z));
  const auto in_world = [](const FrictionFrame& f, const V3d& row, const V3d& column) {
    double sum = 0;
    const V3d t[2] = {f.frame.t1, f.frame.t2};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) sum += dot(row, t[i]) * f.tensor(i, j) * dot(column, t[j]);
    return sum;
  };
  EXPECT_NEAR(in_world(parallel, x, x), 0.4, 1e-15);
  EXPECT_NEAR(in_world(parallel, z, z), 0.6, 1e-15);
  // Surfaces that face each other turn friction in opposite directions.
  EXPECT_NEAR(in_world(parallel, x, z), 0, 1e-15);
  EXPECT_NEAR(in_world(crossed, x, x), 0.5 * (0.2 + 0.9), 1e-15);
  EXPECT_NEAR(in_world(crossed, z, z), 0.5 * (0.3 + 0.6), 1e-15);
  b.friction_kind = FrictionKind::isotropic;
  const FrictionFrame one = friction_frame(n, surface_pair(a, b, mu, x, z));
  EXPECT_NEAR(in_world(one, x, x), 0.5 * (0.2 + 0.6), 1e-15);
  EXPECT_NEAR(in_world(one, z, z), 0.5 * (0.3 + 0.6), 1e-15);
  // a's outward normal is -n: about it friction is turned by +90 degrees, from -x to +z.
  EXPECT_NEAR(in_world(one, z, x), 0.5 * 0.1, 1e-15);
  EXPECT_NEAR(in_world(one, x, z), -0.5 * 0.1, 1e-15);
}

/// A point mass that slides on a line under mu(s) r_N: rounds end at a speed that its own coefficient leads
/// to.
struct Slider {
  SurfacePair pair;
  double pull;  // [m/s] speed without friction

  FrictionOutcome outcome(double mu) const {
    const double bound = mu * 1.0, r = bound < pull ? bound : pull;
    return {1.0, {-r, 0}, {pull - r, 0}, pull - r, 1.0};
  }
  double settle(double start, int& rounds) const {
    FrictionState state;
    state.speed = start;
    const FrictionFrame base{contact_frame({0, 1, 0}), pair.mu, pair.mu};
    double speed = 0;
    for (rounds = 0; rounds < 200; ++rounds) {
      const FrictionOutcome at = outcome(friction_at(pair, base, state, 0.01).mu1);
      speed = at.speed;
      if (update_friction_state(pair, base, 0.01, at, state) < 1e-12) break;
    }
    return speed;
  }
};

TEST(FrictionState, HistoryChoosesBetweenTwoSolutions) {
  Slider slider{pair_of(surface(0.3, 0.6), surface(0.3, 0.6), 0.3), 0.5};
  slider.pair.stribeck_speed = 0.01;
  int rounds = 0;
  EXPECT_EQ(slider.settle(0, rounds), 0) << "it rests, and 0.5 < 0.6";
  EXPECT_EQ(rounds, 0) << "the first problem is solved";
  EXPECT_NEAR(slider.settle(0.3, rounds), 0.2, 1e-9) << "it slides, and 0.5 > 0.3";
  EXPECT_LT(rounds, 5);
}

TEST(FrictionState, RoundsSettleWhereFrictionGrowsFast) {
  Slider slider{pair_of(surface(0.3), surface(0.3), 0.3), 2};
  slider.pair.viscous = 50;  // plain rounds would diverge beyond 1
  int rounds = 0;
  EXPECT_NEAR(slider.settle(2, rounds), 1.7 / 51, 1e-9);
  EXPECT_LT(rounds, 20);
}

TEST(FrictionState, TrescasBoundIsThatOfTheLastLoad) {
  SurfacePair pair = pair_of(surface(0.3), surface(0.3), 0.3);
  pair.tresca = 7;
  const FrictionFrame base{contact_frame({0, 1, 0}), 0.3, 0.3};
  FrictionState state;
  EXPECT_EQ(friction_at(pair, base, state, 0.01).mu1, 0.3) << "the load is not known yet";
  update_friction_state(pair, base, 0.01, {0.5, {-0.15, 0}, {1, 0}, 1, 1}, state);
  EXPECT_DOUBLE_EQ(friction_at(pair, base, state, 0.01).mu1, 0.07 / 0.5);
  update_friction_state(pair, base, 0.01, {1e-9, {0, 0}, {1, 0}, 1, 1}, state);
  EXPECT_EQ(friction_at(pair, base, state, 0.01).mu1, kMostTresca);
}

/// A point mass of 1 kg under the load 1 that would slide at `pull`: its friction is the point of the section
/// next to -pull. The section has a quarter of an ellipse in each quadrant, here sampled.
Vec<double, 2> sampled_friction(const FrictionFrame& base, const Vec<double, 2>& pull) {
  const auto bound = [&](int i, double r) { return r > 0 ? base.back[i] : base.forth[i]; };
  const double inside = std::hypot(pull[0] / bound(0, -pull[0]), pull[1] / bound(1, -pull[1]));
  if (inside <= 1) return -1.0 * pull;
  Vec<double, 2> best{0, 0};
  double least = norm(pull);
  for (int k = 0; k < 200000; ++k) {
    const double angle = 2 * std::numbers::pi * k / 200000, c = std::cos(angle), s = std::sin(angle);
    const Vec<double, 2> r{c * bound(0, c), s * bound(1, s)};
    if (norm(r + pull) >= least) continue;
    least = norm(r + pull);
    best = r;
  }
  return best;
}

TEST(FrictionState, OneSidedFrictionTakesTheQuadrantThatItOpposes) {
  const SurfacePair pair = pair_of(surface(0.3), surface(0.3), 0.3);
  FrictionFrame base{contact_frame({0, 1, 0}), 0, 0};
  base.is_one_sided = true;
  base.forth = {0.2, 0.3};
  base.back = {0.6, 0.9};
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> any(-1, 1);
  for (int trial = 0; trial < 40; ++trial) {
    const Vec<double, 2> pull{any(rng), any(rng)};
    // Any first guess.
    for (int axis = 0; axis < 2; ++axis) {
      (axis == 0 ? base.mu1 : base.mu2) = base.forth[axis];
      if (any(rng) > 0) base.take_way(axis, -1);
    }
    FrictionState state;
    Vec<double, 2> r{0, 0};
    int rounds = 0;
    for (; rounds < 10; ++rounds) {
      const FrictionFrame f = friction_at(pair, base, state, 0.01);
      const Vec<double, 2> wanted = -1.0 * pull;
      r = project_section(ContactLaw<3>{{f.mu1, f.mu2}}, 1.0, wanted);
      const Vec<double, 2> u = pull + r;
      if (update_friction_state(pair, base, 0.01, {1, r, u, norm(u), 1}, state) < 1e-12) break;
    }
    EXPECT_LE(rounds, 1) << "one look at the solution gives the signs";
    EXPECT_LT(norm(r - sampled_friction(base, pull)), 2e-5) << pull[0] << ' ' << pull[1];
  }
}

TEST(FrictionState, OneSidedFrictionFollowsTheSpeedInBothDirections) {
  SurfacePair pair = pair_of(surface(0.3), surface(0.3), 0.3);
  pair.viscous = 0.5;
  FrictionFrame base{contact_frame({0, 1, 0}), 0.2, 0.4};
  base.is_one_sided = true;
  base.forth = {0.2, 0.4};
  base.back = {0.7, 0.4};
  FrictionState state;
  state.speed = 2;
  EXPECT_DOUBLE_EQ(friction_at(pair, base, state, 0.01).mu1, 1.2);
  state.way = {-1, 0};
  const FrictionFrame f = friction_at(pair, base, state, 0.01);
  EXPECT_DOUBLE_EQ(f.mu1, 1.7);
  EXPECT_DOUBLE_EQ(f.mu2, 1.4);
  // The torsional coefficient belongs to no quadrant.
  EXPECT_DOUBLE_EQ(f.torsional_mu(), std::sqrt(0.5 * (1.2 + 1.7) * 1.4));
}

}  // namespace
}  // namespace stickslip
