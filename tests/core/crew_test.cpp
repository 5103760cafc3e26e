#include "gpu/core/crew.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace stickslip {
namespace {

TEST(Crew, RunsEveryPieceOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Arena arena(threads);
    Crew crew(arena, threads);
    for (const std::size_t pieces : {0, 1, 2, 7, 1000}) {
      std::vector<int> visits(pieces, 0);
      crew.run(pieces, [&](std::size_t piece) { ++visits[piece]; });
      EXPECT_EQ(visits, std::vector<int>(pieces, 1));
    }
  }
}

TEST(Crew, EachPhaseSeesWhatTheOneBeforeWrote) {
  constexpr int kPhases = 20000;
  Arena arena(3);
  Crew crew(arena, 3);
  std::vector<int> values(24, 0), next(24, 0);
  for (int phase = 0; phase < kPhases; ++phase) {
    crew.run(values.size(),
             [&](std::size_t piece) { next[piece] = values[(piece + 1) % values.size()] + 1; });
    values.swap(next);
  }
  EXPECT_EQ(values, std::vector<int>(24, kPhases));
}

// More threads than the arena has: the shares of those that never come are taken by others.
TEST(Crew, DoesTheWorkOfThreadsThatDoNotCome) {
  Arena arena(1);
  Crew crew(arena, 4);
  std::vector<std::thread::id> by(100);
  for (int phase = 0; phase < 100; ++phase)
    crew.run(by.size(), [&](std::size_t piece) { by[piece] = std::this_thread::get_id(); });
  EXPECT_EQ(by, std::vector<std::thread::id>(100, std::this_thread::get_id()));
}

TEST(Crew, LeavesTheArenaAsItWas) {
  Arena arena(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> visits(50);
    {
      Crew crew(arena, 4);
      crew.run(visits.size(), [&](std::size_t piece) { ++visits[piece]; });
    }
    arena.run(visits.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 2);
  }
}

}  // namespace
}  // namespace stickslip
