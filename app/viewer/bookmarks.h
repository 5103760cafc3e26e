// Frames that the user marked on the timeline.
#pragma once

#include <optional>
#include <set>

namespace stickslip {

class Bookmarks {
 public:
  /// Marks the frame, or takes its mark away.
  void toggle(int frame) {
    if (frames_.erase(frame) == 0) frames_.insert(frame);
  }
  /// The nearest mark before or after the frame.
  std::optional<int> before(int frame) const {
    const auto at = frames_.lower_bound(frame);
    return at == frames_.begin() ? std::nullopt : std::optional(*std::prev(at));
  }
  std::optional<int> after(int frame) const {
    const auto at = frames_.upper_bound(frame);
    return at == frames_.end() ? std::nullopt : std::optional(*at);
  }
  const std::set<int>& frames() const { return frames_; }
  void clear() { frames_.clear(); }

 private:
  std::set<int> frames_;
};

}  // namespace stickslip
