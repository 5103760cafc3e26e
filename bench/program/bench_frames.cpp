#include "bench/program/bench_frames.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/position_feed.h"
#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

using nlohmann::json;
using FrameClock = std::chrono::steady_clock;

constexpr int kPictures = 60;
constexpr int kPictureWidth = 1280, kPictureHeight = 720;

struct FrameCost {
  Sharing sharing;
  std::size_t nodes = 0;
  int pictures = 0;
  double handed_over = 0, drawn = 0;  // [s] per picture: handing over positions, and drawing; medians
  double bytes = 0;                   // of positions copied to the host per picture
};

double middle(std::vector<double>& values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half);
  return *half;
}

double lap(FrameClock::time_point& since) {
  const FrameClock::time_point now = FrameClock::now();
  return std::chrono::duration<double>(now - std::exchange(since, now)).count();
}

FrameCost measure_frames(Engine& engine, const Scene& scene, Interop interop, int pictures) {
  load_into(engine, scene);
  Renderer renderer({.quality = Quality::light, .interop = interop});
  renderer.set_scene(scene.model);
  PositionFeed feed(renderer, engine);
  FrameView view;
  view.camera = Camera::look_at(scene.camera.position.cast<float>(), scene.camera.target.cast<float>(),
                                static_cast<float>(scene.camera.fov));
  renderer.render_offscreen(view, kPictureWidth, kPictureHeight);  // one-time allocations
  const std::uint64_t before = feed.bytes_copied();
  std::vector<double> handed_over, drawn;
  for (int i = 0; i < pictures; ++i) {
    engine.step();
    FrameClock::time_point since = FrameClock::now();
    feed.update();
    handed_over.push_back(lap(since));
    renderer.render_offscreen(view, kPictureWidth, kPictureHeight);
    drawn.push_back(lap(since));
  }
  return {feed.sharing(), scene.model.node_count(),
          pictures,       middle(handed_over),
          middle(drawn),  static_cast<double>(feed.bytes_copied() - before) / pictures};
}

json frames_row(const std::string& scene, const FrameCost& cost) {
  const std::string way = describe(cost.sharing);
  std::printf("  %-16s %9zu %9.3f %9.3f %9.3f %12.0f  %s\n", scene.c_str(), cost.nodes,
              1e3 * cost.handed_over, 1e3 * cost.drawn, 1e3 * (cost.handed_over + cost.drawn), cost.bytes,
              way.c_str());
  std::fflush(stdout);
  return {{"scene", scene},
          {"nodes", cost.nodes},
          {"pictures", cost.pictures},
          {"way", way},
          {"hand_over_ms", 1e3 * cost.handed_over},
          {"draw_ms", 1e3 * cost.drawn},
          {"bytes_copied", cost.bytes}};
}

}  // namespace

json bench_frames(const BackendInfo& backend, const BenchOptions& options, const EngineFactory& factory) {
  const std::vector<std::string> names =
      options.scenes.empty() ? std::vector<std::string>{"drop"} : options.scenes;
  const int pictures = options.frames.value_or(kPictures);
  json rows = json::array(), figures = json::array();
  std::string device;
  try {
    device = Renderer({.quality = Quality::light}).device_name();
  } catch (const NoDeviceError& error) {
    throw DeviceError(std::string("bench frames draws pictures: ") + error.what());
  }
  std::printf("frames on %s (%s), drawn by %s: %d pictures of %dx%d, light\n  %-16s %9s %9s %9s %9s %12s\n",
              backend.name.c_str(), backend.device.c_str(), device.c_str(), pictures, kPictureWidth,
              kPictureHeight, "scene", "nodes", "hand over", "draw", "sum [ms]", "bytes copied");
  for (const std::string& name : names) {
    const std::unique_ptr<Engine> engine = factory(backend.backend, options.threads);
    const Scene scene = load_scene(name, options.scale);
    for (const Interop interop : {Interop::automatic, Interop::off}) {
      const FrameCost cost = measure_frames(*engine, scene, interop, pictures);
      rows.push_back(frames_row(scene.name, cost));
      figures.push_back({{"name", scene.name + ", interop " + (interop == Interop::off ? "off" : "auto")},
                         {"value", 1e3 * (cost.handed_over + cost.drawn)},
                         {"unit", "ms/picture"},
                         {"floor", nullptr},
                         {"floor_name", ""}});
    }
  }
  return {{"bench", "frames"},      {"backend", backend.name},    {"device", backend.device},
          {"drawn_by", device},     {"threads", options.threads}, {"figures", std::move(figures)},
          {"rows", std::move(rows)}};
}

}  // namespace stickslip
