// Monitor: judges the residual of a solver's iterates, keeps the best iterate and decides when to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "gpu/core/launch.h"
#include "gpu/dfcp/judge/judge.cuh"
#include "gpu/model/step_kind.h"
#include "gpu/params/lab_params.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Time of a solve, paused while iterates are judged for the history.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;
  double seconds() const {
    return std::chrono::duration<double>((halted_ ? halt_ : Clock::now()) - start_).count();
  }
  void halt() {
    halt_ = Clock::now();
    halted_ = true;
  }
  void resume() {
    start_ += Clock::now() - halt_;
    halted_ = false;
  }

 private:
  Clock::time_point start_ = Clock::now(), halt_{};
  bool halted_ = false;
};

/// The values by which a solver scaled its last steps at each block, for contact records.
struct BlockSteps {
  StepKind kind = StepKind::none;
  Buffer<Vec<float, 2>> values;  // normal and tangential, per block
};

/// Writes of(c), the (normal, tangential) value of block c.
template <class F>
struct WriteBlockSteps {
  F of;
  Vec<float, 2>* values;

  SS_HD void operator()(std::size_t c) const { values[c] = of(c); }
};

template <int D>
class Monitor {
 public:
  struct Limits {
    double tolerance = 1e-8;
    long max_iterations = 100000;
    double time_budget = 0;  // [s], 0: none
    long check_interval = 0;
    const std::atomic<bool>* cancel = nullptr;
    bool history = false;
    /// Called with every iterate that is judged, its number and residual, off the clock; empty: not called.
    std::function<void(long iteration, double residual, const Vec<double, D>* r, const Vec<double, D>* u)>
        observe = {};
  };

  /// Starts the clock. `law` as in System.
  Monitor(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Limits& limits);

  /// Counts an iteration with result r. True: stop (converged, out of iterations or time, cancelled). Judges
  /// r when a check is due: a product with W and a wait for the backend.
  bool done(const Vec<double, D>* r);
  /// The same for solvers with u = W r + q available: judges every time.
  bool done(const Vec<double, D>* r, const Vec<double, D>* u);
  /// Judges r now, without counting an iteration. Returns its residual.
  double check(const Vec<double, D>* r);
  double check(const Vec<double, D>* r, const Vec<double, D>* u);

  /// From now on note_steps writes to `steps`.
  void keep_steps(BlockSteps* steps) { steps_ = steps; }
  /// For solvers with such values, at their end: stores of(c) for each block c, if keep_steps was called.
  template <class F>
  void note_steps(StepKind kind, const F& of) {
    if (steps_ == nullptr || W_.blocks() == 0) return;
    steps_->kind = kind;
    steps_->values.resize(ctx_, W_.blocks());
    launch(ctx_, W_.blocks(), WriteBlockSteps<F>{of, steps_->values.data()});
  }

  /// Ends a solve for a reason other than the monitor's rules.
  void stop(SolveEnd end, std::string message);
  /// Iterations of an inner method.
  void count(long iterations) { iterations_ += iterations; }
  /// True once the limits are reached; inner loops check this.
  bool out_of_budget();

  double residual() const { return residual_; }  // at the last check
  double best_residual() const { return best_residual_; }
  long checks() const { return checks_; }  // of the residual, on the clock
  const Vec<double, D>* best() const { return best_.data(); }
  const Vec<double, D>* best_velocity() const { return best_u_.data(); }
  long iterations() const { return iterations_; }
  double seconds() const { return watch_.seconds(); }
  Stopwatch& watch() { return watch_; }
  const Limits& limits() const { return limits_; }
  bool converged() const { return best_residual_ <= limits_.tolerance; }
  SolveEnd end() const { return end_; }
  const std::string& message() const { return message_; }
  const std::vector<HistoryPoint>& history() const { return history_; }

 private:
  bool ended();
  void judge(const Vec<double, D>* r, const Vec<double, D>* u, bool on_the_clock);
  void pause();
  void plan_next_check();

  Context& ctx_;
  const Delassus<D>& W_;
  const ContactLaw<D>* law_;
  Limits limits_;
  Stopwatch watch_;
  Buffer<Vec<double, D>> u_, best_, best_u_;
  Buffer<Vec<double, 4>> sums_;
  long iterations_ = 0, next_check_ = 0, last_check_ = 0, checks_ = 0;
  double residual_ = 0, last_residual_ = 0, best_residual_;
  SolveEnd end_ = SolveEnd::iterations;
  bool stopped_ = false;
  std::string message_;
  std::vector<HistoryPoint> history_;
  BlockSteps* steps_ = nullptr;
};

extern template class Monitor<3>;
extern template class Monitor<4>;
extern template class Monitor<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
