// Trees of the broad phase in snapshots, frames and pictures.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/io/scene/scene.h"
#include "app/render/contact_scale.h"
#include "app/render/glyphs.h"
#include "gpu/engine.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip {
namespace {

/// Two boxes above the ground and one beside them that stands still.
Scene three_boxes(const std::string& head, const std::string& body) {
  std::string text = head + "[[material]]\nname = \"wood\"\nyoung = 1e6\n[[half_space]]\n";
  for (const auto& [name, height] : {std::pair("low", "0.2"), {"high", "0.6"}})
    text.append("[[object]]\nname = \"")
        .append(name)
        .append("\"\nshape = \"box\"\nsize = [0.2, 0.2, 0.2]\nedge = 0.1\nmaterial = \"wood\"\n")
        .append(body)
        .append("position = [0, ")
        .append(height)
        .append(", 0]\n");
  text.append(
      "[[collider]]\nname = \"wall\"\nshape = \"box\"\nsize = [0.1, 1, 1]\nedge = 0.5\n"
      "material = \"wood\"\nposition = [-1, 0.5, 0]\n");
  return parse_scene(text, "/somewhere/boxes.toml");
}

std::vector<TreeBox> tree_after_a_step(const Scene& scene) {
  const auto engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  engine->load(scene.model);
  engine->step();
  Snapshot snapshot;
  snapshot.wants_tree = true;
  engine->snapshot(snapshot);
  const std::vector<TreeBox> tree = snapshot.tree;
  for (const std::int32_t node : scene.model.surface_nodes) {
    const Vec3f& x = snapshot.positions[static_cast<std::size_t>(node)];
    EXPECT_TRUE(std::ranges::any_of(tree, [&](const TreeBox& box) {
      return box.is_leaf && min(box.low, x) == box.low && max(box.high, x) == box.high;
    })) << "each node of a surface is in a leaf";
  }
  snapshot.wants_tree = false;
  engine->snapshot(snapshot);
  EXPECT_TRUE(snapshot.tree.empty());
  return tree;
}

std::ptrdiff_t count_leaves(const std::vector<TreeBox>& tree) {
  return std::ranges::count(tree, true, &TreeBox::is_leaf);
}

std::ptrdiff_t count_roots(const std::vector<TreeBox>& tree) {
  return std::ranges::count(tree, 0, &TreeBox::depth);
}

TEST(TreeOverlay, OfBarrierStepsIsOverTriangles) {
  const Scene scene = three_boxes("solver = \"ipc\"\n", "");
  const std::vector<TreeBox> tree = tree_after_a_step(scene);
  EXPECT_EQ(count_leaves(tree), static_cast<std::ptrdiff_t>(scene.model.triangles.size()));
  EXPECT_EQ(count_roots(tree), 1);
}

TEST(TreeOverlay, AtVelocityLevelIsOverBodies) {
  const std::vector<TreeBox> tree = tree_after_a_step(three_boxes("", "body = \"rigid\"\n"));
  EXPECT_EQ(count_leaves(tree), 3);
  EXPECT_EQ(count_roots(tree), 2) << "of those that move, and of the wall";
}

TEST(TreeOverlay, FramesHaveTheTreeOfTheStepThatLedToThem) {
  Simulation simulation(
      [] { return make_engine(Backend::cpu, 1); },
      [](const std::string&, const std::string&) { return three_boxes("", "body = \"rigid\"\n"); });
  const auto tree = [&]() -> const std::vector<TreeBox>& { return simulation.frame().snapshot.tree; };
  simulation.post(LoadScene{"a"});
  simulation.want_tree(true);
  for (int i = 0; i < 3; ++i) simulation.step_once();
  ASSERT_TRUE(test::reached(simulation, [&] {
    return simulation.is_caught_up() && simulation.frame().snapshot.frame == 3 && !tree().empty();
  }));
  simulation.post(Rewind{1});
  ASSERT_TRUE(test::reached(simulation, [&] {
    return simulation.frame().snapshot.frame == 1 && tree().empty();
  })) << "no step led to a restored state";
  simulation.step_once();
  ASSERT_TRUE(test::reached(simulation, [&] { return !tree().empty(); }));
  simulation.want_tree(false);
  simulation.step_once();
  ASSERT_TRUE(
      test::reached(simulation, [&] { return simulation.frame().snapshot.frame == 3 && tree().empty(); }));
  simulation.want_tree(true);
  ASSERT_TRUE(test::reached(simulation, [&] { return !tree().empty(); })) << "without a step";
}

TEST(TreeOverlay, ABoxIsTwelveLinesInTheColourOfItsDepth) {
  const std::vector<TreeBox> tree{{{0, 0, 0}, {4, 1, 1}, 0, false},
                                  {{0, 0, 0}, {1, 1, 1}, 1, true},
                                  {{2, 0, 0}, {4, 1, 1}, 1, false},
                                  {{2, 0, 0}, {3, 1, 1}, 2, true},
                                  {{3, 0, 0}, {4, 1, 1}, 2, true}};
  FrameView view;
  view.tree = tree;
  for (const auto& [level, boxes] : {std::pair(0, 1), {1, 2}, {2, 3}, {9, 3}}) {
    view.tree_level = level;
    std::vector<shared::Glyph> glyphs;
    draw_tree(glyphs, view);
    EXPECT_EQ(glyphs.size(), static_cast<std::size_t>(12 * boxes)) << level;
    const Vec3f root = scale_color(0);
    if (level == 0) {
      EXPECT_EQ(glyphs.front().color.x, root[0]);
    }
  }
  // Of very many only a part is drawn.
  std::vector<TreeBox> many(12000, TreeBox{{0, 0, 0}, {1, 1, 1}, 1, true});
  view.tree = many;
  view.tree_level = 1;
  std::vector<shared::Glyph> glyphs;
  draw_tree(glyphs, view);
  EXPECT_LE(glyphs.size(), 12u * 5000u);
  EXPECT_GE(glyphs.size(), 12u * 3000u);
}

}  // namespace
}  // namespace stickslip
