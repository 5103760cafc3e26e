// Screenshots and videos of the window, under unused names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "app/capture/recorder.h"
#include "gpu/engine.h"

namespace stickslip {

/// stem-1.ext, stem-2.ext, ... in `folder`: the absolute path of the first that does not exist, neither as a
/// file nor as the folder of pictures that stands for a video without an encoder.
std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& stem,
                                const std::string& extension);

/// Makes the folder of the window's files if it does not exist. Throws OutputError with the reason.
void make_output_folder(const std::filesystem::path& folder);

/// A video in simulated time: a slow simulation does not slow down the video.
class SimulationVideo {
 public:
  /// `rate` [1/s]: pictures per simulated second.
  SimulationVideo(const std::filesystem::path& file, double rate)
      : recorder_(record_video(file, rate)), rate_(rate) {}

  /// True when a picture is due at `time` [s].
  bool due(double time) const { return time >= next_ || time < last_; }
  void add(const Image& picture, double time);
  bool empty() const { return empty_; }
  /// Throws OutputError or std::runtime_error when the video is not complete, also when it has no picture.
  void finish();
  std::filesystem::path output() const { return recorder_->output(); }
  std::string note() const { return recorder_->note(); }

 private:
  std::unique_ptr<Recorder> recorder_;
  double rate_;
  double next_ = 0, last_ = 1e300;  // [s] of the next and the last picture
  bool empty_ = true;
};

/// Takes screenshots and videos of the window on request. Failures are logged.
class WindowPictures {
 public:
  /// The files are written into `folder`, which is made for the first of them.
  explicit WindowPictures(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void ask_screenshot() { screenshot_ = true; }
  /// Starts a video of the scene `name` with so many pictures per simulated second, or ends it.
  /// `simulation_error`: see stop_video.
  void toggle_video(const std::string& name, double rate = 30, const std::string& simulation_error = {});
  /// Logs the path, or the reason of a failure. `simulation_error`: why the simulation stands still, if it
  /// failed; a video without pictures has this reason.
  void stop_video(const std::string& simulation_error = {});

  bool is_screenshot_due() const { return screenshot_; }
  bool wants(double time) const { return screenshot_ || (video_ && video_->due(time)); }
  /// Records the shown picture. Returns the screenshot's file, or empty without a screenshot.
  std::filesystem::path take(const Image& shown, const Snapshot& snapshot, const std::string& name);
  /// File of the video in progress, else empty.
  std::string recording() const { return video_ ? video_->output().filename().string() : ""; }

 private:
  std::filesystem::path take_screenshot(const Image& shown, const std::string& name);

  std::filesystem::path folder_;
  std::unique_ptr<SimulationVideo> video_;
  bool screenshot_ = false;
};

}  // namespace stickslip
