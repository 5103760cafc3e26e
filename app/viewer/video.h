// Screenshots and videos of the window, under names that are free.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/capture/recorder.h"

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

}  // namespace stickslip
