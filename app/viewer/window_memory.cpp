#include "app/viewer/window_memory.h"

#include <algorithm>
#include <array>
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

/// Which states of contacts are shown, by their names.
struct ShownFlag {
  const char* name;
  bool ContactFilter::*shown;
};
constexpr std::array<ShownFlag, kShownStates> kShownFlags{{{"open", &ContactFilter::open},
                                                           {"stick", &ContactFilter::stick},
                                                           {"slip", &ContactFilter::slip},
                                                           {"unconverged", &ContactFilter::unconverged}}};

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

/// `value` becomes the choice whose label `from` has below `key`, if there is one.
template <class Table, class Choice>
void take_choice(const json& from, const char* key, const Table& table, Choice value_of, auto& value) {
  std::string label;
  take(from, key, label);
  for (const auto& info : table)
    if (info.label == label) value = info.*value_of;
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
  if (const auto marks = all.find("marks"); marks != all.end()) {
    take_choice(*marks, "colours", contact_scale_table(), &ContactScaleInfo::scale, memory.scale);
    take_choice(*marks, "arrows", force_arrows_table(), &ForceArrowsInfo::arrows, memory.arrows);
    take_choice(*marks, "surfaces", surface_colors_table(), &SurfaceColorsInfo::colors, memory.surfaces);
    for (const ShownFlag& flag : kShownFlags) take(*marks, flag.name, memory.filter.*flag.shown);
  }
  if (const auto pictures = all.find("pictures"); pictures != all.end()) {
    take(*pictures, "scale", memory.pictures.scale);
    take(*pictures, "transparent", memory.pictures.transparent);
    take(*pictures, "rate", memory.pictures.rate);
    memory.pictures.scale = std::clamp(memory.pictures.scale, 1, 4);
    memory.pictures.rate = std::clamp(memory.pictures.rate, 1, 1000);
  }
  if (const auto lab = all.find("lab"); lab != all.end()) {
    const RaceSettings usual;
    take(*lab, "tolerance", memory.race.tolerance);
    take(*lab, "seconds", memory.race.time_budget);
    take(*lab, "warm", memory.race.warm);
    take(*lab, "steps", memory.stepper_race.steps);
    if (!(memory.race.tolerance >= 1e-15 && memory.race.tolerance <= 1))
      memory.race.tolerance = usual.tolerance;
    if (!(memory.race.time_budget > 0 && memory.race.time_budget <= 1e6))
      memory.race.time_budget = usual.time_budget;
    memory.stepper_race.steps = std::clamp(memory.stepper_race.steps, 1, 1000);
  }
  std::string output;
  take(all, "output", output);
  if (fs::path(output).is_absolute()) memory.output = output;
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
           {"sections", memory.sections},
           {"output", memory.output.string()}};
  json& marks = all["marks"];
  marks = {{"colours", contact_scale_table()[static_cast<std::size_t>(memory.scale)].label},
           {"arrows", force_arrows_table()[static_cast<std::size_t>(memory.arrows)].label},
           {"surfaces", surface_colors_table()[static_cast<std::size_t>(memory.surfaces)].label}};
  for (const ShownFlag& flag : kShownFlags) marks[flag.name] = memory.filter.*flag.shown;
  all["pictures"] = {{"scale", memory.pictures.scale},
                     {"transparent", memory.pictures.transparent},
                     {"rate", memory.pictures.rate}};
  all["lab"] = {{"tolerance", memory.race.tolerance},
                {"seconds", memory.race.time_budget},
                {"warm", memory.race.warm},
                {"steps", memory.stepper_race.steps}};
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
