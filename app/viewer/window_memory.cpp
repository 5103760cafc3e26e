#include "app/viewer/window_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "app/io/file/output_file.h"

namespace stickslip {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

/// `value` becomes that of `key`, if there is one of its type.
template <class T>
void take(const json& from, const char* key, T& value) {
  try {
    if (from.contains(key)) value = from.at(key).get<T>();
  } catch (const json::exception&) {  // another type: it stays
  }
}

json to_json(const Camera& camera) {
  return {{"target", {camera.target[0], camera.target[1], camera.target[2]}},
          {"distance", camera.distance},
          {"yaw", camera.yaw},
          {"pitch", camera.pitch},
          {"fov", camera.fov}};
}

/// False for a camera that shows nothing.
bool read_camera(const json& from, Camera& camera) {
  std::vector<float> target;
  take(from, "target", target);
  if (target.size() != 3) return false;
  camera.target = {target[0], target[1], target[2]};
  take(from, "distance", camera.distance);
  take(from, "yaw", camera.yaw);
  take(from, "pitch", camera.pitch);
  take(from, "fov", camera.fov);
  const float sum = norm(camera.target) + camera.distance + camera.yaw + camera.pitch;
  return std::isfinite(sum) && camera.distance > 0 && camera.fov >= 1 && camera.fov <= 170;
}

}  // namespace

fs::path window_memory_file() {
  for (const auto& [variable, below] : {std::pair{"XDG_CONFIG_HOME", ""}, {"HOME", ".config"}})
    if (const char* folder = std::getenv(variable); folder != nullptr && folder[0] == '/')
      return fs::path(folder) / below / "stickslip" / "window.json";
  return {};
}

WindowMemory read_window_memory(const fs::path& file) {
  WindowMemory memory;
  std::ifstream stream(file);
  if (!stream) return memory;
  const json all = json::parse(stream, nullptr, false);
  if (!all.is_object()) return memory;
  take(all, "scene", memory.scene);
  take(all, "variant", memory.variant);
  take(all, "width", memory.width);
  take(all, "height", memory.height);
  memory.width = std::clamp(memory.width, 320, 16384);
  memory.height = std::clamp(memory.height, 240, 16384);
  std::string quality(quality_name(memory.quality));
  take(all, "quality", quality);
  try {
    memory.quality = parse_quality(quality);
  } catch (const std::invalid_argument&) {  // of another version
  }
  take(all, "panels", memory.panels);
  take(all, "patterns", memory.patterns);
  take(all, "timeline", memory.timeline_megabytes);
  memory.timeline_megabytes = std::clamp(memory.timeline_megabytes, 0.f, 4096.f);
  if (!std::isfinite(memory.timeline_megabytes))
    memory.timeline_megabytes = WindowMemory{}.timeline_megabytes;
  if (const auto overlays = all.find("overlays"); overlays != all.end())
    for (const OverlayInfo& overlay : overlay_table())
      take(*overlays, std::string(overlay.name).c_str(), memory.overlays.*overlay.flag);
  if (const auto sections = all.find("sections"); sections != all.end() && sections->is_object())
    for (const auto& [title, open] : sections->items())
      if (open.is_boolean()) memory.sections[title] = open.get<bool>();
  if (const auto cameras = all.find("cameras"); cameras != all.end() && cameras->is_object())
    for (const auto& [scene, from] : cameras->items())
      if (Camera camera; read_camera(from, camera)) memory.cameras.insert_or_assign(scene, camera);
  return memory;
}

void write_window_memory(const fs::path& file, const WindowMemory& memory) {
  json all{{"scene", memory.scene},
           {"variant", memory.variant},
           {"width", memory.width},
           {"height", memory.height},
           {"quality", quality_name(memory.quality)},
           {"panels", memory.panels},
           {"patterns", memory.patterns},
           {"timeline", memory.timeline_megabytes},
           {"sections", memory.sections}};
  for (const OverlayInfo& overlay : overlay_table())
    all["overlays"][std::string(overlay.name)] = memory.overlays.*overlay.flag;
  all["cameras"] = json::object();
  for (const auto& [scene, camera] : memory.cameras) all["cameras"][scene] = to_json(camera);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  OutputFile out(file);
  out.stream() << all.dump(1) << "\n";
  out.commit();
}

}  // namespace stickslip
