#include "gpu/step/recent_states.cuh"

#include <algorithm>
#include <span>
#include <vector>

#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {

/// One node, at x = frame.
inline void remember(Context& ctx, RecentStates& recent, int frame) {
  const Vec3 x{static_cast<Real>(frame), 0, 0};
  Buffer<Vec3> at(ctx, std::span<const Vec3>(&x, 1));
  recent.add(ctx, frame, at.data(), 1, {});
}

inline std::vector<int> frames_of(const RecentStates& recent) {
  std::vector<int> frames;
  for (const RecentStates::Entry& entry : recent.entries()) frames.push_back(entry.frame);
  return frames;
}

}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(RecentStates, AreDenseNearThePresentAndFew) {
  RecentStates recent;
  std::size_t most = 0;
  for (int frame = 0; frame <= 300; ++frame) {
    remember(ctx, recent, frame);
    most = std::max(most, recent.entries().size());
    for (const RecentStates::Entry& entry : recent.entries())
      EXPECT_EQ(recent.positions(ctx, entry)[0][0], static_cast<Real>(entry.frame)) << frame;
    // Steps back to the latest kept one that is older by `age`: at most four times as many.
    for (const int age : {1, 3, 10, 40, 150})
      if (age <= frame) {
        const auto older =
            std::ranges::find_if(recent.entries(), [&](const auto& e) { return e.frame >= frame - 4 * age; });
        ASSERT_NE(older, recent.entries().end());
        EXPECT_LE(older->frame, frame - age) << frame << ", age " << age;
      }
  }
  EXPECT_EQ(most, static_cast<std::size_t>(RecentStates::kMost));
  EXPECT_EQ(frames_of(recent),
            (std::vector<int>{64, 128, 192, 240, 256, 272, 288, 292, 296, 297, 298, 299, 300}));
}

BACKEND_TEST(RecentStates, OfAFutureThatTheRunLeftAreDropped) {
  RecentStates recent;
  for (int frame = 0; frame <= 10; ++frame) remember(ctx, recent, frame);
  remember(ctx, recent, 6);
  EXPECT_EQ(frames_of(recent), (std::vector<int>{0, 4, 6}));
  remember(ctx, recent, 6);
  remember(ctx, recent, 7);
  EXPECT_EQ(frames_of(recent), (std::vector<int>{0, 4, 6, 7}));
  recent.forget();
  EXPECT_TRUE(recent.entries().empty());
}
