// Quaternions compared with rotation matrices and each other.
#include "gpu/math/quat.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

std::vector<Vec3d> rotation_vectors() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> in(-1.7, 1.7);
  std::vector<Vec3d> all{{0, 0, 0},       {1e-9, 0, 0},   {0, 1e-5, 2e-5},
                         {0, 0, 3.14159}, {-3.1, 0.2, 0}, {0, 3, 0.5}};
  for (int i = 0; i < 200; ++i) all.push_back({in(random), in(random), in(random)});
  return all;
}

/// Rodrigues' formula.
Vec3d turned(const Vec3d& a, const Vec3d& x) {
  const double angle = norm(a);
  const Vec3d n = normalized(a);
  return std::cos(angle) * x + std::sin(angle) * cross(n, x) + ((1 - std::cos(angle)) * dot(n, x)) * n;
}

TEST(Quat, RotatesAsRodriguesSays) {
  for (const Vec3d& a : rotation_vectors()) {
    const Quat q = rotation_by(a);
    for (const Vec3d& x : {Vec3d{1, 0, 0}, Vec3d{0.3, -2, 1}}) {
      EXPECT_LT(norm(q.rotate(x) - turned(a, x)), 1e-14);
      EXPECT_LT(norm(q.rotate_back(q.rotate(x)) - x), 1e-14);
      EXPECT_LT(norm(q.matrix() * x - q.rotate(x)), 1e-14);
    }
  }
}

TEST(Quat, RotationVectorsAndMatricesRoundTrip) {
  for (const Vec3d& a : rotation_vectors()) {
    const Quat q = rotation_by(a);
    EXPECT_LT(norm(rotation_vector(q) - a), 1e-12) << a[0] << " " << a[1] << " " << a[2];
    EXPECT_LT(norm(rotation_vector(QuatT<double>{-q.w, -q.v}) - a), 1e-12);
    const Quat back = quaternion_of(q.matrix());
    EXPECT_NEAR(std::fabs(back.w * q.w + dot(back.v, q.v)), 1, 1e-14);
  }
}

TEST(Quat, ProductsComposeAndPosesInvert) {
  const Pose a{{1, 2, 3}, rotation_by(Vec3d{0.3, -0.2, 1})}, b{{-1, 0, 2}, rotation_by(Vec3d{1, 1, 0})};
  const Vec3d x{0.5, -0.25, 4};
  EXPECT_LT(norm((a * b).apply(x) - a.apply(b.apply(x))), 1e-14);
  EXPECT_LT(norm(a.apply_back(a.apply(x)) - x), 1e-14);
}

}  // namespace
}  // namespace stickslip
