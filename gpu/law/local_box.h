// One block with box friction, in the scaled rows of local_data.h: linear in each pattern of free and bound
// rows.
#pragma once

#include "gpu/law/local_data.h"
#include "gpu/math/dense_solve.h"

namespace stickslip::law_detail {

/// Per tangential row: 0 free (u_i = 0), or the sign of the bound r'_i = sign r_N that it is at.
template <int D>
struct BoxPattern {
  int sign[D - 1];
};

/// r' of a pattern and the largest violation of a sign that the pattern does not ensure.
template <int D>
struct BoxCandidate {
  Vec<double, D> r;
  double violation;
  BoxPattern<D> next;  // violating rows changed
};

/// `rule` decides the normal row: u_N = 0, or with bound rows moving along, u_N + sum sign_i u'_i = 0.
template <int D>
SS_HD inline BoxCandidate<D> try_pattern(const LocalData<D>& data, FlowRule rule, const Vec<double, D>& q,
                                         const BoxPattern<D>& pattern) {
  const Mat<double, D>& w = data.scaled;
  Mat<double, D> a = w;
  Vec<double, D> b = -q;
  for (int i = 1; i < D; ++i) {
    const int sign = pattern.sign[i - 1];
    if (sign == 0) continue;
    for (int j = 0; j < D; ++j) {
      if (rule == FlowRule::associated) a(0, j) += sign * w(i, j);
      a(i, j) = i == j ? w(i, i) : j == 0 ? -sign * w(i, i) : 0.0;
    }
    if (rule == FlowRule::associated) b[0] -= sign * q[i];
    b[i] = 0;
  }
  BoxCandidate<D> candidate{solve_dense(a, b), 0, pattern};
  Vec<double, D>& r = candidate.r;
  if (data.graded) r += solve_dense(a, b - a * r);  // the rows of small coefficients
  for (int i = 1; i < D; ++i)
    if (pattern.sign[i - 1] != 0) r[i] = pattern.sign[i - 1] * r[0];
  candidate.violation = r[0] < 0 ? -r[0] * w(0, 0) : 0.0;
  const Vec<double, D> u = w * r + q;
  for (int i = 1; i < D; ++i) {
    int& sign = candidate.next.sign[i - 1];
    const double wrong = sign == 0 ? (std::fabs(r[i]) - r[0]) * w(i, i) : sign * u[i];
    if (!(wrong > 0)) continue;
    if (wrong > candidate.violation) candidate.violation = wrong;
    sign = sign != 0 ? 0 : r[i] > 0 ? 1 : -1;
  }
  return candidate;
}

/// r' of a block whose r is not zero: changes violating rows until none is left; should that circle, tries
/// all 3^(D-1) patterns and takes the best.
template <int D>
SS_HD inline Vec<double, D> solve_box(const LocalData<D>& data, FlowRule rule, const Vec<double, D>& q) {
  BoxPattern<D> pattern{};
  Vec<double, D> best{};
  double least = std::numeric_limits<double>::infinity();
  int patterns = 1;
  for (int i = 1; i < D; ++i) patterns *= 3;
  constexpr int guided = 2 * D;
  const double negligible = std::numeric_limits<double>::epsilon() * norm(q);
  for (int attempt = 0; attempt < guided + patterns && least > negligible; ++attempt) {
    if (attempt >= guided)
      for (int i = 1, code = attempt - guided; i < D; ++i, code /= 3) pattern.sign[i - 1] = code % 3 - 1;
    const BoxCandidate<D> candidate = try_pattern(data, rule, q, pattern);
    if (candidate.violation < least) {
      least = candidate.violation;
      best = candidate.r;
    }
    pattern = candidate.next;
  }
  best[0] = best[0] > 0 ? best[0] : 0.0;
  for (int i = 1; i < D; ++i) {
    const double bound = best[0];
    best[i] = best[i] > bound ? bound : best[i] < -bound ? -bound : best[i];
  }
  return best;
}

}  // namespace stickslip::law_detail
