// Squared distances of the four primitive stencils (point, line, plane) with derivatives.
//
// The vector between points of two affine hulls is r(theta) = sum_i w_i(theta) x_i, w affine in up to two
// parameters, and d2(x) = min_theta |r|^2. With w_k = dw/dtheta_k, e_k = sum_i w_k,i x_i and G_kl = e_k .
// e_l, at the minimum (e_k . r = 0)
//   gradient_i = 2 w_i r                                   (envelope theorem)
//   hessian_ij = 2 w_i w_j I - 2 sum_kl c_k,i (G^-1)_kl c_l,j',   c_k,i = w_i e_k + w_k,i r      (Schur
//   complement).
#pragma once

#include "gpu/math/mat.h"

namespace stickslip {

/// The closest points of two affine hulls with N nodes and M parameters. Nodes of side a come first and have
/// weights of sum 1, those of side b of sum -1; r points from b to a.
template <class T, int N, int M>
struct HullDistance {
  static constexpr int kParameters = M > 0 ? M : 1;
  Vec<T, N> w;
  Vec<T, 3> r;
  Vec<T, N> dw[kParameters];
  Vec<T, 3> e[kParameters];
  Mat<T, kParameters> gram_inverse;

  SS_HD constexpr T d2() const { return norm2(r); }

  SS_HD constexpr Vec<T, 3 * N> gradient() const {
    Vec<T, 3 * N> g{};
    for (int i = 0; i < N; ++i)
      for (int a = 0; a < 3; ++a) g[3 * i + a] = T(2) * w[i] * r[a];
    return g;
  }

  SS_HD constexpr Mat<T, 3 * N> hessian() const {
    Vec<T, 3 * N> c[kParameters]{};
    for (int k = 0; k < M; ++k)
      for (int i = 0; i < N; ++i)
        for (int a = 0; a < 3; ++a) c[k][3 * i + a] = w[i] * e[k][a] + dw[k][i] * r[a];
    Mat<T, 3 * N> h = Mat<T, 3 * N>::zero();
    for (int i = 0; i < 3 * N; ++i)
      for (int j = i % 3; j < 3 * N; j += 3) h(i, j) = T(2) * w[i / 3] * w[j / 3];
    for (int k = 0; k < M; ++k) {
      Vec<T, 3 * N> gc = Vec<T, 3 * N>::zero();
      for (int l = 0; l < M; ++l) gc += T(2) * gram_inverse(k, l) * c[l];
      for (int i = 0; i < 3 * N; ++i)
        for (int j = 0; j < 3 * N; ++j) h(i, j) -= c[k][i] * gc[j];
    }
    return h;
  }
};

template <class T>
SS_HD constexpr HullDistance<T, 2, 0> point_point(const Vec<T, 3>& p, const Vec<T, 3>& q) {
  HullDistance<T, 2, 0> h{};
  h.w = {T(1), T(-1)};
  h.r = p - q;
  return h;
}

/// The line through e0 != e1.
template <class T>
SS_HD constexpr HullDistance<T, 3, 1> point_line(const Vec<T, 3>& p, const Vec<T, 3>& e0,
                                                 const Vec<T, 3>& e1) {
  HullDistance<T, 3, 1> h{};
  const Vec<T, 3> edge = e1 - e0, c = p - e0;
  const T inverse_length2 = T(1) / norm2(edge), t = dot(c, edge) * inverse_length2;
  h.w = {T(1), t - T(1), -t};
  h.r = c - t * edge;
  h.dw[0] = {T(0), T(1), T(-1)};
  h.e[0] = -edge;
  h.gram_inverse(0, 0) = inverse_length2;
  return h;
}

/// [a, b; b, c]^-1 for a matrix of known determinant, which for two almost parallel vectors is better not
/// taken from a, b, c.
template <class T>
SS_HD constexpr Mat<T, 2> inverse_symmetric(T a, T b, T c, T determinant) {
  const T s = T(1) / determinant;
  return {{c * s, -b * s, -b * s, a * s}};
}

/// The plane through t0, t1, t2, which are not on one line.
template <class T>
SS_HD constexpr HullDistance<T, 4, 2> point_plane(const Vec<T, 3>& p, const Vec<T, 3>& t0,
                                                  const Vec<T, 3>& t1, const Vec<T, 3>& t2) {
  HullDistance<T, 4, 2> h{};
  const Vec<T, 3> e1 = t1 - t0, e2 = t2 - t0, c = p - t0, n = cross(e1, e2);
  const T n2 = norm2(n);
  // c = u1 e1 + u2 e2 + r with r along n; crossing with e2 and e1 leaves one parameter each.
  const T u1 = dot(cross(c, e2), n) / n2, u2 = dot(cross(e1, c), n) / n2;
  h.w = {T(1), u1 + u2 - T(1), -u1, -u2};
  h.r = (dot(c, n) / n2) * n;
  h.dw[0] = {T(0), T(1), T(-1), T(0)};
  h.dw[1] = {T(0), T(1), T(0), T(-1)};
  h.e[0] = -e1;
  h.e[1] = -e2;
  h.gram_inverse = inverse_symmetric(norm2(e1), dot(e1, e2), norm2(e2), n2);
  return h;
}

/// The lines through a0, a1 and b0, b1, which are not parallel.
template <class T>
SS_HD constexpr HullDistance<T, 4, 2> line_line(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                                                const Vec<T, 3>& b1) {
  HullDistance<T, 4, 2> h{};
  const Vec<T, 3> ea = a1 - a0, eb = b1 - b0, c = a0 - b0, n = cross(ea, eb);
  const T n2 = norm2(n);
  // c + s ea - t eb = r with r along n.
  const T s = -dot(cross(c, eb), n) / n2, t = -dot(cross(c, ea), n) / n2;
  h.w = {T(1) - s, s, t - T(1), -t};
  h.r = (dot(c, n) / n2) * n;
  h.dw[0] = {T(-1), T(1), T(0), T(0)};
  h.dw[1] = {T(0), T(0), T(1), T(-1)};
  h.e[0] = ea;
  h.e[1] = -eb;
  h.gram_inverse = inverse_symmetric(norm2(ea), -dot(ea, eb), norm2(eb), n2);
  return h;
}

/// Squared distance [m^2], its gradient [m] and its Hessian [1], the nodes in the order of the arguments.
template <class T>
SS_HD constexpr T point_point_d2(const Vec<T, 3>& p, const Vec<T, 3>& q) {
  return point_point(p, q).d2();
}
template <class T>
SS_HD constexpr Vec<T, 6> point_point_d2_gradient(const Vec<T, 3>& p, const Vec<T, 3>& q) {
  return point_point(p, q).gradient();
}
template <class T>
SS_HD constexpr Mat<T, 6> point_point_d2_hessian(const Vec<T, 3>& p, const Vec<T, 3>& q) {
  return point_point(p, q).hessian();
}
template <class T>
SS_HD constexpr T point_line_d2(const Vec<T, 3>& p, const Vec<T, 3>& e0, const Vec<T, 3>& e1) {
  return point_line(p, e0, e1).d2();
}
template <class T>
SS_HD constexpr Vec<T, 9> point_line_d2_gradient(const Vec<T, 3>& p, const Vec<T, 3>& e0,
                                                 const Vec<T, 3>& e1) {
  return point_line(p, e0, e1).gradient();
}
template <class T>
SS_HD constexpr Mat<T, 9> point_line_d2_hessian(const Vec<T, 3>& p, const Vec<T, 3>& e0,
                                                const Vec<T, 3>& e1) {
  return point_line(p, e0, e1).hessian();
}
template <class T>
SS_HD constexpr T point_plane_d2(const Vec<T, 3>& p, const Vec<T, 3>& t0, const Vec<T, 3>& t1,
                                 const Vec<T, 3>& t2) {
  return point_plane(p, t0, t1, t2).d2();
}
template <class T>
SS_HD constexpr Vec<T, 12> point_plane_d2_gradient(const Vec<T, 3>& p, const Vec<T, 3>& t0,
                                                   const Vec<T, 3>& t1, const Vec<T, 3>& t2) {
  return point_plane(p, t0, t1, t2).gradient();
}
template <class T>
SS_HD constexpr Mat<T, 12> point_plane_d2_hessian(const Vec<T, 3>& p, const Vec<T, 3>& t0,
                                                  const Vec<T, 3>& t1, const Vec<T, 3>& t2) {
  return point_plane(p, t0, t1, t2).hessian();
}
template <class T>
SS_HD constexpr T line_line_d2(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                               const Vec<T, 3>& b1) {
  return line_line(a0, a1, b0, b1).d2();
}
template <class T>
SS_HD constexpr Vec<T, 12> line_line_d2_gradient(const Vec<T, 3>& a0, const Vec<T, 3>& a1,
                                                 const Vec<T, 3>& b0, const Vec<T, 3>& b1) {
  return line_line(a0, a1, b0, b1).gradient();
}
template <class T>
SS_HD constexpr Mat<T, 12> line_line_d2_hessian(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                                                const Vec<T, 3>& b1) {
  return line_line(a0, a1, b0, b1).hessian();
}

}  // namespace stickslip
