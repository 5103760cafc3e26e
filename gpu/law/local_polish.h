// Newton's method on the conditions of sliding, for a solution of one block that is nearly there.
#pragma once

#include "gpu/law/local_data.h"
#include "gpu/math/dense_solve.h"

namespace stickslip::law_detail {

/// Every row of u = 0 to the rounding errors of its own terms.
template <int D>
SS_HD inline bool negligible_rows(const Mat<double, D>& w, const Vec<double, D>& r, const Vec<double, D>& q,
                                  const Vec<double, D>& u) {
  constexpr double negligible = 8 * std::numeric_limits<double>::epsilon();
  for (int i = 0; i < D; ++i) {
    double sum = std::fabs(q[i]);
    for (int j = 0; j < D; ++j) sum += std::fabs(w(i, j) * r[j]);
    if (!(std::fabs(u[i]) <= negligible * sum)) return false;
  }
  return true;
}

/// W' r + q + lambda c(r) = 0 and |r_T| = r_N in scaled rows, with c = (0, r_T) under the exact rule and
/// (-r_N, r_T) under the associated one. Decompositions lose as many digits as W' is badly conditioned or its
/// rows unequal; this restores them, row by row.
template <int D>
SS_HD inline Vec<double, D> polish_sliding(const Mat<double, D>& w, FlowRule rule, const Vec<double, D>& q,
                                           Vec<double, D> r) {
  const double turn = rule == FlowRule::exact ? 0.0 : -1.0;
  for (int step = 0; step < 8; ++step) {
    const double slip = norm(tangential(r));
    if (!(slip > 0)) break;
    Vec<double, D> c = r;
    c[0] *= turn;
    const Vec<double, D> u = w * r + q;
    const double length = norm(c), lambda = -dot(c, u) / (length * length);
    const Vec<double, D> rest = u + lambda * c;
    if (std::fabs(slip - r[0]) <= 4e-16 * slip && negligible_rows(w, r, q, rest)) break;
    Mat<double, D + 1> a{};
    Vec<double, D + 1> b{};
    for (int i = 0; i < D; ++i) {
      for (int j = 0; j < D; ++j) a(i, j) = w(i, j);
      a(i, i) += i == 0 ? turn * lambda : lambda;
      a(i, D) = c[i] / length * w(0, 0);
      a(D, i) = i == 0 ? -w(0, 0) : r[i] / slip * w(0, 0);
      b[i] = -rest[i];
    }
    b[D] = (r[0] - slip) * w(0, 0);
    const Vec<double, D + 1> change = solve_dense(a, b);
    double size2 = 0;
    for (int i = 0; i < D; ++i) size2 += change[i] * change[i];
    if (!(size2 < 0.25 * norm2(r))) break;
    for (int i = 0; i < D; ++i) r[i] += change[i];
  }
  r[0] = norm(tangential(r));
  return r;
}

}  // namespace stickslip::law_detail
