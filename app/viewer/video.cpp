#include "app/viewer/video.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/capture/png.h"
#include "app/io/file/output_file.h"

namespace stickslip {
namespace {
/// Limits the copies of one picture: a step of many seconds must not fill the disk.
constexpr int copies_at_most = 30;
}  // namespace

std::filesystem::path free_name(const std::string& stem, const std::string& extension) {
  for (int i = 1;; ++i) {
    std::filesystem::path name = stem;
    name.concat("-").concat(std::to_string(i)).concat(extension);
    if (!std::filesystem::exists(name)) return std::filesystem::absolute(name);
  }
}

void SimulationVideo::add(const Image& picture, double time) {
  if (!due(time)) return;
  if (time < last_) next_ = time;  // the first picture, or the scene was reset
  for (int copies = 0; next_ <= time && copies < copies_at_most; ++copies) {
    recorder_->add(picture);
    next_ += 1 / frames_per_second;
  }
  next_ = std::max(next_, time);
  last_ = time;
}

void WindowPictures::toggle_video(const std::string& name) {
  if (video_) return stop_video();
  try {
    video_ = std::make_unique<SimulationVideo>(free_name("stickslip-" + name, ".mp4"));
    spdlog::info("recording {}", video_->output().string());
  } catch (const std::runtime_error& error) {
    spdlog::error("{}", error.what());
  }
}

void WindowPictures::stop_video() {
  if (!video_) return;
  try {
    video_->finish();
    if (!video_->note().empty()) spdlog::warn("{}", video_->note());
    spdlog::info("wrote {}", video_->output().string());
  } catch (const std::runtime_error& error) {
    spdlog::error("{}", error.what());
  }
  video_.reset();
}

std::filesystem::path WindowPictures::take(const Image& shown, const Snapshot& snapshot,
                                           const std::string& name) {
  std::filesystem::path file = take_screenshot(shown, name);
  try {
    if (video_) video_->add(shown, snapshot.time);
  } catch (const OutputError& error) {
    spdlog::error("{}", error.what());
    video_.reset();
  } catch (const std::runtime_error& error) {
    // The pictures up to this one are kept.
    spdlog::error("{}", error.what());
    stop_video();
  }
  return file;
}

std::filesystem::path WindowPictures::take_screenshot(const Image& shown, const std::string& name) {
  if (!std::exchange(screenshot_, false)) return {};
  try {
    std::filesystem::path file = free_name("stickslip-" + name, ".png");
    write_png(file, shown);
    spdlog::info("wrote {}", file.string());
    return file;
  } catch (const std::runtime_error& error) {
    spdlog::error("{}", error.what());
    return {};
  }
}

}  // namespace stickslip
