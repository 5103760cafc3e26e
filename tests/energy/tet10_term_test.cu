#include "gpu/energy/tet10_term.cuh"

#include "tests/backend_test.h"
#include "tests/energy/term_ranges.h"
#include "tests/energy/tet10_solid.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;

/// Reference with none of the code under test: shape functions as products of linear ones over the rest
/// shape, their gradients by central differences (exact for quadratic polynomials), and the rule's points.
struct Tet10Reference {
  const Tet10Solid& solid;

  Column shape(const Tet10& element, const fixtures::Vec3d& at) const {
    Dense corners(4, 4);
    Column right(4);
    for (int k = 0; k < 4; ++k) {
      for (int c = 0; c < 3; ++c)
        corners(c, k) = solid.model.rest_positions[static_cast<std::size_t>(element[k])][c];
      corners(3, k) = 1;
    }
    for (int c = 0; c < 3; ++c) right[c] = at[c];
    right[3] = 1;
    const Column l = corners.partialPivLu().solve(right);
    constexpr int edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    Column n(10);
    for (int k = 0; k < 4; ++k) n[k] = l[k] * (2 * l[k] - 1);
    for (int k = 0; k < 6; ++k) n[4 + k] = 4 * l[edges[k][0]] * l[edges[k][1]];
    return n;
  }
  /// dN_a / dX_c, ten rows.
  Dense gradients(const Tet10& element, const fixtures::Vec3d& at) const {
    Dense g(10, 3);
    for (int c = 0; c < 3; ++c) {
      fixtures::Vec3d up = at, down = at;
      up[c] += 0.05;
      down[c] -= 0.05;
      g.col(c) = (shape(element, up) - shape(element, down)) / 0.1;
    }
    return g;
  }
  /// Calls visit(element, weight [m^3], dN/dX) at every quadrature point.
  template <class Visit>
  void at_points(Visit visit) const {
    for (const Tet10& element : solid.elements()) {
      const auto corner = [&](int k) {
        return solid.model.rest_positions[static_cast<std::size_t>(element[k])];
      };
      const double volume =
          dot(corner(1) - corner(0), cross(corner(2) - corner(0), corner(3) - corner(0))) / 6;
      for (int point = 0; point < 4; ++point) {
        fixtures::Vec3d at{0, 0, 0};
        for (int k = 0; k < 4; ++k)
          at += (k == point ? (5 + 3 * std::sqrt(5.0)) / 20 : (5 - std::sqrt(5.0)) / 20) * corner(k);
        visit(element, volume / 4, gradients(element, at));
      }
    }
  }
  Mat3 deformation(const Tet10& element, const Dense& g, const std::vector<Vec3>& x) const {
    Mat3 f = Mat3::zero();
    for (int a = 0; a < 10; ++a)
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) f(r, c) += x[static_cast<std::size_t>(element[a])][r] * Real(g(a, c));
    return f;
  }
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Tet10Term, EnergyIsThatOfTheQuadraticMapAtTheQuadraturePoints) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kSolidModels) {
    SCOPED_TRACE(static_cast<int>(model));
    Tet10Solid solid(ctx, tet10_cube(2, random, 0.2), elastic_material(model, 5, 0.3));
    displace(solid.x, random, Real(0.02));
    const Tet10Reference reference{solid};
    const Lame lame = lame_parameters(model, Real(5), Real(0.3));
    double energy = 0, least = 1e300;
    reference.at_points([&](const Tet10& element, double weight, const Dense& g) {
      const Mat3 f = reference.deformation(element, g, solid.x);
      energy += weight * double(energy_density(model, f, lame));
      least = std::min(least, double(determinant(f)));
    });
    EXPECT_GT(energy, 0.001);
    EXPECT_NEAR(solid.energy(), energy, 20 * kRounding * (1 + energy));
    Buffer<Vec3> x(ctx, solid.x);
    Buffer<double> out(ctx, 1);
    solid.term.min_determinant(ctx, x.data(), false, out.data());
    EXPECT_NEAR(read_back(ctx, out.data()), least, 20 * kRounding);
    solid.term.min_determinant(ctx, x.data(), true, out.data());
    EXPECT_EQ(std::isfinite(read_back(ctx, out.data())), model == ElasticModel::neo_hookean);
    EXPECT_EQ(solid.term.forbids_inversion(), model == ElasticModel::neo_hookean);
  }
}

BACKEND_TEST(Tet10Term, GradientMatchesFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kSolidModels)
    for (const double damping : {0.0, 0.05}) {
      SCOPED_TRACE(static_cast<int>(model));
      Tet10Solid solid(ctx, tet10_cube(1, random, 0), elastic_material(model, 5, 0.3, damping));
      displace(solid.x, random, Real(0.04));
      displace(solid.x_t, random, Real(0.04));
      const std::vector<Vec3> g = solid.gradient();
      expect_near(flat(g.data(), solid.nodes()),
                  difference_gradient(solid.x.data(), solid.nodes(), [&] { return solid.energy(); }),
                  100 * kDifferenceError);
    }
}

// Under tension no eigenvalue is negative, so that projection changes nothing.
BACKEND_TEST(Tet10Term, HessianMatchesFiniteDifferencesUnderTension) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kSolidModels) {
    SCOPED_TRACE(static_cast<int>(model));
    Tet10Solid solid(ctx, tet10_cube(1, random, 0), elastic_material(model, 5, 0.3));
    solid.move([](const fixtures::Vec3d& p) { return (1.15 * p).cast<Real>(); });
    displace(solid.x, random, Real(0.005));
    const auto [gradient, hessian] = solid.gradient_and_hessian();
    expect_near(gradient, flat(solid.gradient().data(), solid.nodes()), kRounding);
    const auto g = [&] { return flat(solid.gradient().data(), solid.nodes()); };
    expect_near(hessian, difference_jacobian(solid.x.data(), solid.nodes(), g), 100 * kDifferenceError);
  }
}

BACKEND_TEST(Tet10Term, HessianIsThatOfTheProjectedStressDerivatives) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kSolidModels) {
    Tet10Solid solid(ctx, tet10_cube(1, random, 0), elastic_material(model, 5, 0.3));
    solid.move([](const fixtures::Vec3d& p) { return (0.8 * p).cast<Real>(); });
    displace(solid.x, random, Real(0.03));
    const Tet10Reference reference{solid};
    const Lame lame = lame_parameters(model, Real(5), Real(0.3));
    Dense want = Dense::Zero(3 * solid.nodes(), 3 * solid.nodes());
    reference.at_points([&](const Tet10& element, double weight, const Dense& g) {
      Dense b = Dense::Zero(9, 3 * solid.nodes());  // dF/dx, vec by rows
      for (int a = 0; a < 10; ++a)
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) b(3 * r + c, 3 * element[a] + r) = g(a, c);
      const Mat3 f = reference.deformation(element, g, solid.x);
      want += weight * b.transpose() * dense(hessian_spd(model, f, lame)) * b;
    });
    const Dense got = solid.gradient_and_hessian().second;
    expect_near(got, want, 50 * kRounding);
    expect_spd(got);
  }
}

// Four points leave no motion without stiffness but the rigid ones.
// An affine motion has one stress: the energy is that of the volume, and only nodes of the surface have
// forces, those of the stress on the faces.
// Pure bending, u = (x y, -x^2 / 2, 0), is quadratic: its energy is that of the strain e_xx = y, however few
// elements there are. One linear tet has constant strain and misses most of it.
// A bar that hangs from y = 1 under its weight q has the displacement q/E (-nu x y, (y^2 + nu (x^2 + z^2)) /
// 2, -nu z y): quadratic, free of stress at its sides, and stressed by q y along y. Nodes between the ends
// carry q times the integrals of their shape functions, -1/20 of a tet's volume at corners and 1/5 at
// middles, however small the compressibility is.
BACKEND_TEST(Tet10Term, AStepKeepsWhatDependsOnItsStartAndNothingElse) {
  Random random;
  SCOPED_TRACE(random.trace());
  const std::vector<Material> materials{elastic_material(ElasticModel::stable_neo_hookean, 5, 0.3, 0.05),
                                        elastic_material(ElasticModel::fixed_corotated, 3, 0.2)};
  Tet10Solid solid(ctx, tet10_cube(2, random, 0.1), materials);
  const std::size_t n = solid.term.size();
  Buffer<Vec3> at, start, start_again, corners(ctx, 4 * n);
  Buffer<Mat3> blocks(ctx, kCornerBlocks * n);
  Buffer<double> energy(ctx, 1);
  const auto values = [&](const SolidMotion& motion) {
    std::vector<double> out;
    solid.term.energy(ctx, motion, energy.data());
    out.push_back(read_back(ctx, energy.data()));
    const auto add = [&](const std::vector<Vec3>& list) {
      for (const Vec3& v : list) out.insert(out.end(), v.v, v.v + 3);
    };
    solid.term.gradient(ctx, motion, {0, n}, corners.data());
    add(corners.download(ctx));
    solid.term.gradient_and_hessian(ctx, motion, {0, n}, corners.data(), blocks.data());
    add(corners.download(ctx));
    for (const Mat3& b : blocks.download(ctx)) out.insert(out.end(), b.m, b.m + 9);
    return out;
  };
  const auto difference = [](const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
  };
  std::vector<double> last;
  for (int step = 0; step < 2; ++step) {  // in the second one x_t has other contents at the same address
    displace(solid.x_t, random, Real(0.02));
    start.upload(ctx, solid.x_t);
    start_again.upload(ctx, solid.x_t);
    solid.term.begin_step();
    for (int iterate = 0; iterate < 2; ++iterate) {
      displace(solid.x, random, Real(0.02));
      at.upload(ctx, solid.x);
      const std::vector<double> kept = values({at.data(), start.data(), solid.dt, nullptr, true});
      EXPECT_LE(difference(kept, values({at.data(), start.data(), solid.dt})), 50 * kRounding);
      EXPECT_LE(difference(kept, values({at.data(), start.data(), solid.dt, start_again.data(), true})),
                50 * kRounding);
      if (!last.empty()) {
        EXPECT_GT(difference(kept, last), 1e-3);
      }
      last = kept;
    }
    EXPECT_LE(difference(values({start.data(), start.data(), solid.dt}),
                         values({start_again.data(), start.data(), solid.dt})),
              50 * kRounding);
    // The last call before the next step keeps x_t, and so does the one before this call with another x_t.
    const std::vector<double> kept = values({at.data(), start.data(), solid.dt, nullptr, true});
    EXPECT_LE(difference(kept, last), 50 * kRounding);
    displace(solid.x_t, random, Real(0.02));
    start_again.upload(ctx, solid.x_t);
    const std::vector<double> other = values({at.data(), start_again.data(), solid.dt});
    EXPECT_GT(difference(other, kept), 1e-3);
    EXPECT_LE(difference(other, values({at.data(), start_again.data(), solid.dt})), 50 * kRounding);
    EXPECT_LE(difference(values({at.data(), start.data(), solid.dt, nullptr, true}), kept), 50 * kRounding);
  }
}

BACKEND_TEST(Tet10Term, DampingResistsVelocityWithTheStiffness) {
  Random random;
  SCOPED_TRACE(random.trace());
  const double damping = 0.02;
  for (const ElasticModel model : kSolidModels) {
    Tet10Solid damped(ctx, tet10_cube(1, random, 0), elastic_material(model, 5, 0.3, damping));
    Tet10Solid elastic(ctx, damped.model, elastic_material(model, 5, 0.3));
    const Real size = sizeof(Real) == 8 ? Real(1e-6) : Real(1e-3);
    displace(damped.x, random, size);
    elastic.x = damped.x;
    const std::vector<Vec3> with = damped.gradient(), without = elastic.gradient();
    double work = 0;
    for (std::size_t i = 0; i < with.size(); ++i) {
      const Vec3 force = with[i] - without[i];
      EXPECT_NEAR(norm(force - Real(damping) / damped.dt * without[i]), 0,
                  1000 * double(size) * size + kRounding);
      work += dot(force, damped.x[i] - damped.x_t[i]);
    }
    EXPECT_GT(work, 0);
  }
}

BACKEND_TEST(Tet10Term, RangesArePartsOfTheWhole) {
  Random random;
  Tet10Solid solid(ctx, tet10_cube(1, random, 0),
                   {elastic_material(ElasticModel::arap, 1, 0.3),
                    elastic_material(ElasticModel::fixed_corotated, 9, 0.3, 0.1)});
  displace(solid.x, random, Real(0.02));
  const Buffer<Vec3> x(ctx, solid.x), x_t(ctx, solid.x_t);
  const std::size_t n = solid.term.size();
  ASSERT_EQ(n, std::size_t{6 * 9});
  expect_ranges_are_parts(ctx, solid.term,
                          [&](bool kept) {
                            return SolidMotion{x.data(), x_t.data(), solid.dt, nullptr, kept};
                          },
                          {{0, 5}, {4, 14}, {9, 27}, {n - 1, n}});
}

// A node in the middle of an edge can invert the element near it while its corners stay.
BACKEND_TEST(Tet10Term, CountsElementsThatAreInvertedAtAnyPoint) {
  Random random;
  Tet10Solid solid(ctx, tet10_cube(1, random, 0), elastic_material(ElasticModel::neo_hookean, 1, 0.3));
  const auto inverted = [&] {
    Buffer<Vec3> x(ctx, solid.x);
    Buffer<double> out(ctx, 1);
    solid.term.count_inverted(ctx, x.data(), out.data());
    return read_back(ctx, out.data());
  };
  EXPECT_EQ(inverted(), 0);
  EXPECT_TRUE(std::isfinite(solid.energy()));
  const Tet10 element = solid.elements()[0];
  int shared = 0;  // elements with the first middle
  for (const Tet10& other : solid.elements())
    for (int a = 4; a < 10; ++a) shared += other[a] == element[4] ? 1 : 0;
  const std::vector<Vec3> rest = solid.x;
  // The middle of edge 01 moves along the edge, to beyond a corner.
  Vec3& middle = solid.x[static_cast<std::size_t>(element[4])];
  middle +=
      Real(1.2) * (rest[static_cast<std::size_t>(element[1])] - rest[static_cast<std::size_t>(element[0])]);
  EXPECT_EQ(inverted(), shared);
  EXPECT_LT(shared, 6);
  EXPECT_FALSE(std::isfinite(solid.energy()));
  for (Vec3& p : solid.x) p[0] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_EQ(inverted(), 6);
}

BACKEND_TEST(Tet10Term, EnergyRoundingIsBounded) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kSolidModels) {
    Tet10Solid solid(ctx, tet10_cube(3, random, 0.1), elastic_material(model, 1e5, 0.4));
    EXPECT_GT(solid.term.energy_rounding(), 0);
    for (int trial = 0; trial < 20; ++trial) {
      const Vec3 shift = random.vector(Real(0.1));
      solid.move([&](const fixtures::Vec3d& p) { return p.cast<Real>() + shift; });
      EXPECT_LE(std::abs(solid.energy()), solid.term.energy_rounding());
    }
  }
}
