#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "gpu/core/sort.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Sorts keys with their positions as values and compares with std::stable_sort.
template <class K, class V>
void expect_sorted(Context& ctx, const std::vector<K>& host, int end_bit = 8 * sizeof(K)) {
  std::vector<V> positions(host.size());
  std::iota(positions.begin(), positions.end(), V(0));
  Buffer<K> keys(ctx, host);
  Buffer<V> values(ctx, positions);
  sort_pairs(ctx, host.size(), keys.data(), values.data(), end_bit);

  std::stable_sort(positions.begin(), positions.end(), [&](V a, V b) {
    return host[static_cast<std::size_t>(a)] < host[static_cast<std::size_t>(b)];
  });
  std::vector<K> expected(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) expected[i] = host[static_cast<std::size_t>(positions[i])];
  EXPECT_EQ(keys.download(ctx), expected);
  EXPECT_EQ(values.download(ctx), positions);

  Buffer<K> alone(ctx, host);
  sort_keys(ctx, host.size(), alone.data(), end_bit);
  EXPECT_EQ(alone.download(ctx), expected);
}

template <class K, class V>
void expect_sorts(Context& ctx, unsigned seed) {
  for (const std::size_t n : kSizes) {
    SCOPED_TRACE("n " + std::to_string(n));
    expect_sorted<K, V>(ctx, random_integers<K>(n, 0, std::numeric_limits<K>::max(), seed));
  }
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Sort, RandomKeys) {
  FRESH_SEED(seed);
  expect_sorts<std::uint32_t, std::int32_t>(ctx, seed);
  expect_sorts<std::uint32_t, std::uint32_t>(ctx, seed);
  expect_sorts<std::uint64_t, std::int32_t>(ctx, seed);
  expect_sorts<std::uint64_t, std::uint32_t>(ctx, seed);
}

BACKEND_TEST(Sort, EqualKeysKeepTheirOrder) {
  FRESH_SEED(seed);
  // Keys that differ in 0, 1, 2, 3 and 8 digits: all possible numbers of passes over the alternate memory.
  for (const std::uint64_t mask : {0x0ull, 0x3ull, 0x0300000000000003ull, 0x030003000003ull, ~0x0ull}) {
    SCOPED_TRACE("mask " + std::to_string(mask));
    for (const std::size_t n : {31u, 1000u, 100003u}) {
      auto keys = random_integers<std::uint64_t>(n, 0, ~std::uint64_t{0}, seed);
      for (auto& k : keys) k &= mask;
      expect_sorted<std::uint64_t, std::int32_t>(ctx, keys);
    }
  }
}

BACKEND_TEST(Sort, SortsByTheGivenNumberOfBits) {
  FRESH_SEED(seed);
  for (const int bits : {1, 7, 8, 9, 20, 31})
    expect_sorted<std::uint32_t, std::int32_t>(
        ctx, random_integers<std::uint32_t>(50000, 0, (std::uint32_t{1} << bits) - 1, seed), bits);
}

BACKEND_TEST(Sort, AnyNumberOfThreads) {
  FRESH_SEED(seed);
  for_thread_counts([&](Context& c) {
    expect_sorted<std::uint32_t, std::int32_t>(c, random_integers<std::uint32_t>(1000003, 0, 5000, seed));
  });
}
