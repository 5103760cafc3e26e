// The clipping plane that a user chooses, and picking through it.
#include "app/viewer/clip_choice.h"

#include <gtest/gtest.h>

namespace stickslip {
namespace {

const Bounds kBounds{{-1, 0, -2}, {3, 2, 2}};  // centre 1, 1, 0

TEST(ClipChoice, HeadingAndTiltAreThoseOfTheSideThatGoes) {
  const auto normal_of = [](float heading, float tilt) {
    return plane_of({true, heading, tilt, 0}, kBounds).normal;
  };
  EXPECT_LT(norm(normal_of(0, 0) - Vec3f{0, 0, 1}), 1e-6f);
  EXPECT_LT(norm(normal_of(90, 0) - Vec3f{1, 0, 0}), 1e-6f);
  EXPECT_LT(norm(normal_of(33, 90) - Vec3f{0, 1, 0}), 1e-6f);
  EXPECT_NEAR(norm(normal_of(33, 21)), 1, 1e-6);
}

TEST(ClipChoice, ThePlaneGoesThroughTheMiddleAndMovesByRadii) {
  ClipPlane plane = plane_of({true, 90, 0, 0}, kBounds);
  EXPECT_NEAR(plane.offset, 1, 1e-6);
  EXPECT_TRUE(plane.hides({1.1f, 5, 5}));
  EXPECT_FALSE(plane.hides({0.9f, 5, 5}));
  plane = plane_of({true, 90, 0, 0.5f}, kBounds);
  EXPECT_NEAR(plane.offset, 1 + 0.5 * kBounds.radius(), 1e-6);
}

TEST(ClipChoice, ARayBeginsWhereItEntersWhatIsDrawn) {
  const ClipPlane plane{{1, 0, 0}, 1};
  const Ray in = clipped({{3, 2, 0}, {-0.6f, -0.8f, 0}}, plane);
  EXPECT_LT(norm(in.origin - Vec3f{1, 2 - 2 / 0.6f * 0.8f, 0}), 1e-5f);
  EXPECT_LT(norm(in.direction - Vec3f{-0.6f, -0.8f, 0}), 1e-6f);
  EXPECT_EQ(clipped({{0, 0, 0}, {1, 0, 0}}, plane).origin, (Vec3f{0, 0, 0})) << "it begins within";
  EXPECT_EQ(clipped({{3, 0, 0}, {1, 0, 0}}, plane).origin, (Vec3f{3, 0, 0})) << "it never enters";
}

}  // namespace
}  // namespace stickslip
