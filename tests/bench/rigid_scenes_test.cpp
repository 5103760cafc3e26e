#include "bench/rigid_scenes.h"

#include <gtest/gtest.h>

#include <map>

#include "bench/box_overlap.h"

namespace stickslip {
namespace {

TEST(RigidScenes, HaveTheCountsThatTheirNamesSay) {
  const std::map<std::string, std::size_t> counts{
      {"pyramid-1k", 1015}, {"pyramid-4k", 3795}, {"pile-1k", 1000}, {"pile-4k", 4000},
      {"pile-16k", 16000},  {"wall-1k", 1012},    {"wall-4k", 4020}, {"column-4k", 4000}};
  for (const std::string& name : rigid_scene_names()) {
    const RigidScene scene = make_rigid_scene(name);
    EXPECT_EQ(scene.moving(), counts.at(name)) << name;
    EXPECT_EQ(scene.name, name);
    const std::size_t moving = scene.moving();
    for (std::size_t i = 0; i < moving; ++i) ASSERT_TRUE(scene.boxes[i].moves) << name;
  }
  EXPECT_EQ(rigid_scene_names().size(), counts.size());
  EXPECT_THROW(make_rigid_scene("wall"), std::invalid_argument);
}

TEST(RigidScenes, NothingOverlapsAtTheStart) {
  for (const std::string& name : rigid_scene_names()) {
    if (name == "pile-16k") continue;  // like the smaller ones, but takes a second
    EXPECT_LE(measure_overlaps(make_rigid_scene(name).boxes).deepest, 1e-12) << name;
  }
}

TEST(RigidScenes, PyramidsAndWallsRestOnWhatLiesBelow) {
  // Every cube of an upper layer lies on four cubes, every cube of the lowest on the floor.
  EXPECT_EQ(measure_overlaps(box_pyramid(14).boxes).touching, 4u * (1015 - 14 * 14) + 14 * 14);
  // 4 courses of 3 bricks and 4: bricks on bricks, bricks on the floor, and end to end.
  const RigidScene wall = brick_wall(4, 3);
  EXPECT_EQ(wall.moving(), 14u);
  EXPECT_EQ(measure_overlaps(wall.boxes).touching, 3u * 6 + 3 + 2 * 2 + 2 * 3);
  double highest = 0;
  for (const SceneBox& box : make_rigid_scene("wall-1k").boxes)
    highest = std::max(highest, box.pose.x[1] + box.half[1]);
  EXPECT_DOUBLE_EQ(highest, 12.5);
}

TEST(RigidScenes, SeedsMakeTheSamePileAgain) {
  const RigidScene one = box_pile(50, 3), same = box_pile(50, 3), other = box_pile(50, 4);
  EXPECT_EQ(one.boxes[49].pose.q.w, same.boxes[49].pose.q.w);
  EXPECT_NE(one.boxes[49].pose.q.w, other.boxes[49].pose.q.w);
  for (std::size_t i = 0; i < one.moving(); ++i)
    EXPECT_NEAR(norm2(one.boxes[i].pose.q.v) + one.boxes[i].pose.q.w * one.boxes[i].pose.q.w, 1, 1e-14);
}

}  // namespace
}  // namespace stickslip
