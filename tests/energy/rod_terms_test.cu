#include "gpu/energy/rod_terms.cuh"

#include "tests/backend_test.h"
#include "tests/energy/rod_chain.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;

constexpr bool kIsDouble = sizeof(Real) == 8;

/// E = 1, so that energies have the scale of the section.
Material rod_material(double young = 1, double poisson = 0.3, double damping = 0) {
  return elastic_material(ElasticModel::stable_neo_hookean, young, poisson, damping);
}
/// Young's modulus at which E I of the diameter is 1.
double young_for_unit_bending(double diameter) { return 1 / rod_section(diameter, 1).across_d1; }

void displace_rods(std::vector<Vec3>& x, Random& random, Real size) {
  for (Vec3& p : x) p += random.vector(size);
}

/// A helix of eight segments of length 0.5 whose moduli give stiffnesses of about 1.
RodChain random_rod(Context& ctx, double damping, bool closed) {
  return RodChain(ctx, helix(8, 0.8, 1, 0.8), 0.5, rod_material(20, 0.3, damping), closed, 1.5);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(RodTerms, GradientMatchesFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const double damping : {0.0, 0.05})
    for (const bool closed : {false, true}) {
      RodChain rod = random_rod(ctx, damping, closed);
      displace_rods(rod.x, random, Real(0.04));
      displace_rods(rod.x_t, random, Real(0.04));
      EXPECT_GT(rod.energy(), 0.01);
      expect_near(rod.gradient(),
                  difference_gradient(rod.x.data(), rod.nodes(), [&] { return rod.energy(); }),
                  500 * kDifferenceError);
    }
}

// Without strain the Hessian of Gauss and Newton is exact.
BACKEND_TEST(RodTerms, HessianMatchesFiniteDifferencesAtRest) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const bool closed : {false, true}) {
    RodChain rod = random_rod(ctx, 0, closed);
    const auto [gradient, hessian] = rod.gradient_and_hessian();
    EXPECT_LT(gradient.norm(), 100 * kRounding);
    expect_near(hessian, difference_jacobian(rod.x.data(), rod.nodes(), [&] { return rod.gradient(); }),
                500 * kDifferenceError);
  }
}

BACKEND_TEST(RodTerms, HessianIsPositiveSemidefiniteAndComesWithTheGradient) {
  Random random;
  SCOPED_TRACE(random.trace());
  RodChain rod = random_rod(ctx, 0.05, false);
  displace_rods(rod.x, random, Real(0.1));
  displace_rods(rod.x_t, random, Real(0.1));
  const auto [gradient, hessian] = rod.gradient_and_hessian();
  expect_near(gradient, rod.gradient(), kRounding);
  expect_spd(hessian);
}

// At x = x_t damping has no force, and only makes the Hessian larger by damping / dt.
BACKEND_TEST(RodTerms, DampingAtTheStartOfAStepOnlyStiffens) {
  RodChain rod = random_rod(ctx, 0.05, false);
  Random random;
  displace_rods(rod.x, random, Real(0.02));
  rod.x_t = rod.x;
  RodChain undamped = random_rod(ctx, 0, false);
  undamped.x = undamped.x_t = rod.x;
  expect_near(rod.gradient(), undamped.gradient(), kRounding);
  EXPECT_GT(rod.gradient_and_hessian().second.norm(), 1.4 * undamped.gradient_and_hessian().second.norm());
}

// Of any shape, ghosts included: no energy, force or damping of turns, and the Hessian has no resistance to
// the six rigid velocities.
BACKEND_TEST(RodTerms, RigidMotionsAreFree) {
  Random random;
  SCOPED_TRACE(random.trace());
  RodChain rod = random_rod(ctx, 0.05, false);
  const Mat3 turn = random.rotation();
  const Vec3 shift = random.vector();
  for (Vec3& p : rod.x) p = turn * p + shift;
  EXPECT_LT(rod.energy(), 100 * kRounding);
  const auto [gradient, hessian] = rod.gradient_and_hessian();
  EXPECT_LT(gradient.norm(), 1000 * kRounding);
  for (int mode = 0; mode < 6; ++mode) {
    Column v(3 * rod.nodes());
    Vec3 axis = Vec3::zero();
    axis[mode % 3] = 1;
    for (int i = 0; i < rod.nodes(); ++i) {
      const Vec3 u = mode < 3 ? axis : cross(axis, rod.x[static_cast<std::size_t>(i)]);
      for (int c = 0; c < 3; ++c) v[3 * i + c] = u[c];
    }
    EXPECT_LT((hessian * v).norm(), 100 * kRounding * hessian.norm());
  }
}

BACKEND_TEST(RodTerms, ACurledRodIsFreeOfStressAtRest) {
  RodChain rod(ctx, helix(60, 0.02, 0.01, 5), 0.002, rod_material(1e6));
  EXPECT_LT(rod.energy(), 1e3 * kRounding * 1e6 * 1e-9);
  EXPECT_LT(rod.gradient().norm(), kRounding * 1e6 * 1e-4);
}

BACKEND_TEST(RodTerms, StretchingHasTheStiffnessOfTheSection) {
  RodChain rod(ctx, straight_rod(10, 2), 0.1, rod_material(1e4));
  for (std::size_t i = 0; i < rod.x.size(); ++i) rod.x[i][0] *= Real(1.01);
  rod.x_t = rod.x;
  const double want = 1e4 * std::numbers::pi * 0.0025 * 0.01;
  EXPECT_NEAR(rod.gradient()[30], want, 1e-3 * want);
  EXPECT_NEAR(rod.gradient()[0], -want, 1e-3 * want);
  EXPECT_NEAR(rod.energy(), want * 0.02 / 2, 1e-3 * want * 0.02);
}

// Between the middles of the first and the last segment, L: the torque is G J theta / L.
BACKEND_TEST(RodTerms, ATwistedRodHasTheTorqueOfItsSection) {
  for (const double aspect : {1.0, 3.0}) {
    const double diameter = 0.1, young = 1e6, poisson = 0.25;
    const int n = 16;
    RodChain rod(ctx, straight_rod(n, 2),
                 place_ghosts(straight_rod(n, 2), RodChain::chain(n + 1, false), diameter), diameter,
                 rod_material(young, poisson), false, aspect);
    const double theta = 5;
    for (int s = 0; s < n; ++s) {
      const double angle = theta * s / (n - 1), arm = ghost_arm(2.0 / n, diameter);
      rod.x[static_cast<std::size_t>(rod.ghost(s))] =
          Vec3d{(s + 0.5) * 2 / n, arm * std::cos(angle), arm * std::sin(angle)}.cast<Real>();
    }
    rod.x_t = rod.x;
    const Column g = rod.gradient();
    const std::int32_t last = rod.ghost(n - 1);
    const Vec3 y = rod.x[static_cast<std::size_t>(last)];
    const double torque =
        static_cast<double>(y[1]) * g[3 * last + 2] - static_cast<double>(y[2]) * g[3 * last + 1];
    const double want =
        young / (2 * (1 + poisson)) * rod_section(diameter, aspect).torsion * theta / (2.0 - 2.0 / n);
    EXPECT_NEAR(torque, want, 1e-4 * want);
    for (int s = 1; s + 1 < n; ++s)
      EXPECT_LT(g.segment(3 * rod.ghost(s), 3).norm(), (kIsDouble ? 1e-6 : 1e-2) * want / 0.03);
  }
}

// A clamp acts in the middle of a held segment. Small deflection by a force at the tip: P L^3 / (3 E I), by
// both axes of an elliptic section.
BACKEND_TEST(RodTerms, ACantileverDeflectsAsBeamsDo) {
  const double diameter = 0.02;
  double last_error = 1;
  for (const int n : {10, 20, 40}) {
    const double length = 1 + 0.5 / n;  // from the middle of the held segment
    for (const int axis : {1, 2}) {
      RodChain rod(ctx, straight_rod(n + 1, 1.0 + 1.0 / n), diameter,
                   rod_material(young_for_unit_bending(diameter)), false, 2);
      Column load = Column::Zero(3 * rod.nodes());
      load[3 * (n + 1) + axis] = -0.01;
      rod.balance({0, 1, rod.ghost(0)}, load, kIsDouble ? 1e-7 : 1e-2);
      // d1 is along y: bending along y is about d2.
      const double bending = axis == 1 ? 2 : 0.5;
      const double want = 0.01 * std::pow(length, 3) / (3 * bending);
      const double error =
          std::abs(static_cast<double>(-rod.x[static_cast<std::size_t>(n + 1)][axis]) / want - 1);
      EXPECT_LT(error, kIsDouble ? 0.25 / (n * n) + 1e-4 : 0.05);
      if (axis == 1 && kIsDouble) {
        EXPECT_LT(error, last_error);
        last_error = error;
      }
    }
  }
}

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Tip of a rod of length 1 and E I = 1, clamped along x, under its weight q along -y: with the angle a below
/// x, a'' = -q (1 - s) cos a, a(0) = 0, a'(1) = 0, by shooting.
Vec<double, 2> heavy_tip(double q) {
  const auto shoot = [&](double slope, Vec<double, 2>& tip) {
    double a = 0, b = slope;
    tip = {0, 0};
    const int n = 4000;
    for (int k = 0; k < n; ++k) {  // midpoint rule
      const double h = 1.0 / n, s = (k + 0.5) * h;
      const double am = a + h / 2 * b, bm = b - h / 2 * q * (1 - s + h / 4) * std::cos(a);
      tip[0] += h * std::cos(am);
      tip[1] -= h * std::sin(am);
      b -= h * q * (1 - s) * std::cos(am);
      a += h * bm;
    }
    return b;
  };
  double low = 0, high = q;
  Vec<double, 2> tip;
  for (int k = 0; k < 60; ++k) {
    const double middle = (low + high) / 2;
    (shoot(middle, tip) < 0 ? low : high) = middle;
  }
  return tip;
}

/// Smallest eigenvalue of the derivative of `forces` with respect to `coordinates`.
template <class Forces>
double lowest_mode(Column& at, int zero_modes, Forces forces) {
  const int n = static_cast<int>(at.size());
  Dense h(n, n);
  for (int k = 0; k < n; ++k) {
    const double before = at[k], step = 1e-6;
    at[k] = before + step;
    const Column high = forces();
    at[k] = before - step;
    const Column low = forces();
    at[k] = before;
    h.col(k) = (high - low) / (2 * step);
  }
  const Column values =
      Eigen::SelfAdjointEigenSolver<Dense>((h + h.transpose()) / 2, Eigen::EigenvaluesOnly).eigenvalues();
  // Zero modes have no sign: among the lowest ones the first that is not one of them.
  Column sizes = values.cwiseAbs();
  std::sort(sizes.data(), sizes.data() + n);
  const double zero = zero_modes > 0 ? sizes[zero_modes - 1] : 0;
  return values[0] < -2 * zero ? values[0] : sizes[zero_modes];
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(RodTerms, AHeavyElasticaBendsAsTheOdeSays) {
  const double diameter = 0.02, q = 20;
  const Vec<double, 2> want = heavy_tip(q);
  EXPECT_LT(want[1], -0.7);
  double last_error = 1;
  for (const int n : {10, 20, 40}) {
    if (!kIsDouble && n > 10) break;
    // The held segment begins half a segment in front of the clamp.
    const double h = 1 / (n + 0.5 * 1);
    RodChain rod(ctx, straight_rod(n + 1, (n + 1) * h), diameter,
                 rod_material(young_for_unit_bending(diameter)));
    Column load = Column::Zero(3 * rod.nodes());
    for (int i = 2; i <= n + 1; ++i) load[3 * i + 1] = -q * h * (i == n + 1 ? 0.5 : 1.0);
    const int iterations = rod.balance({0, 1, rod.ghost(0)}, load, kIsDouble ? 1e-6 : 3e-2);
    EXPECT_LT(iterations, 500);
    const Vec3 tip = rod.x[static_cast<std::size_t>(n + 1)];
    const double error =
        std::hypot(static_cast<double>(tip[0]) - h / 2 - want[0], static_cast<double>(tip[1]) - want[1]);
    EXPECT_LT(error, kIsDouble ? 2.0 / (n * n) + 1e-4 : 0.05);
    EXPECT_LT(error, last_error);
    last_error = error;
  }
}

// Pinned ends: the straight rod becomes unstable at the force pi^2 E I / L^2 [Euler].
BACKEND_TEST(RodTerms, AColumnBucklesAtEulersLoad) {
  if (!kIsDouble) GTEST_SKIP() << "differences of forces need double";
  const double diameter = 0.02, young = young_for_unit_bending(diameter);
  for (const int n : {8, 16, 32}) {
    const std::vector<Vec3d> nodes = straight_rod(n, 1);
    RodChain rod(ctx, nodes, diameter, rod_material(young));
    double low = 0.5, high = 1.5;  // in Euler's load
    for (int k = 0; k < 12; ++k) {
      const double load = (low + high) / 2, pressed = 1 - load * std::numbers::pi * std::numbers::pi /
                                                              (young * rod_section(diameter, 1).area);
      for (std::size_t i = 0; i < rod.x.size(); ++i) {
        rod.x[i] = rod.rest[i].cast<Real>();
        rod.x[i][0] *= Real(pressed);
      }
      // Ghosts are along y: where the rod bends along z, they stay in place but for the shift of their
      // segments.
      Column at = Column::Zero(n - 1);
      const double mode = lowest_mode(at, 0, [&] {
        const auto z = [&](int node) { return node == 0 || node == n ? 0 : at[node - 1]; };
        for (int i = 0; i <= n; ++i) rod.x[static_cast<std::size_t>(i)][2] = Real(z(i));
        for (int s = 0; s < n; ++s)
          rod.x[static_cast<std::size_t>(rod.ghost(s))][2] = Real((z(s) + z(s + 1)) / 2);
        rod.x_t = rod.x;
        const Column g = rod.gradient();
        Column out(n - 1);
        for (int i = 1; i < n; ++i)
          out[i - 1] = g[3 * i + 2] + (g[3 * rod.ghost(i - 1) + 2] + g[3 * rod.ghost(i) + 2]) / 2;
        return out;
      });
      (mode > 0 ? low : high) = load;
    }
    EXPECT_NEAR(low, 1, 1.5 / (n * n) + 0.002) << n;
  }
}

// Michell's instability [Goriely06]: a straight rod that is bent to a ring and closed with the
// twist angle A is stable in its plane up to A = 2 pi sqrt(3) E I / (G J). The rod at rest is straight with
// the opposite twist, and its last segment is its first one.
BACKEND_TEST(RodTerms, ATwistedRingLeavesItsPlaneAtMichellsAngle) {
  if (!kIsDouble) GTEST_SKIP() << "differences of forces need double";
  const double poisson = 0.2, diameter = 0.04;
  double last_error = 1;
  for (const int n : {16, 32, 64}) {
    const double h = 2 * std::sin(std::numbers::pi / n);  // segments of the ring of radius 1
    const std::vector<Vec3d> nodes = straight_rod(n + 1, (n + 1) * h);
    const double arm = ghost_arm(h, diameter);
    double low = 5, high = 20;
    for (int k = 0; k < 12; ++k) {
      const double twist = (low + high) / 2;
      std::vector<Vec3d> ghosts;
      for (int s = 0; s <= n; ++s) {
        const double angle = -twist * s / n;
        ghosts.push_back({(s + 0.5) * h, arm * std::cos(angle), arm * std::sin(angle)});
      }
      RodChain rod(ctx, nodes, ghosts, diameter, rod_material(young_for_unit_bending(diameter), poisson),
                   false, 1);
      // Coordinates: n nodes and n ghosts of the ring; node n is node 0, node n + 1 is node 1, ghost n is
      // ghost 0.
      const auto coordinate = [&](int node) { return node <= n + 1 ? node % n : n + (node - (n + 2)) % n; };
      Column at(6 * n);
      for (int i = 0; i < n; ++i) {
        const double angle = 2 * std::numbers::pi * i / n, middle = angle + std::numbers::pi / n;
        at.segment(3 * i, 3) << std::cos(angle), std::sin(angle), 0;
        at.segment(3 * (n + i), 3) << std::cos(std::numbers::pi / n) * std::cos(middle),
            std::cos(std::numbers::pi / n) * std::sin(middle), arm;
      }
      const double mode = lowest_mode(at, 7, [&] {
        for (int i = 0; i < rod.nodes(); ++i)
          for (int c = 0; c < 3; ++c) rod.x[static_cast<std::size_t>(i)][c] = Real(at[3 * coordinate(i) + c]);
        rod.x_t = rod.x;
        const Column g = rod.gradient();
        Column out = Column::Zero(6 * n);
        for (int i = 0; i < rod.nodes(); ++i) out.segment(3 * coordinate(i), 3) += g.segment(3 * i, 3);
        return out;
      });
      (mode > 0 ? low : high) = twist;
    }
    const double want = 2 * std::numbers::pi * std::sqrt(3.0) * (1 + poisson);
    const double error = std::abs(low / want - 1);
    EXPECT_LT(error, 40.0 / (n * n));
    EXPECT_LT(error, last_error / 3);
    last_error = error;
  }
}

// A rod that is soft in bending hangs as a chain: y = a cosh(x / a), with 2 a sinh(1 / (2 a)) = length over a
// span of 1.
BACKEND_TEST(RodTerms, ASoftRodHangsAsACatenary) {
  const int n = 40;
  const double length = 1.5, diameter = 0.002, young = 1e6;
  double a = 0.3;
  for (double low = 0.05, high = 2; high - low > 1e-12;) {
    a = (low + high) / 2;
    (2 * a * std::sinh(1 / (2 * a)) > length ? low : high) = a;
  }
  const double sag = a * (std::cosh(1 / (2 * a)) - 1);
  RodChain rod(ctx, straight_rod(n, length), diameter, rod_material(young));
  for (std::size_t i = 0; i < rod.x.size(); ++i) {  // a V of the right length
    const double s = rod.rest[i][0] / length, drop = std::sqrt(length * length - 1) / 2;
    rod.x[i][0] = Real(s);
    rod.x[i][1] += Real(-drop * (1 - std::abs(2 * s - 1)));
  }
  Column load = Column::Zero(3 * rod.nodes());
  for (int i = 1; i < n; ++i) load[3 * i + 1] = -0.01 * length / n;
  rod.balance({0, n}, load, kIsDouble ? 1e-4 : 3e-2);
  EXPECT_NEAR(static_cast<double>(-rod.x[n / 2][1]), sag, 0.01 * sag);
}
