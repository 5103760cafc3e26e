#include "gpu/energy/hinge.h"

#include <algorithm>
#include <bit>

#include "gpu/energy/cloth_rest.h"
#include "tests/energy/numeric.h"
#include "tests/fixtures/cloth_model.h"

namespace stickslip {
namespace {

using namespace test;

const Vec2 kAreas{Real(1e-6), Real(1e-6)};

HingeAngle hinge_at(const Vec3* x) { return hinge_angle(x[0], x[1], x[2], x[3], kAreas); }

/// The hinge along x, its wings turned up by half of `angle` each.
void fold(Real angle, Vec3* x) {
  const Real c = std::cos(angle / 2), s = std::sin(angle / 2);
  x[0] = {Real(0.4), c, s};
  x[1] = {0, 0, 0};
  x[2] = {1, 0, 0};
  x[3] = {Real(0.7), -c, s};
}

TEST(Hinge, AngleIsThatBetweenTheNormals) {
  for (const double angle : {-3.0, -1.0, 0.0, 0.01, 2.0, 3.1}) {
    Vec3 x[4];
    fold(static_cast<Real>(angle), x);
    EXPECT_NEAR(hinge_at(x).angle, angle, kRounding);
  }
}

TEST(Hinge, GradientAgreesWithDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int trial = 0; trial < 50; ++trial) {
    Vec3 x[4];
    fold(random.uniform(Real(-2.9), Real(2.9)), x);
    const Mat3 r = random.rotation();
    for (Vec3& p : x) p = r * (p + random.vector(Real(0.03)));
    const HingeAngle hinge = hinge_at(x);
    expect_near(flat(hinge.gradient),
                difference_gradient(x, 4, [&] { return static_cast<double>(hinge_at(x).angle); }),
                20 * kDifferenceError);
    Vec3 force = Vec3::zero(), moment = Vec3::zero();
    for (int a = 0; a < 4; ++a) {
      force += hinge.gradient[a];
      moment += cross(x[a], hinge.gradient[a]);
    }
    EXPECT_NEAR(norm(force) + norm(moment), 0, 10 * kRounding);
  }
}

TEST(Hinge, ChangesAreShort) {
  const Real pi = std::numbers::pi_v<Real>;
  EXPECT_NEAR(angle_change(Real(3), Real(-3)), 6 - 2 * pi, kRounding);
  EXPECT_NEAR(angle_change(Real(-3), Real(3)), 2 * pi - 6, kRounding);
  EXPECT_NEAR(angle_change(Real(1), Real(-1)), 2, kRounding);
}

TEST(Hinge, DegenerateTrianglesHaveFiniteValues) {
  const Vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {2, 0, 0}, {0.5, 1e-30f, 0}};
  for (const Vec3& a : points)
    for (const Vec3& c : points)
      for (const Vec3& o : points) {
        const HingeAngle hinge = hinge_angle(a, points[0], c, o, {1, 1});
        EXPECT_TRUE(std::isfinite(hinge.angle));
        EXPECT_TRUE(flat(hinge.gradient).allFinite());
        for (const Vec3& g : hinge.gradient) EXPECT_LT(norm(g), 1e7);
      }
}

double quadratic(const Vec<double, 3>& p, const Vec<double, 3>& k) {
  return (k[0] * p[0] * p[0] + k[1] * p[1] * p[1]) / 2 + k[2] / 2 * p[0] * p[1];
}

// Of a deflection of constant curvature, in any mesh.
TEST(Hinge, RowsGiveAnglesOfConstantCurvatures) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const fixtures::Weave weave : fixtures::kWeaves) {
    const fixtures::SheetMesh mesh = fixtures::sheet_mesh(weave, 1.1, 0.9, 4, 3);
    const Vec<double, 3> curvature = random.vector().cast<double>();
    const double size = sizeof(Real) == 8 ? 1e-5 : 1e-2;
    for (const BendPatch& patch : bend_patches(mesh.triangles)) {
      const BendRest rest = bend_rest(patch, mesh.nodes, {1, 0, 0});
      for (int i = 0; i < patch.count; ++i) {
        Vec3 x[4];
        for (int a = 0; a < 4; ++a) {
          Vec<double, 3> p = mesh.nodes[static_cast<std::size_t>(patch.hinges[i][a])];
          p[2] = size * quadratic(p, curvature);
          x[a] = p.cast<Real>();
        }
        double want = 0;
        for (int k = 0; k < 3; ++k) want += rest.rows(i, k) * curvature[k];
        EXPECT_NEAR(hinge_at(x).angle / size, want, 10 * size + kRounding / size);
      }
    }
  }
}

// The sum over patches that have all three neighbours is the bending energy of the plate.
TEST(BendStiffness, EnergiesOfConstantCurvatureAreExact) {
  Random random;
  SCOPED_TRACE(random.trace());
  Material material;
  material.young = 5;
  material.young_weft = 2;
  material.shear = 0.7;
  material.poisson = 0.3;
  material.bending = 1.5;
  const double thickness = 0.2, cubed = 1.5 * thickness * thickness * thickness / 12, plane = 1 - 0.3 * 0.3;
  const double turn = 0.4;  // of the warp
  for (const fixtures::Weave weave : fixtures::kWeaves) {
    const fixtures::SheetMesh mesh = fixtures::sheet_mesh(weave, 1.1, 0.9, 5, 4);
    const Vec<double, 3> k = random.vector().cast<double>();
    // K along warp and weft.
    const double c = std::cos(turn), s = std::sin(turn);
    const double kw = c * c * k[0] + s * s * k[1] + c * s * k[2];
    const double kf = s * s * k[0] + c * c * k[1] - c * s * k[2];
    const double twice = 2 * c * s * (k[1] - k[0]) + (c * c - s * s) * k[2];
    const double density =
        cubed / 2 *
        ((5 * kw * kw + 2 * kf * kf + 2 * 0.3 * std::sqrt(10.0) * kw * kf) / plane + 0.7 * twice * twice);
    double energy = 0, want = 0;
    for (const BendPatch& patch : bend_patches(mesh.triangles)) {
      if (patch.count < 3) continue;
      const BendRest rest = bend_rest(patch, mesh.nodes, {std::cos(turn), std::sin(turn), 0});
      const BendRest plain = bend_rest(patch, mesh.nodes, {1, 0, 0});
      Vec<double, 3> angles{};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) angles[i] += plain.rows(i, j) * k[j];
      energy += dot(angles, bend_stiffness(rest, material, thickness) * angles) / 2;
      want += rest.area * density;
    }
    EXPECT_GT(want, 0);
    EXPECT_NEAR(energy, want, 1e-9 * want) << static_cast<int>(weave);
  }
}

TEST(BendPatches, StencilsHoldEveryPairOfNodesOnce) {
  // Around a node with three triangles, the tips of neighbours are the same.
  const std::vector<Vec3i> fan{{0, 1, 2}, {0, 2, 3}, {0, 3, 1}};
  fixtures::SheetMesh mesh = fixtures::sheet_mesh(fixtures::Weave::irregular, 1, 1, 3, 2);
  for (const std::vector<Vec3i>& triangles : {fan, mesh.triangles}) {
    std::vector<Vec4i> stencils;
    const std::vector<BendPatch> patches = bend_patches(triangles);
    EXPECT_EQ(patches.size(), triangles.size());
    for (const BendPatch& patch : patches)
      for (const Vec4i& s : bend_stencils(patch)) stencils.push_back(s);
    const BendStencils parsed = parse_bend_stencils(stencils);
    ASSERT_EQ(parsed.patches.size(), patches.size());
    for (std::size_t p = 0; p < patches.size(); ++p) {
      ASSERT_EQ(parsed.patches[p].count, patches[p].count);
      std::vector<std::int32_t> nodes;
      for (int i = 0; i < patches[p].count; ++i)
        for (int a = 0; a < 4; ++a) {
          EXPECT_EQ(parsed.patches[p].hinges[i][a], patches[p].hinges[i][a]);
          nodes.push_back(patches[p].hinges[i][a]);
        }
      std::ranges::sort(nodes);
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
      int owned = 0;
      for (std::size_t s = 0; s < stencils.size(); ++s)
        if (parsed.patch[s] == static_cast<std::int32_t>(p)) owned += std::popcount(parsed.owned[s]);
      EXPECT_EQ(owned, static_cast<int>(nodes.size() * (nodes.size() + 1) / 2));
    }
  }
  EXPECT_TRUE(bend_patches(std::vector<Vec3i>{{0, 1, 2}, {0, 2, 1}}).empty());
}

}  // namespace
}  // namespace stickslip
