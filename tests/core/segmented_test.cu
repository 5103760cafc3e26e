#include <cstring>

#include "gpu/core/segmented.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Sums `host` in segments of random lengths 0..8; the serial sum has the same order and therefore the same
/// bits.
std::vector<double> expect_segments(Context& ctx, std::size_t segments, unsigned seed) {
  SCOPED_TRACE("segments " + std::to_string(segments));
  std::vector<std::int32_t> offsets = random_integers<std::int32_t>(segments + 1, 0, 8, seed);
  offsets[0] = 0;
  for (std::size_t s = 0; s < segments; ++s) offsets[s + 1] += offsets[s];
  const auto host = random_reals(static_cast<std::size_t>(offsets[segments]), -1, 1, seed);
  std::vector<double> expected(segments, 0.0);
  for (std::size_t s = 0; s < segments; ++s)
    for (std::int32_t k = offsets[s]; k < offsets[s + 1]; ++k)
      expected[s] += host[static_cast<std::size_t>(k)];

  const Buffer<double> values(ctx, host);
  const Buffer<std::int32_t> starts(ctx, offsets);
  Buffer<double> sums(ctx, segments);
  const double* v = values.data();
  segmented_sum(
      ctx, segments, starts.data(), [=] SS_LAMBDA(std::int32_t k) { return v[k]; }, sums.data());
  EXPECT_EQ(sums.download(ctx), expected);
  return sums.download(ctx);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Segmented, EqualsTheSerialSums) {
  FRESH_SEED(seed);
  for (const std::size_t segments : kSizes) expect_segments(ctx, segments, seed);
}

BACKEND_TEST(Segmented, AnyNumberOfThreads) {
  FRESH_SEED(seed);
  for_thread_counts([&](Context& c) { expect_segments(c, 1000003, seed); });
}
