#include "gpu/energy/contact_stencil.h"

#include <set>

#include "tests/energy/random_stencils.h"

namespace stickslip::test {
namespace {

constexpr Real kReach = Real(1);  // d_hat of the tests

/// Difference steps that stay on one side of the switch between two features of a mollified pair.
bool far_from_a_switch(const ContactStencil& s) {
  if (s.type != ContactType::edge_edge_mollified) return true;
  for (int k = 0; k < 24; ++k) {
    ContactStencil moved = s;
    moved.x[k / 6][k % 3] += (k / 3 % 2 == 0 ? Real(2) : Real(-2)) * kStep;
    const ClosestFeatures a = closest_features(s), b = closest_features(moved);
    if (a.type != b.type || a.corner[0] != b.corner[0] || a.corner[1] != b.corner[1]) return false;
  }
  return true;
}

/// A mollified pair varies on the scale of the angle between its edges, not of their lengths.
Real step_of(const ContactStencil& s) {
  return s.type == ContactType::edge_edge_mollified ? Real(0.01) * kStep : kStep;
}
double tolerance_of(const ContactStencil& s) {
  return (s.type == ContactType::edge_edge_mollified ? 1e4 : 50) * kDifferenceError;
}

TEST(ContactStencil, ClosestPointsAreApartByGapAndThicknessAlongTheNormal) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ContactType type : kStencilTypes)
    for (int trial = 0; trial < 200; ++trial) {
      SCOPED_TRACE(static_cast<int>(type));
      const ContactStencil s = random_stencil(random, type);
      const ClosestPoints c = closest_points(s);
      EXPECT_NEAR(norm(c.normal), 1, kRounding);
      if (type == ContactType::half_space) {
        EXPECT_NEAR(c.gap, dot(c.normal, s.x[0]) - s.plane.offset - s.thickness, kRounding);
        continue;
      }
      Vec3 between = Vec3::zero();
      Real side_a = 0, total = 0;
      const bool edges = type == ContactType::edge_edge || type == ContactType::edge_edge_mollified;
      for (int i = 0; i < 4; ++i) {
        between += c.weights[i] * s.x[i];
        total += c.weights[i];
        if (i < (edges ? 2 : 1)) side_a += c.weights[i];
      }
      EXPECT_NEAR(norm(between - (c.gap + s.thickness) * c.normal), 0, 100 * kRounding);
      EXPECT_NEAR(side_a, 1, kRounding);
      EXPECT_NEAR(total, 0, kRounding);
    }
}

TEST(ContactStencil, MollifiedPairMeasuresTheEdges) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 500; ++trial) {
    const ContactStencil s = random_stencil(random, ContactType::edge_edge_mollified);
    EXPECT_NEAR(feature_distance(s) * feature_distance(s), edge_edge_d2(s.x[0], s.x[1], s.x[2], s.x[3]),
                kRounding);
    EXPECT_LT(stencil_mollifier(s), 1);
    EXPECT_GT(stencil_mollifier(s), 0);
  }
}

ContactPotential cubic_potential() {
  ContactPotential cubic(kReach, 0, Real(0.2));
  cubic.own = {Real(0.1), 3};
  return cubic;
}

TEST(ContactStencil, DerivativesMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  std::set<std::pair<ContactType, int>> mollified_cases;
  for (const ContactType type : kStencilTypes) {
    for (int trial = 0; trial < (type == ContactType::edge_edge_mollified ? 1500 : 100); ++trial) {
      SCOPED_TRACE(static_cast<int>(type));
      ContactStencil s = random_stencil(random, type);
      if (!far_from_a_switch(s)) continue;
      if (type == ContactType::edge_edge_mollified) {
        // Finite differences of a single-precision mollifier are meaningless.
        if (sizeof(Real) == 4) continue;
        const ClosestFeatures features = closest_features(s);
        mollified_cases.insert({features.type, features.corner[0]});
      }
      // The plain barrier, and a multiplier inside its d_hat and beyond it.
      for (const ContactPotential& potential :
           {ContactPotential(kReach), ContactPotential(kReach, 2, Real(0.7)),
            ContactPotential(kReach / 4, Real(0.3), Real(0.7)), cubic_potential()}) {
        // Second derivatives jump where the barrier ends, and where the tail of the multiplier does.
        const Real gap = closest_points(s).gap;
        if (std::abs(gap - potential.d_hat) < Real(1e-3) || std::abs(gap - potential.reach()) < Real(1e-3))
          continue;
        const CornerVectors g = barrier_gradient(s, potential);
        expect_near(flat(g.v),
                    difference_gradient(
                        s.x, 4, [&] { return barrier_value(s, potential); }, step_of(s)),
                    tolerance_of(s));
        const Dense h = dense(barrier_hessian<false>(s, potential));
        expect_near(h,
                    difference_jacobian(
                        s.x, 4, [&] { return flat(barrier_gradient(s, potential).v); }, step_of(s)),
                    tolerance_of(s));
      }
    }
  }
  // point_point from a0, a1; point_edge from a0, a1, b0, b1; edge_edge.
  if (sizeof(Real) == 8) {
    EXPECT_EQ(mollified_cases.size(), 7u);
  }
}

TEST(ContactStencil, ProjectedHessianIsTheNearestSpdMatrix) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ContactType type : kStencilTypes)
    for (int trial = 0; trial < 100; ++trial) {
      SCOPED_TRACE(static_cast<int>(type));
      const ContactStencil s = random_stencil(random, type);
      const Dense h = dense(barrier_hessian_spd(s, kReach));
      expect_spd(h);
      expect_near(h, nearest_spd(dense(barrier_hessian<false>(s, kReach))), 20 * kRounding);
      for (int i = 3 * node_count(type); i < 12; ++i) EXPECT_EQ(h.row(i).norm(), 0);
    }
}

TEST(ContactStencil, TinyDistancesStayFiniteAndSpd) {
  Random random;
  SCOPED_TRACE(random.trace());
  const Real d_hat = Real(1e-3), d = sizeof(Real) == 8 ? Real(1e-9) : Real(1e-5);
  for (const ContactType type : kStencilTypes)
    for (int trial = 0; trial < 100; ++trial) {
      SCOPED_TRACE(static_cast<int>(type));
      ContactStencil s = random_stencil(random, type);
      // Move side a to the distance d along the normal.
      const ClosestPoints c = closest_points(s);
      const bool edges = type == ContactType::edge_edge || type == ContactType::edge_edge_mollified;
      for (int i = 0; i < (edges ? 2 : 1); ++i) s.x[i] -= (c.gap - d) * c.normal;
      EXPECT_NEAR(closest_points(s).gap, d, Real(0.5) * d);
      const Dense h = dense(barrier_hessian_spd(s, d_hat));
      expect_spd(h);
      EXPECT_TRUE(flat(barrier_gradient(s, d_hat).v).allFinite());
      if (stencil_mollifier(s) > Real(0.1)) {
        EXPECT_GT(h.norm(), 1e3);
      }
    }
}

TEST(ContactStencil, ExactlyParallelEdgesAreFinite) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 100; ++trial) {
    const ContactStencil s = nearly_parallel_edges(random, Real(0), random.uniform(-1, 1), Real(0.3));
    EXPECT_TRUE(std::isfinite(barrier_value(s, kReach)));
    EXPECT_TRUE(flat(barrier_gradient(s, kReach).v).allFinite());
    expect_spd(dense(barrier_hessian_spd(s, kReach)));
  }
}

TEST(ContactStencil, NothingActsBeyondDHat) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ContactType type : kStencilTypes) {
    const ContactStencil s = random_stencil(random, type);
    const Real d_hat = Real(0.999) * closest_points(s).gap;
    EXPECT_EQ(barrier_value(s, d_hat), 0);
    EXPECT_EQ(flat(barrier_gradient(s, d_hat).v).norm(), 0);
    EXPECT_EQ(dense(barrier_hessian_spd(s, d_hat)).norm(), 0);
  }
}

TEST(ContactStencil, APointBehindAHalfSpaceCostsInfinity) {
  ContactStencil s{ContactType::half_space, {{0, Real(-0.1), 0}}, Real(0), {{0, 1, 0}, Real(0)}};
  EXPECT_EQ(barrier_value(s, Real(0.01)), std::numeric_limits<Real>::infinity());
}

TEST(ContactStencil, SurfacesInsideEachOtherCostInfinity) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ContactType type : kStencilTypes) {
    ContactStencil s = random_thin_stencil(random, type);
    s.thickness = Real(1.01) * feature_distance(s);
    EXPECT_EQ(barrier_value(s, Real(0.01)), std::numeric_limits<Real>::infinity());
  }
}

}  // namespace
}  // namespace stickslip::test
