// PairPack: corners of several candidate pairs side by side, in the lanes of processors of the CPU backend;
// of one pair on CUDA, whose threads are lanes already.
#pragma once

#include <cstddef>

#include "gpu/ccd/clearance.h"
#include "gpu/core/launch.h"
#include "gpu/math/lanes.h"

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA
using PairLanes = Real;
inline constexpr std::size_t kPackPairs = 1;
SS_HD inline void set_lane(Real& lanes, std::size_t, Real value) { lanes = value; }
SS_HD inline bool lane_of(bool mask, std::size_t) { return mask; }
#else
using PairLanes = WideLanes;
inline constexpr std::size_t kPackPairs = kLaneCount;
inline void set_lane(PairLanes& lanes, std::size_t lane, double value) { lanes.v[lane] = value; }
inline bool lane_of(PairLanes::Mask mask, std::size_t lane) { return mask[lane] != 0; }
#endif

/// Pairs `first`, `first` + stride, ... of `count` <= kPackPairs; lanes without a pair repeat the first.
class PairPack {
 public:
  SS_HD PairPack(const Vec4i* pairs, std::size_t first, std::size_t stride, std::size_t count)
      : pairs_(pairs + first), stride_(stride), count_(count) {}

  /// Lanes with a pair of their own.
  SS_HD std::size_t count() const { return count_; }
  SS_HD const Vec4i& nodes(std::size_t lane) const { return pairs_[lane < count_ ? lane * stride_ : 0]; }

  /// values[node] of each corner less `origin`, that of corner 0.
  SS_HD void relative(const Vec3* values, Vec<PairLanes, 3> (&out)[4], Vec<PairLanes, 3>& origin) const {
    for (std::size_t lane = 0; lane < kPackPairs; ++lane) {
      const Vec4i& node = nodes(lane);
      for (int k = 0; k < 3; ++k) {
        set_lane(origin[k], lane, values[node[0]][k]);
        for (int i = 1; i < 4; ++i) set_lane(out[i][k], lane, values[node[i]][k]);
      }
    }
    out[0] = Vec<PairLanes, 3>::zero();
    for (int i = 1; i < 4; ++i) out[i] -= origin;
  }
  /// The thickness between both sides; `radius` may be null.
  template <class Pair>
  SS_HD PairLanes thickness(const Real* radius) const {
    PairLanes sum = PairLanes(0);
    if (radius == nullptr) return sum;
    for (std::size_t lane = 0; lane < kPackPairs; ++lane)
      set_lane(sum, lane, radius[nodes(lane)[0]] + radius[nodes(lane)[Pair::kCornersOfA]]);
    return sum;
  }

 private:
  const Vec4i* pairs_;
  std::size_t stride_, count_;
};

/// body(pack, first) for packs of the `count` pairs 0, stride, 2 stride, ...; `first` counts them, too.
template <class Body>
void launch_pair_packs(Context& ctx, const Vec4i* pairs, std::size_t count, std::size_t stride,
                       const Body& body) {
  constexpr std::size_t kGrain = kMedium.size < kPackPairs ? 1 : kMedium.size / kPackPairs;
  launch(
      ctx, (count + kPackPairs - 1) / kPackPairs,
      [=] SS_LAMBDA(std::size_t p) {
        const std::size_t first = p * kPackPairs;
        const std::size_t lanes = count - first < kPackPairs ? count - first : kPackPairs;
        body(PairPack(pairs, first * stride, stride, lanes), first);
      },
      Grain{kGrain});
}

}  // namespace stickslip::STICKSLIP_BACKEND
