// Cloth from patterns: texture coordinates of OBJ files, and the keys of scenes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/io/mesh/surface_parse.h"
#include "app/io/scene/scene.h"
#include "app/io/scene/scene_edit.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Uv = Vec<double, 2>;

/// A strip of two squares in space, which share the nodes 3 and 4. Their texture coordinates do not: the
/// second square lies apart.
const std::string kSewnNodes = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nv 0 0 2\nv 1 0 2\n";
const std::string kSewnCoordinates =
    "vt 0 0\nvt 10 0\nvt 0 10\nvt 10 10\nvt 20 0\nvt 30 0\nvt 20 10\nvt 30 10 0\n";
const std::string kSewnFaces = "f 1/1/9 2/2/9 4/4/9 3/3/9\nf -4/-4 -3/-3 -1/-1 -2/-2\n";
const std::string kSewnObj = kSewnNodes + kSewnCoordinates + kSewnFaces;

void expect_sewn_refusal(const std::string& text, std::initializer_list<const char*> parts) {
  std::string message;
  try {
    parse_sewn_obj(text, "a.obj");
  } catch (const InputError& error) {
    message = error.what();
  }
  ASSERT_FALSE(message.empty()) << "accepted:\n" << text;
  for (const char* part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

TEST(SewnObj, TextureCoordinatesAreKeptPerCorner) {
  const SewnSurface sewn = parse_sewn_obj(kSewnObj, "a.obj");
  EXPECT_EQ(sewn.surface.nodes.size(), 6U);
  ASSERT_EQ(sewn.surface.triangles.size(), 4U);
  ASSERT_EQ(sewn.pattern.size(), 4U);
  for (std::size_t t = 0; t < 4; ++t)
    for (int c = 0; c < 3; ++c) {
      const Vec<double, 3>& p = sewn.surface.nodes[static_cast<std::size_t>(sewn.surface.triangles[t][c])];
      const Uv want = t < 2 ? Uv{10 * p[0], 10 * p[2]} : Uv{20 + 10 * p[0], 10 * (p[2] - 1)};
      EXPECT_EQ(sewn.pattern[t].corners[c], want) << t << " " << c;
    }
  const SurfaceMesh plain = parse_obj(kSewnObj, "a.obj");
  EXPECT_EQ(plain.nodes, sewn.surface.nodes);
  EXPECT_EQ(plain.triangles, sewn.surface.triangles);
}

TEST(SewnObj, CornersOfConcavePolygonsKeepTheirs) {
  const SewnSurface sewn = parse_sewn_obj(
      "v 9 9 9\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0\nv 0 2 0\nvt 5 5\nvt 0 0\nvt 4 0\nvt 4 4\nvt 2 1\nvt 0 "
      "4\n"
      "f 5/5 6/6 2/2 3/3 4/4\n",
      "a.obj");
  ASSERT_EQ(sewn.pattern.size(), 3U);
  for (std::size_t t = 0; t < 3; ++t)
    for (int c = 0; c < 3; ++c) {
      const Vec<double, 3>& p = sewn.surface.nodes[static_cast<std::size_t>(sewn.surface.triangles[t][c])];
      EXPECT_EQ(sewn.pattern[t].corners[c], (Uv{2 * p[0], 2 * p[1]}));
    }
}

TEST(SewnObj, FaultsNameTheLine) {
  const std::string plane = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
  expect_sewn_refusal(plane + "f 1/1 2/2 3/3\nf 1 3 4\n", {"a.obj:10: ", "no texture coordinate"});
  expect_sewn_refusal(plane + "f 1/1 2/2 3/3\nf 1//1 3//1 4//1\n", {"a.obj:10: ", "no texture coordinate"});
  expect_sewn_refusal(plane + "f 1/1 2/2 3/\n", {"a.obj:9: ", "no texture coordinate"});
  expect_sewn_refusal(plane + "f 1/1 2/2 3/x\n", {"a.obj:9: ", "number of a vt"});
  expect_sewn_refusal(plane + "f 1/1 2/2 3/0\n", {"a.obj:9: ", "number of a vt"});
  expect_sewn_refusal(plane + "f 1/1 2/2 3/5\n", {"a.obj:9: ", "texture coordinate 5 of 4"});
  expect_sewn_refusal(plane + "f 1/1 2/2 3/-5\n", {"a.obj:9: ", "texture coordinate 0 of 4"});
  expect_sewn_refusal("vt 1\n" + plane, {"a.obj:1: ", "needs u and v"});
  expect_sewn_refusal("vt 1 1e99\n" + plane, {"a.obj:1: ", "not finite"});
  // No area, and a flipped triangle.
  expect_sewn_refusal(plane + "f 1/1 2/2 3/3\n\nf 1/1 3/3 4/3\n", {"a.obj:11: ", "no area in the pattern"});
  expect_sewn_refusal(plane + "f 1/1 2/2 3/3\nf 1/1 3/3 4/2\n",
                      {"a.obj:10: ", "same side of their edge", "line 9"});
  // A mirrored panel is fine.
  EXPECT_EQ(parse_sewn_obj(plane + "f 1/1 2/4 3/3 4/2\n", "a.obj").pattern.size(), 2U);
}

class SceneSewn : public testing::Test {
 protected:
  SceneSewn() { std::ofstream(folder / "strip.obj") << kSewnObj; }
  ~SceneSewn() override { std::filesystem::remove_all(folder); }

  /// A scene of one cloth with these keys.
  std::string scene(const std::string& keys, const std::string& file = "strip.obj") const {
    return "[[material]]\nname = 'cotton'\n[[object]]\nname = 'strip'\nbody = 'cloth'\nthickness = 1e-3\n"
           "file = '" +
           file + "'\n" + keys;
  }
  Model model_of(const std::string& text) const { return parse_scene(text, folder / "test.toml").model; }
  void expect_error(const std::string& text, std::initializer_list<const char*> parts) const {
    std::string message;
    try {
      model_of(text);
    } catch (const InputError& error) {
      message = error.what();
    }
    ASSERT_FALSE(message.empty()) << "accepted:\n" << text;
    for (const char* part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }

  const std::filesystem::path folder = [] {
    const auto path = std::filesystem::path(testing::TempDir()) / "stickslip_sewn";
    std::filesystem::create_directories(path);
    return path;
  }();
};

TEST_F(SceneSewn, ThePatternIsTheRestShape) {
  const Model model =
      model_of(scene("rest = 'pattern'\npattern_scale = 0.09\nrotation = [10, 20, 30]\nseam_angle = "
                     "'start'\ncount = [1, 2, 1]\n"
                     "spacing = [0, 1, 0]\n"));
  ASSERT_EQ(model.objects.size(), 2U);
  ASSERT_EQ(model.cloth_patterns.size(), 1U);
  EXPECT_TRUE(model.cloth_patterns[0].seams_as_positioned);
  for (const Object& object : model.objects) {
    EXPECT_TRUE(object.is_sewn());
    EXPECT_NEAR(solid_volume(model, object), 2 * 0.9 * 0.9 * 1e-3, 1e-15);
  }
  const Model flat = model_of(scene("rest = 'pattern'\npattern_scale = 0.1\n"));
  EXPECT_FALSE(flat.cloth_patterns[0].seams_as_positioned);
  EXPECT_FALSE(model_of(scene("rest = 'start'\n")).objects[0].is_sewn());
  EXPECT_FALSE(model_of(scene("")).objects[0].is_sewn());
}

// The scale of the object is one of its start alone.
TEST_F(SceneSewn, TheScaleOfTheObjectLeavesThePattern) {
  const Model model = model_of(scene("rest = 'pattern'\npattern_scale = 0.1\nscale = 1.02\n"));
  EXPECT_NEAR(solid_volume(model, model.objects[0]), 2e-3, 1e-15);
  EXPECT_NEAR(norm(model.positions[1] - model.positions[0]), 1.02, 1e-12);
}

TEST_F(SceneSewn, ChangedScenesKeepThePattern) {
  const std::string text =
      scene("rest = 'pattern'\npattern_scale = 0.09\nseam_angle = 'start'\nposition = [0, 1, 0]\n");
  const std::filesystem::path file = folder / "test.toml";
  const std::string copy = text + "[[object]]\n" + object_copy(text, file, "strip", "copy", {0, 2, 0});
  const std::string moved =
      with_moved_tables(copy, file, model_of(copy), {"copy"}, Pose{{0, 1, 0}, Quat::identity()});
  const Model model = model_of(moved);
  ASSERT_EQ(model.objects.size(), 2U);
  for (const Object& object : model.objects) {
    EXPECT_TRUE(object.is_sewn());
    EXPECT_TRUE(pattern_of(model, object).seams_as_positioned);
    EXPECT_NEAR(solid_volume(model, object), 2 * 0.9 * 0.9 * 1e-3, 1e-15);
  }
}

TEST_F(SceneSewn, BadKeysAreRefused) {
  expect_error(scene("rest = 'straight'\n"), {"rest", "no rest shape 'straight'", "pattern"});
  expect_error(scene("rest = 'pattern'\n"), {"pattern_scale", "metres per unit"});
  expect_error(scene("rest = 'pattern'\npattern_scale = 0\n"), {"pattern_scale", "0"});
  expect_error(scene("rest = 'pattern'\npattern_scale = 1\n"),
               {"pattern_scale", "10 times as long", "0.1 would fit"});
  expect_error(scene("rest = 'pattern'\npattern_scale = 0.1\nwarp = [1, 0, 0]\n"), {"warp", "along u"});
  expect_error(scene("rest = 'pattern'\npattern_scale = 0.1\nseam_angle = 'round'\n"),
               {"seam_angle", "no angle of seams 'round'"});
  expect_error(scene("pattern_scale = 0.1\n"), {"pattern_scale", "rest = \"pattern\""});
  expect_error(scene("seam_angle = 'flat'\n"), {"seam_angle", "rest = \"pattern\""});
  expect_error(
      "[[material]]\nname = 'm'\n[[object]]\nname = 'a'\nbody = 'cloth'\nshape = 'sheet'\nsize = [1, "
      "1]\nedge = "
      "0.1\nthickness = 1e-3\nrest = 'pattern'\npattern_scale = 1\n",
      {"rest", "needs a file"});
  std::ofstream(folder / "bare.obj") << kSewnNodes << "f 1 2 4 3\n";
  expect_error(scene("rest = 'pattern'\npattern_scale = 0.1\n", "bare.obj"),
               {"test.toml:7", "file", "bare.obj:7", "no texture coordinate"});
  std::ofstream(folder / "bare.stl") << "solid a\n";
  expect_error(scene("rest = 'pattern'\npattern_scale = 0.1\n", "bare.stl"), {"is no .obj"});
}

}  // namespace
}  // namespace stickslip
