#include <numeric>

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "tests/backend_test.h"

BACKEND_TEST(Launch, VisitsEveryIndexOnce) {
  for (const std::size_t n : {0u, 1u, 31u, 1000u, 1000003u}) {
    Buffer<int> counts(ctx, n);
    fill(ctx, counts.data(), n, 0);
    int* c = counts.data();
    launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { c[i] += static_cast<int>(i % 7) + 1; });
    const std::vector<int> host = counts.download(ctx);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(host[i], static_cast<int>(i % 7) + 1);
  }
}

BACKEND_TEST(Buffer, KeepsItsMemoryWhenItShrinks) {
  Buffer<double> b(ctx, 1000);
  const double* before = b.data();
  const std::size_t allocations = ctx.counters().allocations;
  b.resize(ctx, 10);
  b.resize(ctx, 1000);
  EXPECT_EQ(b.data(), before);
  EXPECT_EQ(ctx.counters().allocations, allocations);
}
