#include "gpu/core/arena.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace stickslip {
namespace {

TEST(Arena, CoversEveryIndexOnceInPiecesOfTheGrain) {
  for (const int threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Arena arena(threads);
    for (const std::size_t n : {0, 1, 7, 31, 1000, 100003}) {
      SCOPED_TRACE("n " + std::to_string(n));
      constexpr std::size_t kGrain = 16;
      std::vector<int> visits(n, 0);
      std::atomic<int> short_pieces{0};
      arena.run(n, kGrain, [&](std::size_t begin, std::size_t end) {
        if (end - begin < kGrain) ++short_pieces;
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(visits, std::vector<int>(n, 1));
      EXPECT_LE(short_pieces, threads);
    }
  }
}

TEST(Arena, EachRunSeesWhatTheOneBeforeWrote) {
  for (const int threads : {2, 3, 4}) {
    constexpr int kRuns = 20000;
    Arena arena(threads);
    std::vector<int> values(24, 0), next(24, 0);
    for (int run = 0; run < kRuns; ++run) {
      arena.run_each(values.size(), [&](std::size_t i) { next[i] = values[(i + 1) % values.size()] + 1; });
      values.swap(next);
    }
    EXPECT_EQ(values, std::vector<int>(24, kRuns));
  }
}

// Longer than a thread waits before it sleeps.
TEST(Arena, WakesItsThreadsAfterAPause) {
  Arena arena(3);
  std::vector<int> visits(3000, 0);
  for (int run = 0; run < 20; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(run % 3));
    arena.run(visits.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
  }
  EXPECT_EQ(visits, std::vector<int>(3000, 20));
}

// Both must be in their piece at the same time for either to go on.
TEST(Arena, RunsPiecesAtTheSameTime) {
  Arena arena(2);
  std::atomic<int> inside{0};
  std::atomic<bool> late{false};
  arena.run_each(2, [&](std::size_t) {
    ++inside;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (inside < 2 && !late)
      if (std::chrono::steady_clock::now() > end) late = true;
  });
  EXPECT_FALSE(late);
}

TEST(Arena, HandsAnExceptionToTheCallerAndGoesOn) {
  for (const int threads : {1, 2, 4}) {
    Arena arena(threads);
    for (int run = 0; run < 100; ++run) {
      std::atomic<int> visits{0};
      EXPECT_THROW(arena.run_each(40,
                                  [&](std::size_t i) {
                                    if (i == 0 || i == 39) throw std::length_error("a piece");
                                    ++visits;
                                  }),
                   std::length_error);
      visits = 0;
      arena.run_each(40, [&](std::size_t) { ++visits; });
      EXPECT_EQ(visits, 40);
    }
  }
}

TEST(Arena, EndsWhileItsThreadsAreAtWorkOrAsleep) {
  for (int round = 0; round < 300; ++round) {
    Arena arena(1 + round % 4);
    std::atomic<int> visits{0};
    if (round % 5 != 0) arena.run_each(10, [&](std::size_t) { ++visits; });
    EXPECT_EQ(visits, round % 5 != 0 ? 10 : 0);
  }
}

}  // namespace
}  // namespace stickslip
