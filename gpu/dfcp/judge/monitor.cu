#include "gpu/dfcp/judge/monitor.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
Monitor<D>::Monitor(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Limits& limits)
    : ctx_(ctx),
      W_(W),
      law_(law),
      limits_(limits),
      u_(ctx, W.blocks()),
      best_(ctx, W.blocks()),
      best_u_(ctx, W.blocks()),
      sums_(ctx, 1),
      best_residual_(std::numeric_limits<double>::infinity()) {
  // The result when every residual is NaN.
  fill(ctx, best_.data(), W.blocks(), Vec<double, D>::zero());
  copy(ctx, best_u_.data(), W.q(), W.blocks());
}

template <int D>
bool Monitor<D>::out_of_budget() {
  if (stopped_) return true;
  if (limits_.cancel != nullptr && limits_.cancel->load(std::memory_order_relaxed))
    stop(SolveEnd::cancelled, "stopped on request");
  else if (iterations_ >= limits_.max_iterations) stop(SolveEnd::iterations, "");
  else if (limits_.time_budget > 0 && watch_.seconds() > limits_.time_budget) stop(SolveEnd::time, "");
  return stopped_;
}

template <int D>
void Monitor<D>::stop(SolveEnd end, std::string message) {
  if (stopped_) return;
  stopped_ = true;
  end_ = end;
  message_ = std::move(message);
}

/// Work that the solver has launched counts as its own time.
template <int D>
void Monitor<D>::pause() {
  ctx_.synchronize();
  watch_.halt();
}

template <int D>
void Monitor<D>::judge(const Vec<double, D>* r, const Vec<double, D>* u, bool on_the_clock) {
  if (!on_the_clock) pause();
  if (u == nullptr) {
    W_.apply(ctx_, r, u_.data(), true);
    u = u_.data();
  }
  const QuickJudgement seen = judge_quickly(ctx_, W_, law_, r, u, sums_.data());
  last_residual_ = residual_;
  residual_ = seen.residual;
  if (on_the_clock) ++checks_;
  // NaN is never better.
  if (on_the_clock && residual_ < best_residual_) {
    best_residual_ = residual_;
    copy(ctx_, best_.data(), r, W_.blocks());
    copy(ctx_, best_u_.data(), u, W_.blocks());
  }
  if (limits_.history)
    history_.push_back({iterations_, watch_.seconds(), seen.residual, seen.residual_fclib});
  if (limits_.observe) {
    if (on_the_clock) pause();
    limits_.observe(iterations_, seen.residual, r, u);
    if (on_the_clock) watch_.resume();
  }
  if (!on_the_clock) watch_.resume();
}

/// Predicts when linear convergence at the rate of the last two checks would reach the tolerance, and
/// checks halfway, but at most an eighth of the iterations done ahead: a late check costs as much as
/// the iterations it missed.
template <int D>
void Monitor<D>::plan_next_check() {
  if (limits_.check_interval > 0) {
    next_check_ = iterations_ + limits_.check_interval;
    return;
  }
  const long ahead = std::max(2L, iterations_ / 8);
  long predicted = ahead;
  if (last_residual_ > residual_ && residual_ > limits_.tolerance) {
    const double rate =
        std::log(last_residual_ / residual_) / static_cast<double>(std::max(1L, iterations_ - last_check_));
    predicted = static_cast<long>(std::min(1e9, 0.5 * std::log(residual_ / limits_.tolerance) / rate));
  }
  last_check_ = iterations_;
  next_check_ = iterations_ + std::clamp(predicted, 1L, ahead);
}

/// Convergence at the limit still counts.
template <int D>
bool Monitor<D>::ended() {
  if (best_residual_ <= limits_.tolerance) {
    stopped_ = true;
    end_ = SolveEnd::converged;
    message_.clear();
  }
  return stopped_;
}

template <int D>
bool Monitor<D>::done(const Vec<double, D>* r) {
  ++iterations_;
  const bool out = out_of_budget();
  if (out || iterations_ >= next_check_) {
    judge(r, nullptr, true);
    plan_next_check();
  } else if (limits_.history) {
    const double residual = residual_, last = last_residual_;
    judge(r, nullptr, false);
    residual_ = residual;
    last_residual_ = last;
  }
  return ended();
}

template <int D>
bool Monitor<D>::done(const Vec<double, D>* r, const Vec<double, D>* u) {
  ++iterations_;
  out_of_budget();
  judge(r, u, true);
  plan_next_check();
  return ended();
}

template <int D>
double Monitor<D>::check(const Vec<double, D>* r) {
  return check(r, nullptr);
}

template <int D>
double Monitor<D>::check(const Vec<double, D>* r, const Vec<double, D>* u) {
  judge(r, u, true);
  ended();
  return residual_;
}

template class Monitor<3>;
template class Monitor<4>;
template class Monitor<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
