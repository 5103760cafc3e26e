// The judge: one residual for every solver (see Judgement).
#pragma once

#include "gpu/core/reduce.h"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/dfcp/problem/solve_report.h"
#include "gpu/law/contact_law.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The values of the judge that a solve needs at every check.
struct QuickJudgement {
  double residual = 0, residual_fclib = 0;
};

/// residual and residual_fclib of r with u = W r + q. `sums`: backend memory for 4 doubles. Waits for the
/// backend.
template <int D>
QuickJudgement judge_quickly(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law,
                             const Vec<double, D>* r, const Vec<double, D>* u, Vec<double, 4>* sums);

/// The complete judgement, from freshly computed velocities. `errors`: optional output per block.
template <int D>
Judgement judge_fully(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Vec<double, D>* r,
                      std::vector<BlockError>* errors);

}  // namespace stickslip::STICKSLIP_BACKEND
