#include "gpu/dfcp/solvers/block_lu.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <random>
#include <vector>

#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

template <int D>
struct BlockMatrix {
  std::vector<std::int32_t> start{0}, column;
  std::vector<Mat<double, D>> value;

  int rows() const { return static_cast<int>(start.size()) - 1; }

  Eigen::MatrixXd dense() const {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(D * rows(), D * rows());
    for (int c = 0; c < rows(); ++c)
      for (int k = start[c]; k < start[c + 1]; ++k)
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < D; ++j) a(D * c + i, D * column[k] + j) = value[k](i, j);
    return a;
  }

  std::vector<Vec<double, D>> times(const std::vector<Vec<double, D>>& x) const {
    std::vector<Vec<double, D>> y(x.size(), Vec<double, D>::zero());
    for (std::size_t c = 0; c < x.size(); ++c)
      for (int k = start[c]; k < start[c + 1]; ++k) y[c] += value[k] * x[column[k]];
    return y;
  }
};

/// n rows of about `entries` blocks at random places, so that the pattern is not symmetric. Diagonal blocks
/// dominate but are far from symmetric.
template <int D>
BlockMatrix<D> random_matrix(int n, int entries, std::mt19937& random) {
  std::uniform_int_distribution<int> other(0, n - 1);
  std::normal_distribution<double> normal;
  BlockMatrix<D> a;
  for (int c = 0; c < n; ++c) {
    std::vector<std::int32_t> columns{c};
    for (int k = 1; k < entries; ++k) columns.push_back(other(random));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const std::int32_t j : columns) {
      Mat<double, D> block{};
      for (double& x : block.m) x = normal(random);
      if (j == c)
        for (int i = 0; i < D; ++i) block(i, (i + 1) % D) += 3.0 * D * entries;  // needs pivots
      a.column.push_back(j);
      a.value.push_back(block);
    }
    a.start.push_back(static_cast<std::int32_t>(a.column.size()));
  }
  return a;
}

template <int D>
std::vector<Vec<double, D>> random_vector(std::size_t n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<Vec<double, D>> x(n);
  for (Vec<double, D>& v : x)
    for (int i = 0; i < D; ++i) v[i] = normal(random);
  return x;
}

template <int D>
double largest_difference(const std::vector<Vec<double, D>>& a, const std::vector<Vec<double, D>>& b) {
  double most = 0;
  for (std::size_t c = 0; c < a.size(); ++c) most = std::max(most, norm(a[c] - b[c]));
  return most;
}

template <int D>
void expect_solves(int n, int entries, std::mt19937& random) {
  SCOPED_TRACE(std::to_string(n) + " rows of " + std::to_string(entries));
  const BlockMatrix<D> a = random_matrix<D>(n, entries, random);
  BlockLu<D> lu;
  lu.analyse(a.start, a.column);
  EXPECT_GE(lu.work(), n);
  ASSERT_TRUE(lu.factorise(a.value));
  const auto expected = random_vector<D>(static_cast<std::size_t>(n), random), b = a.times(expected);
  std::vector<Vec<double, D>> x(b.size());
  lu.solve(b.data(), x.data());
  EXPECT_LT(largest_difference(x, expected), 1e-12);
  // In place, and compared with Eigen.
  x = b;
  lu.solve(x.data(), x.data());
  EXPECT_LT(largest_difference(x, expected), 1e-12);
  if (n > 40) return;
  Eigen::VectorXd right(D * n);
  for (int c = 0; c < n; ++c)
    for (int i = 0; i < D; ++i) right[D * c + i] = b[c][i];
  const Eigen::VectorXd y = a.dense().partialPivLu().solve(right);
  for (int c = 0; c < n; ++c)
    for (int i = 0; i < D; ++i) EXPECT_NEAR(x[c][i], y[D * c + i], 1e-12);
}

TEST(BlockLu, AgreesWithDenseLu) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  for (const int n : {1, 2, 3, 10, 40})
    for (const int entries : {1, 2, 5, n}) {
      expect_solves<3>(n, entries, random);
      expect_solves<4>(n, entries, random);
      expect_solves<6>(n, entries, random);
    }
}

TEST(BlockLu, AThousandBlocks) {
  std::mt19937 random(7);
  expect_solves<3>(1000, 2, random);
  expect_solves<4>(1000, 2, random);
  expect_solves<6>(1000, 2, random);
}

/// A band is eliminated without fill: n diagonal blocks, and a division and a product for each of n - 1
/// links.
TEST(BlockLu, WorkOfABand) {
  BlockMatrix<3> a;
  const int n = 50;
  for (int c = 0; c < n; ++c) {
    for (int j = std::max(0, c - 1); j <= std::min(n - 1, c + 1); ++j) a.column.push_back(j);
    a.start.push_back(static_cast<std::int32_t>(a.column.size()));
  }
  BlockLu<3> lu;
  lu.analyse(a.start, a.column);
  EXPECT_EQ(lu.work(), n + 2 * (n - 1));
}

/// Refactorised with other values, with the same or another pattern.
TEST(BlockLu, IsReused) {
  std::mt19937 random(3);
  BlockMatrix<3> a = random_matrix<3>(20, 4, random);
  BlockLu<3> lu;
  for (int round = 0; round < 3; ++round) {
    lu.analyse(a.start, a.column);
    for (const double factor : {1.0, -1e-6, 1e6}) {
      std::vector<Mat<double, 3>> values = a.value;
      for (Mat<double, 3>& m : values) m = factor * m;
      ASSERT_TRUE(lu.factorise(values));
      const auto expected = random_vector<3>(static_cast<std::size_t>(a.rows()), random);
      auto b = a.times(expected);
      for (auto& v : b) v *= factor;
      lu.solve(b.data(), b.data());
      EXPECT_LT(largest_difference(b, expected), 1e-12);
    }
    a = random_matrix<3>(10 + 20 * round, 3, random);
  }
}

TEST(BlockLu, SingularBlocksAreSaid) {
  std::mt19937 random(5);
  BlockMatrix<3> a = random_matrix<3>(6, 3, random);
  BlockLu<3> lu;
  lu.analyse(a.start, a.column);
  ASSERT_TRUE(lu.factorise(a.value));
  const auto good = a.value;
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    for (int k = a.start[2]; k < a.start[3]; ++k)
      for (int j = 0; j < 3; ++j) a.value[static_cast<std::size_t>(k)](1, j) = bad;
    EXPECT_FALSE(lu.factorise(a.value)) << bad;
  }
  EXPECT_TRUE(lu.factorise(good));
  // Singular only after elimination: [1 1; 1 1] of identity blocks.
  BlockMatrix<3> twice;
  twice.start = {0, 2, 4};
  twice.column = {0, 1, 0, 1};
  twice.value.assign(4, Mat<double, 3>::identity());
  lu.analyse(twice.start, twice.column);
  EXPECT_FALSE(lu.factorise(twice.value));
}

}  // namespace
}  // namespace stickslip
