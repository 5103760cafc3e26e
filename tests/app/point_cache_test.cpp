// Point caches (PC2, MDD), and colliders that follow one.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/io/mesh/point_cache.h"
#include "app/io/scene/scene.h"
#include "tests/app/ipc_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using CacheFrames = std::vector<std::vector<Vec3d>>;

std::string number_bytes(std::uint32_t bits, bool big_endian) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>((bits >> 8 * (big_endian ? 3 - i : i)) & 255U);
  return out;
}
std::string whole_bytes(std::int32_t value, bool big) {
  return number_bytes(std::bit_cast<std::uint32_t>(value), big);
}
std::string real_bytes(float value, bool big) {
  return number_bytes(std::bit_cast<std::uint32_t>(value), big);
}

std::string point_bytes(const CacheFrames& frames, bool big) {
  std::string out;
  for (const auto& nodes : frames)
    for (const Vec3d& p : nodes)
      for (int c = 0; c < 3; ++c) out += real_bytes(static_cast<float>(p[c]), big);
  return out;
}

std::string pc2_bytes(const CacheFrames& frames, std::int32_t version = 1) {
  return std::string("POINTCACHE2\0", 12) + whole_bytes(version, false) +
         whole_bytes(static_cast<std::int32_t>(frames[0].size()), false) + real_bytes(1, false) +
         real_bytes(1, false) + whole_bytes(static_cast<std::int32_t>(frames.size()), false) +
         point_bytes(frames, false);
}
std::string mdd_bytes(const CacheFrames& frames, const std::vector<float>& plate_times) {
  std::string out = whole_bytes(static_cast<std::int32_t>(frames.size()), true) +
                    whole_bytes(static_cast<std::int32_t>(frames[0].size()), true);
  for (const float t : plate_times) out += real_bytes(t, true);
  return out + point_bytes(frames, true);
}

/// A plate of four nodes that turns about y and rises; coordinates are exact in single precision.
const CacheFrames plate_moves{{{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}},
                              {{-1, 0.5, 1}, {-1, 0.5, -1}, {1, 0.5, -1}, {1, 0.5, 1}},
                              {{1, 1, 1}, {-1, 1, 1}, {-1, 1, -1}, {1, 1, -1}}};
const std::vector<float> plate_times{0, 0.25, 0.5};

std::string cache_fault(const auto& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(PointCacheFile, BothKindsAreRead) {
  const PointCache a = parse_pc2(pc2_bytes(plate_moves), "a.pc2"),
                   b = parse_mdd(mdd_bytes(plate_moves, plate_times), "b.mdd");
  EXPECT_EQ(a.samples, plate_moves);
  EXPECT_EQ(a.dt, 0) << "frames are no seconds";
  EXPECT_EQ(b.samples, plate_moves);
  EXPECT_EQ(b.dt, 0.25);
  EXPECT_EQ(parse_mdd(mdd_bytes({plate_moves[0]}, {3}), "c.mdd").dt, 0) << "a single time";
}

TEST(PointCacheFile, BadFilesAreRefused) {
  const auto expect_pc2 = [](const std::string& bytes, const char* part) {
    const std::string text = cache_fault([&] { parse_pc2(bytes, "a.pc2"); });
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    EXPECT_TRUE(text.starts_with("a.pc2")) << text;
  };
  const auto expect_mdd = [](const std::string& bytes, const char* part) {
    const std::string text = cache_fault([&] { parse_mdd(bytes, "a.mdd"); });
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  };
  const std::string good = pc2_bytes(plate_moves);
  expect_pc2("POINTCACHE", "begins with POINTCACHE2");
  expect_pc2(good.substr(0, 20), "the first frame");
  expect_pc2(pc2_bytes(plate_moves, 2), "has version 2");
  for (std::size_t cut = 1; cut < 12; ++cut) expect_pc2(good.substr(0, good.size() - cut), "follow");
  expect_pc2(good + "x", "have 144 bytes, and 145 follow");
  std::string wrong = good;
  wrong.replace(16, 4, whole_bytes(0, false));
  expect_pc2(wrong, "the number of points is 0");
  wrong.replace(16, 4, whole_bytes(0x7fffffff, false)).replace(28, 4, whole_bytes(0x7fffffff, false));
  expect_pc2(wrong, "is the file truncated?");
  wrong = good;
  wrong.replace(40, 4, real_bytes(std::nanf(""), false));
  expect_pc2(wrong, "is not finite");
  expect_mdd(mdd_bytes(plate_moves, {0, 0.25F, 0.6F}), "equal steps");
  expect_mdd(mdd_bytes(plate_moves, {0, 0, 0}), "equal steps");
  expect_mdd(mdd_bytes(plate_moves, {0, std::nanf(""), 1}), "equal steps");
  expect_mdd(mdd_bytes(plate_moves, plate_times).substr(0, 30), "is the file truncated?");
  expect_mdd(pc2_bytes(plate_moves), "is the file truncated?");
  EXPECT_NE(cache_fault([] { load_point_cache("a.abc"); }).find("a .pc2 or .mdd file"), std::string::npos);
  EXPECT_NE(cache_fault([] { load_point_cache("/nowhere/a.pc2"); }), "");
}

class CachedCollider : public ::testing::Test {
 protected:
  testing::IpcFolder folder;

  void SetUp() override {
    std::filesystem::create_directories(folder.root / "moves");
    folder.write("plate.obj", obj(plate_moves[0]));
    for (std::size_t i = 0; i < plate_moves.size(); ++i)
      folder.write("moves/" + std::to_string(i) + ".obj", obj(plate_moves[i]));
    write("a.pc2", pc2_bytes(plate_moves));
    write("a.mdd", mdd_bytes(plate_moves, plate_times));
  }
  static std::string obj(const std::vector<Vec3d>& nodes) {
    std::string text;
    for (const Vec3d& p : nodes)
      text += "v " + std::to_string(p[0]) + " " + std::to_string(p[1]) + " " + std::to_string(p[2]) + "\n";
    return text + "f 1 3 2\nf 1 4 3\n";
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder.root / name, std::ios::binary) << bytes;
  }
  ScriptedNodes follow(const std::string& sequence) const {
    return parse_scene(
               "[[material]]\nname = 'm'\n[[object]]\nname = 'box'\nshape = 'box'\nsize = [1, 1, 1]\n"
               "edge = 1\nposition = [0, 3, 0]\n[[collider]]\nname = 'plate'\nfile = 'plate.obj'\n"
               "sequence = { " +
                   sequence + " }\n",
               folder.root / "test.toml")
        .model.scripted.at(0);
  }
  void expect_refused(const std::string& sequence, const std::string& part) const {
    const std::string text = cache_fault([&] { follow(sequence); });
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
};

TEST_F(CachedCollider, MovesAsWithNumberedMeshes) {
  const ScriptedNodes meshes = follow("folder = 'moves', dt = 0.1");
  ASSERT_EQ(meshes.frames, plate_moves);
  for (const char* file : {"a.pc2", "a.mdd"}) {
    const ScriptedNodes cache = follow("file = '" + std::string(file) + "', dt = 0.1");
    EXPECT_EQ(cache.frames, meshes.frames) << file;
    EXPECT_EQ(cache.frame_dt, meshes.frame_dt) << file;
    EXPECT_EQ(cache.nodes, meshes.nodes) << file;
    EXPECT_EQ(follow("file = '" + std::string(file) + "', dt = 0.1, first = 1").frames,
              follow("folder = 'moves', dt = 0.1, first = 1").frames)
        << file;
  }
  EXPECT_EQ(follow("file = 'a.mdd'").frame_dt, 0.25) << "of its times";
}

TEST_F(CachedCollider, MistakesAreRefused) {
  expect_refused("file = 'a.pc2'", "needs dt");
  expect_refused("dt = 0.1", "either the folder of numbered meshes or file");
  expect_refused("file = 'a.pc2', folder = 'moves', dt = 0.1", "either the folder");
  expect_refused("file = 'a.pc2', dt = 0.1, first = 3", "has 3 samples");
  expect_refused("file = 'b.pc2', dt = 0.1", "b.pc2");
  expect_refused("file = 'plate.obj', dt = 0.1", "a .pc2 or .mdd file");
  expect_refused("file = 'a.pc2', dt = 0.1, speed = 2", "speed");
  write("three.pc2", pc2_bytes({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}));
  expect_refused("file = 'three.pc2', dt = 0.1", "has 3 nodes, and the collider 4");
}

}  // namespace
}  // namespace stickslip
