#include "gpu/model/mass_properties.h"

#include <gtest/gtest.h>

#include <array>
#include <numbers>
#include <random>

#include "gpu/model/convex_hull.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

/// Sums over a fine grid of points: the reference for every shape.
template <class Inside>
MassProperties counted(const Vec3d& half, int n, Inside&& inside) {
  MassProperties m;
  Mat3d second = Mat3d::zero();
  const double cell = 8 * half[0] * half[1] * half[2] / (double(n) * n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        const Vec3d p{half[0] * ((2 * i + 1.0) / n - 1), half[1] * ((2 * j + 1.0) / n - 1),
                      half[2] * ((2 * k + 1.0) / n - 1)};
        if (!inside(p)) continue;
        m.volume += cell;
        m.center += cell * p;
        second += cell * outer(p, p);
      }
  m.center = m.center / m.volume;
  second -= m.volume * outer(m.center, m.center);
  m.inertia = trace(second) * Mat3d::identity() - second;
  return m;
}

void expect_like(const MassProperties& a, const MassProperties& b, double share) {
  EXPECT_NEAR(a.volume, b.volume, share * b.volume);
  const double scale = trace(b.inertia);
  EXPECT_LT(norm(a.center - b.center), share * std::sqrt(scale / b.volume));
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(a.inertia.m[i], b.inertia.m[i], share * scale) << i;
}

/// A box [-h, h] with one corner cut off: seven corners and three new ones.
const std::vector<Vec3d> kCutBox{{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1},
                                 {1, -1, 1},   {-1, 1, 1},  {1, 1, 0},   {1, 0, 1},  {0, 1, 1}};

TEST(MassProperties, FormulasAgreeWithCounting) {
  expect_like(mass_of_shape(ShapeKind::sphere, {0.7, 0, 0}),
              counted({0.7, 0.7, 0.7}, 60, [](const Vec3d& p) { return norm(p) < 0.7; }), 5e-3);
  expect_like(mass_of_shape(ShapeKind::box, {0.2, 0.5, 0.3}),
              counted({0.2, 0.5, 0.3}, 100, [](const Vec3d&) { return true; }), 5e-4);
  expect_like(mass_of_shape(ShapeKind::cylinder, {0.3, 0.5, 0.3}),
              counted({0.3, 0.5, 0.3}, 80, [](const Vec3d& p) { return p[0] * p[0] + p[2] * p[2] < 0.09; }),
              5e-3);
  expect_like(mass_of_shape(ShapeKind::capsule, {0.3, 0.5, 0.3}),
              counted({0.3, 0.8, 0.3}, 80,
                      [](const Vec3d& p) {
                        const double y = std::max(0.0, std::abs(p[1]) - 0.5);
                        return p[0] * p[0] + y * y + p[2] * p[2] < 0.09;
                      }),
              5e-3);
  EXPECT_THROW(mass_of_shape(ShapeKind::mesh, {1, 1, 1}), std::invalid_argument);
}

TEST(MassProperties, SurfacesAreIntegratedExactlyWhereverTheyStand) {
  const ConvexHull hull = convex_hull(kCutBox);
  const auto inside = [](const Vec3d& p) { return p[0] + p[1] + p[2] < 2; };
  expect_like(mass_of_surface(hull.vertices, triangles_of(hull)), counted({1, 1, 1}, 90, inside), 3e-3);
  const MassProperties exact = mass_of_surface(hull.vertices, triangles_of(hull));
  EXPECT_NEAR(exact.volume, 8 - 1.0 / 6, 1e-14);
  std::vector<Vec3d> far = hull.vertices;
  const Pose pose{{100, -300, 50}, rotation_by(Vec3d{0.3, -0.9, 0.4})};
  for (Vec3d& p : far) p = pose.apply(p);
  expect_like(mass_of_surface(far, triangles_of(hull)), moved(exact, pose), 1e-12);
}

TEST(MassProperties, TwoHalvesAreTheWhole) {
  const MassProperties whole = mass_of_shape(ShapeKind::box, {0.2, 0.6, 0.3});
  const MassProperties half = mass_of_shape(ShapeKind::box, {0.2, 0.3, 0.3});
  const std::array<MassProperties, 2> parts{
      moved(half, {{0, 0.3, 0}, Quat::identity()}),
      moved(half, {{0, -0.3, 0}, rotation_by(Vec3d{0, std::numbers::pi, 0})})};
  expect_like(united(parts), whole, 1e-14);
  // Twice the density in the upper part shifts the centre by a sixth of the distance.
  const std::array<MassProperties, 2> heavy{scaled(parts[0], 2), parts[1]};
  EXPECT_NEAR(united(heavy).center[1], 0.1, 1e-14);
}

TEST(MassProperties, PrincipalAxesAreRightHandedAndKeepDiagonalFrames) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    Mat3d root{};
    for (double& x : root.m) x = normal(random);
    const Mat3d inertia = root * root.transposed();
    const PrincipalAxes p = principal_axes(inertia);
    const Mat3d r = p.axes.matrix();
    EXPECT_NEAR(determinant(r), 1, 1e-12);
    const Mat3d d = r.transposed() * inertia * r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) EXPECT_NEAR(d(i, j), i == j ? p.moments[i] : 0, 1e-9 * trace(inertia));
  }
  const PrincipalAxes kept = principal_axes(Mat3d{{3, 1e-13, 0, 1e-13, 1, 0, 0, 0, 3}});
  EXPECT_EQ(kept.axes.v, Vec3d::zero());
  EXPECT_EQ(kept.moments, (Vec3d{3, 1, 3}));
}

}  // namespace
}  // namespace stickslip
