#include "gpu/step/recent_states.cuh"

#include <algorithm>
#include <utility>

namespace stickslip::STICKSLIP_BACKEND {

bool RecentStates::keeps(int frame, int now) {
  int every = 1;
  for (int level = 0; level < kLevels; ++level, every *= kSpan)
    if (frame % every == 0 && now - frame < kSpan * every) return true;
  return false;
}

std::size_t RecentStates::free_slot() const {
  std::size_t slot = 0;
  while (std::ranges::find(entries_, slot, &Entry::slot) != entries_.end()) ++slot;
  return slot;
}

void RecentStates::add(Context& ctx, int frame, const Vec3* x, std::size_t nodes, std::vector<Pose> poses) {
  std::erase_if(entries_,
                [&](const Entry& entry) { return entry.frame >= frame || !keeps(entry.frame, frame); });
  if (entries_.empty()) {
    nodes_ = nodes;
    x_.resize(ctx, kMost * nodes);
  }
  const std::size_t slot = free_slot();
  copy(ctx, x_.data() + slot * nodes, x, nodes);
  entries_.push_back({frame, slot, std::move(poses)});
}

std::vector<Vec3> RecentStates::positions(Context& ctx, const Entry& entry) const {
  std::vector<Vec3> x(nodes_);
  copy_to_host(ctx, x.data(), x_.data() + entry.slot * nodes_, nodes_);
  return x;
}

}  // namespace stickslip::STICKSLIP_BACKEND
