// AugmentedSet: the contacts A' with a multiplier, and the multiplier update [Guo24 Alg.1].
#pragma once

#include "gpu/barrier/contact_set.cuh"
#include "gpu/params/params.h"

namespace stickslip {

/// A pair with its multiplier [N]. It is evaluated at any distance, also outside the broad phase's range.
struct AugmentedPair {
  ContactPair pair;
  Real multiplier;
};

struct AugmentationSettings {
  Real gap = 0;  // [m] contacts closer than this get a multiplier
  MultiplierUpdate update = MultiplierUpdate::derivative;
  AugmentationEnd end = AugmentationEnd::singly;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class AugmentedSet {
 public:
  void clear() { count_ = 0; }
  std::size_t size() const { return count_; }
  /// Sorted by key.
  const AugmentedPair* pairs() const { return pairs_.data(); }
  const std::uint64_t* keys() const { return keys_.data(); }

  /// Lines 12 to 14 of the algorithm: multipliers at x, with slacks eliminated. `derivative` uses the whole
  /// force of the augmented term, m <- -phi'(d); the printed m + sigma b is not a force, see README.md.
  void update_multipliers(Context& ctx, const Proximity& near, const Vec3* x, Real d_hat, Real sigma,
                          MultiplierUpdate update);
  /// Lines 3 to 6: clears A' when all of `active` are farther than settings.gap at x; rebuilds it, with the
  /// old multipliers of its pairs, when it is empty or the smallest distance shrank. With
  /// AugmentationEnd::singly each pair enters when it gets close and leaves when its multiplier is zero.
  /// `active` must have been built from `near`. At most three host reads.
  void select(Context& ctx, const Proximity& near, const ContactSet& active, const Vec3* x, bool shrank,
              const AugmentationSettings& settings);
  /// For `ccd_al`: the pairs of `near` with added[i] != 0 enter with multiplier zero. Pairs without a
  /// multiplier leave if their gap at x exceeds `keep` [m]. Two host reads.
  void merge(Context& ctx, const Proximity& near, const std::uint8_t* added, const Vec3* x, Real keep);
  /// For `ccd_al`: multipliers max(0, m - penalty (g - gap)) for the linearised gaps g at y.
  void update_multipliers(Context& ctx, const LinearGap* linear, const Vec3* y, Real penalty, Real gap);
  /// The new set, sorted by key: the pairs kept[0 .. kept_count) of the old one, then those of `near` with
  /// the indices candidate[found[i]], or found[i] if `candidate` is null.
  void rebuild(Context& ctx, const Proximity& near, const std::int32_t* candidate, std::size_t kept_count,
               std::size_t found_count);
  /// Writes the largest multiplier [N], 0 without any, to backend memory.
  void launch_largest(Context& ctx, double* out) const;

 private:
  std::size_t count_ = 0;
  Buffer<AugmentedPair> pairs_, wanted_;
  Buffer<std::uint64_t> keys_, wanted_keys_;
  Buffer<std::int32_t> index_, kept_;
  Buffer<std::int32_t> counts_;
};

/// A hash of a pair; different pairs may have the same one.
SS_HD inline std::uint64_t pair_key(const ContactPair& pair) {
  std::uint64_t key = static_cast<std::uint64_t>(pair.kind) + 3 * static_cast<std::uint64_t>(pair.plane + 1);
  for (int c = 0; c < 4; ++c) {
    key ^= static_cast<std::uint32_t>(pair.nodes[c]);
    // The finaliser of MurmurHash3: every bit of the input affects every bit of the key.
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    key ^= key >> 33;
  }
  return key;
}

/// Index of `pair` among n pairs sorted by `keys`; -1: not found.
SS_HD inline std::int32_t find_pair(const AugmentedPair* pairs, const std::uint64_t* keys, std::size_t n,
                                    const ContactPair& pair) {
  const std::uint64_t key = pair_key(pair);
  std::size_t low = 0, high = n;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  for (; low < n && keys[low] == key; ++low)
    if (pairs[low].pair == pair) return static_cast<std::int32_t>(low);
  return -1;
}

}  // namespace stickslip::STICKSLIP_BACKEND
