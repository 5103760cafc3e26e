// States without the nodes that follow others.
#include "gpu/model/compact_state.h"

#include <gtest/gtest.h>

#include "gpu/model/affine.h"

namespace stickslip {
namespace {

/// An affine tet, a deformable one, and their motion at t = 0.
Model affine_and_soft() {
  Model model;
  model.material_names = {"soft"};
  model.materials = {Material{}};
  const std::vector<Vec4i> tets{{0, 1, 2, 3}};
  const std::vector<Vec<double, 3>> nodes{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  add_affine(model, "affine", nodes, tets, 0);
  std::vector<Vec<double, 3>> above = nodes;
  for (Vec<double, 3>& x : above) x[1] += 3;
  add_solid(model, "soft", above, tets, 0);
  for (std::size_t i = 0; i < model.node_count(); ++i) {
    const Vec<double, 3>& x = model.positions[i];
    model.velocities[i] = {0.5 * x[1], 1 + x[2], -2 * x[0]};
  }
  finalize(model);
  return model;
}

State start_of(const Model& model) { return {7, 0.25, model.positions, model.velocities}; }

TEST(CompactState, NodesOfAffineBodiesFollowTheirControlNodes) {
  const Model model = affine_and_soft();
  const StateCompactor compactor(model);
  const State start = start_of(model);
  const State kept = compactor.compact(start);
  EXPECT_EQ(kept.positions.size(), model.node_count() - 4) << "the four nodes of the mesh follow";
  EXPECT_EQ(kept.velocities.size(), kept.positions.size());
  const State again = compactor.expand(kept);
  ASSERT_EQ(again.positions.size(), model.node_count());
  EXPECT_EQ(again.frame, 7);
  EXPECT_EQ(again.time, 0.25);
  for (std::size_t i = 0; i < model.node_count(); ++i) {
    EXPECT_LT(norm(again.positions[i] - start.positions[i]), 1e-14) << i;
    EXPECT_LT(norm(again.velocities[i] - start.velocities[i]), 1e-14) << i;
  }
}

TEST(CompactState, ExpandsNothingThatWasNotCompact) {
  const Model model = affine_and_soft();
  const StateCompactor compactor(model);
  State moved = start_of(model);
  moved.positions[0][0] += 1;  // a node that follows, where it should not be
  EXPECT_EQ(compactor.expand(moved).positions[0], moved.positions[0]);
  EXPECT_LT(norm(compactor.expand(compactor.compact(moved)).positions[0] - model.positions[0]), 1e-14);
}

TEST(CompactState, AStateOfAnotherModelStaysAsItIs) {
  const StateCompactor compactor(affine_and_soft());
  State other;
  other.positions.assign(3, {1, 2, 3});
  other.velocities.assign(3, {0, 0, 0});
  EXPECT_EQ(compactor.compact(other).positions.size(), 3u);
  EXPECT_EQ(StateCompactor().compact(other).positions.size(), 3u);
  EXPECT_EQ(StateCompactor().expand(other).positions.size(), 3u);
}

}  // namespace
}  // namespace stickslip
