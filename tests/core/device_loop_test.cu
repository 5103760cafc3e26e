#include "gpu/core/device_loop.h"

#include "gpu/core/grid.h"
#include "gpu/core/reduce.h"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Counts down from `from`; also counts the iterations in which the body ran before it was done.
std::vector<std::int32_t> count_down(Context& ctx, LoopGraph& graph, std::int32_t from) {
  Buffer<std::int32_t> words(ctx, std::vector<std::int32_t>{from > 0 ? 0 : 1, from, 0, 0});
  std::int32_t* w = words.data();
  repeat_until(ctx, graph, w, [&] {
    // Like a solver's iteration: a reduction over many entries, then a decision.
    reduce_sum(
        ctx, 5000, [=] SS_LAMBDA(std::size_t) { return w[0] == 0 ? 1 : 0; }, w + 3);
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
      if (w[0] != 0) return;
      w[2] += w[3] == 5000 ? 1 : 1000000;
      if (--w[1] == 0) w[0] = 1;
    });
  });
  return words.download(ctx);
}

}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(DeviceLoop, RepeatsUntilTheDeviceSaysStop) {
  LoopGraph graph;
  for (const std::int32_t rounds : {1, 2, 3, 1000, 7}) {
    const std::vector<std::int32_t> words = count_down(ctx, graph, rounds);
    EXPECT_EQ(words[2], rounds);
    EXPECT_EQ(words[1], 0);
  }
}

BACKEND_TEST(DeviceLoop, DoesNothingWhereAllIsDone) {
  LoopGraph graph;
  EXPECT_EQ(count_down(ctx, graph, 0)[2], 0);
}

BACKEND_TEST(DeviceLoop, CountsOneGraphAndNoCopies) {
  LoopGraph graph;
  count_down(ctx, graph, 10);
  ctx.counters() = {};
  count_down(ctx, graph, 1000);
  EXPECT_EQ(ctx.counters().graph_launches, 1U);
  EXPECT_LE(ctx.counters().launches, 4U);
  EXPECT_EQ(ctx.counters().copies_to_host, 1U);  // the download of the words
  EXPECT_EQ(ctx.counters().bytes_to_host, 16U);
}

// Newton's method for the square roots of many numbers: its phases read values written by other lanes, and
// sums that all lanes share.
BACKEND_TEST(Grid, PhasesSeeEachOthersWrites) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{300}, std::size_t{70'001}}) {
    Buffer<double> values(ctx, n), shifted(ctx, n), out(ctx, 2);
    double *v = values.data(), *s = shifted.data(), *o = out.data();
    launch_grid(ctx, n, [=] SS_LAMBDA(const Grid& grid) {
      grid.each(n, [&](std::size_t i) { v[i] = static_cast<double>(i % 11); });
      double total = 0;
      for (int round = 0; round < 5; ++round) {
        grid.each(n, [&](std::size_t i) { s[i] = v[(i + 1) % n]; });
        grid.each(n, [&](std::size_t i) { v[i] = s[i]; });
        total = grid.template sum<double>(n, [&](std::size_t i) { return v[i]; });
        total += grid.template sum<double>(n, [&](std::size_t i) { return v[i] > 0 ? 0.0 : 1.0; });
      }
      if (grid.is_first()) o[0] = total;
      grid.each(1, [&](std::size_t) { o[1] = total; });
    });
    double want = 0;
    for (std::size_t i = 0; i < n; ++i) want += static_cast<double>(i % 11) + (i % 11 == 0 ? 1 : 0);
    const std::vector<double> got = values.download(ctx);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], static_cast<double>((i + 5) % n % 11)) << i;
    EXPECT_EQ(out.download(ctx), (std::vector<double>{want, want}));
  }
}

BACKEND_TEST(Launch, CountedOnTheBackend) {
  constexpr std::size_t kMost = 10'000;
  for (const std::int32_t n : {0, 1, 2049, 10'000}) {
    Buffer<std::int32_t> count(ctx, std::vector<std::int32_t>{n});
    Buffer<std::int32_t> marks(ctx, std::vector<std::int32_t>(kMost, 0));
    std::int32_t* m = marks.data();
    launch_counted(ctx, kMost, count.data(), [=] SS_LAMBDA(std::size_t i) { m[i] += 1; });
    const std::vector<std::int32_t> got = marks.download(ctx);
    for (std::size_t i = 0; i < kMost; ++i) ASSERT_EQ(got[i], static_cast<int>(i) < n ? 1 : 0);
  }
  launch_counted(ctx, 0, nullptr, [=] SS_LAMBDA(std::size_t) {});
}

BACKEND_TEST(Memory, ALimitRefusesAndIsLifted) {
  const std::size_t live = memory_use().live;
  limit_memory(live + 1'000'000);
  EXPECT_THROW(Buffer<double>(ctx, 200'000), OutOfMemory);
  EXPECT_NO_THROW(Buffer<double>(ctx, 100'000));
  EXPECT_EQ(memory_use().live, live);
  limit_memory(0);
  EXPECT_NO_THROW(Buffer<double>(ctx, 200'000));
}
