// The mollifier of nearly parallel edge pairs [Li20 §5]: m = (2 - c/eps_x) c/eps_x for c = |ea x eb|^2 <
// eps_x, else 1.
#pragma once

#include "gpu/math/mat.h"

namespace stickslip {

/// eps_x [m^4] from rest positions.
template <class T>
SS_HD constexpr T mollifier_threshold(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                                      const Vec<T, 3>& b1) {
  return T(1e-3) * norm2(a1 - a0) * norm2(b1 - b0);
}

/// m as a function of c, and its derivatives.
template <class T>
struct MollifierJet {
  T value, first, second;
};
template <class T>
SS_HD constexpr MollifierJet<T> mollifier_jet(T c, T eps_x) {
  if (c >= eps_x) return {T(1), T(0), T(0)};
  const T s = c / eps_x;
  return {(T(2) - s) * s, T(2) * (T(1) - s) / eps_x, T(-2) / (eps_x * eps_x)};
}

template <class T>
SS_HD constexpr T mollifier(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                            const Vec<T, 3>& b1, T eps_x) {
  return mollifier_jet(norm2(cross(a1 - a0, b1 - b0)), eps_x).value;
}

/// dc/d(ea, eb), from c = |ea|^2 |eb|^2 - (ea . eb)^2.
template <class T>
SS_HD constexpr Vec<T, 6> cross2_gradient(const Vec<T, 3>& ea, const Vec<T, 3>& eb) {
  // 2 (|eb|^2 ea - (ea . eb) eb) as a double cross product, which does not cancel for parallel edges.
  const Vec<T, 3> n = cross(ea, eb), ga = cross(eb, n), gb = cross(n, ea);
  return {T(2) * ga[0], T(2) * ga[1], T(2) * ga[2], T(2) * gb[0], T(2) * gb[1], T(2) * gb[2]};
}
template <class T>
SS_HD constexpr Mat<T, 6> cross2_hessian(const Vec<T, 3>& ea, const Vec<T, 3>& eb) {
  const T aa = norm2(ea), ab = dot(ea, eb), bb = norm2(eb);
  Mat<T, 6> h{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const T same = i == j ? T(1) : T(0);
      h(i, j) = T(2) * (bb * same - eb[i] * eb[j]);
      h(3 + i, 3 + j) = T(2) * (aa * same - ea[i] * ea[j]);
      h(i, 3 + j) = h(3 + j, i) = T(2) * (T(2) * ea[i] * eb[j] - eb[i] * ea[j] - ab * same);
    }
  return h;
}

/// Derivatives with respect to a0, a1, b0, b1: an edge is its second end less its first.
template <class T>
SS_HD constexpr Vec<T, 12> mollifier_gradient(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                                              const Vec<T, 3>& b1, T eps_x) {
  const Vec<T, 3> ea = a1 - a0, eb = b1 - b0;
  const Vec<T, 6> dc = mollifier_jet(norm2(cross(ea, eb)), eps_x).first * cross2_gradient(ea, eb);
  Vec<T, 12> g{};
  for (int i = 0; i < 12; ++i) g[i] = (i / 3 % 2 == 1 ? T(1) : T(-1)) * dc[i / 6 * 3 + i % 3];
  return g;
}
/// Second derivatives with respect to the edges ea = a1 - a0 and eb = b1 - b0.
template <class T>
SS_HD constexpr Mat<T, 6> mollifier_edge_hessian(const Vec<T, 3>& ea, const Vec<T, 3>& eb, T eps_x) {
  const MollifierJet<T> m = mollifier_jet(norm2(cross(ea, eb)), eps_x);
  const Vec<T, 6> dc = cross2_gradient(ea, eb);
  return m.first * cross2_hessian(ea, eb) + m.second * outer(dc, dc);
}
/// Of the block of corners i and j (of a0, a1, b0, b1) relative to that of their edges.
SS_HD constexpr int mollifier_sign(int i, int j) { return i % 2 == j % 2 ? 1 : -1; }

}  // namespace stickslip
