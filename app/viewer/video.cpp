#include "app/viewer/video.h"

#include <algorithm>

namespace stickslip {
namespace {
/// A step of many seconds does not fill the disk with copies of one picture.
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

}  // namespace stickslip
