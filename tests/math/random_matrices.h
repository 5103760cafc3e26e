// Random, degenerate and badly scaled matrices.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "gpu/math/mat.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::testing {

class RandomMatrices {
 public:
  explicit RandomMatrices(unsigned seed = stickslip::fixtures::fresh_seed())
      : rng_(seed), trace_("seed " + std::to_string(seed)) {}
  const std::string& trace() const { return trace_; }

  double normal() { return std::normal_distribution<double>()(rng_); }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  int index(int count) { return std::uniform_int_distribution<int>(0, count - 1)(rng_); }

  template <int N>
  Vec<double, N> vector() {
    Vec<double, N> v;
    for (int i = 0; i < N; ++i) v[i] = normal();
    return v;
  }
  template <int N>
  Mat<double, N> general() {
    Mat<double, N> a;
    for (double& x : a.m) x = normal();
    return a;
  }
  /// A power of ten whose fourth powers leave the range of the scalar: up to 1e150 (double) or 1e15 (float).
  template <class T>
  double scale() {
    const double decades = sizeof(T) == 8 ? 150 : 15;
    return index(3) > 0 ? 1.0 : std::pow(10.0, uniform(-decades, decades));
  }

  /// Any 3x3 matrix that can occur as a deformation gradient.
  template <class T>
  Mat<T, 3> deformation() {
    const double tiny = 4 * std::numeric_limits<T>::epsilon();
    Mat<double, 3> f = general<3>();
    switch (index(14)) {
      case 0:
        f = Mat<double, 3>::identity();
        break;
      case 1:
        f = Mat<double, 3>::zero();
        break;
      case 2:
        f = outer(vector<3>(), vector<3>());
        break;  // rank 1
      case 3:
        f = outer(vector<3>(), vector<3>()) + outer(vector<3>(), vector<3>());
        break;  // rank 2
      case 4:
        f = Mat<double, 3>::identity() + tiny * general<3>();
        break;  // nearly equal values
      case 5:
        f = reflection(vector<3>());
        break;
      case 6:
        f = reflection(vector<3>()) * reflection(vector<3>());
        break;  // a rotation
      case 7:
        f = diagonal(vector<3>());
        break;
      case 8:
        f = f * diagonal(Vec<double, 3>{1, 1e-6, 1e-12});
        break;  // graded columns
      case 9:
        f = outer(vector<3>(), vector<3>()) + tiny * general<3>();
        break;  // almost rank 1
      case 10:
        f = reflection(vector<3>()) * diagonal(Vec<double, 3>{2, 2, normal()}) * reflection(vector<3>());
        break;
      default:
        break;
    }
    return cast<T>(scale<T>() * f);
  }

  template <class T, int N>
  Mat<T, N> symmetric() {
    const double tiny = 4 * std::numeric_limits<T>::epsilon();
    Mat<double, N> a = general<N>();
    a += a.transposed();
    switch (index(12)) {
      case 0:
        a = Mat<double, N>::identity();
        break;
      case 1:
        a = Mat<double, N>::zero();
        break;
      case 2:
        a = rank_one<N>(1);
        break;
      case 3:
        a = rank_one<N>(-1);
        break;
      case 4:
        a = rank_one<N>(1) + rank_one<N>(-1);
        break;
      case 5:
        a = Mat<double, N>::identity() + rank_one<N>(normal());
        break;  // repeated eigenvalues
      case 6:
        a = Mat<double, N>::identity() + tiny * a;
        break;
      case 7:
        a = general<N>();
        a = a * a.transposed();
        break;  // positive
      case 8:
        a = rank_one<N>(1) + tiny * a;
        break;
      case 9:
        a = diagonal(vector<N>());
        break;
      default:
        break;
    }
    const Mat<T, N> result = cast<T>(scale<T>() * a);
    return T(0.5) * (result + result.transposed());
  }

 private:
  template <int N>
  static Mat<double, N> diagonal(const Vec<double, N>& d) {
    Mat<double, N> a = Mat<double, N>::zero();
    for (int i = 0; i < N; ++i) a(i, i) = d[i];
    return a;
  }
  template <int N>
  Mat<double, N> rank_one(double size) {
    const Vec<double, N> v = vector<N>();
    return size * outer(v, v);
  }
  static Mat<double, 3> reflection(const Vec<double, 3>& n) {
    return Mat<double, 3>::identity() - (2 / norm2(n)) * outer(n, n);
  }
  template <class T, int N>
  static Mat<T, N> cast(const Mat<double, N>& a) {
    Mat<T, N> result;
    for (int i = 0; i < N * N; ++i) result.m[i] = static_cast<T>(a.m[i]);
    return result;
  }

  std::mt19937 rng_;
  std::string trace_;
};

template <class T, int N>
double max_abs(const Mat<T, N>& a) {
  double largest = 0;
  for (const T x : a.m) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return largest;
}

}  // namespace stickslip::testing
