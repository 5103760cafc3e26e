// The frame of a tet: its rates against finite differences, the balance of its forces.
#include "gpu/model/tet_frame.h"

#include <gtest/gtest.h>

#include <random>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Vec6d = Vec<double, 6>;

class TetFrames : public ::testing::Test {
 protected:
  TetFrames() {
    const Vec3d rest[4] = {{0, 0, 0}, {0.3, 0.02, 0}, {0.05, 0.25, 0.01}, {0.02, 0.03, 0.35}};
    anchor = {0.08, 0.11, 0.05};
    point = TetPoint::at({0, 1, 2, 3}, rest, anchor);
    const Quat turn = rotation_by(Vec3d{0.7, -1.1, 0.4});
    for (int k = 0; k < 4; ++k) {
      x[k] = Vec3d{0.4, 2, -1} + turn.rotate(rest[k]) + 0.05 * random();
      v[k] = random();
    }
  }
  Vec3d random() { return {uniform(generator), uniform(generator), uniform(generator)}; }
  /// The frame after the corners moved by `dt` v.
  TetFrame after(double dt) const {
    Vec3d moved[4];
    for (int k = 0; k < 4; ++k) moved[k] = x[k] + dt * v[k];
    return TetFrame::at(point, moved);
  }

  std::mt19937 generator{3};
  std::uniform_real_distribution<double> uniform{-1, 1};
  Vec3d anchor, x[4], v[4];
  TetPoint point;
};

TEST_F(TetFrames, TheTwistIsTheRateOfThePose) {
  const Vec6d twist = after(0).twist(v);
  constexpr double h = 1e-6;
  const Pose plus = after(h).pose, minus = after(-h).pose;
  const Vec3d velocity = (plus.x - minus.x) / (2 * h);
  const Vec3d spin = rotation_vector(plus.q * minus.q.conjugate()) / (2 * h);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(twist[i], velocity[i], 1e-8);
    EXPECT_NEAR(twist[3 + i], spin[i], 1e-7) << "stretched by a third";
  }
}

TEST_F(TetFrames, ARigidMotionHasItsOwnTwist) {
  const Vec3d spin{0.3, -2, 1.5}, velocity{1, 2, 3};
  Vec3d rigid[4];
  for (int k = 0; k < 4; ++k) rigid[k] = velocity + cross(spin, x[k]);
  const TetFrame frame = after(0);
  const Vec6d twist = frame.twist(rigid);
  const Vec3d at_origin = velocity + cross(spin, frame.pose.x);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(twist[i], at_origin[i], 1e-13);
    EXPECT_NEAR(twist[3 + i], spin[i], 1e-12);
  }
}

TEST_F(TetFrames, ForcesOnTheCornersHaveTheSumTheTorqueAndThePowerOfTheWrench) {
  const TetFrame frame = after(0);
  const Vec6d wrench{1, -2, 0.5, 0.2, 0.7, -0.3}, twist = frame.twist(v);
  Vec3d force{0, 0, 0}, torque{0, 0, 0};
  double power = 0;
  for (int k = 0; k < 4; ++k) {
    const Vec3d f = frame.force_on(k, wrench);
    force += f;
    torque += cross(x[k] - frame.pose.x, f);
    power += dot(f, v[k]);
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(force[i], wrench[i], 1e-13);
    EXPECT_NEAR(torque[i], wrench[3 + i], 1e-13);
  }
  EXPECT_NEAR(power, dot(wrench, twist), 1e-12);
}

TEST_F(TetFrames, ATetThatIsFlatOrInsideOutHasAFiniteFrame) {
  for (const double flat : {0.0, -0.5}) {
    for (int k = 0; k < 4; ++k) x[k][2] *= flat;
    const TetFrame frame = after(0);
    const Vec6d twist = frame.twist(v);
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(std::isfinite(twist[i]));
    EXPECT_NEAR(frame.pose.q.w * frame.pose.q.w + norm2(frame.pose.q.v), 1, 1e-12);
  }
}

}  // namespace
}  // namespace stickslip
