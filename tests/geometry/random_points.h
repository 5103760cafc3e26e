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

/// Compares gradient(x) and hessian(x) with central differences of value(x) and gradient(x) in long double.
/// With h = 1e-6 these are accurate to 1e-11 of the function's scale over h^2.
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
    nudge(x, j, h);
    const L above = value(x);
    const auto g_above = gradient(x);
    nudge(x, j, -2 * h);
    const L below = value(x);
    const auto g_below = gradient(x);
    nudge(x, j, h);
    EXPECT_NEAR(g[j], (above - below) / (2 * h), tolerance * std::max(g_scale, h_scale)) << "dof " << j;
    for (int i = 0; i < 3 * N; ++i) {
      EXPECT_NEAR(H(i, j), (g_above[i] - g_below[i]) / (2 * h), tolerance * h_scale)
          << "dofs " << i << " " << j;
      EXPECT_NEAR(H(i, j), H(j, i), 1e-14 * h_scale);
    }
  }
}

}  // namespace stickslip::testing
