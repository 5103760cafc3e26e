// The energy of cloth whose rest shape is a pattern.
#include "gpu/energy/sheet.h"
#include "tests/backend_test.h"
#include "tests/energy/cloth_sheet.h"
#include "tests/fixtures/sewn_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using fixtures::pattern_as_drawn;
using fixtures::pattern_by;
using fixtures::sewn_model;
using fixtures::SewnTube;
using fixtures::SheetMesh;
using fixtures::Weave;
using Uv = Vec<double, 2>;

Material sewn_weave(double damping = 0) {
  Material m = cloth_material(5, 0.3, damping);
  m.young_weft = 2;
  m.shear = 0.4;
  return m;
}

SheetMesh sewn_mesh() { return fixtures::sheet_mesh(Weave::irregular, 1, 1, 4, 3); }

/// A pattern of two panels: the triangles of the left half as drawn, the others moved and turned by `angle`.
ClothPattern two_panels(const SheetMesh& mesh, double angle) {
  return pattern_by(mesh.triangles, [&](std::size_t t, std::size_t n) {
    double middle = 0;
    for (int c = 0; c < 3; ++c) middle += mesh.nodes[static_cast<std::size_t>(mesh.triangles[t][c])][0] / 3;
    const double x = mesh.nodes[n][0], y = mesh.nodes[n][1], c = std::cos(angle), s = std::sin(angle);
    return middle < 0.5 ? Uv{x, y} : Uv{c * x - s * y + 4, s * x + c * y - 2};
  });
}

/// Equal energies, gradients and Hessians where both are displaced alike.
void expect_same_cloth(ClothSheet& a, ClothSheet& b, Random& random, double tolerance) {
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    a.x_t[i] += random.vector(Real(0.05));
    a.x[i] += random.vector(Real(0.1));
  }
  b.x_t = a.x_t;
  b.x = a.x;
  EXPECT_NEAR(a.energy(), b.energy(), tolerance * a.energy());
  EXPECT_GT(a.energy(), 1e-4);
  const auto [g, h] = a.gradient_and_hessian();
  const auto [g_b, h_b] = b.gradient_and_hessian();
  EXPECT_LT((a.gradient() - b.gradient()).norm(), tolerance * g.norm());
  EXPECT_LT((g - g_b).norm(), tolerance * g.norm());
  EXPECT_LT((h - h_b).norm(), tolerance * h.norm());
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(SewnCloth, APatternEqualToTheMeshChangesNothing) {
  Random random;
  SCOPED_TRACE(random.trace());
  const SheetMesh mesh = sewn_mesh();
  const Material material = sewn_weave(0.03);
  ClothPattern mirrored = pattern_as_drawn(mesh);
  for (PatternTriangle& t : mirrored.triangles)
    for (Uv& p : t.corners) p[1] = -p[1];
  ClothPattern turned = pattern_as_drawn(mesh);  // by half a turn: warp and weft have no sense
  for (PatternTriangle& t : turned.triangles)
    for (Uv& p : t.corners) p = {3 - p[0], -1 - p[1]};
  for (const ClothPattern& pattern : {pattern_as_drawn(mesh), mirrored, turned}) {
    ClothSheet plain(ctx, fixtures::cloth_model(mesh, material, 0.2));
    ClothSheet sewn(ctx, sewn_model(mesh, pattern, material, 0.2));
    expect_same_cloth(plain, sewn, random, std::max(1e-12, kRounding));
  }
}

// An isotropic sheet is that of its panels, wherever these lie.
BACKEND_TEST(SewnCloth, ASeamInAFlatSheetChangesNothing) {
  Random random;
  SCOPED_TRACE(random.trace());
  const SheetMesh mesh = sewn_mesh();
  const Material material = cloth_material(5, 0.3, 0.03);
  ClothSheet plain(ctx, fixtures::cloth_model(mesh, material, 0.2));
  ClothSheet sewn(ctx, sewn_model(mesh, two_panels(mesh, 0.7), material, 0.2));
  expect_same_cloth(plain, sewn, random, std::max(1e-11, kRounding));
}

BACKEND_TEST(SewnCloth, GradientAgreesWithDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const bool as_positioned : {false, true})
    for (const double damping : {0.0, 0.05}) {
      SheetMesh mesh = sewn_mesh();
      ClothPattern pattern = two_panels(mesh, 0.7);
      pattern.seams_as_positioned = as_positioned;
      for (auto& p : mesh.nodes) p = {0.95 * p[0], 1.04 * p[1], 0.2 * p[0] * p[0] + 0.1 * p[0] * p[1]};
      ClothSheet sheet(ctx, sewn_model(mesh, pattern, sewn_weave(damping), 0.3));
      for (std::size_t i = 0; i < sheet.x.size(); ++i) {
        sheet.x_t[i] += random.vector(Real(0.05));
        sheet.x[i] += random.vector(Real(0.1));
      }
      const Column want = difference_gradient(sheet.x.data(), sheet.nodes(), [&] { return sheet.energy(); });
      expect_near(sheet.gradient(), want, 50 * kDifferenceError);
      expect_near(sheet.gradient_and_hessian().first, want, 50 * kDifferenceError);
      expect_spd(Dense(sheet.gradient_and_hessian().second));
    }
}

// The sides of the tube are as wide as the pattern: no membrane is stressed. The rest is bending: that of a
// plate with the curvature 1 / r, and no anticlastic part without Poisson's ratio.
BACKEND_TEST(SewnCloth, ATubeOfItsPatternHasOnlyTheEnergyOfBending) {
  const double around = 0.8, high = 0.5, thickness = 0.02;
  const int nx = 32, ny = 16;
  const SewnTube tube(around, high, nx, ny);
  Material material = sewn_weave();
  material.poisson = 0;
  material.bending = 0;
  ClothSheet membrane(ctx, sewn_model(tube.mesh, tube.pattern, material, thickness));
  EXPECT_LE(membrane.energy(), membrane.terms.energy_rounding());
  EXPECT_NEAR(membrane.gradient().lpNorm<Eigen::Infinity>(), 0, 20 * kRounding);
  material.bending = 1;
  ClothSheet bent(ctx, sewn_model(tube.mesh, tube.pattern, material, thickness));
  const double radius = around / (2 * std::numbers::pi);
  const double want = material.young * thickness * thickness * thickness / 12 / (2 * radius * radius) *
                      around * high;  // curved along u: the warp
  EXPECT_NEAR(bent.energy() / want, 1, 0.02);
}

// Nothing is stressed there: nothing is projected away.
BACKEND_TEST(SewnCloth, TheHessianOfATubeOfItsPatternIsExact) {
  const SewnTube tube(0.8, 0.3, 8, 2);
  Material material = sewn_weave();
  material.bending = 0;
  ClothSheet sheet(ctx, sewn_model(tube.mesh, tube.pattern, material, 0.2));
  expect_near(Dense(sheet.gradient_and_hessian().second),
              difference_jacobian(sheet.x.data(), sheet.nodes(), [&] { return sheet.gradient(); }),
              100 * kDifferenceError);
}

// The only fold of the book is its seam.
BACKEND_TEST(SewnCloth, SeamsBendFromTheirAngleAtRest) {
  const SheetMesh flat = fixtures::sheet_mesh(Weave::one_diagonal, 1, 1, 2, 2);
  ClothPattern pattern = two_panels(flat, 0);
  SheetMesh book = flat;  // its halves stand on each other
  for (auto& p : book.nodes)
    if (p[0] > 0.5) p = {0.5, p[1], p[0] - 0.5};
  ClothSheet opens(ctx, sewn_model(book, pattern, sewn_weave(), 0.1));
  EXPECT_GT(opens.energy(), 1e-4);
  pattern.seams_as_positioned = true;
  ClothSheet rests(ctx, sewn_model(book, pattern, sewn_weave(), 0.1));
  EXPECT_LE(rests.energy(), rests.terms.energy_rounding());
  EXPECT_NEAR(rests.gradient().lpNorm<Eigen::Infinity>(), 0, 20 * kRounding);
}

// Strained along u by e and along v by e: C_11 and C_22 of warp and weft, however the sheet lies in space.
BACKEND_TEST(SewnCloth, WarpRunsAlongUAndWeftAlongV) {
  const SheetMesh flat = fixtures::sheet_mesh(Weave::irregular, 1, 1, 3, 3);
  const Material material = sewn_weave();
  const double thickness = 0.1, e = 0.01;
  const SheetModuli moduli =
      sheet_moduli(material.young, material.young_weft, material.poisson, material.shear);
  for (const bool cut_across : {false, true}) {
    const ClothPattern pattern = pattern_by(flat.triangles, [&](std::size_t, std::size_t n) {
      const double x = flat.nodes[n][0], y = flat.nodes[n][1];
      return cut_across ? Uv{y, -x} : Uv{x, y};
    });
    SheetMesh mesh = flat;
    for (auto& p : mesh.nodes) p = {0, (1 + e) * p[0], p[1]};  // in the plane x = 0
    ClothSheet sheet(ctx, sewn_model(mesh, pattern, material, thickness));
    const double modulus = static_cast<double>(cut_across ? moduli.weft : moduli.warp);
    EXPECT_NEAR(sheet.energy(), thickness * modulus * e * e / 2, 20 * kRounding * thickness);
  }
}
