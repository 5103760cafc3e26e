// Random and degenerate configurations of points, and finite differences.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "gpu/math/mat.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::testing {

class Random {
 public:
  explicit Random(unsigned seed = stickslip::fixtures::fresh_seed())
      : rng_(seed), trace_("seed " + std::to_string(seed)) {}
  const std::string& trace() const { return trace_; }

  template <class T = double>
  T uniform(double low, double high) {
    return static_cast<T>(std::uniform_real_distribution<double>(low, high)(rng_));
  }
  int index(int count) { return std::uniform_int_distribution<int>(0, count - 1)(rng_); }
  template <class T = double>
  Vec<T, 3> point(double low = -1, double high = 1) {
    return {uniform<T>(low, high), uniform<T>(low, high), uniform<T>(low, high)};
  }
  template <class T = double>
  Vec<T, 3> direction() {
    Vec<double, 3> d;
    do d = point();
    while (norm2(d) > 1 || norm2(d) < 0.01);
    return normalized(d).template cast<T>();
  }

 private:
  std::mt19937 rng_;
  std::string trace_;
};

/// N points as one vector of 3 N coordinates, moved along coordinate `dof`.
template <class T, int N>
void nudge(Vec<T, 3> (&x)[N], int dof, T by) {
  x[dof / 3][dof % 3] += by;
}

/// df/dx_dof by central differences over h and over half of it, extrapolated (Richardson): what is left is
/// h^4 times a fifth derivative.
template <class T, int N, class F>
auto slope_along(Vec<T, 3> (&x)[N], int dof, T h, const F& f) {
  const auto over = [&](T step) {
    nudge(x, dof, step);
    const auto above = f(x);
    nudge(x, dof, -2 * step);
    const auto below = f(x);
    nudge(x, dof, step);
    return (above - below) * (1 / (2 * step));
  };
  return over(h / 2) * (T(4) / 3) - over(h) * (T(1) / 3);
}

/// Compares gradient(x) and hessian(x) with differences of value(x) and gradient(x) in long double. With h =
/// 1e-6 these are accurate to 1e-11 of the function's scale over h.
template <int N, class Value, class Gradient, class Hessian>
void expect_derivatives(const Vec<double, 3> (&points)[N], const Value& value, const Gradient& gradient,
                        const Hessian& hessian, double tolerance) {
  using L = long double;
  const L h = 1e-6L;
  Vec<L, 3> x[N];
  for (int i = 0; i < N; ++i) x[i] = points[i].template cast<L>();
  const auto g = gradient(x);
  const auto H = hessian(x);
  L g_scale = 0, h_scale = 0;
  for (int i = 0; i < 3 * N; ++i) g_scale = std::max(g_scale, std::abs(g[i]));
  for (int i = 0; i < 9 * N * N; ++i) h_scale = std::max(h_scale, std::abs(H.m[i]));
  for (int j = 0; j < 3 * N; ++j) {
    EXPECT_NEAR(g[j], slope_along(x, j, h, value), tolerance * std::max(g_scale, h_scale)) << "dof " << j;
    const auto column = slope_along(x, j, h, gradient);
    for (int i = 0; i < 3 * N; ++i) {
      EXPECT_NEAR(H(i, j), column[i], tolerance * h_scale) << "dofs " << i << " " << j;
      EXPECT_NEAR(H(i, j), H(j, i), 1e-14 * h_scale);
    }
  }
}

}  // namespace stickslip::testing
