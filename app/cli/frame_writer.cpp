#include "app/cli/frame_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numbers>
#include <regex>
#include <stdexcept>

#include "app/capture/camera_path.h"
#include "app/capture/png.h"
#include "app/capture/recorder.h"
#include "app/capture/supersample.h"
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

constexpr int kLargestSide = 8192;  // [px]

/// Of the pictures that are drawn: `supersample` times as wide and high as those that are kept.
Size drawn_size(const std::string& text, int supersample) {
  std::smatch match;
  if (!std::regex_match(text, match, std::regex("([0-9]{1,5})x([0-9]{1,5})")))
    throw InputError("--size " + text + ": must be WIDTHxHEIGHT, as in 1280x720");
  const Size size{supersample * std::stoi(match[1]), supersample * std::stoi(match[2])};
  if (std::min(size.width, size.height) >= 16 * supersample &&
      std::max(size.width, size.height) <= kLargestSide)
    return size;
  const std::string most = std::to_string(kLargestSide / supersample);
  throw InputError("--size " + text + ": width and height must be in [16, " + most + "], as in 1280x720" +
                   (supersample > 1 ? " with --supersample " + std::to_string(supersample) : ""));
}

/// Options of pictures need pictures, and those of a video a video.
void check_together(const RunOptions& options) {
  const bool stills = !options.image.empty() || !options.images.empty();
  if (options.fps && options.video.empty()) throw InputError("--fps is that of a video: --video is missing");
  if (options.transparent && !options.video.empty())
    throw InputError("--transparent is for --image and --images: a video has no transparency");
  if (options.transparent && !stills) throw InputError("--transparent needs --image or --images");
  if (stills || !options.video.empty()) return;
  if (!options.camera.empty() || options.turntable != 0 || options.supersample > 1)
    throw InputError("--camera, --turntable and --supersample need --image, --images or --video");
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
  PictureWriter(const RunOptions& options, const Scene& scene, int frames, Size size, CameraPath path)
      : renderer_({.quality = parse_quality(options.quality), .interop = parse_interop(options.interop)}),
        size_(size),
        supersample_(options.supersample),
        image_(options.image),
        path_(std::move(path)),
        turn_(options.turntable * std::numbers::pi / 180),
        begin_(scene.resumed ? scene.resumed->time : 0),
        dt_(scene.params.dt),
        frames_(frames) {
    const CameraStart& camera = scene.camera;
    start_ = Camera::look_at(camera.position.cast<float>(), camera.target.cast<float>(),
                             static_cast<float>(camera.fov));
    view_.transparent = options.transparent;
    renderer_.set_scene(scene.model);
    if (!options.images.empty()) images_ = record_images(options.images);
    if (!options.video.empty()) {
      // Players show at most 60 pictures a second. With shorter steps, frames are skipped so that the video
      // runs in real time.
      const int stride = std::max(1, static_cast<int>(std::ceil(1 / (60 * dt_) - 1e-6)));
      per_second_ = options.fps.value_or(1 / (stride * dt_));
      video_ = record_video(options.video, per_second_);
    }
  }

  void add(Engine& engine) override {
    if (!feed_) feed_.emplace(renderer_, engine);
    const double time = count_ * dt_;
    view_.camera = path_.empty() ? start_ : path_.at(begin_ + time);
    view_.camera.yaw += static_cast<float>(turn_ * std::min(count_, frames_) / std::max(1, frames_));
    ++count_;
    feed_->update();
    const bool for_video = video_ && is_due(time);
    if (!images_ && !for_video) return;
    const Image picture = draw();
    if (images_) add(images_, picture);
    // Where steps are longer than pictures, a picture stands for several.
    for (; video_ && is_due(time); ++shown_) add(video_, picture);
  }

  void finish() override {
    Failures failures;
    failures.of([&] { write_image(); });
    failures.of([&] { finish(images_, "images: "); });
    failures.of([&] { finish(video_, "video: "); });
    failures.rethrow();
  }

 private:
  bool is_due(double time) const { return time * per_second_ > static_cast<double>(shown_) - 1e-6; }
  Image draw() {
    const Image drawn = renderer_.render_offscreen(view_, size_.width, size_.height);
    return supersample_ > 1 ? reduced(drawn, supersample_) : drawn;
  }
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
    write_png(image_, draw());
    std::cerr << "image: " << image_.string() << "\n";
  }

  Renderer renderer_;
  std::optional<PositionFeed> feed_;
  FrameView view_;
  Size size_;  // as drawn
  int supersample_;
  fs::path image_;
  Camera start_;
  CameraPath path_;                            // empty: the camera stays at start_
  double turn_, begin_, dt_, per_second_ = 0;  // [rad], [s], [s], [1/s] of the video's pictures
  int frames_, count_ = 0;                     // steps of the run; states so far
  std::int64_t shown_ = 0;                     // pictures of the video so far
  std::unique_ptr<Recorder> images_, video_;
};

}  // namespace

std::unique_ptr<FrameWriter> make_frame_writer(const RunOptions& options, const Scene& scene, int frames) {
  const Size size = drawn_size(options.size, options.supersample);
  check_together(options);
  if (options.image.empty() && options.images.empty() && options.video.empty()) return nullptr;
  check_places(options);
  check_address_space(size);
  try {
    CameraPath path;
    if (!options.camera.empty())
      path = read_camera_path(options.camera, static_cast<float>(scene.camera.fov));
    return std::make_unique<PictureWriter>(options, scene, frames, size, std::move(path));
  } catch (const NoDeviceError& error) {
    throw DeviceError(std::string("pictures need Vulkan: ") + error.what());
  }
}

}  // namespace stickslip
