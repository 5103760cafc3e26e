// Pivoting with box friction, dense and on the host for either backend: small problems only.
//
// The bounds mu r_N of friction are frozen while a bounded problem is solved exactly, then updated, until
// they settle [Course §3.1]. W is singular where contacts are redundant, so that problem has W + E instead,
// with E = shift * diag W. As r settles, b = W r + q - (W + E) r compensates for E (and for the asymmetry of
// W). The shift shrinks with the residual: far from the solution pivoting in a nearly singular matrix takes
// thousands of steps, near it hardly any.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "gpu/dfcp/solvers/pivot_dense.h"
#include "gpu/dfcp/solvers/row_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using PivotCall = bool (PivotMethod::*)(std::vector<double>&, const std::function<bool()>&);

template <int D>
class BoxPivot {
 public:
  explicit BoxPivot(System<D>& s) : s_(s), u_(s.ctx, s.blocks()) {
    law_.resize(s.blocks());
    copy_to_host(s.ctx, law_.data(), s.law, law_.size());
    assemble();
  }

  void run(PivotCall method) {
    PivotMethod pivot(problem_);
    BoxFriction<D> box(s_);
    long counted = 0;
    const auto count = [&] {
      s_.monitor.count(pivot.steps() - counted);
      counted = pivot.steps();
    };
    const auto stop = [&] {
      count();
      return s_.monitor.out_of_budget();
    };
    std::vector<double> x(problem_.n);
    download(x, s_.r);
    upload(x);
    for (;;) {
      renew(x);
      pivot.forget_factor();
      const bool solved = (pivot.*method)(x, stop);
      count();
      upload(x);
      if (s_.monitor.done(s_.r, u_.data()) || box.settled(s_.r)) return;
      // Rounding, or too many steps: a larger shift makes the next problem easier.
      if (!solved) extra_shift_ *= 100;
      if (!settles(x)) return;
    }
  }

 private:
  static constexpr int kPatience = 20;

  /// The symmetric part of W, shifted.
  void assemble() {
    const std::size_t n = s_.blocks() * D;
    problem_.n = n;
    problem_.a.assign(n * n, 0.0);
    for (auto* list : {&problem_.b, &problem_.lower, &problem_.upper}) list->assign(n, 0.0);
    const auto start = s_.W.pattern_start(), column = s_.W.pattern_column();
    const auto value = s_.W.host_values(s_.ctx);
    for (std::size_t c = 0; c < s_.blocks(); ++c)
      for (auto k = static_cast<std::size_t>(start[c]); k < static_cast<std::size_t>(start[c + 1]); ++k)
        for (std::size_t i = 0; i < D; ++i)
          for (std::size_t j = 0; j < D; ++j) {
            const std::size_t row = c * D + i, other = static_cast<std::size_t>(column[k]) * D + j;
            const double half = 0.5 * value[k](static_cast<int>(i), static_cast<int>(j));
            problem_.a[row * n + other] += half;
            problem_.a[other * n + row] += half;
          }
    diagonal_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double w = problem_.a[i * n + i];
      diagonal_[i] = w > 0 ? w : 1e-9 * s_.W.mean_diagonal();
    }
  }

  void download(std::vector<double>& x, const Vec<double, D>* from) {
    copy_to_host(s_.ctx, x.data(), reinterpret_cast<const double*>(from), x.size());
  }
  void upload(const std::vector<double>& x) {
    copy_to_device(s_.ctx, reinterpret_cast<double*>(s_.r), x.data(), x.size());
    s_.W.apply(s_.ctx, s_.r, u_.data(), true);
  }

  /// Updates bounds, matrix and b at x, with u_ = W x + q.
  void renew(const std::vector<double>& x) {
    const std::size_t n = problem_.n;
    download(problem_.b, u_.data());
    renew_bounds(x);
    residual_ = box_residual(x, problem_.b);
    shift_ = std::min(std::clamp(0.01 * residual_, 1e-9, 1e-2) * extra_shift_, 1.0);
    for (std::size_t i = 0; i < n; ++i) problem_.a[i * n + i] = (1 + shift_) * diagonal_[i];
    std::vector<double> shifted(n);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += problem_.a[i * n + j] * x[j];
      shifted[i] = sum;
    }
    for (std::size_t i = 0; i < n; ++i) problem_.b[i] -= shifted[i];
  }

  /// Residual of the rows in their bounded law at the newest bounds, relative to q.
  double box_residual(const std::vector<double>& x, const std::vector<double>& u) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto c = i / D;
      double lower = problem_.lower[i], upper = problem_.upper[i];
      if (i % D != 0 && law_[c].set != FrictionSet::bilateral) {
        upper = law_[c].mu[static_cast<int>(i % D) - 1] * std::max(x[c * D], 0.0);
        lower = -upper;
      }
      const double e = diagonal_[i] * (x[i] - std::clamp(x[i] - u[i] / diagonal_[i], lower, upper));
      sum += e * e;
    }
    return std::sqrt(sum) / std::max(s_.W.norm_q(), 1e-300);
  }

  void renew_bounds(const std::vector<double>& x) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < law_.size(); ++c)
      for (std::size_t i = 0; i < D; ++i) {
        double &lower = problem_.lower[c * D + i], &upper = problem_.upper[c * D + i];
        if (law_[c].set == FrictionSet::bilateral) {
          lower = -kInfinity;
          upper = kInfinity;
        } else if (i == 0) {
          upper = kInfinity;
        } else {
          const double wanted = law_[c].mu[static_cast<int>(i) - 1] * std::max(x[c * D], 0.0);
          upper += share_ * (wanted - upper);
          lower = -upper;
        }
      }
  }

  /// False, with the reason set in the monitor, when the residual has stopped shrinking. Before that,
  /// oscillating bounds are damped by halving their update.
  bool settles(const std::vector<double>& x) {
    std::vector<double> growth(x);
    if (!last_.empty())
      for (std::size_t i = 0; i < x.size(); ++i) growth[i] -= last_[i];
    last_ = x;
    if (residual_ < 0.9 * least_) {
      least_ = residual_;
      since_ = 0;
      return true;
    }
    if (++since_ <= kPatience) return true;
    since_ = 0;
    // A larger shift keeps the impulses close to the current ones, so bounds cannot run away;
    // only then damp the update.
    if (shift_ < 1) {
      extra_shift_ *= 30;
      return true;
    }
    share_ *= 0.5;
    if (share_ > 0.2) return true;
    if (contradicts(growth))
      s_.monitor.stop(SolveEnd::infeasible,
                      "impulses grow without bound: no velocities satisfy all contacts");
    else s_.monitor.stop(SolveEnd::stalled, "the bounds of friction do not settle");
    return false;
  }

  /// True for impulses d that move nothing, W d = 0, but would have to stop something, q . d < 0: the
  /// proximal steps of an infeasible problem tend to such d.
  bool contradicts(const std::vector<double>& d) {
    std::vector<double> q(d.size()), motion(d.size());
    upload(d);
    download(motion, u_.data());
    download(q, s_.W.q());
    double along = 0, moved = 0, size = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      along += q[i] * d[i];
      moved = std::max(moved, std::fabs(motion[i] - q[i]));
      size = std::max(size, diagonal_[i] * std::fabs(d[i]));
    }
    return along < 0 && moved < 1e-3 * size &&
           size > 1e-3 * s_.W.norm_q() / std::sqrt(static_cast<double>(d.size()));
  }

  System<D>& s_;
  Buffer<Vec<double, D>> u_;
  std::vector<ContactLaw<D>> law_;
  BoundedProblem problem_;
  std::vector<double> diagonal_, last_;
  double residual_ = 0, shift_ = 0, least_ = std::numeric_limits<double>::infinity();
  double share_ = 1, extra_shift_ = 1;  // share of each bound update; factor on the residual's shift
  int since_ = 0;
};

template <int D>
void run_pivot(System<D>& s, PivotCall method) {
  const auto rows = s.blocks() * D, most = static_cast<std::size_t>(s.params.pivot_rows);
  if (rows > most) {
    s.monitor.stop(SolveEnd::refused,
                   std::to_string(rows) +
                       " rows are too many for dense pivoting (pivot_rows = " + std::to_string(most) + ")");
    return;
  }
  if (s.W.factored()) {
    s.monitor.stop(SolveEnd::refused, "pivoting needs the entries of W: set storage = assembled");
    return;
  }
  BoxPivot<D>(s).run(method);
}

}  // namespace

template <int D>
void solve_pivot_incremental(System<D>& s) {
  run_pivot(s, &PivotMethod::solve_incremental);
}
STICKSLIP_SOLVER(solve_pivot_incremental)

template <int D>
void solve_pivot_block(System<D>& s) {
  run_pivot(s, &PivotMethod::solve_block);
}
STICKSLIP_SOLVER(solve_pivot_block)

}  // namespace stickslip::STICKSLIP_BACKEND
