// Binary glTF 2.0: rigid meshes move by the translation and rotation of their nodes; deforming ones have a
// morph target for each later frame, and an animation of weights that goes from one to the next.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "app/io/animation/animation.h"

namespace stickslip {
namespace {

using nlohmann::json;
using Points = std::vector<Vec3f>;

// Numbers of the specification.
constexpr int kFloat = 5126, kUnsigned = 5125, kArrayBuffer = 34962, kElementBuffer = 34963;
constexpr std::uint32_t kMagic = 0x46546C67, kJsonChunk = 0x4E4F534A, kBinaryChunk = 0x004E4942;

float linear_of(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : std::pow((srgb + 0.055f) / 1.055f, 2.4f);
}

class GltfWriter {
 public:
  explicit GltfWriter(const std::vector<MotionFrame>& frames) : frame_count_(frames.size()) {
    root_ = {{"asset", {{"version", "2.0"}, {"generator", "stickslip"}}},
             {"scene", 0},
             {"scenes", {{{"name", "run"}, {"nodes", json::array()}}}}};
    std::vector<float> times;
    times.reserve(frames.size());
    for (const MotionFrame& frame : frames) times.push_back(static_cast<float>(frame.time - frames[0].time));
    if (frame_count_ < 2) return;
    times_ = scalars(times);
    accessors_.back()["min"] = {times.front()};
    accessors_.back()["max"] = {times.back()};
  }

  void add(const MovingMesh& mesh) {
    const bool deforms = mesh.motion == MovingMesh::Motion::deforming && frame_count_ > 1;
    json primitive{{"attributes",
                    {{"POSITION", vectors(mesh.points[0], true, kArrayBuffer)},
                     {"NORMAL", vectors(mesh.normals, false, kArrayBuffer)}}},
                   {"indices", indices(mesh.triangles)},
                   {"material", material(mesh)}};
    if (deforms) add_targets(mesh, primitive);
    json shape{{"name", mesh.name}, {"primitives", {primitive}}};
    if (deforms) shape["weights"] = std::vector<float>(frame_count_ - 1, 0.f);
    meshes_.push_back(shape);
    json node{{"name", mesh.name}, {"mesh", meshes_.size() - 1}};
    const std::size_t index = nodes_.size();
    if (mesh.motion == MovingMesh::Motion::rigid) {
      const Pose& start = mesh.poses[0];
      node["translation"] = {start.x[0], start.x[1], start.x[2]};
      node["rotation"] = {start.q.v[0], start.q.v[1], start.q.v[2], start.q.w};
    }
    nodes_.push_back(node);
    root_["scenes"][0]["nodes"].push_back(index);
    if (frame_count_ < 2) return;
    if (mesh.motion == MovingMesh::Motion::rigid) animate_pose(mesh, index);
    if (deforms) animate_weights(index);
  }

  std::string finish() {
    root_["meshes"] = meshes_;
    root_["nodes"] = nodes_;
    root_["materials"] = materials_;
    if (!channels_.empty())
      root_["animations"] = {{{"name", "run"}, {"channels", channels_}, {"samplers", samplers_}}};
    root_["accessors"] = accessors_;
    root_["bufferViews"] = views_;
    root_["buffers"] = {{{"byteLength", bytes_.size()}}};
    std::string text = root_.dump();
    while (text.size() % 4 != 0) text += ' ';
    while (bytes_.size() % 4 != 0) bytes_ += '\0';
    std::string out;
    const auto word = [&](std::uint64_t value) {
      for (int k = 0; k < 4; ++k) out += static_cast<char>((value >> (8 * k)) & 0xff);
    };
    word(kMagic);
    word(2);
    word(12 + 8 + text.size() + 8 + bytes_.size());
    word(text.size());
    word(kJsonChunk);
    out += text;
    word(bytes_.size());
    word(kBinaryChunk);
    return out + bytes_;
  }

 private:
  /// A new view of the buffer for what is appended next; `target` 0: none.
  std::size_t view(std::size_t length, int target) {
    json view{{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", length}};
    if (target != 0) view["target"] = target;
    views_.push_back(view);
    return views_.size() - 1;
  }
  std::size_t accessor(std::size_t view, int component, std::size_t count, const char* type) {
    accessors_.push_back(
        {{"bufferView", view}, {"componentType", component}, {"count", count}, {"type", type}});
    return accessors_.size() - 1;
  }
  void append(std::uint32_t bits) {
    for (int k = 0; k < 4; ++k) bytes_ += static_cast<char>((bits >> (8 * k)) & 0xff);
  }
  void append(float value) { append(std::bit_cast<std::uint32_t>(value)); }

  std::size_t vectors(const Points& points, bool bounds, int target) {
    const std::size_t index = accessor(view(12 * points.size(), target), kFloat, points.size(), "VEC3");
    Vec3f low = points[0], high = points[0];
    for (const Vec3f& x : points) {
      for (int k = 0; k < 3; ++k) append(x[k]);
      low = min(low, x);
      high = max(high, x);
    }
    if (bounds) {
      accessors_[index]["min"] = {low[0], low[1], low[2]};
      accessors_[index]["max"] = {high[0], high[1], high[2]};
    }
    return index;
  }
  std::size_t scalars(const std::vector<float>& values) {
    const std::size_t index = accessor(view(4 * values.size(), 0), kFloat, values.size(), "SCALAR");
    for (const float value : values) append(value);
    return index;
  }
  std::size_t indices(const std::vector<Vec3i>& triangles) {
    const std::size_t index =
        accessor(view(12 * triangles.size(), kElementBuffer), kUnsigned, 3 * triangles.size(), "SCALAR");
    for (const Vec3i& t : triangles)
      for (int c = 0; c < 3; ++c) append(static_cast<std::uint32_t>(t[c]));
    return index;
  }
  std::size_t material(const MovingMesh& mesh) {
    const json made{{"doubleSided", mesh.two_sided},
                    {"pbrMetallicRoughness",
                     {{"baseColorFactor",
                       {linear_of(mesh.color[0]), linear_of(mesh.color[1]), linear_of(mesh.color[2]), 1}},
                      {"metallicFactor", 0},
                      {"roughnessFactor", 0.7}}}};
    const auto same = std::ranges::find(materials_, made);
    if (same != materials_.end()) return static_cast<std::size_t>(same - materials_.begin());
    materials_.push_back(made);
    return materials_.size() - 1;
  }

  /// Each later frame's differences from the first.
  void add_targets(const MovingMesh& mesh, json& primitive) {
    const auto differences = [](Points later, const Points& first) {
      for (std::size_t i = 0; i < later.size(); ++i) later[i] -= first[i];
      return later;
    };
    primitive["targets"] = json::array();
    for (std::size_t f = 1; f < frame_count_; ++f) {
      const Points normals = smooth_normals(mesh.points[f], mesh.triangles);
      primitive["targets"].push_back(
          {{"POSITION", vectors(differences(mesh.points[f], mesh.points[0]), true, kArrayBuffer)},
           {"NORMAL", vectors(differences(normals, mesh.normals), false, kArrayBuffer)}});
    }
  }

  void channel(std::size_t node, const char* path, std::size_t output) {
    samplers_.push_back({{"input", times_}, {"output", output}, {"interpolation", "LINEAR"}});
    channels_.push_back({{"sampler", samplers_.size() - 1}, {"target", {{"node", node}, {"path", path}}}});
  }
  void animate_pose(const MovingMesh& mesh, std::size_t node) {
    Points places;
    places.reserve(mesh.poses.size());
    for (const Pose& pose : mesh.poses) places.push_back(pose.x.cast<float>());
    channel(node, "translation", vectors(places, false, 0));
    const std::size_t turns = accessor(view(16 * mesh.poses.size(), 0), kFloat, mesh.poses.size(), "VEC4");
    for (const Pose& pose : mesh.poses) {
      const auto q = normalized(pose.q);
      for (const double part : {q.v[0], q.v[1], q.v[2], q.w}) append(static_cast<float>(part));
    }
    channel(node, "rotation", turns);
  }
  /// In frame f > 0 the weight of its target is one. All deforming meshes share the numbers.
  void animate_weights(std::size_t node) {
    const std::size_t targets = frame_count_ - 1;
    if (weights_ == 0) {
      std::vector<float> weights(frame_count_ * targets, 0.f);
      for (std::size_t f = 1; f < frame_count_; ++f) weights[f * targets + f - 1] = 1;
      weights_ = scalars(weights);
    }
    channel(node, "weights", weights_);
  }

  std::size_t frame_count_, times_ = 0, weights_ = 0;
  json root_;
  std::vector<json> meshes_, nodes_, materials_, channels_, samplers_, accessors_, views_;
  std::string bytes_;
};

}  // namespace

std::string gltf_bytes(const std::vector<MovingMesh>& meshes, const std::vector<MotionFrame>& frames) {
  GltfWriter writer(frames);
  for (const MovingMesh& mesh : meshes) writer.add(mesh);
  return writer.finish();
}

}  // namespace stickslip
