#include "gpu/broadphase/pack_tree.h"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::cpu {

void PackTree::build(Context& ctx, const FloatBox* boxes, const std::int32_t* order, std::size_t n) {
  constexpr std::size_t kSize = BoxPack::size;
  std::size_t packs = (n + kSize - 1) / kSize, level = 0;
  for (std::size_t below = n; packs > 0; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    levels_[level].resize(ctx, packs);
    BoxPack* out = levels_[level].data();
    const BoxPack* children = level > 0 ? levels_[level - 1].data() : nullptr;
    launch(
        ctx, packs,
        [=](std::size_t pack) {
          BoxPack all;
          const std::size_t first = kSize * pack, end = std::min(below, first + kSize);
          for (std::size_t k = first; k < end; ++k)
            all.set(static_cast<int>(k - first),
                    children != nullptr ? children[k].merged() : boxes[order[k]]);
          out[pack] = all;
        },
        kMedium);
    below = packs;
    packs = packs > 1 ? (packs + kSize - 1) / kSize : 0;
  }
  levels_.resize(level);
}

}  // namespace stickslip::cpu
