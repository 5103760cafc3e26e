// svd3, symmetric_eigen and project_spd compared with Eigen.
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "gpu/math/lanes.h"
#include "gpu/math/spd.h"
#include "gpu/math/svd.h"
#include "tests/math/random_matrices.h"

namespace stickslip {
namespace {

using testing::max_abs;
using testing::RandomMatrices;

// Dynamic size: with fixed sizes Eigen unrolls all loops, which takes minutes to compile.
template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T, int N>
Dense<T> to_eigen(const Mat<T, N>& a) {
  return Eigen::Map<const Dense<T>>(a.m, N, N);
}

template <class T, int N>
double error_of_orthonormality(const Mat<T, N>& q) {
  return max_abs(q.transposed() * q - Mat<T, N>::identity());
}

template <class T>
void check_svd(int count) {
  const double epsilon = std::numeric_limits<T>::epsilon();
  RandomMatrices random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < count; ++n) {
    const Mat<T, 3> f = random.deformation<T>();
    const Svd3<T> svd = svd3(f);
    const double tolerance = 32 * epsilon, size = max_abs(f);
    ASSERT_LT(error_of_orthonormality(svd.u), tolerance);
    ASSERT_LT(error_of_orthonormality(svd.v), tolerance);
    ASSERT_GT(determinant(svd.u), 0);
    ASSERT_GT(determinant(svd.v), 0);
    ASSERT_GE(svd.s[0], svd.s[1]);
    ASSERT_GE(svd.s[1], std::abs(svd.s[2]));
    Mat<T, 3> us = svd.u;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) us(r, c) *= svd.s[c];
    ASSERT_LE(max_abs(us * svd.v.transposed() - f), tolerance * size);
    const auto expected = Eigen::JacobiSVD<Dense<T>>(to_eigen(f)).singularValues().eval();
    for (int i = 0; i < 3; ++i) ASSERT_NEAR(std::abs(svd.s[i]), expected[i], tolerance * size);
    // The sign of the determinant, if rounding cannot change it.
    const double det = to_eigen(f).template cast<double>().determinant();
    if (std::abs(svd.s[2]) > tolerance * size && std::abs(det) > 0 && size < 1e50 && size > 1e-50) {
      ASSERT_EQ(svd.s[2] > 0, det > 0);
    }
  }
}

TEST(Svd, MatchesEigen) {
  check_svd<double>(100000);
  check_svd<float>(100000);
}
TEST(LongSvd, MatchesEigenAMillionTimes) {
  check_svd<double>(1000000);
  check_svd<float>(1000000);
}

/// Row l of `lanes`, as one matrix.
Mat<double, 3> lane_of(const Mat<WideLanes, 3>& lanes, int l) {
  Mat<double, 3> out;
  for (int k = 0; k < 9; ++k) out.m[k] = lanes.m[k].v[l];
  return out;
}

// In every lane: any matrix, a zero, one of rank one; neighbours change nothing.
TEST(Svd, OfLanesIsThatOfEachLaneAlone) {
  RandomMatrices random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 2000; ++n) {
    Mat<WideLanes, 3> f = Mat<WideLanes, 3>::zero(), turned = f;
    Mat<double, 3> single[kLaneCount];
    for (int l = 0; l < kLaneCount; ++l) {
      single[l] = random.deformation<double>();
      if (l == n % kLaneCount) single[l] = Mat<double, 3>::zero();
      if (l == (n + 1) % kLaneCount) single[l] = outer(single[l].row(0), single[l].row(1));
      for (int k = 0; k < 9; ++k) {
        f.m[k].v[l] = single[l].m[k];
        turned.m[k].v[(l + 1) % kLaneCount] = single[l].m[k];
      }
    }
    const Svd3<WideLanes> svd = svd3<WideLanes, double>(f), other = svd3<WideLanes, double>(turned);
    for (int l = 0; l < kLaneCount; ++l) {
      const Mat<double, 3> u = lane_of(svd.u, l), v = lane_of(svd.v, l);
      const Vec<double, 3> s{svd.s[0].v[l], svd.s[1].v[l], svd.s[2].v[l]}, expected = svd3(single[l]).s;
      const double tolerance = 32 * std::numeric_limits<double>::epsilon(), size = max_abs(single[l]);
      ASSERT_LT(error_of_orthonormality(u), tolerance);
      ASSERT_LT(error_of_orthonormality(v), tolerance);
      ASSERT_GT(determinant(u), 0);
      ASSERT_GT(determinant(v), 0);
      Mat<double, 3> us = u;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) us(r, c) *= s[c];
      ASSERT_LE(max_abs(us * v.transposed() - single[l]), tolerance * size);
      for (int i = 0; i < 3; ++i) {
        ASSERT_NEAR(s[i], expected[i], tolerance * size);
        ASSERT_EQ(s[i], other.s[i].v[(l + 1) % kLaneCount]);
      }
      ASSERT_EQ(max_abs(u - lane_of(other.u, (l + 1) % kLaneCount)), 0);
      ASSERT_EQ(max_abs(v - lane_of(other.v, (l + 1) % kLaneCount)), 0);
    }
  }
}

TEST(Svd, KeepsSmallSingularValuesOfGradedColumns) {
  // One-sided Jacobi is accurate relative to each column, not only to the largest singular value.
  const Mat<double, 3> f{{1, 2e-9, 0, 0, 1e-9, 0, 0, 0, -3e-20}};
  const Svd3<double> svd = svd3(f);
  EXPECT_NEAR(svd.s[1], 1e-9, 1e-22);
  EXPECT_NEAR(svd.s[2], -3e-20, 1e-33);
}

TEST(Svd, OfWhatIsNotFiniteEnds) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity}) {
    Mat<double, 3> f = Mat<double, 3>::identity();
    f(1, 2) = bad;
    const Vec<double, 3> s = svd3(f).s;
    EXPECT_TRUE(std::isnan(s[0] + s[1] + s[2]));
  }
}

template <class T, int N>
void check_symmetric(int count) {
  const double tolerance = 16 * N * std::numeric_limits<T>::epsilon();
  RandomMatrices random;
  SCOPED_TRACE(random.trace() + ", size " + std::to_string(N));
  for (int n = 0; n < count; ++n) {
    const Mat<T, N> a = random.symmetric<T, N>();
    const double size = max_abs(a);
    const SymmetricEigen<T, N> eigen = symmetric_eigen(a);
    ASSERT_LT(error_of_orthonormality(eigen.vectors), tolerance);
    Mat<T, N> scaled = eigen.vectors;
    for (int r = 0; r < N; ++r)
      for (int c = 0; c < N; ++c) scaled(r, c) *= eigen.values[c];
    ASSERT_LE(max_abs(scaled * eigen.vectors.transposed() - a), tolerance * size);
    const Eigen::SelfAdjointEigenSolver<Dense<T>> expected(to_eigen(a));
    for (int i = 0; i < N; ++i) {
      ASSERT_NEAR(eigen.values[i], expected.eigenvalues()[i], tolerance * size);
      if (i > 0) {
        ASSERT_GE(eigen.values[i], eigen.values[i - 1]);
      }
    }
    Mat<T, N> projected = a;
    project_spd(projected);
    const Dense<T> nearest = expected.eigenvectors() * expected.eigenvalues().cwiseMax(T(0)).asDiagonal() *
                             expected.eigenvectors().transpose();
    ASSERT_LE((to_eigen(projected) - nearest).cwiseAbs().maxCoeff(), tolerance * size);
    ASSERT_EQ(max_abs(projected - projected.transposed()), 0);
    if (expected.eigenvalues()[0] > tolerance * size) {
      ASSERT_EQ(max_abs(projected - a), 0);
    }
  }
}

template <class T>
void check_all_sizes(int count) {
  check_symmetric<T, 1>(count / 100);
  check_symmetric<T, 2>(count / 10);
  check_symmetric<T, 3>(count / 4);
  check_symmetric<T, 5>(count / 10);
  check_symmetric<T, 6>(count / 10);
  check_symmetric<T, 9>(count / 5);
  check_symmetric<T, 12>(count / 4);
}

TEST(SymmetricEigen, MatchesEigen) {
  check_all_sizes<double>(100000);
  check_all_sizes<float>(100000);
}
TEST(LongSymmetricEigen, MatchesEigenAMillionTimes) {
  check_all_sizes<double>(1000000);
  check_all_sizes<float>(1000000);
}

TEST(Spd, SolvesAndInverts) {
  RandomMatrices random;
  SCOPED_TRACE(random.trace());
  for (int n = 0; n < 10000; ++n) {
    const Mat<double, 3> root = random.general<3>();
    const Mat<double, 3> a = root * root.transposed() + 1e-3 * Mat<double, 3>::identity();
    const Vec<double, 3> b = random.vector<3>(), x = solve_spd(a, b);
    EXPECT_LT(norm(a * x - b), 1e-10 * norm(x));
    const Mat<double, 3> inverse = inverse_spd(a);
    EXPECT_LT(max_abs(inverse * a - Mat<double, 3>::identity()), 1e-9);
    EXPECT_EQ(max_abs(inverse - inverse.transposed()), 0);
  }
  EXPECT_TRUE(factor_ldl(Mat<double, 3>::identity()).positive);
  EXPECT_FALSE(factor_ldl(Mat<double, 3>::zero()).positive);
  EXPECT_FALSE(factor_ldl(-1.0 * Mat<double, 3>::identity()).positive);
}

}  // namespace
}  // namespace stickslip
