#include "gpu/energy/friction.h"

#include "tests/energy/random_stencils.h"

namespace stickslip::test {
namespace {

constexpr Real kEps = Real(0.3);

CornerVectors random_displacement(Random& random, Real size) {
  return {{random.vector(size), random.vector(size), random.vector(size), random.vector(size)}};
}
FrictionStencil random_friction(Random& random) {
  const ContactType type = kStencilTypes[random.index(6)];
  return make_friction_stencil(random_stencil(random, type), {Real(1), Real(2), Real(0)}, Real(0.5));
}

TEST(Friction, SmoothingIsContinuousWithItsDerivative) {
  for (const Real y : {Real(0.1), Real(0.7), Real(1.3), Real(4)}) {
    const Sliding s = sliding(y * kEps, kEps);
    const Real h = Real(0.01) * kEps;
    const Sliding high = sliding(y * kEps + h, kEps), low = sliding(y * kEps - h, kEps);
    EXPECT_NEAR(s.slope_over_y * y * kEps, (high.value - low.value) / (2 * h), 1e-3);
  }
  const Sliding below = sliding(kEps * (1 - Real(1e-5)), kEps), above = sliding(kEps, kEps);
  EXPECT_NEAR(below.value, above.value, 1e-5);
  EXPECT_NEAR(below.slope_over_y, above.slope_over_y, 1e-4);
  EXPECT_NEAR(below.curvature, above.curvature, 1e-3);
  EXPECT_EQ(sliding(Real(0), kEps).value, 0);
}

TEST(Friction, DerivativesMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 300; ++trial) {
    const FrictionStencil f = random_friction(random);
    CornerVectors dx = random_displacement(random, trial % 2 == 0 ? Real(0.1) : Real(1));
    const Real y = norm(sliding_displacement(f, dx));
    if (std::abs(y - kEps) < 4 * kStep || y < 100 * kStep)
      continue;  // the third derivative is unbounded at 0
    expect_near(flat(friction_gradient(f, dx, kEps).v),
                difference_gradient(dx.v, 4, [&] { return friction_value(f, dx, kEps); }),
                20 * kDifferenceError);
    expect_near(dense(friction_hessian(f, dx, kEps)),
                difference_jacobian(dx.v, 4, [&] { return flat(friction_gradient(f, dx, kEps).v); }),
                25 * kDifferenceError);
  }
}

TEST(Friction, ChangesWithItsNormalForce) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 300; ++trial) {
    const ContactType type = kStencilTypes[random.index(6)];
    if (type == ContactType::edge_edge_mollified) continue;
    const ContactStencil s = random_stencil(random, type);
    const ContactPotential potential{Real(1), Real(2), trial % 2 == 0 ? Real(0) : Real(3)};
    const FrictionStencil f = make_friction_stencil(s, potential, Real(0.5));
    const CornerVectors dx = random_displacement(random, Real(1)), p = random_displacement(random, Real(1));
    const auto gradient_at = [&](Real step) {
      ContactStencil moved = s;
      for (int i = 0; i < node_count(type); ++i) moved.x[i] += step * p[i];
      FrictionStencil changed = f;
      changed.mu_lambda = make_friction_stencil(moved, potential, Real(0.5)).mu_lambda;
      return flat(friction_gradient(changed, dx, kEps).v);
    };
    CornerVectors used = p;
    for (int i = node_count(type); i < 4; ++i) used[i] = Vec3::zero();
    const Real h = kStep;
    expect_near(flat(friction_gradient_change(f, s, potential, dx, used, kEps).v),
                (gradient_at(h) - gradient_at(-h)) / (2 * h), 50 * kDifferenceError);
  }
}

/// With the secant the quadratic model lies above D everywhere, and without it not.
TEST(Friction, TheSecantMajorises) {
  Random random;
  SCOPED_TRACE(random.trace());
  int below = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const FrictionStencil f = random_friction(random);
    const CornerVectors dx = random_displacement(random, trial % 2 == 0 ? Real(0.1) : Real(1));
    CornerVectors moved = dx;
    const CornerVectors step = random_displacement(random, trial % 3 == 0 ? Real(0.1) : Real(2));
    for (int i = 0; i < 4; ++i) moved[i] += step[i];
    const auto p = flat(step.v);
    const double start = friction_value(f, dx, kEps), end = friction_value(f, moved, kEps);
    const auto model = [&](Real secant) {
      return start + flat(friction_gradient(f, dx, kEps).v).dot(p) +
             0.5 * p.dot(dense(friction_hessian(f, dx, kEps, secant)) * p);
    };
    EXPECT_GE(model(1), end - 100 * kRounding * f.mu_lambda);
    below += model(0) < end - 100 * kRounding * f.mu_lambda;
  }
  EXPECT_GT(below, 50);
}

TEST(Friction, HessianIsSpdAlsoWithoutMotion) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const Real size : {Real(0), Real(1e-12), Real(0.1), Real(10)})
    for (int trial = 0; trial < 50; ++trial) {
      const FrictionStencil f = random_friction(random);
      const CornerVectors dx = random_displacement(random, size);
      expect_spd(dense(friction_hessian(f, dx, kEps)));
      EXPECT_TRUE(flat(friction_gradient(f, dx, kEps).v).allFinite());
    }
}

TEST(Friction, SticksWithoutMotionAndSlipsAtTheLimit) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 200; ++trial) {
    const FrictionStencil f = random_friction(random);
    const CornerVectors still{};
    EXPECT_EQ(flat(friction_gradient(f, still, kEps).v).norm(), 0);
    EXPECT_EQ(friction_value(f, still, kEps), 0);
    // The force between the sides, on a point of unit weight.
    const CornerVectors dx = random_displacement(random, Real(3));
    const Vec3 u = sliding_displacement(f, dx);
    const CornerVectors g = friction_gradient(f, dx, kEps);
    for (int i = 0; i < 4; ++i) {
      const Real force = norm(g[i]), limit = std::abs(f.weights[i]) * f.mu_lambda;
      EXPECT_LE(force, limit * (1 + kRounding));
      if (norm(u) >= kEps) {
        EXPECT_NEAR(force, limit, kRounding * limit);
      }
      EXPECT_NEAR(dot(g[i], f.normal), 0, kRounding * limit);
    }
  }
}

TEST(Friction, Dissipates) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 500; ++trial) {
    const FrictionStencil f = random_friction(random);
    const CornerVectors dx = random_displacement(random, random.uniform(Real(0.01), Real(2)));
    const CornerVectors g = friction_gradient(f, dx, kEps);
    Real work = 0;
    for (int i = 0; i < 4; ++i) work -= dot(g[i], dx[i]);
    EXPECT_LE(work, kRounding);
  }
}

TEST(Friction, NormalForceIsThatOfTheBarrier) {
  Random random;
  SCOPED_TRACE(random.trace());
  const Real sigma = Real(3), d_hat = Real(1), mu = Real(0.4);
  for (const ContactType type : kStencilTypes)
    for (int trial = 0; trial < 50; ++trial) {
      SCOPED_TRACE(static_cast<int>(type));
      const ContactStencil s = random_stencil(random, type);
      const FrictionStencil f = make_friction_stencil(s, {d_hat, sigma, Real(0)}, mu);
      const CornerVectors g = barrier_gradient(s, d_hat);
      const bool edges = type == ContactType::edge_edge || type == ContactType::edge_edge_mollified;
      const Vec3 push =
          -sigma * (edges ? g[0] + g[1] : g[0]);  // on side a; the mollifier gives a torque, no net force
      const double tolerance = type == ContactType::edge_edge_mollified ? 1e3 * kRounding : 10 * kRounding;
      EXPECT_NEAR(norm(push - (f.mu_lambda / mu) * f.normal), 0, tolerance);
      EXPECT_GT(f.mu_lambda, 0);
    }
}

}  // namespace
}  // namespace stickslip::test
