#include "gpu/rigid/manifold/manifold_layout.h"

#include <algorithm>
#include <limits>

namespace stickslip {
namespace {

/// The packs of one run, filled in the order of the manifolds.
class OpenPacks {
 public:
  explicit OpenPacks(int width) : width_(width) {}

  /// The next free lane of the first open pack from `earliest` on.
  std::int32_t take(std::int32_t earliest) {
    const std::int32_t pack = first_open(earliest);
    const std::int32_t lane = used_[static_cast<std::size_t>(pack)]++;
    return pack * width_ + lane;
  }
  std::int32_t size() const { return static_cast<std::int32_t>(used_.size()); }

 private:
  /// Full packs point to later packs; paths are halved on the way.
  std::int32_t first_open(std::int32_t pack) {
    for (;;) {
      const auto at = static_cast<std::size_t>(pack);
      if (at >= used_.size()) {
        used_.resize(at + 1, 0);
        while (next_.size() <= at) next_.push_back(static_cast<std::int32_t>(next_.size()) + 1);
      }
      if (used_[at] < width_) return pack;
      const auto next = static_cast<std::size_t>(next_[at]);
      if (next < used_.size() && used_[next] >= width_) next_[at] = next_[next];
      pack = next_[at];
    }
  }

  int width_;
  std::vector<std::int32_t> used_, next_;
};

}  // namespace

int slabs_for(std::size_t manifolds) {
  constexpr std::size_t kWorthTwo = 1000;
  constexpr int kMost = 32;
  int slabs = 1;
  for (std::size_t worth = kWorthTwo; manifolds >= worth && slabs < kMost; worth *= 4) slabs *= 2;
  return slabs;
}

void ManifoldLayout::cut_into_slabs(const Pose* pose, const BodyInverse* inverse, std::size_t bodies,
                                    int slabs) {
  slabs_ = slabs;
  slab_.assign(bodies, 0);
  if (slabs <= 1) return;
  std::vector<std::int32_t> moving;
  Vec<double, 3> low = Vec<double, 3>::filled(std::numeric_limits<double>::max()), high = -low;
  for (std::size_t b = 0; b < bodies; ++b) {
    if (!(inverse[b].mass > 0)) continue;
    moving.push_back(static_cast<std::int32_t>(b));
    low = min(low, pose[b].x);
    high = max(high, pose[b].x);
  }
  const Vec<double, 3> size = high - low;
  const int axis = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const double xa = pose[a].x[axis], xb = pose[b].x[axis];
    return xa < xb || (xa == xb && a < b);
  };
  // Repeated bisection at the median.
  for (int parts = 1; parts < slabs; parts *= 2)
    for (int part = 0; part < parts; ++part) {
      const auto at = [&](int k) {
        return moving.begin() + static_cast<std::ptrdiff_t>(moving.size()) * k / (2 * parts);
      };
      std::nth_element(at(2 * part), at(2 * part + 1), at(2 * part + 2), before);
    }
  for (std::size_t i = 0; i < moving.size(); ++i)
    slab_[static_cast<std::size_t>(moving[i])] =
        static_cast<std::int32_t>(i * static_cast<std::size_t>(slabs) / moving.size());
}

void ManifoldLayout::place(const ManifoldBodies& bodies, std::size_t manifolds, std::int32_t* slot) {
  const auto slabs = static_cast<std::size_t>(slabs_);
  std::vector<OpenPacks> runs(slabs + 1, OpenPacks(width_));  // the last: manifolds across borders
  std::vector<std::int32_t> run_of(manifolds);
  // First pack after the last one that contains the body: in its slab, and across borders.
  std::vector<Vec<std::int32_t, 2>> behind(slab_.size(), {0, 0});
  for (std::size_t m = 0; m < manifolds; ++m) {
    std::int32_t run = -1;
    bodies.visit(m, [&](std::int32_t b) {
      const std::int32_t slab = slab_[static_cast<std::size_t>(b)];
      run = run < 0 || run == slab ? slab : slabs_;
    });
    run = std::max(run, 0);
    const int across = run == slabs_ ? 1 : 0;
    std::int32_t earliest = 0;
    bodies.visit(m, [&](std::int32_t b) {
      earliest = std::max(earliest, behind[static_cast<std::size_t>(b)][across]);
    });
    slot[m] = runs[static_cast<std::size_t>(run)].take(earliest);
    run_of[m] = run;
    bodies.visit(m,
                 [&](std::int32_t b) { behind[static_cast<std::size_t>(b)][across] = slot[m] / width_ + 1; });
  }
  run_start_.assign(1, 0);
  for (const OpenPacks& run : runs) run_start_.push_back(run_start_.back() + run.size());
  batch_start_ = {0, slabs, slabs + 1};
  for (std::size_t m = 0; m < manifolds; ++m)
    slot[m] += run_start_[static_cast<std::size_t>(run_of[m])] * width_;
}

}  // namespace stickslip
