// The rules of binary glTF 2.0 (Khronos, "glTF 2.0 Specification") that its validator checks, read from the
// bytes alone: containers, references, bounds, alignment, extremes, indices, unit vectors and animations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace stickslip::test {

/// What a file violates, one line each.
class GltfRules {
 public:
  explicit GltfRules(const std::string& file) {
    if (!read_container(file)) return;
    check_views();
    for (std::size_t i = 0; i < list("accessors").size(); ++i) check_accessor(i);
    if (!faults_.empty()) return;  // below, accessors are read
    for (const json& mesh : list("meshes")) check_mesh(mesh);
    for (const json& material : list("materials")) check_material(material);
    check_nodes();
    if (!faults_.empty()) return;  // below, nodes and meshes are followed
    for (const json& animation : list("animations")) check_animation(animation);
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  using json = nlohmann::json;

  void demand(bool holds, const std::string& rule) {
    if (!holds) faults_.push_back(rule);
  }
  /// An array of the root; empty where there is none.
  const json& list(const char* name) const {
    static const json none = json::array();
    return root_.contains(name) ? root_[name] : none;
  }
  static std::size_t number(const json& of, const char* key, std::size_t otherwise) {
    return of.contains(key) ? of[key].get<std::size_t>() : otherwise;
  }

  bool read_container(const std::string& file) {
    const auto word = [&](std::size_t at) {
      std::uint32_t value = 0;
      if (at + 4 <= file.size()) std::memcpy(&value, file.data() + at, 4);
      return std::size_t{value};
    };
    demand(file.substr(0, 4) == "glTF" && word(4) == 2, "header: magic and version 2");
    demand(word(8) == file.size(), "header: the length is that of the file");
    const std::size_t text = word(12);
    demand(file.substr(16, 4) == "JSON" && text % 4 == 0 && 20 + text <= file.size(), "first chunk: JSON");
    if (!faults_.empty()) return false;
    root_ = json::parse(file.substr(20, text), nullptr, false);
    demand(root_.is_object() && root_["asset"]["version"] == "2.0", "asset: version 2.0");
    const std::size_t binary = word(20 + text);
    demand(file.substr(24 + text, 4) == std::string("BIN\0", 4) && binary % 4 == 0 &&
               28 + text + binary == file.size(),
           "second chunk: binary, to the end of the file");
    if (!faults_.empty()) return false;
    bytes_ = file.substr(28 + text);
    demand(list("buffers").size() == 1, "one buffer");
    if (!faults_.empty()) return false;
    length_ = list("buffers")[0]["byteLength"].get<std::size_t>();
    demand(length_ >= 1 && length_ <= binary && binary - length_ <= 3,
           "buffer: the chunk's length without at most three bytes of padding");
    return faults_.empty();
  }

  void check_views() {
    for (const json& view : list("bufferViews")) {
      const std::size_t offset = number(view, "byteOffset", 0), size = number(view, "byteLength", 0);
      demand(number(view, "buffer", 1) == 0, "bufferView: its buffer exists");
      demand(size >= 1 && offset + size <= length_, "bufferView: within its buffer");
      if (view.contains("target"))
        demand(view["target"] == 34962 || view["target"] == 34963, "bufferView: a known target");
      if (view.contains("byteStride")) {
        const std::size_t stride = view["byteStride"];
        demand(stride % 4 == 0 && stride >= 4 && stride <= 252, "bufferView: stride");
      }
    }
  }

  static std::size_t component_size(const json& accessor) {
    switch (accessor["componentType"].get<int>()) {
      case 5120:
      case 5121:
        return 1;
      case 5122:
      case 5123:
        return 2;
      case 5125:
      case 5126:
        return 4;
      default:
        return 0;
    }
  }
  static std::size_t width(const json& accessor) {
    const std::string type = accessor["type"];
    return type == "SCALAR" ? 1 : type == "VEC2" ? 2 : type == "VEC3" ? 3 : type == "VEC4" ? 4 : 0;
  }

  void check_accessor(std::size_t index) {
    const json& of = list("accessors")[index];
    const std::string name = "accessor " + std::to_string(index) + ": ";
    const std::size_t component = component_size(of), parts = width(of), count = number(of, "count", 0);
    demand(component > 0 && parts > 0, name + "known types");
    demand(count >= 1, name + "at least one element");
    const std::size_t at = number(of, "bufferView", list("bufferViews").size());
    demand(at < list("bufferViews").size(), name + "its bufferView exists");
    if (component == 0 || parts == 0 || count == 0 || at >= list("bufferViews").size()) return;
    const json& view = list("bufferViews")[at];
    const std::size_t element = component * parts, stride = number(view, "byteStride", element);
    const std::size_t offset = number(of, "byteOffset", 0), size = number(view, "byteLength", 0);
    demand((number(view, "byteOffset", 0) + offset) % component == 0 && stride % component == 0,
           name + "aligned to its components");
    demand(offset + stride * (count - 1) + element <= size, name + "within its bufferView");
    if (!faults_.empty()) return;
    const std::vector<double> values = read(index);
    demand(std::ranges::all_of(values, [](double x) { return std::isfinite(x); }), name + "finite numbers");
    for (const char* end : {"min", "max"}) {
      if (!of.contains(end)) continue;
      demand(of[end].size() == parts, name + end + ": a number for each component");
      if (of[end].size() != parts) continue;
      for (std::size_t k = 0; k < parts; ++k) {
        double extreme = values[k];
        for (std::size_t i = k; i < values.size(); i += parts)
          extreme = end[1] == 'i' ? std::min(extreme, values[i]) : std::max(extreme, values[i]);
        demand(static_cast<float>(of[end][k].get<double>()) == static_cast<float>(extreme),
               name + end + ": that of the data");
      }
    }
  }

  /// Floats and unsigned integers.
  std::vector<double> read(std::size_t accessor) const {
    const json& of = list("accessors")[accessor];
    const json& view = list("bufferViews")[of["bufferView"].get<std::size_t>()];
    const std::size_t component = component_size(of), parts = width(of);
    const std::size_t stride = number(view, "byteStride", component * parts);
    std::vector<double> values;
    for (std::size_t i = 0; i < of["count"].get<std::size_t>(); ++i)
      for (std::size_t k = 0; k < parts; ++k) {
        const char* at = bytes_.data() + number(view, "byteOffset", 0) + number(of, "byteOffset", 0) +
                         i * stride + k * component;
        std::uint32_t bits = 0;
        std::memcpy(&bits, at, component);
        float real = 0;
        std::memcpy(&real, &bits, 4);
        values.push_back(of["componentType"] == 5126 ? static_cast<double>(real) : bits);
      }
    return values;
  }
  bool is_accessor(const json& number, int component, const char* type, const std::string& name) {
    const bool exists = number.get<std::size_t>() < list("accessors").size();
    demand(exists, name + ": its accessor exists");
    if (!exists) return false;
    const json& of = list("accessors")[number.get<std::size_t>()];
    const bool fits = of["componentType"] == component && of["type"] == type;
    demand(fits, name + ": its types");
    return fits;
  }
  std::size_t count_of(const json& accessor) const {
    return list("accessors")[accessor.get<std::size_t>()]["count"];
  }
  bool has_extremes(const json& accessor) const {
    const json& of = list("accessors")[accessor.get<std::size_t>()];
    return of.contains("min") && of.contains("max");
  }
  /// The bufferView of an accessor has this target, or none.
  bool is_for(const json& accessor, int target) const {
    const json& of = list("accessors")[accessor.get<std::size_t>()];
    const json& view = list("bufferViews")[of["bufferView"].get<std::size_t>()];
    return !view.contains("target") || view["target"] == target;
  }
  /// Vectors of `parts` numbers.
  static bool are_unit(const std::vector<double>& values, std::size_t parts) {
    constexpr double kTolerance = 5e-3;  // the validator's is between that and 8e-3
    for (std::size_t i = 0; i + parts <= values.size(); i += parts) {
      double sum = 0;
      for (std::size_t k = 0; k < parts; ++k) sum += values[i + k] * values[i + k];
      if (!(std::abs(std::sqrt(sum) - 1) < kTolerance)) return false;
    }
    return true;
  }

  void check_mesh(const json& mesh) {
    const std::string name = "mesh " + mesh["name"].get<std::string>();
    for (const json& primitive : mesh["primitives"]) {
      const json& attributes = primitive["attributes"];
      if (!is_accessor(attributes["POSITION"], 5126, "VEC3", name + " POSITION")) continue;
      const std::size_t points = count_of(attributes["POSITION"]);
      demand(has_extremes(attributes["POSITION"]), name + ": POSITION has min and max");
      for (const auto& [key, accessor] : attributes.items()) {
        demand(count_of(accessor) == points, name + " " + key + ": one for each point");
        demand(is_for(accessor, 34962), name + " " + key + ": in a view of vertices");
      }
      if (attributes.contains("NORMAL") && is_accessor(attributes["NORMAL"], 5126, "VEC3", name + " NORMAL"))
        demand(are_unit(read(attributes["NORMAL"]), 3), name + ": unit normals");
      check_indices(primitive, points, name);
      for (const json& target : primitive.value("targets", json::array())) {
        demand(target.contains("POSITION") && has_extremes(target["POSITION"]),
               name + ": targets have min and max");
        for (const auto& [key, accessor] : target.items()) {
          demand(attributes.contains(key) && count_of(accessor) == points,
                 name + ": targets change what the primitive has");
          is_accessor(accessor, 5126, "VEC3", name + " target");
        }
      }
      demand(!mesh.contains("weights") ||
                 mesh["weights"].size() == primitive.value("targets", json::array()).size(),
             name + ": a weight for each target");
      if (primitive.contains("material"))
        demand(primitive["material"].get<std::size_t>() < list("materials").size(),
               name + ": its material exists");
    }
  }
  void check_indices(const json& primitive, std::size_t points, const std::string& name) {
    if (!primitive.contains("indices") ||
        !is_accessor(primitive["indices"], 5125, "SCALAR", name + " indices"))
      return;
    demand(count_of(primitive["indices"]) % 3 == 0, name + ": whole triangles");
    demand(is_for(primitive["indices"], 34963), name + ": indices in a view of indices");
    demand(std::ranges::all_of(read(primitive["indices"]),
                               [&](double index) { return index < static_cast<double>(points); }),
           name + ": indices of points that exist");
  }

  void check_material(const json& material) {
    const json& look = material["pbrMetallicRoughness"];
    const auto is_share = [](const json& x) { return x.get<double>() >= 0 && x.get<double>() <= 1; };
    demand(look["baseColorFactor"].size() == 4 && std::ranges::all_of(look["baseColorFactor"], is_share) &&
               is_share(look["metallicFactor"]) && is_share(look["roughnessFactor"]),
           "material: factors from 0 to 1");
  }

  void check_nodes() {
    std::set<std::size_t> roots;
    demand(number(root_, "scene", 0) < list("scenes").size(), "the scene exists");
    for (const json& scene : list("scenes"))
      for (const json& node : scene["nodes"]) {
        demand(node.get<std::size_t>() < list("nodes").size(), "scene: its nodes exist");
        demand(roots.insert(node.get<std::size_t>()).second, "scene: each node once");
      }
    for (const json& node : list("nodes")) {
      const std::string name = "node " + node["name"].get<std::string>();
      if (node.contains("mesh"))
        demand(node["mesh"].get<std::size_t>() < list("meshes").size(), name + ": its mesh exists");
      if (node.contains("rotation"))
        demand(node["rotation"].size() == 4 && are_unit(node["rotation"].get<std::vector<double>>(), 4),
               name + ": a unit quaternion");
      if (node.contains("translation")) demand(node["translation"].size() == 3, name + ": translation");
    }
  }

  void check_animation(const json& animation) {
    demand(!animation["channels"].empty() && !animation["samplers"].empty(), "animation: not empty");
    std::set<std::string> targets;
    for (const json& channel : animation["channels"]) {
      const json& target = channel["target"];
      const std::string path = target["path"];
      demand(targets.insert(target.dump()).second, "animation: one channel for each path of a node");
      const bool exists = target["node"].get<std::size_t>() < list("nodes").size() &&
                          channel["sampler"].get<std::size_t>() < animation["samplers"].size();
      demand(exists, "animation: nodes and samplers exist");
      if (exists) check_sampler(animation["samplers"][channel["sampler"].get<std::size_t>()], target, path);
    }
  }
  void check_sampler(const json& sampler, const json& target, const std::string& path) {
    const std::string name = "sampler of " + path + ": ";
    const char* type = path == "weights" ? "SCALAR" : path == "rotation" ? "VEC4" : "VEC3";
    if (!is_accessor(sampler["input"], 5126, "SCALAR", name + "input") ||
        !is_accessor(sampler["output"], 5126, type, name + "output"))
      return;
    const std::vector<double> times = read(sampler["input"]);
    demand(has_extremes(sampler["input"]), name + "times have min and max");
    demand(times[0] >= 0, name + "no time before 0");
    for (std::size_t i = 1; i < times.size(); ++i)
      if (!(times[i] > times[i - 1])) return demand(false, name + "times rise strictly");
    std::size_t each = 1;
    if (path == "weights") {
      const json& mesh =
          list("meshes")[list("nodes")[target["node"].get<std::size_t>()]["mesh"].get<std::size_t>()];
      each = mesh["primitives"][0].value("targets", json::array()).size();
    }
    demand(count_of(sampler["output"]) == each * times.size(), name + "an output for each time");
    if (path == "rotation") demand(are_unit(read(sampler["output"]), 4), name + "unit quaternions");
    const std::string how = sampler.value("interpolation", "LINEAR");
    demand(how == "LINEAR" || how == "STEP", name + "a known interpolation");
  }

  json root_;
  std::string bytes_;
  std::size_t length_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace stickslip::test
