#include "app/cli/state_pictures.h"

#include <filesystem>
#include <iostream>

#include "app/capture/png.h"
#include "app/cli/cli.h"
#include "app/io/file/output_file.h"
#include "app/render/renderer.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
constexpr int kWidth = 1280, kHeight = 720;

class ScenePictures final : public StatePictures {
 public:
  ScenePictures(fs::path folder, const Scene& scene)
      : renderer_({.interop = Interop::off}), folder_(std::move(folder)) {
    const CameraStart& camera = scene.camera;
    view_.camera = Camera::look_at(camera.position.cast<float>(), camera.target.cast<float>(),
                                   static_cast<float>(camera.fov));
    renderer_.set_scene(scene.model);
  }
  void write(std::span<const Vec<float, 3>> positions, const std::string& name) override {
    renderer_.set_positions(positions);
    std::error_code error;
    fs::create_directories(folder_, error);  // write_png reports a failure
    const fs::path file = folder_ / (name + ".png");
    write_png(file, renderer_.render_offscreen(view_, kWidth, kHeight));
    std::cerr << "image: " << file.string() << "\n";
  }

 private:
  Renderer renderer_;
  FrameView view_;
  fs::path folder_;
};

}  // namespace

std::unique_ptr<StatePictures> make_state_pictures(const std::string& folder, const Scene& scene) {
  if (folder.empty()) return nullptr;
  std::error_code error;
  if (!fs::is_directory(folder, error)) check_writable(folder);
  try {
    return std::make_unique<ScenePictures>(folder, scene);
  } catch (const NoDeviceError& none) {
    throw DeviceError(std::string("pictures need Vulkan: ") + none.what());
  }
}

}  // namespace stickslip
