// Runs as moving meshes. The files are read back here and compared with the engine's positions.
#include "app/io/animation/animation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/io/mesh/mesh.h"
#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Motion = MovingMesh::Motion;
using Points = std::vector<Vec3f>;

struct ShortRun {
  Scene scene;
  std::vector<MotionFrame> frames;
  std::vector<MovingMesh> meshes;

  explicit ShortRun(const std::string& name, int steps = 8, double rate = 1e5) : scene(load_scene(name)) {
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
    engine->set_params(scene.params);
    engine->set_contact_params(scene.contact_params);
    engine->load(scene.model);
    MotionRecording recording(rate);
    for (int i = 0; i <= steps; ++i) {
      if (i > 0) engine->step();
      Snapshot snapshot;
      engine->snapshot(snapshot);
      if (recording.wants(snapshot.time)) recording.add(snapshot);
    }
    frames = recording.frames();
    meshes = moving_meshes(scene.model, frames);
  }
};

/// A binary glTF file, with its chunks checked.
struct Gltf {
  json root;
  std::string bytes;

  explicit Gltf(const std::string& file) {
    const auto word = [&](std::size_t at) {
      std::uint32_t value = 0;
      std::memcpy(&value, file.data() + at, 4);
      return value;
    };
    EXPECT_EQ(file.substr(0, 4), "glTF");
    EXPECT_EQ(word(4), 2u);
    EXPECT_EQ(word(8), file.size());
    const std::uint32_t text = word(12);
    EXPECT_EQ(file.substr(16, 4), "JSON");
    root = json::parse(file.substr(20, text));
    EXPECT_EQ(word(20 + text), file.size() - 28 - text);
    EXPECT_EQ(file.substr(24 + text, 4), std::string("BIN\0", 4));
    EXPECT_EQ(text % 4, 0u);
    bytes = file.substr(28 + text);
    EXPECT_GE(bytes.size(), root["buffers"][0]["byteLength"].get<std::size_t>());
  }

  std::vector<float> floats(std::size_t accessor) const {
    const json& of = root["accessors"][accessor];
    EXPECT_EQ(of["componentType"], 5126);
    const std::string type = of["type"];
    const std::size_t width = type == "SCALAR" ? 1 : type == "VEC3" ? 3 : 4;
    const std::size_t count = width * of["count"].get<std::size_t>();
    const json& view = root["bufferViews"][of["bufferView"].get<std::size_t>()];
    EXPECT_EQ(view["byteLength"], 4 * count);
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes.data() + view["byteOffset"].get<std::size_t>(), 4 * count);
    return values;
  }
  Points points(std::size_t accessor) const {
    const std::vector<float> values = floats(accessor);
    Points points;
    for (std::size_t i = 0; i + 2 < values.size(); i += 3)
      points.push_back({values[i], values[i + 1], values[i + 2]});
    return points;
  }
  /// The output of the animation of a node's `path` in its last frame.
  std::vector<float> last(std::size_t node, const std::string& path, std::size_t width) const {
    for (const json& channel : root["animations"][0]["channels"])
      if (channel["target"]["node"] == node && channel["target"]["path"] == path) {
        const json& sampler = root["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()];
        const std::vector<float> all = floats(sampler["output"]);
        return {all.end() - static_cast<std::ptrdiff_t>(width), all.end()};
      }
    return {};
  }
  /// The points of a node's mesh in the world at the end of the animation.
  Points at_end(std::size_t node) const {
    const json& primitive = root["meshes"][root["nodes"][node]["mesh"].get<std::size_t>()]["primitives"][0];
    Points x = points(primitive["attributes"]["POSITION"]);
    if (primitive.contains("targets")) {
      const std::vector<float> weights = last(node, "weights", primitive["targets"].size());
      for (std::size_t t = 0; t < weights.size(); ++t) {
        if (weights[t] == 0) continue;
        const Points change = points(primitive["targets"][t]["POSITION"]);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += weights[t] * change[i];
      }
    }
    const std::vector<float> shift = last(node, "translation", 3), turn = last(node, "rotation", 4);
    if (shift.empty()) return x;
    const QuatT<float> q{turn[3], {turn[0], turn[1], turn[2]}};
    EXPECT_NEAR(q.w * q.w + norm2(q.v), 1, 1e-5);
    for (Vec3f& point : x) point = Vec3f{shift[0], shift[1], shift[2]} + q.rotate(point);
    return x;
  }
};

/// Every point is where some node of the model is in the last frame.
void expect_at_nodes(const Points& points, const Object& object, const MotionFrame& frame, float reach) {
  for (const Vec3f& x : points) {
    float nearest = 1e30f;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
      nearest = std::min(nearest, norm(x - frame.positions[static_cast<std::size_t>(i)]));
    ASSERT_LT(nearest, reach) << object.name;
  }
}

TEST(Animation, GltfEndsWhereTheRunEnds) {
  for (const char* name : {"drop", "card-house", "mixed", "cloth-sphere"}) {
    SCOPED_TRACE(name);
    const ShortRun run(name);
    const Gltf gltf(gltf_bytes(run.meshes, run.frames));
    const std::size_t objects = run.meshes.size() - run.scene.model.half_spaces.size();
    ASSERT_EQ(gltf.root["nodes"].size(), run.meshes.size());
    ASSERT_EQ(objects, run.scene.model.objects.size());
    for (std::size_t o = 0; o < objects; ++o) {
      EXPECT_EQ(gltf.root["nodes"][o]["name"], run.scene.model.objects[o].name);
      expect_at_nodes(gltf.at_end(o), run.scene.model.objects[o], run.frames.back(), 2e-6f);
    }
    for (const json& mesh : gltf.root["meshes"]) {
      const json& of =
          gltf.root["accessors"][mesh["primitives"][0]["attributes"]["POSITION"].get<std::size_t>()];
      const Points points = gltf.points(mesh["primitives"][0]["attributes"]["POSITION"]);
      for (int k = 0; k < 3; ++k) {
        float low = points[0][k], high = points[0][k];
        for (const Vec3f& x : points) low = std::min(low, x[k]), high = std::max(high, x[k]);
        EXPECT_EQ(of["min"][static_cast<std::size_t>(k)].get<float>(), low);
        EXPECT_EQ(of["max"][static_cast<std::size_t>(k)].get<float>(), high);
      }
    }
  }
}

TEST(Animation, ABoxHasCreasesAndABallHasNone) {
  const ShortRun boxes("box-stack", 1);
  const MovingMesh& box = boxes.meshes[0];
  EXPECT_EQ(box.motion, Motion::rigid);
  EXPECT_EQ(box.points[0].size(), 24u) << "each corner with three normals";
  for (const Vec3f& normal : box.normals)
    EXPECT_NEAR(std::max({std::abs(normal[0]), std::abs(normal[1]), std::abs(normal[2])}), 1, 1e-4);
  const ShortRun balls("collisions", 1);
  bool seen = false;
  for (std::size_t o = 0; o < balls.scene.model.objects.size(); ++o) {
    const Object& object = balls.scene.model.objects[o];
    if (balls.meshes[o].motion != Motion::rigid) continue;
    seen = true;
    EXPECT_LE(balls.meshes[o].points[0].size(),
              static_cast<std::size_t>(object.node_end - object.node_begin));
  }
  EXPECT_TRUE(seen);
}

TEST(Animation, RodsAreTubesOfTheirDiameter) {
  const ShortRun run("hair-band", 3);
  bool seen = false;
  for (const MovingMesh& mesh : run.meshes) {
    if (mesh.strands.empty()) continue;
    seen = true;
    for (std::size_t f = 0; f < run.frames.size(); ++f) {
      ASSERT_EQ(mesh.points[f].size(), 6 * mesh.strand_points[f].size());
      for (std::size_t i = 0; i < mesh.points[f].size(); ++i)
        ASSERT_NEAR(norm(mesh.points[f][i] - mesh.strand_points[f][i / 6]), mesh.diameter / 2,
                    1e-3 * mesh.diameter);
    }
    // Outward: the volume of the tubes is positive.
    double volume = 0;
    for (const Vec3i& t : mesh.triangles) {
      const auto at = [&](int c) {
        return (mesh.points[0][static_cast<std::size_t>(t[c])] - mesh.points[0][0]).cast<double>();
      };
      volume += dot(at(0), cross(at(1), at(2))) / 6;
    }
    EXPECT_GT(volume, 0);
  }
  EXPECT_TRUE(seen);
}

TEST(Animation, KeepsFramesAtItsRate) {
  const ShortRun all("box-stack", 8), some("box-stack", 8, 30);
  EXPECT_EQ(all.frames.size(), 9u);
  ASSERT_EQ(some.frames.size(), 5u);
  for (std::size_t f = 0; f < some.frames.size(); ++f)
    EXPECT_NEAR(some.frames[f].time, static_cast<double>(f) / 30, 1e-9);
}

class AnimationFileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  const fs::path folder = fs::temp_directory_path() / ("stickslip-animation-" + std::to_string(getpid()));
};

TEST_F(AnimationFileTest, SequencesAreReadBack) {
  const ShortRun run("slope", 4);
  for (const char* ending : {".obj", ".ply"}) {
    const std::vector<fs::path> files =
        write_animation(folder / (std::string("run") + ending), run.scene.model, run.frames);
    ASSERT_EQ(files.size(), run.frames.size());
    EXPECT_EQ(files[3].filename(), std::string("run_00003") + ending);
    const SurfaceMesh mesh = load_surface(files.back());
    std::size_t points = 0, triangles = 0;
    for (const MovingMesh& part : run.meshes) {
      points += part.points[0].size();
      triangles += part.triangles.size();
    }
    EXPECT_EQ(mesh.triangles.size(), triangles);
    Points first;
    for (std::size_t i = 0; i < run.meshes[0].points[0].size() && i < mesh.nodes.size(); ++i)
      first.push_back(mesh.nodes[i].cast<float>());
    expect_at_nodes(first, run.scene.model.objects[0], run.frames.back(), 1e-5f);
  }
}

TEST_F(AnimationFileTest, UsdHasASampleForEachFrame) {
  const ShortRun run("everything", 4);
  const std::string text = usda_text(run.meshes, run.frames);
  EXPECT_EQ(text.rfind("#usda 1.0", 0), 0u);
  const auto count = [&](const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("{"), count("}"));
  EXPECT_EQ(count("def Mesh"), run.meshes.size());
  std::size_t rigid = 0, deforming = 0;
  for (const MovingMesh& mesh : run.meshes) {
    rigid += mesh.motion == Motion::rigid;
    deforming += mesh.motion == Motion::deforming;
  }
  EXPECT_GT(rigid, 0u);
  EXPECT_GT(deforming, 0u);
  EXPECT_EQ(count("xformOp:translate.timeSamples"), rigid);
  EXPECT_EQ(count("point3f[] points.timeSamples"), deforming);
  EXPECT_EQ(count("\n            4: "), 2 * rigid + 2 * deforming) << "the last of five frames";
}

TEST_F(AnimationFileTest, RefusesWhatItCannotWrite) {
  EXPECT_THROW(check_animation_file(folder / "run.fbx"), InputError);
  EXPECT_THROW(check_animation_file(folder / "none" / "run.glb"), InputError);
  EXPECT_THROW(write_animation(folder / "run.glb", load_scene("slope").model, {}), InputError);
  const ShortRun run("slope", 0);
  ASSERT_EQ(run.frames.size(), 1u);
  const Gltf still(gltf_bytes(run.meshes, run.frames));
  EXPECT_FALSE(still.root.contains("animations")) << "one frame does not move";
  EXPECT_NO_THROW(usda_text(run.meshes, run.frames));
}

}  // namespace
}  // namespace stickslip
