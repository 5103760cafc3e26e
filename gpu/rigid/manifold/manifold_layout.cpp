#include "gpu/rigid/manifold/manifold_layout.h"

#include <algorithm>
#include <limits>
#include <utility>

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

// Of manifolds: work for one thread.
constexpr std::size_t kChunk = 2048;
std::size_t chunks_of(std::size_t manifolds) { return manifolds / kChunk + 1; }
/// Calls f(m) for the manifolds of chunk c.
template <class F>
void for_chunk(std::size_t c, std::size_t manifolds, const F& f) {
  const std::size_t end = std::min(manifolds, (c + 1) * kChunk);
  for (std::size_t m = c * kChunk; m < end; ++m) f(m);
}

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
    parallel_(static_cast<std::size_t>(parts), [&](std::size_t p) {
      const auto part = static_cast<int>(p);
      const auto at = [&](int k) {
        return moving.begin() + static_cast<std::ptrdiff_t>(moving.size()) * k / (2 * parts);
      };
      std::nth_element(at(2 * part), at(2 * part + 1), at(2 * part + 2), before);
    });
  for (std::size_t i = 0; i < moving.size(); ++i)
    slab_[static_cast<std::size_t>(moving[i])] =
        static_cast<std::int32_t>(i * static_cast<std::size_t>(slabs) / moving.size());
}

/// The slab of both bodies, or the last run.
std::int32_t ManifoldLayout::run_of(const BodyPair& bodies) const {
  const auto slab = [&](int side) { return slab_[static_cast<std::size_t>(bodies[side])]; };
  if (bodies[0] >= 0 && bodies[1] >= 0) return slab(0) == slab(1) ? slab(0) : slabs_;
  return bodies[0] >= 0 ? slab(0) : bodies[1] >= 0 ? slab(1) : 0;
}

/// A stable counting sort, by chunks.
void ManifoldLayout::group_by_run(const ManifoldBodies& bodies, std::size_t manifolds) {
  const std::size_t runs = static_cast<std::size_t>(slabs_) + 1, chunks = chunks_of(manifolds);
  bodies_.resize(manifolds);
  run_.resize(manifolds);
  order_.resize(manifolds);
  std::vector<std::size_t> at(runs * chunks, 0);  // by run, then by chunk: the number, then the first place
  parallel_(chunks, [&](std::size_t c) {
    for_chunk(c, manifolds, [&](std::size_t m) {
      int sides = 0;
      bodies_[m] = {-1, -1};
      bodies.visit(m, [&](std::int32_t b) { bodies_[m][sides++] = b; });
      run_[m] = run_of(bodies_[m]);
      ++at[static_cast<std::size_t>(run_[m]) * chunks + c];
    });
  });
  std::size_t sum = 0;
  first_.clear();
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (k % chunks == 0) first_.push_back(sum);
    sum += std::exchange(at[k], sum);
  }
  first_.push_back(sum);
  parallel_(chunks, [&](std::size_t c) {
    for_chunk(c, manifolds, [&](std::size_t m) {
      order_[at[static_cast<std::size_t>(run_[m]) * chunks + c]++] = static_cast<std::int32_t>(m);
    });
  });
}

/// Slots count from the first pack of the run. Returns its number of packs.
std::int32_t ManifoldLayout::fill_run(std::size_t run, std::int32_t* slot) {
  OpenPacks packs(width_);
  // First pack of the run after the last one that contains the body. The slabs share one array, as none of
  // their bodies is in two.
  std::vector<std::int32_t>& behind = behind_[run == static_cast<std::size_t>(slabs_) ? 1 : 0];
  for (std::size_t i = first_[run]; i < first_[run + 1]; ++i) {
    const auto m = static_cast<std::size_t>(order_[i]);
    std::int32_t earliest = 0;
    for (const std::int32_t b : {bodies_[m][0], bodies_[m][1]})
      if (b >= 0) earliest = std::max(earliest, behind[static_cast<std::size_t>(b)]);
    slot[m] = packs.take(earliest);
    for (const std::int32_t b : {bodies_[m][0], bodies_[m][1]})
      if (b >= 0) behind[static_cast<std::size_t>(b)] = slot[m] / width_ + 1;
  }
  return packs.size();
}

void ManifoldLayout::place(const ManifoldBodies& bodies, std::size_t manifolds, std::int32_t* slot) {
  const auto slabs = static_cast<std::size_t>(slabs_);
  group_by_run(bodies, manifolds);
  for (std::vector<std::int32_t>& behind : behind_) behind.assign(slab_.size(), 0);
  std::vector<std::int32_t> packs(slabs + 1);
  parallel_(slabs + 1, [&](std::size_t run) { packs[run] = fill_run(run, slot); });
  run_start_.assign(1, 0);
  for (const std::int32_t count : packs) run_start_.push_back(run_start_.back() + count);
  batch_start_ = {0, slabs, slabs + 1};
  parallel_(chunks_of(manifolds), [&](std::size_t c) {
    for_chunk(c, manifolds,
              [&](std::size_t m) { slot[m] += run_start_[static_cast<std::size_t>(run_[m])] * width_; });
  });
}

}  // namespace stickslip
