#include "gpu/geometry/distance.h"

#include <algorithm>

#include "tests/geometry/random_points.h"

namespace stickslip {
namespace {

using testing::Random;
using P = Vec<double, 3>;

/// The minimum of a convex f over [low, high].
template <class F>
double minimum(double low, double high, const F& f) {
  for (int i = 0; i < 90; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (f(a) < f(b) ? high : low) = f(a) < f(b) ? b : a;
  }
  return std::min({f(low), f(high), f((low + high) / 2)});
}
double brute_point_edge(P p, P a, P b) {
  return minimum(0, 1, [&](double t) { return norm2(p - (a + t * (b - a))); });
}
double brute_edge_edge(P a0, P a1, P b0, P b1) {
  return minimum(0, 1, [&](double s) { return brute_point_edge(a0 + s * (a1 - a0), b0, b1); });
}
double brute_point_triangle(P p, P t0, P t1, P t2) {
  return minimum(0, 1, [&](double s) { return brute_point_edge(p, t0 + s * (t1 - t0), t0 + s * (t2 - t0)); });
}

/// Four points; every third time degenerate.
void random_quad(Random& random, P (&x)[4]) {
  for (P& q : x) q = random.point();
  const int a = random.index(4), b = (a + 1 + random.index(3)) % 4;
  switch (random.index(18)) {
    case 0:
      x[a] = x[b];
      break;  // coincident corners
    case 1:
      x[3] = x[2] + random.uniform(-2, 2) * (x[1] - x[0]);
      break;  // parallel edges
    case 2:
      x[3] = x[2] + x[1] - x[0] + 1e-9 * random.point();
      break;  // nearly parallel
    case 3:
      x[3] = x[1] + random.uniform(-2, 2) * (x[2] - x[1]);
      break;  // collinear triangle
    case 4:
      for (P& q : x) q[1] = 0;
      break;  // coplanar
    case 5:
      for (P& q : x) q = x[0] + (q[0] - x[0][0]) * (x[1] - x[0]);
      break;  // collinear
    case 6:
      for (P& q : x) q = x[0];
      break;  // one point
    default:
      break;
  }
}

template <class T>
class Distances : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Distances, Scalars);

/// Requires that the weights describe points on the two primitives with difference r, and |r|^2 = d2.
template <class T, class Feature, int N>
void expect_consistent(const ClosestPair<T, Feature, N>& pair, const Vec<T, 3> (&x)[N], int side_a,
                       double tolerance) {
  Vec<T, 3> r = Vec<T, 3>::zero();
  T sum_a = 0, sum_b = 0;
  for (int i = 0; i < N; ++i) {
    r += pair.w[i] * x[i];
    (i < side_a ? sum_a : sum_b) += pair.w[i];
    EXPECT_GE(i < side_a ? pair.w[i] : -pair.w[i], T(0));
  }
  EXPECT_NEAR(sum_a, 1, tolerance);
  EXPECT_NEAR(sum_b, -1, tolerance);
  EXPECT_NEAR(norm(r - pair.r), 0, tolerance);
  EXPECT_EQ(pair.d2, norm2(pair.r));
}

TYPED_TEST(Distances, EqualBruteForceMinimisation) {
  using T = TypeParam;
  // Both cases of nearly_parallel's argument: the distance is accurate to sqrt(epsilon) of an edge.
  const double tolerance = 8 * std::sqrt(std::numeric_limits<T>::epsilon());
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 1000; ++n) {
    P x[4];
    random_quad(random, x);
    Vec<T, 3> y[4];
    for (int i = 0; i < 4; ++i) {
      y[i] = x[i].cast<T>();
      x[i] = y[i].template cast<double>();
    }
    const auto pt = point_triangle_closest(y[0], y[1], y[2], y[3]);
    const auto ee = edge_edge_closest(y[0], y[1], y[2], y[3]);
    const auto pe = point_edge_closest(y[0], y[1], y[2]);
    EXPECT_NEAR(std::sqrt(pt.d2), std::sqrt(brute_point_triangle(x[0], x[1], x[2], x[3])), tolerance);
    EXPECT_NEAR(std::sqrt(ee.d2), std::sqrt(brute_edge_edge(x[0], x[1], x[2], x[3])), tolerance);
    EXPECT_NEAR(std::sqrt(pe.d2), std::sqrt(brute_point_edge(x[0], x[1], x[2])), tolerance);
    expect_consistent(pt, y, 1, tolerance);
    expect_consistent(ee, y, 2, tolerance);
    const Vec<T, 3> y3[3] = {y[0], y[1], y[2]};
    expect_consistent(pe, y3, 1, tolerance);
  }
}

TYPED_TEST(Distances, AreThoseOfTheirFeature) {
  using T = TypeParam;
  const double tolerance = 64 * std::numeric_limits<T>::epsilon();
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 20000; ++n) {
    Vec<T, 3> x[4];
    for (auto& q : x) q = random.point<T>();
    const auto& [p, t0, t1, t2] = x;
    T d2 = 0;
    switch (point_triangle_feature(p, t0, t1, t2)) {
      case PointTriangleFeature::v0:
        d2 = point_point_d2(p, t0);
        break;
      case PointTriangleFeature::v1:
        d2 = point_point_d2(p, t1);
        break;
      case PointTriangleFeature::v2:
        d2 = point_point_d2(p, t2);
        break;
      case PointTriangleFeature::e01:
        d2 = point_line_d2(p, t0, t1);
        break;
      case PointTriangleFeature::e12:
        d2 = point_line_d2(p, t1, t2);
        break;
      case PointTriangleFeature::e20:
        d2 = point_line_d2(p, t2, t0);
        break;
      case PointTriangleFeature::face:
        d2 = point_plane_d2(p, t0, t1, t2);
        break;
    }
    EXPECT_NEAR(d2, point_triangle_d2(p, t0, t1, t2), tolerance * std::max<T>(d2, 1));
    const auto& [a0, a1, b0, b1] = x;
    switch (edge_edge_feature(a0, a1, b0, b1)) {
      case EdgeEdgeFeature::a0_b0:
        d2 = point_point_d2(a0, b0);
        break;
      case EdgeEdgeFeature::a0_b1:
        d2 = point_point_d2(a0, b1);
        break;
      case EdgeEdgeFeature::a1_b0:
        d2 = point_point_d2(a1, b0);
        break;
      case EdgeEdgeFeature::a1_b1:
        d2 = point_point_d2(a1, b1);
        break;
      case EdgeEdgeFeature::a0_b:
        d2 = point_line_d2(a0, b0, b1);
        break;
      case EdgeEdgeFeature::a1_b:
        d2 = point_line_d2(a1, b0, b1);
        break;
      case EdgeEdgeFeature::a_b0:
        d2 = point_line_d2(b0, a0, a1);
        break;
      case EdgeEdgeFeature::a_b1:
        d2 = point_line_d2(b1, a0, a1);
        break;
      case EdgeEdgeFeature::interior:
        d2 = line_line_d2(a0, a1, b0, b1);
        break;
    }
    EXPECT_NEAR(d2, edge_edge_d2(a0, a1, b0, b1), tolerance * std::max<T>(d2, 1));
  }
}

TEST(Features, KnownCases) {
  using F = PointTriangleFeature;
  const P t0{0, 0, 0}, t1{1, 0, 0}, t2{0, 0, 1};
  EXPECT_EQ(point_triangle_feature(P{0.2, 1, 0.2}, t0, t1, t2), F::face);
  EXPECT_EQ(point_triangle_feature(P{-1, 1, -1}, t0, t1, t2), F::v0);
  EXPECT_EQ(point_triangle_feature(P{3, 1, 0}, t0, t1, t2), F::v1);
  EXPECT_EQ(point_triangle_feature(P{0, 1, 3}, t0, t1, t2), F::v2);
  EXPECT_EQ(point_triangle_feature(P{0.5, 1, -1}, t0, t1, t2), F::e01);
  EXPECT_EQ(point_triangle_feature(P{1, 1, 1}, t0, t1, t2), F::e12);
  EXPECT_EQ(point_triangle_feature(P{-1, 1, 0.5}, t0, t1, t2), F::e20);

  using E = EdgeEdgeFeature;
  const P a0{-1, 0, 0}, a1{1, 0, 0};
  EXPECT_EQ(edge_edge_feature(a0, a1, P{0, 1, -1}, P{0, 1, 1}), E::interior);
  EXPECT_EQ(edge_edge_feature(a0, a1, P{0, 1, 0}, P{0, 2, 1}), E::a_b0);
  EXPECT_EQ(edge_edge_feature(a0, a1, P{0, 2, 1}, P{0, 1, 0}), E::a_b1);
  EXPECT_EQ(edge_edge_feature(a0, a1, P{2, 1, -1}, P{2, 1, 1}), E::a1_b);
  EXPECT_EQ(edge_edge_feature(a0, a1, P{-2, 1, -1}, P{-2, 1, 1}), E::a0_b);
  EXPECT_EQ(edge_edge_feature(a0, a1, P{2, 0, 0}, P{3, 0, 0}), E::a1_b0);
  EXPECT_EQ(edge_edge_feature(a0, a1, P{-3, 0, 0}, P{-2, 0, 0}), E::a0_b1);
  // Parallel and overlapping: an endpoint against the inside of the other edge.
  EXPECT_EQ(edge_edge_d2(a0, a1, P{0, 1, 0}, P{5, 1, 0}), 1);
  // Both edges are points.
  EXPECT_EQ(edge_edge_d2(a0, a0, a1, a1), 4);
}

TEST(HullDistance, DerivativesMatchFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 200; ++n) {
    P x[4];
    for (P& q : x) q = random.point();
    // Flat configurations are skipped: finite differences leave the range of the formula.
    if (norm2(cross(x[2] - x[1], x[3] - x[1])) < 0.05 || norm2(cross(x[1] - x[0], x[3] - x[2])) < 0.05)
      continue;
    const P x2[2] = {x[0], x[1]}, x3[3] = {x[0], x[1], x[2]};
    constexpr double tolerance = 1e-8;
    testing::expect_derivatives(
        x2, [](auto& y) { return point_point_d2(y[0], y[1]); },
        [](auto& y) { return point_point_d2_gradient(y[0], y[1]); },
        [](auto& y) { return point_point_d2_hessian(y[0], y[1]); }, tolerance);
    if (norm2(x[2] - x[1]) > 0.05)
      testing::expect_derivatives(
          x3, [](auto& y) { return point_line_d2(y[0], y[1], y[2]); },
          [](auto& y) { return point_line_d2_gradient(y[0], y[1], y[2]); },
          [](auto& y) { return point_line_d2_hessian(y[0], y[1], y[2]); }, tolerance);
    testing::expect_derivatives(
        x, [](auto& y) { return point_plane_d2(y[0], y[1], y[2], y[3]); },
        [](auto& y) { return point_plane_d2_gradient(y[0], y[1], y[2], y[3]); },
        [](auto& y) { return point_plane_d2_hessian(y[0], y[1], y[2], y[3]); }, tolerance);
    testing::expect_derivatives(
        x, [](auto& y) { return line_line_d2(y[0], y[1], y[2], y[3]); },
        [](auto& y) { return line_line_d2_gradient(y[0], y[1], y[2], y[3]); },
        [](auto& y) { return line_line_d2_hessian(y[0], y[1], y[2], y[3]); }, tolerance);
  }
}

TEST(HullDistance, FloatDerivativesMatchDouble) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 1000; ++n) {
    Vec<float, 3> x[4];
    Vec<double, 3> y[4];
    for (int i = 0; i < 4; ++i) y[i] = (x[i] = random.point<float>()).cast<double>();
    // Nearly parallel lines lose digits by their condition number, not by the formula.
    const Vec<double, 3> a = y[1] - y[0], b = y[3] - y[2];
    if (norm2(cross(a, b)) < 0.25 * norm2(a) * norm2(b) || norm2(a) < 0.05 || norm2(b) < 0.05) continue;
    const auto single = line_line_d2_hessian(x[0], x[1], x[2], x[3]);
    const auto exact = line_line_d2_hessian(y[0], y[1], y[2], y[3]);
    double error = 0, scale = 0;
    for (int i = 0; i < 144; ++i) {
      error = std::max(error, std::abs(single.m[i] - exact.m[i]));
      scale = std::max(scale, std::abs(exact.m[i]));
    }
    EXPECT_LT(error, 1e-4 * scale);
  }
}

}  // namespace
}  // namespace stickslip
