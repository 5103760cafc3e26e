// The exact solution of one block: the r with u = W r + q and (u, r) in the law.
//
// Take-off if q_N >= 0; else the impulse that stops the contact if K admits it; else sliding, a scalar
// equation for an ellipsoid [in place of the quartic of Bonnefon11], linear cases for a box, and nested
// scalar equations with rolling resistance.
#pragma once

#include "gpu/law/local_box.h"
#include "gpu/law/local_convex.h"
#include "gpu/law/local_polish.h"
#include "gpu/law/local_rolling.h"
#include "gpu/law/local_slide.h"

namespace stickslip {

namespace law_detail {

/// Exact friction on an ellipsoid, and with `bilateral` the impulse that stops the block.
template <int D>
SS_HD inline Vec<double, D> solve_exact(const LocalData<D>& data, bool bilateral, const Vec<double, D>& q,
                                        double& lambda) {
  Vec<double, D - 1> b{}, beta{}, t{}, y{};
  for (int i = 0; i < D - 1; ++i) b[i] = data.slope[i] * q[0] - q[i + 1];
  for (int i = 0; i < D - 1; ++i)
    for (int j = 0; j < D - 1; ++j) beta[j] += data.basis(i + 1, j + 1) * b[i];
  const EigenResolvent<D - 1> resolvent{data.values, beta};
  double normal = 0;
  if (bilateral) {
    y = resolvent(0).y;
    normal = (-q[0] - dot(data.coupling, y)) * data.inverse_normal;
  } else {
    y = stick_or_slide(resolvent, data.coupling, data.normal, data.values[0], -q[0], lambda, normal);
  }
  for (int i = 0; i < D - 1; ++i)
    for (int j = 0; j < D - 1; ++j) t[i] += data.basis(i + 1, j + 1) * y[j];
  return from_parts<D>(normal, t);
}

/// The same in scaled rows for very unequal coefficients, by means that keep the small rows.
template <int D>
SS_HD inline Vec<double, D> solve_graded(const LocalData<D>& data, const Vec<double, D>& q, double& lambda) {
  Vec<double, D - 1> b{}, coupling{};
  for (int i = 0; i < D - 1; ++i) {
    coupling[i] = data.scaled(i + 1, 0);
    b[i] = coupling[i] * data.inverse_normal * q[0] - q[i + 1];
  }
  const FactorResolvent<D - 1> resolvent{schur_complement(data), b};
  double normal = 0;
  const Vec<double, D - 1> t =
      stick_or_slide(resolvent, coupling, data.normal, data.values[0], -q[0], lambda, normal);
  const Vec<double, D> r = from_parts<D>(normal, t);
  if (lambda == 0) {
    const Vec<double, D> stopped = solve_dense(data.scaled, -q);
    if (norm(tangential(stopped)) <= stopped[0]) return stopped;
  }
  return polish_sliding(data.scaled, FlowRule::exact, q, r);
}

template <int D>
SS_HD inline Vec<double, D> scale_rows(const LocalData<D>& data, Vec<double, D> x) {
  for (int i = 1; i < D; ++i) x[i] *= data.mu[i - 1];
  return x;
}

}  // namespace law_detail

/// r [N s] of the block that `data` was prepared for (with the same law), to rounding errors. q [m/s].
/// `lambda`: the caller keeps it from one solve of the block to the next, 0 at first: where the last sliding
/// ended. Should a law with large mu have several solutions, one of them. A block that nothing moves gets
/// zero.
template <int D>
SS_HD inline Vec<double, D> local_solve(const ContactLaw<D>& law, const LocalData<D>& data,
                                        const Vec<double, D>& q, double& lambda) {
  if (!(data.normal > 0)) return Vec<double, D>::zero();
  if (law.set == FrictionSet::bilateral) return law_detail::solve_exact(data, true, q, lambda);
  if (law.flow == FlowRule::exact ? q[0] >= 0 : q[0] >= support(law, q)) return Vec<double, D>::zero();
  if constexpr (D == kRollingRows)
    if (is_rolling(law))
      return law_detail::scale_rows(
          data, law_detail::solve_rolling(data, law.flow, law_detail::scale_rows(data, q), lambda));
  if (law.set == FrictionSet::box)
    return law_detail::scale_rows(data,
                                  law_detail::solve_box(data, law.flow, law_detail::scale_rows(data, q)));
  if (law.flow == FlowRule::associated) return law_detail::solve_convex(data, q);
  if (data.graded)
    return law_detail::scale_rows(data,
                                  law_detail::solve_graded(data, law_detail::scale_rows(data, q), lambda));
  return law_detail::solve_exact(data, false, q, lambda);
}

template <int D>
SS_HD inline Vec<double, D> local_solve(const ContactLaw<D>& law, const LocalData<D>& data,
                                        const Vec<double, D>& q) {
  double lambda = 0;
  return local_solve(law, data, q, lambda);
}

/// The same for a block that is solved once.
template <int D>
SS_HD inline Vec<double, D> local_solve(const ContactLaw<D>& law, const Mat<double, D>& w,
                                        const Vec<double, D>& q) {
  return local_solve(law, prepare_local(law, w), q);
}

}  // namespace stickslip
