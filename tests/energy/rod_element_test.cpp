// Strains of rods against finite differences, and what they are of known shapes.
#include "gpu/energy/rod_element.h"

#include "tests/energy/numeric.h"

namespace stickslip::test {
namespace {

/// A vertex in general position: segments of about 1 at an angle of up to 60 degrees, ghosts off their
/// places.
struct RandomVertex {
  Vec3 x[kRodVertexNodes];

  explicit RandomVertex(Random& random) {
    x[0] = random.vector();
    const Vec3 t = normalized(random.vector() + Vec3{0, 0, Real(1.5)});
    x[1] = x[0] + random.uniform(Real(0.7), Real(1.3)) * t;
    x[2] = x[1] + random.uniform(Real(0.7), Real(1.3)) * normalized(t + random.vector(Real(0.5)));
    for (int j = 0; j < 2; ++j) {
      const Vec3 e = x[j + 1] - x[j];
      const Vec3 across = normalized(cross(e, Vec3{1, Real(0.2), 0} + random.vector(Real(0.3))));
      x[3 + j] = Real(0.5) * (x[j] + x[j + 1]) + random.uniform(Real(0.4), Real(0.8)) * across +
                 random.uniform(Real(-0.3), Real(0.3)) * e;
    }
  }
  RodFrame frame(int j) const { return rod_frame(x[j], x[j + 1], x[3 + j]); }
  VertexStrain strain() const { return vertex_strain(frame(0), frame(1)); }
};

TEST(RodElement, GradientsOfASegmentMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 50; ++trial) {
    const RandomVertex vertex(random);
    Vec3 x[3] = {vertex.x[0], vertex.x[1], vertex.x[3]};
    const SegmentStrain at = segment_strain(rod_frame(x[0], x[1], x[2]));
    for (int k = 0; k < kSegmentStrains; ++k)
      expect_near(
          flat(at.gradient[k], 3),
          difference_gradient(x, 3, [&] { return double(segment_strain(rod_frame(x[0], x[1], x[2])).s[k]); }),
          20 * kDifferenceError);
  }
}

TEST(RodElement, GradientsOfAVertexMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 100; ++trial) {
    RandomVertex vertex(random);
    const VertexStrain strain = vertex.strain();
    const VertexGradient gradient = vertex_gradient(vertex.frame(0), vertex.frame(1), strain);
    for (int k = 0; k < kVertexStrains; ++k) {
      SCOPED_TRACE(k);
      expect_near(
          flat(gradient.g[k], 5),
          difference_gradient(vertex.x, 5,
                              [&] {
                                return double(strain.s[k] +
                                              vertex_strain_difference(k, vertex.strain().s[k], strain.s[k]));
                              }),
          50 * kDifferenceError);
    }
  }
}

TEST(RodElement, StrainsDoNotChangeByRigidMotions) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 50; ++trial) {
    RandomVertex vertex(random);
    const VertexStrain before = vertex.strain();
    const SegmentStrain segment = segment_strain(vertex.frame(0));
    const Mat3 turn = random.rotation();
    const Vec3 shift = random.vector();
    for (Vec3& p : vertex.x) p = turn * p + shift;
    for (int k = 0; k < kVertexStrains; ++k)
      EXPECT_NEAR(vertex_strain_difference(k, vertex.strain().s[k], before.s[k]), 0, kRounding);
    for (int k = 0; k < kSegmentStrains; ++k)
      EXPECT_NEAR(segment_strain(vertex.frame(0)).s[k], segment.s[k], kRounding);
  }
}

// Two segments of equal frames about the bend: curvature 2 tan(phi / 2) about one axis, no twist.
TEST(RodElement, BendingAboutOneAxisHasOneStrain) {
  for (const double phi : {0.1, 0.7, 2.0}) {
    const Real c = Real(std::cos(phi)), s = Real(std::sin(phi));
    const Vec3 x0{-1, 0, 0}, x1{0, 0, 0}, x2{c, s, 0};
    // Bending about z: d2 = z, so d1 = z x t... t x d1 = z has d1 = z x t.
    const auto flat_frame = [](const Vec3& a, const Vec3& b) {
      const Vec3 z{0, 0, 1};
      return rod_frame(a, b, Real(0.5) * (a + b) + Real(0.3) * cross(z, b - a));
    };
    const VertexStrain about_d2 = vertex_strain(flat_frame(x0, x1), flat_frame(x1, x2));
    EXPECT_NEAR(about_d2.s[0], 2 * std::tan(phi / 2), kRounding);
    EXPECT_NEAR(about_d2.s[1], 0, kRounding);
    EXPECT_NEAR(about_d2.s[2], 0, kRounding);
    const auto upright_frame = [](const Vec3& a, const Vec3& b) {
      return rod_frame(a, b, Real(0.5) * (a + b) - Vec3{0, 0, Real(0.3)});
    };
    const VertexStrain about_d1 = vertex_strain(upright_frame(x0, x1), upright_frame(x1, x2));
    EXPECT_NEAR(about_d1.s[0], 0, kRounding);
    EXPECT_NEAR(about_d1.s[1], 2 * std::tan(phi / 2), kRounding);
    EXPECT_NEAR(about_d1.s[2], 0, kRounding);
  }
}

TEST(RodElement, TwistIsTheAngleBetweenTheFrames) {
  for (const double twist : {0.3, -1.2, 3.0}) {
    const Real c = Real(std::cos(twist)), s = Real(std::sin(twist));
    const VertexStrain strain =
        vertex_strain(rod_frame({1, 0, 0}, {0, Real(0.2), 0}), rod_frame({2, 0, 0}, Vec3{0, c, s}));
    EXPECT_NEAR(strain.s[2], twist, kRounding);
    EXPECT_NEAR(strain.s[0], 0, kRounding);
  }
  EXPECT_NEAR(vertex_strain_difference(2, Real(3), Real(-3)), 6 - 2 * std::numbers::pi, kRounding);
}

TEST(RodElement, SectionsAreThoseOfEllipses) {
  const RodSection round = rod_section(0.2, 1);
  const double r4 = 1e-4;
  EXPECT_NEAR(round.area, std::numbers::pi * 0.01, 1e-15);
  EXPECT_NEAR(round.across_d1, std::numbers::pi / 4 * r4, 1e-18);
  EXPECT_NEAR(round.across_d2, round.across_d1, 1e-18);
  EXPECT_NEAR(round.torsion, std::numbers::pi / 2 * r4, 1e-18);
  // Semi-axes 0.2 along d1, 0.05 along d2.
  const RodSection ribbon = rod_section(0.2, 4);
  EXPECT_NEAR(ribbon.area, round.area, 1e-15);
  EXPECT_NEAR(ribbon.across_d1, std::numbers::pi / 4 * 0.2 * std::pow(0.05, 3), 1e-18);
  EXPECT_NEAR(ribbon.across_d2, std::numbers::pi / 4 * 0.05 * std::pow(0.2, 3), 1e-18);
  EXPECT_NEAR(ribbon.torsion, std::numbers::pi * 1e-6 / (0.04 + 0.0025), 1e-18);
}

// With the ghost's share at its arm, a segment has the moment of inertia of its section.
TEST(RodElement, GhostsCarryThePolarMomentOfInertia) {
  const RodSection section = rod_section(0.01, 1);
  const double arm = ghost_arm(0.1, 0.01), mass = 3;
  EXPECT_NEAR(arm, 0.025, 1e-15);
  EXPECT_NEAR(mass * ghost_share(section, arm) * arm * arm, mass * 0.005 * 0.005 / 2, 1e-15);
}

}  // namespace
}  // namespace stickslip::test
