// PairKeys: pairs of bodies, or of a body and a half-space, as integers that sort by (a, b).
#pragma once

#include "gpu/math/vec.h"

namespace stickslip {

/// Of two bodies the smaller index is a; half-space k, b = -1 - k, counts as body `bodies` + k. Keys use as
/// few bits as possible, for the radix sort.
struct PairKeys {
  std::int32_t bodies = 0;
  int bits = 1;  // per side

  static PairKeys of(std::size_t bodies, std::size_t half_spaces) {
    PairKeys keys{static_cast<std::int32_t>(bodies), 1};
    while ((std::size_t{1} << keys.bits) <= bodies + half_spaces) ++keys.bits;
    return keys;
  }
  SS_HD std::uint64_t key(std::int32_t a, std::int32_t b) const {
    const std::int32_t second = b >= 0 ? b : bodies - 1 - b;
    return static_cast<std::uint64_t>(a) << bits | static_cast<std::uint32_t>(second);
  }
  SS_HD std::int32_t a(std::uint64_t key) const { return static_cast<std::int32_t>(key >> bits); }
  SS_HD std::int32_t b(std::uint64_t key) const {
    const auto second = static_cast<std::int32_t>(key & ((std::uint64_t{1} << bits) - 1));
    return second < bodies ? second : bodies - 1 - second;
  }
  /// Greater than all keys of pairs.
  SS_HD std::uint64_t none() const { return (std::uint64_t{1} << 2 * bits) - 1; }
  int end_bit() const { return 2 * bits; }
};

}  // namespace stickslip
