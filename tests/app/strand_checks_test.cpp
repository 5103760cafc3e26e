// Strands that pass through each other or through surfaces, and those that a band holds.
#include "bench/program/reproduce/strand_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// A strand along x at the height 0, and one along z at the height y.
Model two_strands(double y) {
  Model model;
  model.materials.emplace_back();
  model.material_names.emplace_back("fibre");
  add_rods(model, "along-x", {{-1, 0, 0}, {0.1, 0, 0}, {1, 0, 0}}, {{0, 1}, {1, 2}}, 0, 0.01);
  add_rods(model, "along-z", {{0, y, -1}, {0, y, 1}}, {{0, 1}}, 0, 0.01);
  return model;
}

NodePositions moved(const Model& model, const char* name, const Vec3d& by) {
  NodePositions positions = model.positions;
  for (const Object& object : model.objects)
    if (object.name == name)
      for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
        positions[static_cast<std::size_t>(i)] += by;
  return positions;
}

TEST(StrandChecks, APassageWithinAStepIsCrossed) {
  const Model model = two_strands(0.3);
  EXPECT_EQ(crossed_segments(model, model.positions, model.positions), 0u);
  EXPECT_EQ(crossed_segments(model, model.positions, moved(model, "along-z", {0, -0.2, 0})), 0u);
  EXPECT_EQ(crossed_segments(model, model.positions, moved(model, "along-z", {0, -0.6, 0})), 1u);
  // Past its end.
  EXPECT_EQ(
      crossed_segments(model, moved(model, "along-z", {2, 0, 0}), moved(model, "along-z", {2, -0.6, 0})), 0u);
  EXPECT_EQ(strand_count(model), 2u);
}

TEST(StrandChecks, ASegmentThatPassesThroughATrianglePiercesIt) {
  Model model = two_strands(0.3);
  add_collider(model, "board", {{-0.2, 0.5, -0.2}, {0.4, 0.5, -0.2}, {-0.2, 0.5, 0.4}}, {{0, 2, 1}}, 0, {});
  EXPECT_EQ(pierced_triangles(model, model.positions), 0u);
  // Upright, through the board.
  NodePositions upright = model.positions;
  const Object& strand = model.objects[1];
  upright[static_cast<std::size_t>(strand.node_end - 2)] = {0, 0.3, 0};
  upright[static_cast<std::size_t>(strand.node_end - 1)] = {0, 0.7, 0};
  EXPECT_EQ(pierced_triangles(model, upright), 1u);
  upright[static_cast<std::size_t>(strand.node_end - 1)] = {0, 0.49, 0};
  EXPECT_EQ(pierced_triangles(model, upright), 0u);
}

TEST(StrandChecks, ABandHoldsWhatGoesThroughIt) {
  Model model;
  model.materials.emplace_back();
  model.material_names.emplace_back("fibre");
  for (const double x : {-0.05, 0.05, 0.3})
    add_rods(model, "strand", {{x, 0.4, 0}, {x, 0.1, 0}, {x, -0.2, 0}}, {{0, 1}, {1, 2}}, 0, 0.01);
  EXPECT_FALSE(held_strands(model, model.positions).has_band);
  std::vector<Vec3d> ring;
  std::vector<Vec2i> edges;
  for (int i = 0; i < 12; ++i) {
    const double turn = 2 * std::numbers::pi * i / 12;
    ring.push_back({0.2 * std::cos(turn), 0, 0.2 * std::sin(turn)});
    edges.push_back({i, (i + 1) % 12});
  }
  // Off its middle, so that no strand passes through an edge of its triangles.
  for (Vec3d& x : ring) x += Vec3d{0.01, 0, 0.003};
  add_rods(model, "band", ring, edges, 0, 0.01);
  EXPECT_EQ(strand_count(model), 3u);
  const HeldStrands held = held_strands(model, model.positions);
  EXPECT_TRUE(held.has_band);
  EXPECT_EQ(held.strands, 2);
  EXPECT_NEAR(held.spread, 0.05, 1e-12);
  EXPECT_NEAR(held.height, 0, 1e-12);
  const HeldStrands fallen = held_strands(model, moved(model, "band", {0, -0.3, 0}));
  EXPECT_EQ(fallen.strands, 0);
  EXPECT_NEAR(fallen.height, -0.3, 1e-12);
}

}  // namespace
}  // namespace stickslip
