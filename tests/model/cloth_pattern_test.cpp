#include "gpu/model/cloth_pattern.h"

#include <gtest/gtest.h>

#include "gpu/model/element_group.h"
#include "tests/fixtures/sewn_model.h"

namespace stickslip {
namespace {

using fixtures::pattern_as_drawn;
using fixtures::pattern_by;
using fixtures::sewn_model;
using fixtures::SewnTube;
using fixtures::SheetMesh;

using Uv = Vec<double, 2>;

/// A square of two triangles.
SheetMesh pattern_square() { return {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}}; }

std::string pattern_refusal(Model model) {
  try {
    finalize(model);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(ClothPatterns, MassIsThatOfThePattern) {
  const SewnTube tube(0.6, 0.25, 12, 3, 1.1, 0.7);
  Material material;
  const Model model = sewn_model(tube.mesh, tube.pattern, material, 2e-3);
  EXPECT_NEAR(solid_volume(model, model.objects[0]), 0.6 * 0.25 * 2e-3, 1e-15);
  double sum = 0;
  for (const double volume : node_volumes(model, model.objects[0])) sum += volume;
  EXPECT_NEAR(sum, 0.6 * 0.25 * 2e-3, 1e-15);
}

TEST(ClothPatterns, ATubeHasOneSeam) {
  const int nx = 12, ny = 3;
  SewnTube tube(0.6, 0.25, nx, ny);
  tube.pattern.seams_as_positioned = true;
  const Model model = sewn_model(tube.mesh, tube.pattern, {}, 2e-3);
  const Object& object = model.objects[0];
  const std::vector<BendPatch> patches = bend_patches(triangles_of(model, object));
  const std::vector<FlatStencil> flat = flat_hinges(model, object, patches);
  const std::vector<ElementGroup> groups = element_groups(model);
  ASSERT_EQ(groups.size(), 2U);
  ASSERT_EQ(flat.size(), groups[1].stencils.size());
  int seams = 0, hinges = 0;
  for (std::size_t s = 0; s < flat.size(); ++s) {
    const bool is_hinge = groups[1].stencils[s][3] >= 0;
    EXPECT_EQ(flat[s].is_given, is_hinge);
    if (!is_hinge) continue;
    ++hinges;
    seams += flat[s].keeps_angle ? 1 : 0;
    // Laid flat: a is to the left of bc and o to the right, and all have their lengths in space.
    const auto& p = flat[s].corners;
    EXPECT_GT(cross(p[1] - p[0], p[2] - p[0])[2], 0);
    EXPECT_LT(cross(p[1] - p[3], p[2] - p[3])[2], 0);
    for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}, {3, 1}, {3, 2}}) {
      const auto at = [&](int k) {
        return model.positions[static_cast<std::size_t>(groups[1].stencils[s][k])];
      };
      EXPECT_NEAR(norm(p[a] - p[b]), norm(at(a) - at(b)), 1e-12) << s << ": " << a << b;
    }
  }
  EXPECT_EQ(hinges, 2 * (2 * nx * ny + nx * (ny - 1))) << "one for each side of an edge";
  EXPECT_EQ(seams, 2 * ny);
}

// Twice as long on one side of the seam: the other one is laid beside it at half its length.
TEST(ClothPatterns, SidesOfASeamMayDifferInLength) {
  const SheetMesh mesh = pattern_square();
  const Uv places[2][3] = {{{0, 0}, {2, 0}, {2, 2}}, {{5, 1}, {6, 2}, {5, 2}}};
  const ClothPattern pattern = pattern_by(mesh.triangles, [&](std::size_t t, std::size_t n) {
    return t == 0 ? places[0][n] : places[1][n == 0 ? 0 : n - 1];
  });
  const Model model = sewn_model(mesh, pattern, {}, 1e-3);
  const std::vector<BendPatch> patches = bend_patches(model.triangles);
  ASSERT_EQ(patches.size(), 2U);
  const std::vector<FlatStencil> flat = flat_hinges(model, model.objects[0], patches);
  ASSERT_EQ(flat.size(), 2U);
  // Its height over the edge of length sqrt(8) is that of its area, 1/2: o = middle + left of (1, 1).
  const double height = 2 * 0.5 / std::sqrt(8);
  EXPECT_LT(
      norm(flat[0].corners[3] - (Vec<double, 3>{1, 1, 0} + height / std::sqrt(2) * Vec<double, 3>{-1, 1, 0})),
      1e-12);
  EXPECT_FALSE(flat[0].keeps_angle);
}

TEST(ClothPatterns, SeamsBoundPanels) {
  const SewnTube tube(0.6, 0.25, 12, 3);
  const Model one = sewn_model(tube.mesh, tube.pattern, {}, 1e-3);
  EXPECT_EQ(panels_of(one, one.objects[0]), std::vector<std::int32_t>(one.triangles.size(), 0));
  const SheetMesh mesh = pattern_square();
  ClothPattern pattern = pattern_as_drawn(mesh);
  for (Uv& p : pattern.triangles[1].corners) p[0] += 1;
  const Model two = sewn_model(mesh, pattern, {}, 1e-3);
  EXPECT_EQ(panels_of(two, two.objects[0]), (std::vector<std::int32_t>{0, 1}));
}

TEST(ClothPatterns, FaultsAreFound) {
  const SheetMesh mesh = pattern_square();
  ClothPattern pattern = pattern_as_drawn(mesh);
  EXPECT_FALSE(pattern_fault(mesh.triangles, pattern.triangles));
  // A mirrored panel is one, and so is a mirrored part that is apart.
  for (PatternTriangle& t : pattern.triangles)
    for (Uv& p : t.corners) p[1] = -p[1];
  EXPECT_FALSE(pattern_fault(mesh.triangles, pattern.triangles));
  pattern = pattern_as_drawn(mesh);
  for (Uv& p : pattern.triangles[1].corners) p = {p[1] + 3, p[0]};
  EXPECT_FALSE(pattern_fault(mesh.triangles, pattern.triangles));
  pattern = pattern_as_drawn(mesh);
  pattern.triangles[1].corners[2] = {0.8, 0.1};  // over the diagonal
  const auto fold = pattern_fault(mesh.triangles, pattern.triangles);
  ASSERT_TRUE(fold);
  EXPECT_EQ(fold->triangle, 1);
  EXPECT_EQ(fold->neighbour, 0);
  pattern.triangles[1].corners[2] = {0.5, 0.5};
  const auto flat = pattern_fault(mesh.triangles, pattern.triangles);
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->triangle, 1);
  EXPECT_EQ(flat->neighbour, -1);
  pattern.triangles[1].corners[2] = {0, std::nan("")};
  EXPECT_TRUE(pattern_fault(mesh.triangles, pattern.triangles));
}

TEST(ClothPatterns, PatternsThatDoNotFitAreRefused) {
  const SheetMesh mesh = pattern_square();
  const Model good = sewn_model(mesh, pattern_as_drawn(mesh), {}, 1e-3);
  Model bad = good;
  bad.cloth_patterns[0].triangles.pop_back();
  EXPECT_NE(pattern_refusal(bad).find("its pattern has 1 triangles, and it has 2"), std::string::npos);
  bad = good;
  bad.objects[0].cloth_pattern = 1;
  EXPECT_NE(pattern_refusal(bad).find("'sheet': it has no pattern"), std::string::npos);
  bad = good;
  bad.cloth_patterns[0].triangles[1].corners[2] = {0.8, 0.1};
  EXPECT_NE(pattern_refusal(bad).find("triangle 1 and triangle 0"), std::string::npos);
}

}  // namespace
}  // namespace stickslip
