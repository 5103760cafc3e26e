#include "gpu/rigid/body_gather.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Number of bits that hold all keys up to `most`.
int bits_for(std::size_t most) {
  int bits = 1;
  while (bits < 32 && (most >> bits) != 0) ++bits;
  return bits;
}

}  // namespace

std::uint32_t* BodyGather::keys(Context& ctx, std::size_t entries) {
  key_.resize(ctx, entries);
  return key_.data();
}

void BodyGather::sort(Context& ctx, std::size_t bodies) {
  const std::size_t n = key_.size();
  entry_.resize(ctx, n);
  start_.resize(ctx, bodies + 1);
  std::uint32_t* key = key_.data();
  std::int32_t *entry = entry_.data(), *start = start_.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t e) { entry[e] = static_cast<std::int32_t>(e); });
  sort_pairs(ctx, n, key, entry, bits_for(bodies));
  // At each key change from a to b, the lists of bodies a + 1 .. b begin.
  launch(ctx, n + 1, [=] SS_LAMBDA(std::size_t e) {
    const std::size_t first = e == 0 ? 0 : key[e - 1] + std::size_t{1};
    const std::size_t last = e == n ? bodies : key[e];
    for (std::size_t b = first; b <= last; ++b) start[b] = static_cast<std::int32_t>(e);
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
