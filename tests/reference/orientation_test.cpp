// The orientation of gpu/geometry compared with exact arithmetic, where floating-point filters fail.
#include <gtest/gtest.h>

#include "gpu/geometry/segment_triangle.h"
#include "tests/geometry/random_points.h"
#include "tests/reference/exact_ccd.h"

namespace stickslip::testing {
namespace {

using P = Vec<double, 3>;

/// Points of different magnitudes, so that their differences are rounded; in a plane up to rounding.
void fill_plane(Random& random, P (&x)[4]) {
  const int kind = random.index(4);
  for (P& point : x) point = std::pow(10.0, random.uniform(-8, 8)) * random.point();
  if (kind == 0)
    for (P& point : x) point[1] = 0.5 * point[0];  // exactly
  if (kind == 1)
    for (P& point : x) point[2] = 0.1;
  if (kind >= 2) {
    const double u = random.uniform(-1, 2), v = random.uniform(-1, 2);
    for (P& point : x) point = random.point();
    if (kind == 3)
      for (P& point : x) point += P{1000, 0, 0};
    x[3] = x[0] + u * (x[1] - x[0]) + v * (x[2] - x[0]);
  }
}

TEST(Orientation, EqualsExactArithmeticNearAPlane) {
  Random random;
  SCOPED_TRACE(random.trace());
  int flat = 0;
  const P at_rest[4] = {};
  for (int n = 0; n < 30000; ++n) {
    P x[4];
    fill_plane(random, x);
    const int expected = exact_volume(ExactMotion::along(x, at_rest)).sign_at(Dyadic::from(0));
    flat += expected == 0;
    ASSERT_EQ(exact::orientation3(x[1], x[2], x[3], x[0]), expected) << n;
    ASSERT_EQ(exact::orientation3(x[2], x[1], x[3], x[0]), -expected) << n;
    ASSERT_EQ(exact::orientation3(x[0], x[3], x[2], x[1]), expected) << n;
  }
  EXPECT_GT(flat, 10000);
}

}  // namespace
}  // namespace stickslip::testing
