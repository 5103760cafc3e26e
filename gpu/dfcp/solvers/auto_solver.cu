// `auto` alternates two methods, each from the best iterate so far: extrapolated Gauss-Seidel sweeps, which
// identify sticking and sliding contacts, and nonsmooth Newton, which then needs few steps. Where one fails,
// the other continues. Counts of block operations, not a clock, decide whether Newton pays: a problem is
// solved the same way on every machine.
#include <algorithm>
#include <optional>

#include "gpu/dfcp/solvers/anderson.cuh"
#include "gpu/dfcp/solvers/exact_sweep.cuh"
#include "gpu/dfcp/solvers/interior_point.cuh"
#include "gpu/dfcp/solvers/newton_maps.h"
#include "gpu/dfcp/solvers/nonsmooth_newton.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <int D>
class AutoSolver {
 public:
  explicit AutoSolver(System<D>& s) : s_(s), sweep_(s), linear_(s.params.newton_linear) {
    if (linear_ != NewtonLinear::automatic) return;
    const bool direct =
        !s.W.factored() && s.blocks() * D <= static_cast<std::size_t>(s.params.auto_direct_rows);
    linear_ = direct ? NewtonLinear::direct : NewtonLinear::krylov;
  }

  void run() {
    // The first sweeps change the active set: extrapolation cannot help yet.
    sweep_.refresh();
    for (int k = 0; k < kPlainSweeps; ++k) {
      sweep_.run();
      if (s_.monitor.done(s_.r)) return;
    }
    anderson_.emplace(s_, s_.params.auto_memory);
    before_.resize(s_.ctx, s_.blocks());
    long sweeps = s_.params.auto_sweeps;
    for (int round = 0; !sweep(sweeps, round); ++round, sweeps *= 2) {
      if (sweep_on(sweeps, round)) return;
      const double before = s_.monitor.best_residual();
      if (newton(round, sweeps)) return;
      // Where Newton does not help, its share of the work shrinks.
      if (s_.monitor.best_residual() > 0.1 * before) newton_share_ *= 0.25;
      copy(s_.ctx, s_.r, s_.monitor.best(), s_.blocks());
    }
  }

 private:
  /// Runs `count` sweeps, extrapolated in every other round: while the active set keeps changing, plain
  /// sweeps progress further in the same time. True when the solve is over.
  bool sweep(long count, int round) {
    const bool plain = s_.params.auto_memory == 0 || round % 2 == 1;
    if (count == 0) return false;
    anderson_->restart();
    sweep_.refresh();
    double shortest = std::numeric_limits<double>::infinity();
    for (long k = 0; k < count; ++k) {
      if (!plain) copy(s_.ctx, before_.data(), s_.r, s_.blocks());
      sweep_.run();
      if (s_.monitor.done(s_.r)) return true;
      if (plain) continue;
      anderson_->mix(before_.data(), s_.r);
      sweep_.refresh();
      if (anderson_->step_norm() > kWorse * shortest) {
        anderson_->restart();
        shortest = anderson_->step_norm();
      }
      shortest = std::min(shortest, anderson_->step_norm());
    }
    return false;
  }

  /// Runs `count` sweeps. Runs more if their convergence rate predicts that finishing costs less than Newton.
  /// True when the solve is over.
  bool sweep_on(long count, int round) {
    const double first = s_.monitor.check(s_.r);
    if (s_.monitor.converged() || sweep(count, round)) return true;
    const double last = s_.monitor.check(s_.r);
    if (s_.monitor.converged()) return true;
    const double gain = std::log(first / last) / static_cast<double>(count);
    if (!(gain > 0)) return false;
    const double left = std::log(last / s_.params.tolerance) / gain;
    if (left * sweep_work() >= kNewtonSteps * newton_work()) return false;
    return sweep(static_cast<long>(1.5 * left), round);
  }

  /// Cost of a sweep in block products, estimated; other work is converted to block products.
  double sweep_work() const { return s_.W.work() + kLocalWork * static_cast<double>(s_.blocks()); }

  /// Cost of a Newton step in block products.
  double newton_work() {
    if (linear_ != NewtonLinear::direct) return kKrylovSweeps * sweep_work();
    prepare_newton();
    return 2 * newton_->system().work() + 8 * sweep_work();
  }

  void prepare_newton() {
    if (!newton_)
      newton_.emplace(s_,
                      AlartCurnierMap<D>{s_.law, s_.W.diagonal(), s_.W.scale(), s_.params.rho_n,
                                         s_.params.rho_t, s_.params.section_radius},
                      linear_);
  }

  /// Undamped Newton from the best iterate: damped steps get stuck at the kinks of the merit. In even rounds
  /// an interior-point method follows, which has no kinks, then Newton to polish its result; in odd rounds
  /// damped Newton from zero. The work is limited to a multiple of that of `sweeps` sweeps.
  bool newton(int round, long sweeps) {
    const double affordable = newton_share_ * static_cast<double>(sweeps) * sweep_work() / newton_work();
    if (affordable < kLeastSteps) return false;
    prepare_newton();
    const long steps = std::min(static_cast<long>(affordable), kNewtonSteps << std::min(round, 20));
    if (bold_newton(std::min(steps, kNewtonSteps))) return true;
    if constexpr (D < kRollingRows)  // cones with rolling resistance have no interior-point method here
      if (round % 2 == 0) {
        InteriorPoint<D> interior(s_, newton_->system());
        return interior.run(kInteriorSteps) || bold_newton(kNewtonSteps);
      }
    fill(s_.ctx, s_.r, s_.blocks(), Vec<double, D>::zero());
    return newton_->iterate(steps, true) == Newton::End::stopped;
  }

  bool bold_newton(long steps) {
    copy(s_.ctx, s_.r, s_.monitor.best(), s_.blocks());
    return newton_->iterate(steps, false) == Newton::End::stopped;
  }

  using Newton = NonsmoothNewton<D, AlartCurnierMap<D>>;
  static constexpr int kPlainSweeps = 4;
  static constexpr long kNewtonSteps = 16, kInteriorSteps = 80;
  static constexpr double kWorse =
      10;  // a step longer than this times the shortest: the extrapolation diverges
  static constexpr double kLocalWork = 20;  // cost of a local solution, in block products
  static constexpr double kLeastSteps = 6;
  static constexpr double kKrylovSweeps = 100;  // cost of a Krylov solution, in sweeps; estimated

  System<D>& s_;
  ExactSweep<D> sweep_;
  NewtonLinear linear_;
  std::optional<Anderson<D>> anderson_;
  Buffer<Vec<double, D>> before_;
  std::optional<Newton> newton_;
  double newton_share_ = 8;  // Newton's work relative to the sweeps': it gains more for the same work
};

}  // namespace

template <int D>
void solve_auto(System<D>& s) {
  const std::string refusal = NewtonSystem<D>::refusal(s.W, s.params.newton_linear);
  if (!refusal.empty()) s.monitor.stop(SolveEnd::refused, refusal);
  else AutoSolver<D>(s).run();
}
STICKSLIP_ROLLING_SOLVER(solve_auto)

}  // namespace stickslip::STICKSLIP_BACKEND
