// Blocks that hardly change in a Gauss-Seidel sweep are skipped for some sweeps [Daviet20 §6.4].
#pragma once

#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/dfcp/solvers/system.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// A block is skipped for `kSweeps` sweeps once s_c |dr| stays below `quiet` [m/s]; 0: none is skipped.
template <int D>
struct RestingBlocks {
  static constexpr std::int8_t kSweeps = 8;
  double quiet;
  const double* scale;
  std::int8_t* rest;

  /// True: skip the block. To be called once per sweep and block.
  SS_HD bool skip(std::size_t c) const {
    if (quiet <= 0 || rest[c] <= 0) return false;
    --rest[c];
    return true;
  }
  SS_HD void note(std::size_t c, const Vec<double, D>& change) const {
    if (quiet > 0 && scale[c] * norm(change) < quiet) rest[c] = kSweeps;
  }
};

/// Owns the per-block counters of skipped sweeps.
template <int D>
class SweepRest {
 public:
  explicit SweepRest(System<D>& s)
      : rest_(s.ctx, s.blocks()),
        view_{s.params.sleep * s.params.tolerance * s.W.norm_q() /
                  std::sqrt(static_cast<double>(s.blocks() > 0 ? s.blocks() : 1)),
              s.W.scale(), rest_.data()} {
    fill(s.ctx, rest_.data(), s.blocks(), std::int8_t{0});
  }
  const RestingBlocks<D>& view() const { return view_; }

 private:
  Buffer<std::int8_t> rest_;
  RestingBlocks<D> view_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
