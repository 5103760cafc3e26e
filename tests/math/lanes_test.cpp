// Lanes compared with one double at a time.
#include "gpu/math/lanes.h"

#include <gtest/gtest.h>

namespace stickslip {
namespace {

template <int N>
Lanes<N> lanes_from(double first, double step) {
  alignas(64) double values[N];
  for (int i = 0; i < N; ++i) values[i] = first + step * i;
  return Lanes<N>::load(values);
}

template <int N>
void expect_transposes() {
  Lanes<N> row[N];
  for (int i = 0; i < N; ++i) row[i] = lanes_from<N>(100.0 * i, 1);
  transpose(row);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) EXPECT_EQ(row[i].v[j], 100.0 * j + i);
}

TEST(Lanes, SquaresAreTransposed) {
  expect_transposes<4>();
  expect_transposes<8>();
}

template <int N>
void expect_arithmetic() {
  const Lanes<N> a = lanes_from<N>(-2, 0.75), b = lanes_from<N>(3, -0.5);
  const Lanes<N> picked = pick(a < b, a * b, a / b), most = larger(a, b), length = root(a * a + b * b);
  double total = 0;
  for (int i = 0; i < N; ++i) {
    const double x = -2 + 0.75 * i, y = 3 - 0.5 * i;
    EXPECT_EQ(picked.v[i], pick(x < y, x * y, x / y));
    EXPECT_EQ(most.v[i], larger(x, y));
    EXPECT_NEAR(length.v[i], root(x * x + y * y), 1e-15 * length.v[i]);
    total += x;
  }
  EXPECT_NEAR(sum(a), total, 1e-14);
}

TEST(Lanes, EachLaneIsADouble) {
  expect_arithmetic<4>();
  expect_arithmetic<8>();
}

}  // namespace
}  // namespace stickslip
