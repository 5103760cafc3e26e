#include "gpu/math/polar.h"

#include <gtest/gtest.h>

#include "gpu/math/quat.h"

namespace stickslip {
namespace {

TEST(Polar, RotationOfARotatedStretchIsTheRotation) {
  using Vec3d = Vec<double, 3>;
  using Mat3d = Mat<double, 3>;
  for (const Vec3d& turn : {Vec3d{0, 0, 0}, Vec3d{0.3, -1, 2}, Vec3d{0, 3.1, 0}}) {
    const QuatT<double> q = rotation_by(turn);
    const Mat3d stretch{{1.1, 0.02, -0.1, 0.02, 0.7, 0.05, -0.1, 0.05, 2}};
    const Mat3d r = polar_rotation(q.matrix() * stretch);
    for (int e = 0; e < 9; ++e) EXPECT_NEAR(r.m[e], q.matrix().m[e], 1e-14);
    EXPECT_NEAR(determinant(r), 1, 1e-14);
  }
}

}  // namespace
}  // namespace stickslip
