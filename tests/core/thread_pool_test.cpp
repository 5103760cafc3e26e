#include "gpu/core/thread_pool.h"

#include <gtest/gtest.h>

#include <string>

namespace stickslip {
namespace {

TEST(ThreadPool, CoversEveryIndexOnceInPiecesOfTheGrain) {
  for (const int threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    ThreadPool pool(threads);
    for (const std::size_t n : {0, 1, 31, 1000, 100003}) {
      SCOPED_TRACE("n " + std::to_string(n));
      constexpr std::size_t kGrain = 16;
      std::vector<int> visits(n, 0);
      std::atomic<int> short_pieces{0};
      pool.run(n, kGrain, [&](std::size_t begin, std::size_t end) {
        if (end - begin < kGrain) ++short_pieces;
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(visits, std::vector<int>(n, 1));
      EXPECT_LE(short_pieces, 1);
    }
  }
}

TEST(ThreadPool, EachRunSeesWhatTheOneBeforeWrote) {
  ThreadPool pool(4);
  std::vector<int> values(64, 0), next(64, 0);
  for (int round = 0; round < 2000; ++round) {
    pool.run(values.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) next[i] = values[(i + 1) % values.size()] + 1;
    });
    values.swap(next);
  }
  EXPECT_EQ(values, std::vector<int>(64, 2000));
}

TEST(ThreadPool, MakesStartedCallsWhileTheCallerGoesOn) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> calls{0};
      pool.start(
          3, [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, &calls);
      pool.finish();
      EXPECT_EQ(calls, 3);
    }
  }
}

}  // namespace
}  // namespace stickslip
