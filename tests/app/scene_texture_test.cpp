#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "app/io/scene/grey_image.h"
#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

std::string complaint_of(std::string_view pgm) {
  try {
    parse_pgm(pgm, "map.pgm");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GreyImage, TextAndBinaryReadAlike) {
  const std::vector<std::uint16_t> grey{0, 1, 2, 100, 200, 255};
  for (const std::string& file : {std::string("P2\n# a comment\n3 2\n255\n0 1 2\n100 # more\n200 255"),
                                  std::string("P5 3 2\n# a comment\n255\n\0\1\2\x64\xc8\xff", 36)}) {
    const GreyImage image = parse_pgm(file, "map.pgm");
    EXPECT_EQ(image.columns, 3);
    EXPECT_EQ(image.rows, 2);
    EXPECT_EQ(image.white, 255);
    EXPECT_EQ(image.grey, grey);
  }
  const GreyImage wide = parse_pgm(std::string("P5 2 1 1000\n\0\1\3\xe8", 16), "map.pgm");
  EXPECT_EQ(wide.grey, (std::vector<std::uint16_t>{1, 1000}));
}

TEST(GreyImage, BadFilesSayWhereAndWhy) {
  EXPECT_EQ(complaint_of("P6 1 1 255 a"), "map.pgm:1: is no portable graymap: those begin with P2 or P5");
  EXPECT_EQ(complaint_of("P2\n0 2 255"),
            "map.pgm:2: '0' should be the number of columns, a whole number in [1, 4096]");
  EXPECT_EQ(complaint_of("P2\n2 2\n70000"),
            "map.pgm:3: '70000' should be the largest grey, a whole number in [1, 65535]");
  EXPECT_EQ(complaint_of("P2 2 1 9\n1\n12"), "map.pgm:3: '12' should be a grey, a whole number in [0, 9]");
  EXPECT_EQ(complaint_of("P2 2 1 9\n1 "), "map.pgm:2: the file ends where a grey should be");
  EXPECT_EQ(complaint_of("P2 2 1"), "map.pgm:1: the file ends where the largest grey should be");
  EXPECT_EQ(complaint_of("P5 1 1 255"), "map.pgm:1: the file ends where the image should be");
  EXPECT_EQ(complaint_of("P5 2 1 9\n\1\12"), "map.pgm: byte 10: grey 10 is above the largest, 9");
  EXPECT_NE(complaint_of("P5 20 10 9\n\1").find("200 greys follow, but only 1 bytes do"), std::string::npos);
  EXPECT_NE(complaint_of("P2 4096 4096 9 1").find("is the file truncated?"), std::string::npos);
}

class SceneTexture : public ::testing::Test {
 protected:
  SceneTexture() : folder(fs::temp_directory_path() / ("textures" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
    write("ramp.pgm", "P2 3 1 179\n0 90 45\n");
  }
  ~SceneTexture() override { fs::remove_all(folder); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  Scene parse(const std::string& material, const std::string& object = "") const {
    return parse_scene("[[material]]\nname = 'wood'\n" + material +
                           "\n[[object]]\nname = 'box'\nbody = 'rigid'\nshape = 'box'\nsize = [1, 2, 3]\n" +
                           object,
                       folder / "scene.toml");
  }
  void expect_refused(const std::string& material, std::initializer_list<const char*> parts) const {
    try {
      parse(material);
      ADD_FAILURE() << "accepted: " << material;
    } catch (const InputError& error) {
      for (const char* part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
            << error.what() << "\nlacks " << part;
    }
  }

  fs::path folder;
};

TEST_F(SceneTexture, GreysOfADirectionMapAreSharesOfAHalfTurn) {
  const Scene scene = parse(
      "friction_kind = 'elliptic'\ntexture = { file = 'ramp.pgm', kind = 'direction', size = [0.3, 0.1] }");
  ASSERT_EQ(scene.model.textures.size(), 1u);
  const SurfaceTexture& t = scene.model.textures[0];
  EXPECT_EQ(t.material, 0);
  EXPECT_EQ(t.kind, TextureKind::direction);
  EXPECT_EQ(t.columns, 3);
  EXPECT_EQ(t.size, (Vec<double, 2>{0.3, 0.1}));
  for (std::size_t i = 0; i < 3; ++i) {
    const double angle = std::numbers::pi / 180 * std::array{0, 90, 45}[i];  // 180 steps: degrees
    EXPECT_NEAR(t.texels[i][0], std::cos(2 * angle), 1e-7);
    EXPECT_NEAR(t.texels[i][1], std::sin(2 * angle), 1e-7);
  }
}

TEST_F(SceneTexture, GreysOfAHeightMapAreSharesOfItsDepth) {
  const Scene scene =
      parse("texture = { file = 'ramp.pgm', kind = 'height', size = 0.3, depth = 0.179, patch = 0.2 }");
  const SurfaceTexture& t = scene.model.textures[0];
  EXPECT_EQ(t.kind, TextureKind::height);
  EXPECT_EQ(t.size, (Vec<double, 2>{0.3, 0.3}));
  EXPECT_EQ(t.patch, (Vec<double, 2>{0.2, 0.2}));
  for (std::size_t i = 0; i < 3; ++i)  // 0, 90 and 45 mm, 100 mm apart
    EXPECT_NEAR(t.texels[i][0], -2 / std::numbers::pi * std::atan(std::array{0.9, -0.45, -0.45}[i]), 1e-6);
  const Scene plain = parse("texture = { file = 'ramp.pgm', kind = 'height', size = 0.3, depth = 0.1 }");
  EXPECT_LT(norm(plain.model.textures[0].patch - Vec<double, 2>{0.3, 0.3}), 1e-15);  // all of it
}

/// The frame of a texture is the frame in which the scene gives the shape, turned onto the grain. It does not
/// depend on the principal axes of the body.
TEST_F(SceneTexture, LiesAlongTheGrainOfTheShape) {
  const std::string texture = "texture = { file = 'ramp.pgm', kind = 'height', size = 0.3, depth = 0.1 }";
  const std::string turned = "position = [1, 2, 3]\nrotation = [0, 90, 0]\n";
  const auto frame_of = [&](const std::string& object) {
    const stickslip::Body body = parse(texture, object).model.bodies[0];
    return body.pose * body.texture_frame;
  };
  const auto expect_axes = [](const Pose& frame, const Vec3d& x, const Vec3d& y) {
    EXPECT_LT(norm(frame.q.rotate({1, 0, 0}) - x), 1e-14);
    EXPECT_LT(norm(frame.q.rotate({0, 1, 0}) - y), 1e-14);
  };
  expect_axes(frame_of(turned), {0, 0, -1}, {0, 1, 0});
  EXPECT_LT(norm(frame_of(turned).x - Vec3d{1, 2, 3}), 1e-15);
  expect_axes(frame_of(turned + "grain = [0, 0, 2]\n"), {1, 0, 0}, {0, 1, 0});
  expect_axes(frame_of("grain = [0, -1, 0]\n"), {0, -1, 0}, {0, 0, 1});
  expect_axes(frame_of("grain = [3, 4, 0]\n"), {0.6, 0.8, 0}, {-0.8, 0.6, 0});
  // Two balls side by side: neither the centre of mass nor the principal axes agree with the scene's frame.
  const Scene pair = parse_scene(
      "[[material]]\nname = 'wood'\n" + texture +
          "\n[[object]]\nname = 'pair'\nbody = 'rigid'\nposition = [1, 0, 0]\nparts = [{ shape = 'sphere', "
          "radius = 0.1, position = [0.5, 0.4, 0.1] }, { shape = 'sphere', radius = 0.2 }]\n",
      folder / "scene.toml");
  const stickslip::Body& body = pair.model.bodies[0];
  const Pose frame = body.pose * body.texture_frame;
  EXPECT_LT(norm(frame.x - Vec3d{1, 0, 0}), 1e-14);
  expect_axes(frame, {1, 0, 0}, {0, 1, 0});
}

TEST_F(SceneTexture, MistakesAreNamed) {
  const std::string map = "file = 'ramp.pgm', size = 0.3";
  expect_refused("texture = { " + map + " }", {"scene.toml:3", "texture", "kind"});
  expect_refused("texture = { " + map + ", kind = 'hight' }", {"kind of texture", "'height'"});
  expect_refused("texture = { " + map + ", kind = 'height' }", {"depth"});
  expect_refused("texture = { " + map + ", kind = 'height', depth = -1 }", {"depth", "-1"});
  expect_refused("texture = { " + map + ", kind = 'direction' }",
                 {"texture", "direction map needs friction_kind"});
  const std::string elliptic = "friction_kind = 'elliptic'\n";
  expect_refused(elliptic + "texture = { " + map + ", kind = 'direction', depth = 1 }", {"depth", "unknown"});
  expect_refused(elliptic + "texture = { file = 'ramp.pgm', kind = 'direction', size = [1, 0] }",
                 {"size", "positive"});
  expect_refused("texture = { " + map + ", kind = 'height', depth = 1, patch = 4 }",
                 {"patch", "at most 32 texels"});
  expect_refused("texture = { file = 'rmap.pgm', kind = 'height', size = 1, depth = 1 }",
                 {"file", "rmap.pgm", "no such file"});
  write("bad.pgm", "P2 3 1 9\n0 1\nx");
  expect_refused("texture = { file = 'bad.pgm', kind = 'height', size = 1, depth = 1 }",
                 {"bad.pgm:3", "a grey"});
  expect_refused("texture = 3", {"texture", "must be a table"});
}

}  // namespace
}  // namespace stickslip
