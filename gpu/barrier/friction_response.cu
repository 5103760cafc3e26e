#include "gpu/barrier/friction_response.cuh"

#include <algorithm>

#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// More iterations, or a smaller tolerance, save no Newton iterations.
constexpr int kIterations = 10;
constexpr double kTolerance = 1e-2;
// Largest d'Hd relative to p'Hp, beyond which the fixed-point iteration may diverge; and the margin of the
// rise that the model predicts.
constexpr double kMostChange = 4, kMargin = 1.1;

}  // namespace

void FrictionResponse::load(Context& ctx, std::size_t node_count) {
  for (Buffer<Vec3>* b : {&force_, &change_, &sum_}) b->resize(ctx, node_count);
  resize_cleared(ctx, device_sums_, 1);
}

bool FrictionResponse::find(Context& ctx, IncrementalPotential& potential, LinearSolver& solver,
                            const Params& params, const Vec3* x, const Vec3* rhs, const Vec3* p) {
  const Span span(ctx, "friction response");
  const std::size_t n = force_.size();
  potential.friction_change(ctx, x, p, force_.data());
  Params rough = params;
  rough.pcg_stop = PcgCriterion::relative;
  rough.pcg_tolerance = kTolerance;
  rough.pcg_iterations = kIterations;
  rough.warm_start = false;
  solver.launch_solve(ctx, potential.hessian(), force_.data(), change_.data(), rough, potential.fixed(),
                      true);
  const Vec3 *force = force_.data(), *change = change_.data();
  Vec3* sum = sum_.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { sum[i] = p[i] + change[i]; });
  ResponseSums* out = device_sums_.data();
  const PcgState* outcome = solver.outcome();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { out->pcg = *outcome; });
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return static_cast<double>(dot(change[i], force[i])); },
      &out->change);
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return static_cast<double>(dot(p[i], rhs[i])); },
      &out->direction);
  reduce_max(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return norm(sum[i]); }, Real(0), &out->step);
  sums_ = read_back(ctx, out);
  pcg_iterations_ = solver.result(sums_.pcg).iterations;
  return sums_.change > 0 && sums_.change < kMostChange * sums_.direction;
}

double FrictionResponse::rise() const {
  return kMargin * std::max(0.0, 0.5 * (sums_.change - sums_.direction));
}

}  // namespace stickslip::STICKSLIP_BACKEND
