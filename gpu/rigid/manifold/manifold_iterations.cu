// The iterations of ManifoldSolver: checks, conjugate steps, and when to stop.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/timer.h"
#include "gpu/rigid/manifold/manifold_lane.h"
#include "gpu/rigid/manifold/manifold_solver.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Counts an iteration, and updates progress where a check is due. One thread.
struct ProgressCheck {
  ManifoldLimits limits;
  const Vec<double, 2>* judged;  // of the packs, summed
  const double *free2, *jam;
  double least2;
  ManifoldProgress* progress;
  ConjugateSums* sums;

  SS_HD void operator()(std::size_t) const {
    progress->is_best = 0;
    if (*jam >= manifold_detail::kMostJam) progress->jams = progress->stop = 1;
    if (progress->stop != 0) return;
    if (limits.is_due(*progress)) {
      progress->residual = manifold_detail::relative_error((*judged)[0], *free2, least2);
      if (progress->residual < progress->best) {
        progress->best = progress->residual;
        progress->is_best = 1;
      }
      sums->suspended = progress->suspends() ? 1 : 0;
      progress->stop = progress->residual <= limits.tolerance || progress->iterations >= limits.last;
    }
    ++progress->iterations;
  }
};

/// The residual of the final impulses, and whether it ends the solve. One thread.
struct FinalCheck {
  ManifoldLimits limits;
  const Vec<double, 2>* judged;
  const double* free2;
  double least2;
  ManifoldProgress* progress;

  SS_HD void operator()(std::size_t) const {
    progress->residual = progress->best = manifold_detail::relative_error((*judged)[0], *free2, least2);
    progress->scale = std::sqrt(*free2 < least2 ? least2 : *free2);
    progress->stop =
        progress->jams != 0 || progress->iterations > limits.last || !(progress->residual > limits.tolerance);
  }
};

/// Copies the impulses where they are the best of all checks.
void keep_best_impulses(Context& ctx, std::size_t n, const ManifoldProgress* progress, const double* r,
                        double* best) {
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (progress->is_best != 0) best[i] = r[i];
      },
      kLight);
}

void set_residual(Context& ctx, double residual, ManifoldProgress* progress) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { progress->residual = progress->best = residual; });
}

}  // namespace

/// Counts an iteration. If a check is due: updates the residual, the best impulses so far and the stop flag.
template <int D>
void ManifoldSolver<D>::check(Context& ctx, const ManifoldLimits& limits) {
  judge(ctx, limits);
  ManifoldProgress* progress = progress_.data();
  launch(ctx, 1,
         ProgressCheck{limits, pair_sum_.data(), free_sum_.data(), jam_.data(), least2_, progress,
                       conjugate_.sums()});
  keep_best_impulses(ctx, impulse_.size(), progress, impulse_.data(), best_impulse_.data());
}

/// Returns the best impulses of all checks, their velocities and their residual. If rounding had made the
/// residual look too small, the solve continues.
template <int D>
void ManifoldSolver<D>::finish(Context& ctx, const ManifoldLimits& limits) {
  halt_ = nullptr;
  copy(ctx, impulse_.data(), best_impulse_.data(), impulse_.size());
  apply_impulses(ctx);
  judge(ctx, ManifoldLimits::always());
  launch(ctx, 1, FinalCheck{limits, pair_sum_.data(), free_sum_.data(), least2_, progress_.data()});
}

template <int D>
SweptManifolds ManifoldSolver<D>::swept() {
  return {impulse_.data(), v_.data(),    impulse_.size(), v_.size(),          bodies_, v_free_.data(),
          mass_.data(),    data_.data(), blocks_.soft(),  D * blocks_.size(), halt_};
}

/// After the stop, an iteration changes no impulses or velocities.
template <int D>
void ManifoldSolver<D>::iterate(Context& ctx, const LabParams& params, const ManifoldLimits& limits) {
  const SweptManifolds now = swept();
  sweep(ctx, {params.prox_local_steps, params.omega, false});
  if (params.conjugate) {
    sweep(ctx, {params.prox_local_steps, params.omega, true});
    conjugate_.measure_change(ctx, now);
    conjugate_.turn(ctx, now);
  }
  // Check and return only impulses after a sweep that no guard undid: they are inside their cones.
  check(ctx, limits);
  if (params.conjugate) conjugate_.step(ctx, now);
}

/// Back to the impulses of the span before, whose residual is `residual`.
template <int D>
void ManifoldSolver<D>::take_back(Context& ctx, double residual) {
  copy(ctx, impulse_.data(), verified_impulse_.data(), impulse_.size());
  copy(ctx, best_impulse_.data(), verified_impulse_.data(), impulse_.size());
  apply_impulses(ctx);
  set_residual(ctx, residual, progress_.data());
}

/// On from impulses that are not the best: where contacts change between rest and slip, the residual rises
/// for a while before it falls again, and every span from the best impulses would end on the same rise.
template <int D>
void ManifoldSolver<D>::wander_on(Context& ctx) {
  copy(ctx, impulse_.data(), last_impulse_.data(), impulse_.size());
  apply_impulses(ctx);
}

template <int D>
void ManifoldSolver<D>::solve(Context& ctx, const LabParams& params, ContactSolveRecord& record,
                              const Observer& observe) {
  record.tolerance = params.tolerance;
  record.message.clear();
  record.iterations = 0;
  record.residual = 0;
  record.colours = static_cast<int>(order_.batches());
  if (impulse_.size() == 0 || params.max_iterations <= 0) return;
  const Timer timer;
  constexpr long kInterval = 10;  // default, if the parameters set none
  constexpr long kMost = std::numeric_limits<std::int32_t>::max();
  const ManifoldLimits limits{
      params.tolerance,
      static_cast<std::int32_t>(
          std::min(kMost, params.check_interval > 0 ? params.check_interval : kInterval)),
      static_cast<std::int32_t>(std::min(kMost, static_cast<long>(params.max_iterations)))};
  resize_cleared(ctx, progress_, 1);
  best_impulse_.resize(ctx, impulse_.size());
  copy(ctx, best_impulse_.data(), impulse_.data(), impulse_.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  fill(ctx, progress_.data(), 1, ManifoldProgress{0, 0, 0, 0, kInfinity, kInfinity, 0, kInfinity, 0});
  // Counts as iteration 0: the result is never worse than the start.
  check(ctx, {-1.0, limits.interval, limits.last});
  ManifoldProgress progress{};
  constexpr std::int32_t kMostUnwatched = 20'000, kSpan = 500;
  constexpr int kMostFailures = 4;
  constexpr double kMostRise = 4;  // of the residual over the best, in spans that are continued
  const bool watched = params.time_budget > 0 || limits.last > kMostUnwatched || observe;
  bool wanted = true;
  const auto has_time = [&] {
    return wanted && (params.time_budget <= 0 || timer.seconds() <= params.time_budget);
  };
  // Rounding lets swept velocities drift away from the impulses. After each span of iterations `finish`
  // recomputes them. A span that made the residual no better is followed by one without steps along
  // directions, from the last impulses; one that made it worse, or claimed too much, is a failure as well.
  LabParams used = params;
  double verified = kInfinity;
  int failures = 0;
  bool wanders = false;
  while (progress.stop == 0 && failures < kMostFailures) {
    if (wanders) wander_on(ctx);
    ManifoldLimits span = limits;
    span.last = static_cast<std::int32_t>(
        std::min(static_cast<long>(limits.last), std::max(0L, progress.iterations - 1L) + kSpan));
    halt_ = &progress_.data()->stop;
    conjugate_.restart(ctx, swept());
    if (watched) {
      // Only the host can read a clock and the cancel flag.
      do {
        for (std::int32_t k = 0; k < limits.interval; ++k) iterate(ctx, used, span);
        progress = read_back(ctx, progress_.data());
        if (observe) wanted = observe(progress);
      } while (progress.stop == 0 && has_time());
    } else {
      repeat_until(ctx, loop_, halt_, [&] { iterate(ctx, used, span); });
    }
    const double last = read_back(ctx, progress_.data()).residual;
    last_impulse_.resize(ctx, impulse_.size());
    copy(ctx, last_impulse_.data(), impulse_.data(), impulse_.size());
    finish(ctx, limits);
    progress = read_back(ctx, progress_.data());
    const bool progressed = progress.residual < ManifoldProgress::kProgress * verified;
    used.conjugate = params.conjugate && progressed;
    const bool is_worse = verified < kInfinity && !(progress.residual <= verified);
    if (is_worse) take_back(ctx, verified);
    else verified = progress.residual;
    if (is_worse || (progress.stop == 0 && progress.iterations <= span.last)) ++failures;
    if (progress.stop == 0 && !is_worse) {
      verified_impulse_.resize(ctx, impulse_.size());
      copy(ctx, verified_impulse_.data(), impulse_.data(), impulse_.size());
    }
    wanders = !is_worse && !progressed && last <= kMostRise * verified;
    progress.residual = verified;
    if (!has_time()) break;
  }
  record.iterations = std::max(0, progress.iterations - 1);  // none if the first check stops
  record.residual = progress.residual;
  record.scale = progress.scale;
  if (progress.jams != 0) record.message = "friction jams a contact: mu |W_NT| reaches W_NN";
}

template void ManifoldSolver<3>::solve(Context&, const LabParams&, ContactSolveRecord&, const Observer&);
template void ManifoldSolver<4>::solve(Context&, const LabParams&, ContactSolveRecord&, const Observer&);

}  // namespace stickslip::STICKSLIP_BACKEND
