#include "gpu/rigid/particle_shares.cuh"

#include <cmath>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr double kFirstShare = 0.5;
constexpr double kLeastShare = 1e-6;  // of the diagonal of A_e: far below the need of shared nodes
constexpr double kCaution = 1.1;      // safety factor on what past steps require
constexpr double kLeastFactor = 0.7;  // shares rise by at most 1 / kLeastFactor in a step
// PCG solves for all objects at once, to a precision relative to the largest of them. So an object with a
// smaller part of the step has velocities of unknown precision.
constexpr double kLeastPart = 1e-2;

}  // namespace

void ParticleShares::load(Context& ctx, std::size_t objects) {
  for (Buffer<double>* b : {&share_, &steepness_, &largest_}) b->resize(ctx, objects);
  reset(ctx);
}

void ParticleShares::reset(Context& ctx) {
  fill(ctx, share_.data(), share_.size(), kFirstShare);
  fill(ctx, steepness_.data(), steepness_.size(), 0.0);
  fill(ctx, largest_.data(), largest_.size(), 0.0);
}

void ParticleShares::measure(Context& ctx, const StepSums* sums, const double* core_work, StepTotals* out) {
  reduce_sum(
      ctx, share_.size(), [=] SS_LAMBDA(std::size_t o) { return sums[o]; }, &out->sums);
  double* steepness = steepness_.data();
  launch(ctx, share_.size(), [=] SS_LAMBDA(std::size_t o) {
    const double size = sums[o][1], work = sums[o][0] - core_work[o];
    steepness[o] = 0;
    if (!std::isfinite(work) || !std::isfinite(size)) steepness[o] = std::numeric_limits<double>::infinity();
    else if (size > kLeastPart * out->sums[1]) steepness[o] = work > 0 ? work / size : 0.0;
  });
  reduce_max(
      ctx, share_.size(), [=] SS_LAMBDA(std::size_t o) { return steepness[o]; }, 0.0, &out->steepness);
}

void ParticleShares::keep_largest(Context& ctx) {
  const double* now = steepness_.data();
  double* largest = largest_.data();
  launch(ctx, share_.size(), [=] SS_LAMBDA(std::size_t o) {
    if (now[o] > largest[o]) largest[o] = now[o];
  });
}

void ParticleShares::lighten(Context& ctx) {
  const double* now = steepness_.data();
  double *largest = largest_.data(), *share = share_.data();
  launch(ctx, share_.size(), [=] SS_LAMBDA(std::size_t o) {
    if (now[o] > 1) {
      const double lighter = share[o] / (kCaution * now[o]);
      share[o] = lighter > kLeastShare ? lighter : kLeastShare;
      largest[o] = 0;
    }
  });
}

void ParticleShares::divide(Context& ctx, double by) {
  double *largest = largest_.data(), *share = share_.data();
  launch(ctx, share_.size(), [=] SS_LAMBDA(std::size_t o) {
    share[o] = share[o] > by * kLeastShare ? share[o] / by : kLeastShare;
    largest[o] = 0;
  });
}

void ParticleShares::raise(Context& ctx) {
  double *largest = largest_.data(), *share = share_.data();
  launch(ctx, share_.size(), [=] SS_LAMBDA(std::size_t o) {
    const double needed = kCaution * largest[o];
    if (needed > 0) share[o] /= needed > kLeastFactor ? needed : kLeastFactor;
    largest[o] = 0;
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
