// The Hessian of a decreasing function b of the distance d of two affine hulls, at its corners, with its
// cheap projection.
//
// With the notation of gpu/geometry/hull_distance.h, r = d n, and the QR factorisation e = q R, the
// parameters decouple: w'_k = sum_l w_l (R^-1)_lk. Eliminating them leaves, node weights times directions,
//   grad d = w n,
//   b'' grad d grad d' + b' hess d
//     = b'' ww' nn' - b' sum_k [ w w'_k' q_k n' + w'_k w' n q_k' + d w'_k w'_k' nn' ]
//       + b'/d ww' (I - nn' - sum_k q_k q_k').
// The middle line has rank five at most: an eigenproblem of that size projects it. The last term is negative
// for b' < 0 and orthogonal to the rest, so the projection drops it.
#pragma once

#include "gpu/energy/barrier.h"
#include "gpu/energy/corner_values.h"
#include "gpu/geometry/hull_distance.h"
#include "gpu/math/spd.h"

namespace stickslip {

/// Orthonormal columns that span the node weights of sum zero, where all differences of corners live.
template <int N>
SS_HD constexpr Mat<Real, N, N - 1> zero_sum_basis() {
  constexpr Real a = Real(0.70710678118654752440), b = Real(0.40824829046386301637), c = Real(0.5);
  if constexpr (N == 2) return {{a, -a}};
  if constexpr (N == 3) return {{a, b, -a, b, 0, -2 * b}};
  if constexpr (N == 4) return {{c, c, c, c, -c, -c, -c, c, -c, -c, -c, c}};
}

/// d, n, q_k and w'_k above. Column 0 of `axes` is n, column 1 + k is q_k.
template <int N, int M>
struct DistanceFrame {
  Real d;
  Mat<Real, 3, 1 + M> axes;
  Mat<Real, N, 1 + M> weights;  // column 0 is w, column 1 + k is w'_k

  SS_HD explicit DistanceFrame(const HullDistance<Real, N, M>& hull) : d(norm(hull.r)) {
    set_column(0, hull.r / d, hull.w);
    for (int k = 0; k < M; ++k) {
      Vec3 q = hull.e[k];
      Vec<Real, N> dw = hull.dw[k];
      for (int l = 1; l <= k; ++l) {
        const Real r = dot(axes.column(l), q);
        q -= r * axes.column(l);
        dw -= r * weights.column(l);
      }
      const Real length = norm(q);
      set_column(1 + k, q / length, dw / length);
    }
  }

 private:
  SS_HD void set_column(int c, const Vec3& axis, const Vec<Real, N>& w) {
    for (int r = 0; r < 3; ++r) axes(r, c) = axis[r];
    for (int i = 0; i < N; ++i) weights(i, c) = w[i];
  }
};

/// Writes the lower corner blocks of b'' grad d grad d' + b' hess d, or of the nearest positive semidefinite
/// matrix.
template <bool project, int N, int M>
SS_HD inline void distance_hessian(const HullDistance<Real, N, M>& hull, const Jet2<Real>& b,
                                   Mat3 (&blocks)[N * (N + 1) / 2]) {
  const DistanceFrame<N, M> frame(hull);
  // Orthonormal coordinates: zero-sum weights along n, then the weights w/|w| along each q_k.
  constexpr int Z = N - 1, K = Z + M;
  constexpr Mat<Real, N, Z> basis = zero_sum_basis<N>();
  const Mat<Real, Z, 1 + M> weights = basis.transposed() * frame.weights;
  const Real w_norm = norm(hull.w);
  Mat<Real, K> h{};
  for (int i = 0; i < Z; ++i)
    for (int j = 0; j < Z; ++j) {
      h(i, j) = b.second * weights(i, 0) * weights(j, 0);
      for (int k = 1; k <= M; ++k) h(i, j) -= b.first * frame.d * weights(i, k) * weights(j, k);
    }
  for (int k = 0; k < M; ++k)
    for (int i = 0; i < Z; ++i) h(i, Z + k) = h(Z + k, i) = -b.first * w_norm * weights(i, 1 + k);
  if constexpr (project) project_spd(h);

  const Mat<Real, 1 + M, 3> axes_transposed = frame.axes.transposed();
  for (int i = 0; i < N; ++i) {
    const Real share_i = hull.w[i] / w_norm;
    Mat<Real, 1 + M, K> rows = Mat<Real, 1 + M, K>::zero();  // h seen from corner i: along n, along each q_k
    for (int c = 0; c < K; ++c) {
      for (int z = 0; z < Z; ++z) rows(0, c) += basis(i, z) * h(z, c);
      for (int k = 0; k < M; ++k) rows(1 + k, c) = share_i * h(Z + k, c);
    }
    for (int j = 0; j <= i; ++j) {
      const Real share_j = hull.w[j] / w_norm;
      Mat<Real, 1 + M> local = Mat<Real, 1 + M>::zero();
      for (int a = 0; a < 1 + M; ++a) {
        for (int z = 0; z < Z; ++z) local(a, 0) += rows(a, z) * basis(j, z);
        for (int k = 0; k < M; ++k) local(a, 1 + k) = rows(a, Z + k) * share_j;
      }
      Mat3& block = blocks[corner_block(i, j)];
      block = frame.axes * local * axes_transposed;
      if constexpr (!project)
        block +=
            b.first / frame.d * hull.w[i] * hull.w[j] * (Mat3::identity() - frame.axes * axes_transposed);
    }
  }
}

}  // namespace stickslip
