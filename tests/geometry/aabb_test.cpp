#include "gpu/geometry/aabb.h"

#include "gpu/geometry/tangent.h"
#include "tests/geometry/random_points.h"

namespace stickslip {
namespace {

using testing::Random;

TEST(Aabb, EmptyIsNeutral) {
  const Aabb box{{-1, 0, 2}, {3, 4, 5}};
  EXPECT_TRUE(Aabb::empty().is_empty());
  EXPECT_TRUE(inflate(Aabb::empty(), Real(1)).is_empty());
  EXPECT_FALSE(overlaps(Aabb::empty(), box));
  EXPECT_EQ(merge(Aabb::empty(), box).lo, box.lo);
  EXPECT_EQ(merge(box, Aabb::empty()).hi, box.hi);
  EXPECT_FALSE(Aabb::of(box.lo).is_empty());
}

TEST(Aabb, OverlapIsAsPointwiseAsItsDefinition) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 10000; ++n) {
    const auto box = [&] { return merge(Aabb::of(random.point<Real>()), random.point<Real>()); };
    const Aabb a = box(), b = box();
    const Vec3 lo = max(a.lo, b.lo), hi = min(a.hi, b.hi);
    EXPECT_EQ(overlaps(a, b), lo[0] <= hi[0] && lo[1] <= hi[1] && lo[2] <= hi[2]);
    EXPECT_TRUE(contains(merge(a, b), a.center()));
    EXPECT_TRUE(overlaps(a, a));
  }
  const Aabb a{{0, 0, 0}, {1, 1, 1}}, touching{{1, 1, 1}, {2, 2, 2}};
  EXPECT_TRUE(overlaps(a, touching));
}

template <class T>
void expect_orthonormal(const Vec<T, 3>& n) {
  const TangentBasis<T> basis = tangent_basis(n);
  const double tolerance = 16 * std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(norm2(basis.t1), 1, tolerance);
  EXPECT_NEAR(norm2(basis.t2), 1, tolerance);
  EXPECT_NEAR(dot(basis.t1, basis.t2), 0, tolerance);
  EXPECT_NEAR(dot(basis.t1, n), 0, tolerance);
  EXPECT_NEAR(dot(basis.t2, n), 0, tolerance);
  EXPECT_NEAR(norm(cross(basis.t2, basis.t1) - n), 0, tolerance);
}

TEST(TangentBasis, IsOrthonormalEverywhere) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 20000; ++n) {
    Vec<double, 3> d = random.direction();
    if (n % 2 == 1)
      d = normalized(Vec<double, 3>{0, n % 4 == 1 ? -1.0 : 1.0, 0} +
                     std::pow(10.0, random.uniform(-200, 0)) * d);
    expect_orthonormal(d);
    expect_orthonormal(normalized(d.cast<float>()));
  }
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {1.0, -1.0}) {
      Vec<double, 3> n{0, 0, 0};
      n[axis] = sign;
      expect_orthonormal(n);
    }
}

TEST(TangentBasis, IsContinuousAwayFromDown) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 10000; ++n) {
    const Vec<double, 3> a = random.direction(), b = normalized(a + 1e-6 * random.point());
    if (a[1] < -0.99) continue;
    EXPECT_LT(norm(tangent_basis(a).t1 - tangent_basis(b).t1), 1e-3);
    EXPECT_LT(norm(tangent_basis(a).t2 - tangent_basis(b).t2), 1e-3);
  }
}

}  // namespace
}  // namespace stickslip
