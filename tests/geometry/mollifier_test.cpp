#include "gpu/geometry/mollifier.h"

#include "tests/geometry/random_points.h"

namespace stickslip {
namespace {

using testing::Random;
using P = Vec<double, 3>;

TEST(Mollifier, Values) {
  const P a0{0, 0, 0}, a1{1, 0, 0}, b0{0, 1, 0};
  const double eps_x = mollifier_threshold(a0, a1, b0, P{1, 1, 0});
  EXPECT_DOUBLE_EQ(eps_x, 1e-3);
  EXPECT_EQ(mollifier(a0, a1, b0, P{1, 1, 0}, eps_x), 0);
  EXPECT_EQ(mollifier(a0, a1, b0, P{0, 1, 1}, eps_x), 1);
  // c = eps_x / 2: m = 3/4.
  EXPECT_NEAR(mollifier(a0, a1, b0, P{1, 1, std::sqrt(0.5 * eps_x)}, eps_x), 0.75, 1e-12);
}

/// The second derivatives with respect to the corners.
template <class T>
Mat<T, 12> corner_hessian(const Vec<T, 3> (&x)[4], T eps_x) {
  const Mat<T, 6> edges = mollifier_edge_hessian(x[1] - x[0], x[3] - x[2], eps_x);
  Mat<T, 12> h{};
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      h(i, j) = T(mollifier_sign(i / 3, j / 3)) * edges(i / 6 * 3 + i % 3, j / 6 * 3 + j % 3);
  return h;
}

TEST(Mollifier, DerivativesMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 100; ++n) {
    P x[4];
    for (P& q : x) q = random.point();
    // From parallel to beyond the threshold, at which the second derivative jumps.
    const double ratio = n % 5 == 0 ? 0 : random.uniform(0, 2);
    if (n % 5 == 0) x[3] = x[2] + random.uniform(0.5, 2) * (x[1] - x[0]);
    const double c = norm2(cross(x[1] - x[0], x[3] - x[2]));
    const long double eps_x = n % 5 == 0 ? 0.1L : static_cast<long double>(c / ratio);
    if (std::abs(ratio - 1) < 0.01 || norm2(x[1] - x[0]) < 0.1 || norm2(x[3] - x[2]) < 0.1) continue;
    testing::expect_derivatives(
        x, [=](auto& y) { return mollifier(y[0], y[1], y[2], y[3], eps_x); },
        [=](auto& y) { return mollifier_gradient(y[0], y[1], y[2], y[3], eps_x); },
        [=](auto& y) { return corner_hessian(y, eps_x); }, 1e-6);
  }
}

}  // namespace
}  // namespace stickslip
