// Ten-node tets compared with solutions of linear elasticity that they represent exactly.
#include "tests/backend_test.h"
#include "tests/energy/tet10_solid.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Tet10Solutions, OneElementResistsAllMotionsButRigidOnes) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  add_ten_node_solid(model, "tet", {{0, 0, 0}, {1.2, 0, 0.1}, {0.2, 0.9, 0}, {0.1, 0.3, 1.1}}, {{0, 1, 2, 3}},
                     0);
  finalize(model);
  for (const ElasticModel kind : kSolidModels) {
    Tet10Solid solid(ctx, model, elastic_material(kind, 5, 0.3));
    ASSERT_EQ(solid.nodes(), 10);
    const Dense h = solid.gradient_and_hessian().second;
    const Column eigenvalues = Eigen::SelfAdjointEigenSolver<Dense>(h, Eigen::EigenvaluesOnly).eigenvalues();
    EXPECT_LT(std::abs(eigenvalues[5]), kRounding * eigenvalues[29]);
    EXPECT_GT(eigenvalues[6], 2e-3 * eigenvalues[29]);
  }
}

BACKEND_TEST(Tet10Solutions, RigidMotionHasNoEnergyAndNoForce) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kSolidModels) {
    Tet10Solid solid(ctx, tet10_cube(2, random, 0.2), elastic_material(model, 5, 0.4));
    EXPECT_NEAR(solid.energy(), 0, kRounding);
    const Mat3 r = random.rotation();
    const Vec3 shift = random.vector();
    solid.move([&](const fixtures::Vec3d& p) { return r * p.cast<Real>() + shift; });
    EXPECT_NEAR(solid.energy(), 0, kRounding);
    for (const Vec3& g : solid.gradient()) EXPECT_NEAR(norm(g), 0, 10 * kRounding);
  }
}

BACKEND_TEST(Tet10Solutions, PassesThePatchTest) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kSolidModels) {
    Tet10Solid solid(ctx, tet10_cube(2, random, 0.25), elastic_material(model, 5, 0.3));
    const Lame lame = lame_parameters(model, Real(5), Real(0.3));
    const Mat3 f = Mat3::identity() + random.matrix(Real(0.2));
    const Vec3 shift = random.vector();
    solid.move([&](const fixtures::Vec3d& p) { return f * p.cast<Real>() + shift; });
    EXPECT_NEAR(solid.energy(), energy_density(model, f, lame), 20 * kRounding);
    const Mat3 stress = first_piola(model, f, lame);
    const std::vector<Vec3> g = solid.gradient();
    Mat3 moments = Mat3::zero();  // sum of g X' = volume times stress
    for (std::size_t i = 0; i < g.size(); ++i) {
      const fixtures::Vec3d& p = solid.model.rest_positions[i];
      bool interior = true;
      for (int c = 0; c < 3; ++c) interior = interior && p[c] > 0.01 && p[c] < 0.99;
      if (interior) {
        EXPECT_NEAR(norm(g[i]), 0, 20 * kRounding);
      }
      moments += outer(g[i], p.cast<Real>());
    }
    EXPECT_GT(dot(stress, stress), 1e-4);
    expect_near(dense(moments), dense(stress), 50 * kRounding);
  }
}

BACKEND_TEST(Tet10Solutions, BendsWithTheEnergyOfLinearElasticity) {
  Random random;
  SCOPED_TRACE(random.trace());
  const double size = sizeof(Real) == 8 ? 1e-5 : 1e-2;
  for (const ElasticModel model : kSolidModels) {
    Tet10Solid solid(ctx, tet10_cube(1, random, 0), elastic_material(model, 5, 0.3));
    const Lame lame = lame_parameters(model, Real(5), Real(0.3));
    solid.move([&](const fixtures::Vec3d& p) {
      return (p + size * fixtures::Vec3d{p[0] * p[1], -0.5 * p[0] * p[0], 0}).cast<Real>();
    });
    const double want = (0.5 * lame.lambda + lame.mu) / 3 * size * size;  // of y^2 over the cube
    EXPECT_NEAR(solid.energy(), want, 10 * size * want + solid.term.energy_rounding());
  }
}

BACKEND_TEST(Tet10Solutions, AHeavyBarCarriesItsWeight) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "strains of 1e-7 drown in the rounding of float";
  Random random;
  SCOPED_TRACE(random.trace());
  const double young = 5, strain = 1e-7;
  for (const ElasticModel model : kSolidModels)
    for (const double poisson : {0.3, 0.495}) {
      const double nu = model == ElasticModel::arap ? 0 : poisson;
      Tet10Solid solid(ctx, tet10_cube(2, random, 0.2), elastic_material(model, young, poisson));
      solid.move([&](const fixtures::Vec3d& p) {
        const double lift = p[1] * p[1] + nu * (p[0] * p[0] + p[2] * p[2]);
        return (p + strain * fixtures::Vec3d{-nu * p[0] * p[1], lift / 2, -nu * p[2] * p[1]}).cast<Real>();
      });
      std::vector<double> integrals(solid.x.size(), 0.0);
      for (const Tet10& element : solid.elements()) {
        const auto corner = [&](int k) {
          return solid.model.rest_positions[static_cast<std::size_t>(element[k])];
        };
        const double volume =
            dot(corner(1) - corner(0), cross(corner(2) - corner(0), corner(3) - corner(0))) / 6;
        for (int a = 0; a < 10; ++a)
          integrals[static_cast<std::size_t>(element[a])] += volume * (a < 4 ? -1.0 / 20 : 1.0 / 5);
      }
      const std::vector<Vec3> g = solid.gradient();
      const double weight = young * strain;
      int between = 0;
      for (std::size_t i = 0; i < g.size(); ++i) {
        const double y = solid.model.rest_positions[i][1];
        if (y < 1e-9 || y > 1 - 1e-9) continue;
        EXPECT_LT(norm(g[i] - Vec3{0, -Real(weight * integrals[i]), 0}), 1e-4 * weight) << i;
        ++between;
      }
      EXPECT_EQ(between, 3 * 25);
    }
}
