#include "app/cli/frame_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <regex>
#include <stdexcept>

#include "app/capture/png.h"
#include "app/capture/recorder.h"
#include "app/cli/failures.h"
#include "app/cli/position_feed.h"
#include "app/io/file/memory.h"
#include "app/io/file/output_file.h"
#include "app/render/renderer.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

struct Size {
  int width, height;
};

Size parse_size(const std::string& text) {
  std::smatch match;
  if (std::regex_match(text, match, std::regex("([0-9]{1,5})x([0-9]{1,5})"))) {
    const Size size{std::stoi(match[1]), std::stoi(match[2])};
    if (std::min(size.width, size.height) >= 16 && std::max(size.width, size.height) <= 8192) return size;
  }
  throw InputError("--size " + text + ": must be WIDTHxHEIGHT, each in [16, 8192], as in 1280x720");
}

// Containers in which ffmpeg accepts H.264.
constexpr std::string_view kVideoEndings[] = {".mp4", ".m4v", ".mov", ".mkv"};

void check_places(const RunOptions& options) {
  if (!options.image.empty()) {
    if (fs::path(options.image).extension() != ".png")
      throw InputError("--image " + options.image + ": must end in .png");
    check_writable(options.image);
  }
  if (!options.video.empty()) {
    const std::string ending = fs::path(options.video).extension().string();
    if (std::find(std::begin(kVideoEndings), std::end(kVideoEndings), ending) == std::end(kVideoEndings))
      throw InputError("--video " + options.video + ": must end in .mp4, .m4v, .mov or .mkv");
    check_writable(options.video);
  }
  std::error_code error;
  if (!options.images.empty() && !fs::is_directory(options.images, error)) check_writable(options.images);
}

/// Drivers and encoders crash on a failed allocation.
void check_address_space(Size size) {
  const double picture = 4.0 * size.width * size.height, needed = 0x1p29 + 16 * picture,
               left = address_space_left();
  if (left >= needed) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "pictures need about %.2g GiB of address space, and %.2g GiB are left: raise ulimit -v",
                needed / 0x1p30, left / 0x1p30);
  throw std::runtime_error(text);
}

class PictureWriter final : public FrameWriter {
 public:
  PictureWriter(const RunOptions& options, const Scene& scene, Size size)
      : renderer_({.interop = parse_interop(options.interop)}), size_(size), image_(options.image) {
    const CameraStart& camera = scene.camera;
    view_.camera = Camera::look_at(camera.position.cast<float>(), camera.target.cast<float>(),
                                   static_cast<float>(camera.fov));
    renderer_.set_scene(scene.model);
    if (!options.images.empty()) images_ = record_images(options.images);
    if (!options.video.empty()) {
      // Players show at most 60 pictures a second. With shorter steps, frames are skipped so that the video
      // runs in real time.
      stride_ = std::max(1, static_cast<int>(std::ceil(1 / (60 * scene.params.dt) - 1e-6)));
      video_ = record_video(options.video, 1 / (stride_ * scene.params.dt));
    }
  }

  void add(Engine& engine) override {
    if (!feed_) feed_.emplace(renderer_, engine);
    const bool for_video = video_ && count_ % stride_ == 0;
    ++count_;
    feed_->update();
    if (!images_ && !for_video) return;
    const Image picture = renderer_.render_offscreen(view_, size_.width, size_.height);
    if (images_) add(images_, picture);
    if (for_video) add(video_, picture);
  }

  void finish() override {
    Failures failures;
    failures.of([&] { write_image(); });
    failures.of([&] { finish(images_, "images: "); });
    failures.of([&] { finish(video_, "video: "); });
    failures.rethrow();
  }

 private:
  static void add(std::unique_ptr<Recorder>& recorder, const Image& picture) {
    try {
      recorder->add(picture);
    } catch (...) {
      recorder.reset();
      throw;
    }
  }
  static void finish(std::unique_ptr<Recorder>& recorder, const char* what) {
    if (!recorder) return;
    recorder->finish();
    std::cerr << what << recorder->output().string() << "\n";
    if (!recorder->note().empty()) std::cerr << "stickslip: " << recorder->note() << "\n";
  }
  void write_image() {
    if (image_.empty()) return;
    write_png(image_, renderer_.render_offscreen(view_, size_.width, size_.height));
    std::cerr << "image: " << image_.string() << "\n";
  }

  Renderer renderer_;
  std::optional<PositionFeed> feed_;
  FrameView view_;
  Size size_;
  fs::path image_;
  std::unique_ptr<Recorder> images_, video_;
  int stride_ = 1, count_ = 0;
};

}  // namespace

std::unique_ptr<FrameWriter> make_frame_writer(const RunOptions& options, const Scene& scene) {
  const Size size = parse_size(options.size);
  if (options.image.empty() && options.images.empty() && options.video.empty()) return nullptr;
  check_places(options);
  check_address_space(size);
  try {
    return std::make_unique<PictureWriter>(options, scene, size);
  } catch (const NoDeviceError& error) {
    throw DeviceError(std::string("pictures need Vulkan: ") + error.what());
  }
}

}  // namespace stickslip
