#include "gpu/core/select.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

void expect_selects(Context& ctx, std::size_t n, int threshold, unsigned seed) {
  SCOPED_TRACE("n " + std::to_string(n) + ", threshold " + std::to_string(threshold));
  const auto host = random_integers<std::int32_t>(n, 0, 99, seed);
  std::vector<std::int32_t> expected;
  for (std::size_t i = 0; i < n; ++i)
    if (host[i] < threshold) expected.push_back(static_cast<std::int32_t>(i));
  const Buffer<std::int32_t> values(ctx, host);
  Buffer<std::int32_t> out(ctx, expected.size());  // no more space than the result needs
  Buffer<std::int32_t> count(ctx, 1);
  const std::int32_t* v = values.data();
  select_indices(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return v[i] < threshold; }, out.data(), count.data());
  EXPECT_EQ(read_back(ctx, count.data()), static_cast<std::int32_t>(expected.size()));
  EXPECT_EQ(out.download(ctx), expected);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Select, NoneSomeAndAllInOrder) {
  FRESH_SEED(seed);
  for (const std::size_t n : kSizes)
    for (const int threshold : {0, 30, 100}) expect_selects(ctx, n, threshold, seed);
}

BACKEND_TEST(Select, AnyNumberOfThreads) {
  FRESH_SEED(seed);
  for_thread_counts([&](Context& c) { expect_selects(c, 1000003, 50, seed); });
}
