// Screenshots and videos of the window, under names that are free.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/capture/recorder.h"
#include "gpu/engine.h"

namespace stickslip {

/// stem-1.ext, stem-2.ext, ...: the first that does not exist in the working directory.
std::filesystem::path free_name(const std::string& stem, const std::string& extension);

/// A video whose time is simulated time: a slow simulation makes no slow video.
class SimulationVideo {
 public:
  static constexpr double frames_per_second = 30;

  explicit SimulationVideo(const std::filesystem::path& file)
      : recorder_(record_video(file, frames_per_second)) {}

  /// True when `time` [s] calls for a picture.
  bool due(double time) const { return time >= next_ || time < last_; }
  void add(const Image& picture, double time);
  void finish() { recorder_->finish(); }
  std::filesystem::path output() const { return recorder_->output(); }
  std::string note() const { return recorder_->note(); }

 private:
  std::unique_ptr<Recorder> recorder_;
  double next_ = 0, last_ = 1e300;  // [s] of the next and the last picture
};

/// Screenshots and videos of the window, as they are asked for. Failures are logged.
class WindowPictures {
 public:
  void ask_screenshot() { screenshot_ = true; }
  /// Starts or ends a video of the scene called `name`.
  void toggle_video(const std::string& name);
  /// Logs where it was written, or why it was not.
  void stop_video();

  bool wants(double time) const { return screenshot_ || (video_ && video_->due(time)); }
  /// Takes what the window shows. Returns the screenshot's file, or nothing when there was none.
  std::filesystem::path take(const Image& shown, const Snapshot& snapshot, const std::string& name);
  /// Of the video in progress, else empty.
  std::string recording() const { return video_ ? video_->output().filename().string() : ""; }

 private:
  std::filesystem::path take_screenshot(const Image& shown, const std::string& name);

  std::unique_ptr<SimulationVideo> video_;
  bool screenshot_ = false;
};

}  // namespace stickslip
