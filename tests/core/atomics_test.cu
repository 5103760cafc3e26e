#include <algorithm>

#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Sums, minima and maxima of whole numbers that every T represents exactly.
template <class T>
void expect_atomics(Context& ctx, unsigned seed) {
  for (const std::size_t n : kSizes) {
    SCOPED_TRACE("n " + std::to_string(n));
    const std::int32_t low = std::is_signed_v<T> ? -3 : 0;
    const auto host = random_integers<std::int32_t>(n, low, 4, seed);
    std::vector<T> expected = {T(0), T(100), T(0)};
    for (const std::int32_t v : host) {
      expected[0] = static_cast<T>(expected[0] + T(v));
      expected[1] = std::min(expected[1], T(v));
      expected[2] = std::max(expected[2], T(v));
    }
    const Buffer<std::int32_t> values(ctx, host);
    Buffer<T> result(ctx, std::vector<T>{T(0), T(100), T(0)});
    const std::int32_t* v = values.data();
    T* r = result.data();
    launch(
        ctx, n,
        [=] SS_LAMBDA(std::size_t i) {
          atomic_add(r, T(v[i]));
          atomic_min(r + 1, T(v[i]));
          atomic_max(r + 2, T(v[i]));
        },
        kMedium);
    EXPECT_EQ(result.download(ctx), expected);
  }
}

/// Sums 2^levels leaves up a heap-ordered tree: the second thread to reach a node adds its two children.
void expect_gate(Context& ctx, int levels) {
  const std::int32_t leaves = 1 << levels;
  Buffer<std::int32_t> sums(ctx, static_cast<std::size_t>(2 * leaves));
  Buffer<std::int32_t> arrivals(ctx, static_cast<std::size_t>(leaves));
  std::int32_t* sum = sums.data();
  std::int32_t* arrived = arrivals.data();
  fill(ctx, arrived, arrivals.size(), 0);
  fill(ctx, sum, sums.size(), 0);
  launch(
      ctx, static_cast<std::size_t>(leaves),
      [=] SS_LAMBDA(std::size_t i) {
        std::int32_t node = leaves + static_cast<std::int32_t>(i);
        sum[node] = static_cast<std::int32_t>(i) % 5;
        while (node > 1) {
          node /= 2;
          if (arrive(arrived + node) == 0) return;
          sum[node] = sum[2 * node] + sum[2 * node + 1];
        }
      },
      kHeavy);
  const std::vector<std::int32_t> host = sums.download(ctx);
  for (std::int32_t node = 1; node < leaves; ++node) {
    const auto k = static_cast<std::size_t>(node);
    ASSERT_EQ(host[k], host[2 * k] + host[2 * k + 1]) << "node " << node;
  }
  std::int32_t total = 0;
  for (std::int32_t i = 0; i < leaves; ++i) total += i % 5;
  EXPECT_EQ(host[1], total);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Atomics, AddMinMaxForEveryScalar) {
  FRESH_SEED(seed);
  expect_atomics<std::int32_t>(ctx, seed);
  expect_atomics<std::uint32_t>(ctx, seed);
  expect_atomics<std::int64_t>(ctx, seed);
  expect_atomics<std::uint64_t>(ctx, seed);
  expect_atomics<float>(ctx, seed);
  expect_atomics<double>(ctx, seed);
}

BACKEND_TEST(Atomics, AddHandsOutEachOldValueOnce) {
  const std::size_t n = 100003;
  Buffer<std::int32_t> counter(ctx, std::vector<std::int32_t>{0});
  Buffer<std::int32_t> tickets(ctx, n);
  std::int32_t* c = counter.data();
  std::int32_t* t = tickets.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { t[i] = atomic_add(c, 1); });
  std::vector<std::int32_t> host = tickets.download(ctx);
  std::sort(host.begin(), host.end());
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(host[i], static_cast<std::int32_t>(i));
}

BACKEND_TEST(Atomics, SecondVisitorSeesWhatTheFirstWrote) {
  for_thread_counts([](Context& c) { expect_gate(c, 16); });
}
