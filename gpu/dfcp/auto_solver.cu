// `auto`: extrapolated Gauss-Seidel sweeps, which find out who sticks and slides, and nonsmooth Newton, which
// then needs a few steps; in turns, each from the best iterate so far, so that where one fails the other goes
// on. Whether Newton pays is decided by counts of block operations, not by a clock: the same problem is
// solved alike everywhere.
#include <algorithm>
#include <optional>

#include "gpu/dfcp/anderson.cuh"
#include "gpu/dfcp/exact_sweep.cuh"
#include "gpu/dfcp/newton_maps.h"
#include "gpu/dfcp/nonsmooth_newton.cuh"
#include "gpu/dfcp/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <int D>
class AutoSolver {
 public:
  explicit AutoSolver(System<D>& s) : s_(s), sweep_(s) {}

  void run() {
    // The first sweeps change who touches: there is nothing to extrapolate yet.
    sweep_.refresh();
    for (int k = 0; k < kPlainSweeps; ++k) {
      sweep_.run();
      if (s_.monitor.done(s_.r)) return;
    }
    anderson_.emplace(s_, s_.params.auto_memory);
    before_.resize(s_.ctx, s_.blocks());
    long sweeps = s_.params.auto_sweeps;
    for (int round = 0; !sweep(sweeps); ++round, sweeps *= 2) {
      if (round == 0 && sweep(worthwhile_sweeps())) return;
      if (may_try_newton(round) && newton(round)) return;
      copy(s_.ctx, s_.r, s_.monitor.best(), s_.blocks());
    }
  }

 private:
  /// So many extrapolated sweeps; true when the solve is over.
  bool sweep(long count) {
    if (count == 0) return false;
    anderson_->restart();
    sweep_.refresh();
    double shortest = std::numeric_limits<double>::infinity();
    for (long k = 0; k < count; ++k) {
      copy(s_.ctx, before_.data(), s_.r, s_.blocks());
      sweep_.run();
      if (s_.monitor.done(s_.r)) return true;
      if (s_.params.auto_memory == 0) continue;
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

  /// How many more sweeps are cheaper than Newton, judged by how fast the last ones converged.
  long worthwhile_sweeps() {
    if (s_.W.factored()) return 0;
    const double first = s_.monitor.look(s_.r);
    if (s_.monitor.converged()) return 1;
    if (sweep(s_.params.auto_sweeps)) return 1;
    const double gain = std::log(first / s_.monitor.look(s_.r)) / s_.params.auto_sweeps;
    if (!(gain > 0)) return 0;
    const double left = std::log(s_.monitor.residual() / s_.params.tolerance) / gain;
    prepare_newton();
    const auto entries = static_cast<double>(s_.W.pattern_column().size()),
               n = static_cast<double>(s_.blocks());
    const double sweep_work = entries + kLocalWork * n,
                 newton_work = newton_->system().work() + 8 * entries + 30 * n;
    return left * sweep_work < kNewtonSteps * newton_work ? static_cast<long>(1.5 * left) : 0;
  }

  void prepare_newton() {
    if (!newton_)
      newton_.emplace(
          s_, AlartCurnierMap<D>{s_.law, s_.W.diagonal(), s_.W.scale(), s_.params.rho_n, s_.params.rho_t});
  }

  bool may_try_newton(int round) const {
    const bool direct =
        !s_.W.factored() && s_.blocks() * D <= static_cast<std::size_t>(s_.params.auto_direct_rows);
    return direct || round > 1;  // Krylov systems cost hundreds of sweeps
  }

  /// From the best iterate: boldly, for damped steps are caught at the kinks where sweeps leave off; then
  /// damped; then damped from zero, which is far from all kinks.
  bool newton(int round) {
    prepare_newton();
    const long steps = kNewtonSteps << std::min(round, 10);
    if (newton_->iterate(steps, false) == Newton::End::stopped) return true;
    copy(s_.ctx, s_.r, s_.monitor.best(), s_.blocks());
    if (newton_->iterate(steps, true) == Newton::End::stopped) return true;
    fill(s_.ctx, s_.r, s_.blocks(), Vec<double, D>::zero());
    return newton_->iterate(2 * steps, true) == Newton::End::stopped;
  }

  using Newton = NonsmoothNewton<D, AlartCurnierMap<D>>;
  static constexpr int kPlainSweeps = 4;
  static constexpr long kNewtonSteps = 16;
  static constexpr double kWorse =
      10;  // a step that much longer than the shortest: extrapolation went astray
  static constexpr double kLocalWork = 20;  // of a local solution, in products of blocks

  System<D>& s_;
  ExactSweep<D> sweep_;
  std::optional<Anderson<D>> anderson_;
  Buffer<Vec<double, D>> before_;
  std::optional<Newton> newton_;
};

}  // namespace

template <int D>
void solve_auto(System<D>& s) {
  AutoSolver<D>(s).run();
}
STICKSLIP_SOLVER(solve_auto)

}  // namespace stickslip::STICKSLIP_BACKEND
