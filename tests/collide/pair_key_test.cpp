#include "gpu/collide/pair_key.h"

#include <gtest/gtest.h>

#include <utility>

namespace stickslip {
namespace {

TEST(PairKeys, SortByBodiesWithHalfSpacesBehind) {
  for (const int bodies : {1, 2, 3, 5, 8, 63, 64})
    for (const int half_spaces : {0, 1, 3}) {
      const PairKeys keys =
          PairKeys::of(static_cast<std::size_t>(bodies), static_cast<std::size_t>(half_spaces));
      std::uint64_t last = 0;
      bool first = true;
      const auto next = [&](int a, int b) {
        const std::uint64_t key = keys.key(a, b);
        EXPECT_TRUE(first || key > last) << bodies << " bodies: " << a << " " << b;
        EXPECT_LT(key, keys.none());
        EXPECT_EQ(key >> keys.end_bit(), 0u);
        EXPECT_EQ(keys.a(key), a);
        EXPECT_EQ(keys.b(key), b);
        last = key;
        first = false;
      };
      for (int a = 0; a < bodies; ++a) {
        for (int b = a + 1; b < bodies; ++b) next(a, b);
        for (int k = 0; k < half_spaces; ++k) next(a, -1 - k);
      }
      EXPECT_EQ(keys.none() >> keys.end_bit(), 0u);
    }
}

TEST(PairKeys, ReachToAMillionBodies) {
  const PairKeys keys = PairKeys::of(1u << 20, 6);
  const std::uint64_t key = keys.key((1 << 20) - 1, -6);
  EXPECT_EQ(keys.a(key), (1 << 20) - 1);
  EXPECT_EQ(keys.b(key), -6);
  EXPECT_LT(key, keys.none());
}

}  // namespace
}  // namespace stickslip
