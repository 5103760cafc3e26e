#include "gpu/energy/cloth_terms.cuh"
#include "tests/backend_test.h"
#include "tests/energy/cloth_sheet.h"
#include "tests/energy/term_ranges.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using fixtures::cloth_model;
using fixtures::sheet_mesh;
using fixtures::Weave;

Material woven(double damping = 0) {
  Material m = cloth_material(5, 0.3, damping);
  m.young_weft = 2;
  m.shear = 0.4;
  return m;
}

/// A small sheet that is curved at rest.
Model curved_sheet(const Material& material, double thickness) {
  fixtures::SheetMesh mesh = sheet_mesh(Weave::irregular, 1, 1, 3, 3);
  for (auto& p : mesh.nodes) p[2] = 0.2 * p[0] * p[0] + 0.1 * p[0] * p[1];
  return cloth_model(mesh, material, thickness, {1, 0.3, 0});
}

void displace_cloth(std::vector<Vec3>& x, Random& random, Real size) {
  for (Vec3& p : x) p += random.vector(size);
}

Dense full(const Eigen::SparseMatrix<double>& h) { return Dense(h); }

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(ClothTerms, RigidMotionHasNoEnergyAndNoForce) {
  Random random;
  SCOPED_TRACE(random.trace());
  ClothSheet sheet(ctx, curved_sheet(woven(), 0.1));
  EXPECT_NEAR(sheet.energy(), 0, kRounding);
  const Mat3 r = random.rotation();
  const Vec3 shift = random.vector();
  for (Vec3& p : sheet.x) p = r * p + shift;
  EXPECT_LE(sheet.energy(), sheet.terms.energy_rounding());
  EXPECT_NEAR(sheet.gradient().lpNorm<Eigen::Infinity>(), 0, 20 * kRounding);
}

BACKEND_TEST(ClothTerms, GradientAgreesWithDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const double damping : {0.0, 0.05}) {
    ClothSheet sheet(ctx, curved_sheet(woven(damping), 0.3));
    displace_cloth(sheet.x_t, random, Real(0.05));
    displace_cloth(sheet.x, random, Real(0.1));
    const Column want = difference_gradient(sheet.x.data(), sheet.nodes(), [&] { return sheet.energy(); });
    expect_near(sheet.gradient(), want, 50 * kDifferenceError);
    expect_near(sheet.gradient_and_hessian().first, want, 50 * kDifferenceError);
  }
}

// At rest nothing is stressed: nothing is projected away, and Gauss-Newton is exact.
BACKEND_TEST(ClothTerms, HessianAtRestAgreesWithDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const double damping : {0.0, 0.05}) {
    ClothSheet sheet(ctx, curved_sheet(woven(damping), 0.3));
    const Dense h = full(sheet.gradient_and_hessian().second);
    expect_near(h, difference_jacobian(sheet.x.data(), sheet.nodes(), [&] { return sheet.gradient(); }),
                100 * kDifferenceError);
    expect_spd(h);
    // Six rigid motions, and no other one, have no stiffness.
    const Column values = Eigen::SelfAdjointEigenSolver<Dense>(h, Eigen::EigenvaluesOnly).eigenvalues();
    EXPECT_LT(std::abs(values[5]), kRounding * values[values.size() - 1]);
    EXPECT_GT(values[6], 1e-5 * values[values.size() - 1]);
  }
}

BACKEND_TEST(ClothTerms, HessianIsPositiveSemidefinite) {
  Random random;
  SCOPED_TRACE(random.trace());
  ClothSheet sheet(ctx, curved_sheet(woven(0.01), 0.1));
  for (int trial = 0; trial < 5; ++trial) {
    displace_cloth(sheet.x, random, Real(0.2));
    expect_spd(full(sheet.gradient_and_hessian().second));
  }
  for (Vec3& p : sheet.x) p[1] = 0;  // all triangles on one line at best
  expect_spd(full(sheet.gradient_and_hessian().second));
  EXPECT_TRUE(sheet.gradient().allFinite());
  for (Vec3& p : sheet.x) p = Vec3::zero();
  expect_spd(full(sheet.gradient_and_hessian().second));
  EXPECT_TRUE(std::isfinite(sheet.energy()));
}

BACKEND_TEST(ClothTerms, DampingResistsVelocityWithTheStiffness) {
  Random random;
  SCOPED_TRACE(random.trace());
  const double damping = 0.02;
  ClothSheet damped(ctx, curved_sheet(woven(damping), 0.3)), elastic(ctx, curved_sheet(woven(), 0.3));
  const Real size = sizeof(Real) == 8 ? Real(1e-6) : Real(1e-3);
  displace_cloth(damped.x, random, size);
  elastic.x = damped.x;
  const Column with = damped.gradient(), without = elastic.gradient();
  expect_near((with - without) / size, damping / damped.dt * without / size,
              1000 * double(size) + kRounding / size);
  // A turning sheet is not damped.
  const Mat3 spin = random.matrix();
  for (std::size_t i = 0; i < damped.x.size(); ++i)
    damped.x[i] = damped.x_t[i] + size * ((spin - spin.transposed()) * damped.x_t[i]);
  elastic.x = damped.x;
  expect_near(damped.gradient() / size, elastic.gradient() / size, kRounding / size);
}

BACKEND_TEST(ClothTerms, RangesArePartsOfTheWhole) {
  Random random;
  ClothSheet sheet(ctx, curved_sheet(woven(0.03), 0.2));
  displace_cloth(sheet.x_t, random, Real(0.05));
  displace_cloth(sheet.x, random, Real(0.1));
  const Buffer<Vec3> x(ctx, sheet.x), x_t(ctx, sheet.x_t);
  const std::size_t n = sheet.terms.size();
  expect_ranges_are_parts(ctx, sheet.terms,
                          [&](bool kept) {
                            return SolidMotion{x.data(), x_t.data(), sheet.dt, nullptr, kept};
                          },
                          {{0, 5}, {4, 30}, {17, 41}, {n - 1, n}});
}

// An affine motion has one stress: nodes inside the sheet have no force, and the moments of those at its
// border are the stress times thickness and area.
BACKEND_TEST(ClothTerms, PassesThePatchTest) {
  Random random;
  SCOPED_TRACE(random.trace());
  const double thickness = 0.01, length = 1.2, width = 0.9;
  for (const Weave weave : fixtures::kWeaves)
    for (const bool isotropic : {true, false}) {
      const Material material = isotropic ? cloth_material(5, 0.3) : woven();
      ClothSheet sheet(ctx, cloth_model(sheet_mesh(weave, length, width, 4, 3), material, thickness));
      // Stretched by 15% at least along the warp.
      Mat3 f = random.matrix(Real(0.1));
      for (int k = 0; k < 3; ++k) f(k, k) += k == 0 ? Real(1.25) : Real(1);
      for (std::size_t i = 0; i < sheet.x.size(); ++i)
        sheet.x[i] = f * sheet.model.rest_positions[i].cast<Real>();
      const Mat<Real, 3, 2> of_plane = Mat<Real, 3, 2>::from_columns({f.column(0), f.column(1)});
      const SheetModuli moduli =
          sheet_moduli(material.young, material.young_weft, material.poisson, material.shear);
      const Mat<Real, 3, 2> stress = sheet_piola(moduli, SheetFrame(of_plane));
      EXPECT_NEAR(sheet.energy(), sheet_energy(moduli, SheetFrame(of_plane)) * thickness * length * width,
                  20 * kRounding * thickness);
      const Column g = sheet.gradient();
      Dense moments = Dense::Zero(3, 2);
      for (int i = 0; i < sheet.nodes(); ++i) {
        const auto& p = sheet.model.rest_positions[static_cast<std::size_t>(i)];
        const bool inner = p[0] > 1e-9 && p[0] < length - 1e-9 && p[1] > 1e-9 && p[1] < width - 1e-9;
        if (inner) {
          EXPECT_NEAR(g.segment(3 * i, 3).norm(), 0, 20 * kRounding * thickness);
        }
        for (int c = 0; c < 2; ++c) moments.col(c) += p[c] * g.segment(3 * i, 3);
      }
      moments /= thickness * length * width;
      EXPECT_GT(moments.norm(), 0.05);
      expect_near(moments, test::dense(stress), 50 * kRounding);
    }
}
