#include <gtest/gtest.h>

#include <cmath>

#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

const std::string material = "[[material]]\nname = 'soft'\n";
const std::string unit_box = "[[object]]\nname = 'box'\nshape = 'box'\nsize = [1, 1, 1]\nedge = 0.5\n";
const std::string array = "count = [2, 3, 1]\nspacing = [2, 2, 2]\n";

Scene parse_at(const std::string& text, std::optional<double> scale = {}) {
  return parse_scene(text, "folder/test.toml", scale);
}

std::string error_of(const std::string& text, std::optional<double> scale = {}) {
  try {
    parse_at(text, scale);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SceneScale, DividesTheEdgesOfObjectsAndColliders) {
  const std::string scene =
      material + unit_box + "[[collider]]\nname = 'floor'\nshape = 'plane'\nsize = [4, 4]\n";
  const auto floor_triangles = [](const Scene& s) {
    return s.model.objects[1].triangle_end - s.model.objects[1].triangle_begin;
  };
  const Scene one = parse_at(scene + "edge = 1\n"), two = parse_at("scale = 2\n" + scene + "edge = 1\n");
  EXPECT_EQ(one.scale, 1);
  EXPECT_EQ(two.scale, 2);
  EXPECT_EQ(one.model.tets.size(), 5u * 8);
  EXPECT_EQ(two.model.tets.size(), 5u * 64);
  EXPECT_EQ(floor_triangles(one), 2 * 16);
  EXPECT_EQ(floor_triangles(two), 2 * 64);
  EXPECT_EQ(floor_triangles(parse_at("scale = 2\n" + scene)), 2) << "an edge that is not given stays coarse";
  EXPECT_EQ(parse_at(material + unit_box, 1.5).model.tets.size(), 5u * 27) << "a scale need not be whole";
  for (const auto& p : two.model.positions) EXPECT_LE(std::abs(p[0]), 2 + 1e-12) << "no length changes";
}

TEST(SceneScale, ThatOfTheCallReplacesTheScenes) {
  EXPECT_EQ(parse_at("scale = 3\n" + material + unit_box, 2).model.tets.size(), 5u * 64);
  EXPECT_EQ(parse_at("scale = 3\n" + material + unit_box, 1).scale, 1);
}

TEST(SceneScale, AnArrayMayGrowInLayersInstead) {
  const Scene scene = parse_at("scale = 1.5\n" + material + unit_box + array + "grow = 'count'\n");
  ASSERT_EQ(scene.model.objects.size(), 2u * 5) << "3 layers times 1.5, rounded";
  EXPECT_EQ(scene.model.tets.size(), 10u * 5 * 8);
  double top = 0;
  for (const auto& p : scene.model.positions) top = std::max(top, p[1]);
  EXPECT_NEAR(top, 4 * 2 + 0.5, 1e-12);
  EXPECT_EQ(parse_at("scale = 2\n" + material + unit_box + array + "grow = 'edge'\n").model.tets.size(),
            6u * 5 * 64);
}

TEST(SceneScale, TheFirstLayersOfAGrownArrayAreThoseOfTheSmallOne) {
  const std::string text = material + unit_box + array + "jitter = 0.2\ntumble = 20\ngrow = 'count'\n";
  const Scene small = parse_at(text), large = parse_at(text, 4);
  ASSERT_GT(large.model.positions.size(), small.model.positions.size());
  for (std::size_t i = 0; i < small.model.positions.size(); ++i)
    ASSERT_EQ(small.model.positions[i], large.model.positions[i]);
}

TEST(SceneScale, AnArrayMayGrowInBulk) {
  const Scene scene = parse_at("scale = 4\n" + material + unit_box + array + "grow = 'bulk'\n");
  ASSERT_EQ(scene.model.objects.size(), 24u) << "twice as many along both axes, one along the third";
  Vec<double, 3> low = scene.model.positions[0], high = low;
  for (const auto& p : scene.model.positions) {
    low = min(low, p);
    high = max(high, p);
  }
  EXPECT_LT(norm(low - Vec<double, 3>{-2.5, -0.5, -0.5}), 1e-12) << "the middle of 0 and 2 stays";
  EXPECT_LT(norm(high - Vec<double, 3>{4.5, 10.5, 0.5}), 1e-12);
  const std::string cube = "count = [4, 4, 4]\nspacing = [2, 2, 2]\ngrow = 'bulk'\n";
  EXPECT_EQ(parse_at(material + unit_box + cube, 8).model.objects.size(), 512u);
  EXPECT_EQ(parse_at(material + unit_box + cube, 1).model.objects.size(), 64u);
  EXPECT_EQ(parse_at(material + unit_box + cube, 2).model.objects.size(), 125u);  // 5.04 along each
}

TEST(SceneScale, TumbleTurnsEachInstanceAboutItsOwnMiddle) {
  const std::string text =
      material + unit_box + "position = [5, 0, 0]\ncount = [2, 1, 1]\nspacing = [3, 0, 0]\n";
  const Scene still = parse_at(text), tumbled = parse_at(text + "tumble = 90\n");
  for (const Object& object : tumbled.model.objects) {
    Vec<double, 3> middle{0, 0, 0};
    double moved = 0;
    for (int i = object.node_begin; i < object.node_end; ++i) {
      middle += tumbled.model.positions[i] / double(object.node_end - object.node_begin);
      moved = std::max(moved, norm(tumbled.model.positions[i] - still.model.positions[i]));
    }
    EXPECT_NEAR(norm(middle - Vec<double, 3>{object.node_begin == 0 ? 5.0 : 8.0, 0, 0}), 0, 1e-12);
    EXPECT_GT(moved, 0.1);
  }
  const auto shape = [&](int i) {
    const auto& x = tumbled.model.positions;
    const int begin = tumbled.model.objects[i].node_begin;
    return x[begin + 1] - x[begin];
  };
  EXPECT_GT(norm(shape(0) - shape(1)), 0.01) << "each in its own way";
}

TEST(SceneScale, RefusesWhatItCannotDo) {
  const auto expect_error = [](const std::string& error, std::initializer_list<const char*> parts) {
    ASSERT_FALSE(error.empty());
    for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
  };
  expect_error(error_of("scale = 0.5\n" + material + unit_box), {"test.toml:1", "scale", "[1, 100]"});
  expect_error(error_of("scale = 101\n" + material + unit_box), {"test.toml:1", "scale", "[1, 100]"});
  expect_error(error_of("scale = 'big'\n" + material + unit_box), {"test.toml:1", "scale", "a string"});
  expect_error(error_of(material + unit_box + "grow = 'count'\n"), {"grow", "belongs to an array"});
  expect_error(error_of(material + unit_box + array + "grow = 'counts'\n"),
               {"grow", "did you mean 'count'?"});
  expect_error(error_of(material + unit_box + "tumble = 5\n"), {"tumble", "belongs to an array"});
  expect_error(error_of(material + unit_box + array + "tumble = 181\n"), {"tumble", "[0, 180]"});
  expect_error(error_of("scale = 100\n" + material + unit_box + "scale = 1\n"),
               {"[[object]]", "edge is too short"});
  EXPECT_THROW(load_scene("drop", 0.5), InputError);
  EXPECT_THROW(load_scene("drop", std::nan("")), InputError);
  EXPECT_THROW(load_scene("some/script.txt", 2.0), InputError);
}

}  // namespace
}  // namespace stickslip
