// The input of the exact local solver about a block, computed once per block.
//
// Tangential rows are scaled by the friction coefficients, S = diag(1, mu): with r = S r', u' = S u, W' = S W
// S a section of K becomes the unit ball (or box), and a row with mu = 0 falls out by itself.
#pragma once

#include <limits>

#include "gpu/law/contact_law.h"
#include "gpu/math/eigen.h"

namespace stickslip {

/// Friction follows the exact rule: `values` and `basis` (rows and columns from 1) are S V of the
/// decomposition C' = V diag(values) V' of the Schur complement C' = W'_TT - w' w'' / W_NN, and `coupling` is
/// V' w'. An ellipsoid under the associated rule: `basis` = S T with T' W' T = 1, T' diag(1, -1, ..) T
/// diagonal, so that the problem becomes the projection onto an ellipsoidal cone with coefficients `values`.
/// Rolling resistance: neither, local_rolling.h works with `scaled`.
template <int D>
struct LocalData {
  double normal = 0, inverse_normal = 0;  // W_NN and its inverse; both 0: nothing moves this block, and r = 0
  Vec<double, D - 1> slope{};             // w / W_NN
  Vec<double, D - 1> values{}, coupling{};
  Mat<double, D> basis{};
  Vec<double, D - 1> mu{};  // 1 in bilateral blocks
  bool graded = false;      // coefficients so unequal that the decomposition of C' loses the small ones
  Mat<double, D> scaled{};  // W'; a row with mu = 0 has only its diagonal
};

namespace law_detail {

/// Pivots and eigenvalues are kept above this share of the largest: a singular block is solved as a regular
/// one that differs from it by rounding errors.
inline constexpr double least_pivot = 64 * std::numeric_limits<double>::epsilon();

template <int N>
SS_HD inline SymmetricEigen<double, N> decompose(const Mat<double, N>& a) {
  if constexpr (N == 2) {  // one Jacobi rotation
    const double b = a(0, 1);
    if (b == 0) return {{a(0, 0), a(1, 1)}, Mat<double, 2>::identity()};
    const double half = (a(1, 1) - a(0, 0)) / (2 * b);
    const double t = (half < 0 ? -1.0 : 1.0) / (std::fabs(half) + std::sqrt(1 + half * half));
    const double c = 1 / std::sqrt(1 + t * t), s = c * t;
    return {{a(0, 0) - t * b, a(1, 1) + t * b}, {{c, s, -s, c}}};
  } else {
    return symmetric_eigen(a);
  }
}

/// W'_TT - w' w'' / W_NN, its diagonal kept positive.
template <int D>
SS_HD inline Mat<double, D - 1> schur_complement(const LocalData<D>& data) {
  Mat<double, D - 1> c{};
  for (int i = 1; i < D; ++i) {
    for (int j = 1; j < D; ++j)
      c(i - 1, j - 1) = data.scaled(i, j) - data.scaled(i, 0) * (data.scaled(0, j) * data.inverse_normal);
    const double floor = least_pivot * data.scaled(i, i);
    if (!(c(i - 1, i - 1) > floor)) c(i - 1, i - 1) = floor;
  }
  return c;
}

template <int D>
SS_HD inline void prepare_sliding(LocalData<D>& data) {
  const SymmetricEigen<double, D - 1> eigen = decompose(schur_complement(data));
  double largest = 0;
  for (int i = 0; i < D - 1; ++i) largest = eigen.values[i] > largest ? eigen.values[i] : largest;
  if (!(largest > 0)) largest = trace(data.scaled);
  for (int j = 0; j < D - 1; ++j) {
    const double floor = least_pivot * largest;
    data.values[j] = eigen.values[j] > floor ? eigen.values[j] : floor;
    for (int i = 0; i < D - 1; ++i) {
      data.basis(i + 1, j + 1) = data.mu[i] * eigen.vectors(i, j);
      data.coupling[j] += eigen.vectors(i, j) * data.scaled(i + 1, 0);
    }
  }
}

/// Lower triangular L with a = L L'.
template <int N>
SS_HD inline Mat<double, N> cholesky(const Mat<double, N>& a) {
  Mat<double, N> l = Mat<double, N>::zero();
  for (int j = 0; j < N; ++j) {
    double pivot = a(j, j);
    for (int k = 0; k < j; ++k) pivot -= l(j, k) * l(j, k);
    const double floor = least_pivot * a(j, j);
    l(j, j) = std::sqrt(pivot > floor ? pivot : floor);
    for (int i = j + 1; i < N; ++i) {
      double sum = a(i, j);
      for (int k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      l(i, j) = sum / l(j, j);
    }
  }
  return l;
}

template <int N>
SS_HD inline Mat<double, N> reversed(const Mat<double, N>& a) {
  Mat<double, N> result{};
  for (int i = 0; i < N * N; ++i) result.m[i] = a.m[N * N - 1 - i];
  return result;
}

template <int N>
SS_HD inline Mat<double, N> inverse_lower(const Mat<double, N>& l) {
  Mat<double, N> inverse = Mat<double, N>::zero();
  for (int j = 0; j < N; ++j)
    for (int i = j; i < N; ++i) {
      double sum = i == j ? 1.0 : 0.0;
      for (int k = j; k < i; ++k) sum -= l(i, k) * inverse(k, j);
      inverse(i, j) = sum / l(i, i);
    }
  return inverse;
}

/// T = L^-T Q with L^-1 J L^-T = Q diag(theta) Q', W' = L L', J = diag(1, -1, ..). J leaves one theta
/// positive. Where mu is large W' is factorised from its last row on, and the decomposition always sees the
/// large entries first: otherwise the small thetas drown.
template <int D>
SS_HD inline void prepare_convex(LocalData<D>& data) {
  double most = 0;
  for (int i = 0; i < D - 1; ++i) most = data.mu[i] > most ? data.mu[i] : most;
  const bool backwards = most > 1;
  const Mat<double, D> inverse = inverse_lower(cholesky(backwards ? reversed(data.scaled) : data.scaled));
  Mat<double, D> signs = -1.0 * Mat<double, D>::identity();
  const int normal_at = backwards ? D - 1 : 0;
  signs(normal_at, normal_at) = 1;
  const SymmetricEigen<double, D> eigen = symmetric_eigen(reversed(inverse * signs * inverse.transposed()));
  Mat<double, D> t{};
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      double sum = 0;
      for (int k = i; k < D; ++k) sum += inverse(k, i) * eigen.vectors(D - 1 - k, j);
      t(backwards ? D - 1 - i : i, j) = sum;
    }
  const double positive = eigen.values[D - 1], sign = t(0, D - 1) < 0 ? -1.0 : 1.0;
  for (int i = 0; i < D; ++i) {
    const double scale = i == 0 ? 1.0 : data.mu[i - 1];
    data.basis(i, 0) = scale * sign * t(i, D - 1);
    for (int j = 1; j < D; ++j) data.basis(i, j) = scale * t(i, j - 1);
  }
  for (int j = 0; j < D - 1; ++j) {
    const double ratio = -positive / eigen.values[j];
    data.values[j] = ratio > 0 ? std::sqrt(ratio) : 1 / least_pivot;
  }
}

}  // namespace law_detail

/// Data of a block with the symmetric positive semi-definite W [1/kg]; only its symmetric part is used.
template <int D>
SS_HD inline LocalData<D> prepare_local(const ContactLaw<D>& law, const Mat<double, D>& w) {
  LocalData<D> data;
  const double size = trace(w);
  if (!(size > 0)) return data;
  double most = 0, least = std::numeric_limits<double>::max();
  for (int i = 0; i < D - 1; ++i) {
    const double mu = law.set == FrictionSet::bilateral ? 1.0 : law.mu[i];
    data.mu[i] = mu > 0 ? mu : 0.0;
    if (!(mu > 0)) continue;
    most = mu > most ? mu : most;
    least = mu < least ? mu : least;
  }
  data.graded = most > 30 * least;
  data.normal = w(0, 0) > law_detail::least_pivot * size ? w(0, 0) : law_detail::least_pivot * size;
  data.inverse_normal = 1 / data.normal;
  data.scaled(0, 0) = data.normal;
  for (int i = 1; i < D; ++i) {
    const double mu = data.mu[i - 1];
    const double coupling = 0.5 * (w(i, 0) + w(0, i));
    data.slope[i - 1] = coupling * data.inverse_normal;
    data.scaled(i, 0) = data.scaled(0, i) = mu * coupling;
    for (int j = 1; j < D; ++j) data.scaled(i, j) = mu * data.mu[j - 1] * 0.5 * (w(i, j) + w(j, i));
    if (!(data.scaled(i, i) > 0))
      data.scaled(i, i) = size * (mu > 0 ? law_detail::least_pivot * mu * mu : 1.0);
  }
  if (is_rolling(law)) return data;
  if (law.flow == FlowRule::associated && law.set == FrictionSet::ellipsoid) law_detail::prepare_convex(data);
  else law_detail::prepare_sliding(data);
  return data;
}

}  // namespace stickslip
