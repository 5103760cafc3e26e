// Projected Gauss-Seidel with subspace minimisation, box friction [Course Alg.9]: sweeps predict which rows
// are at their bounds, and a linear solve brings the others to rest.
//
// Deviations: W_FF is singular where contacts are redundant. It gets a small proximal term that the next
// solve compensates. A phase ends when a solve gains little, and a worse result is dropped, so a wrong
// prediction costs only time.
#include <limits>

#include "gpu/dfcp/solvers/newton_system.cuh"
#include "gpu/dfcp/solvers/row_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// 1 for rows strictly within their bounds, 0 for the others.
template <int D>
SS_HD Vec<double, D> free_rows(const ContactLaw<D>& law, const Vec<double, D>& r) {
  Vec<double, D> free = Vec<double, D>::filled(1);
  if (law.set == FrictionSet::bilateral) return free;
  free[0] = r[0] > 0 ? 1.0 : 0.0;
  for (int i = 1; i < D; ++i) free[i] = std::fabs(r[i]) < law.mu[i - 1] * r[0] ? 1.0 : 0.0;
  return free;
}

/// r + dr, clamped to its bounds at the new normal impulse; rows at a bound move with the bound.
template <int D>
SS_HD Vec<double, D> clamped_step(const ContactLaw<D>& law, const Vec<double, D>& r,
                                  const Vec<double, D>& dr) {
  Vec<double, D> next = r + dr;
  if (law.set == FrictionSet::bilateral) return next;
  const Vec<double, D> free = free_rows(law, r);
  next[0] = free[0] > 0 && next[0] > 0 ? next[0] : 0.0;
  for (int i = 1; i < D; ++i) {
    const double bound = law.mu[i - 1] * next[0], tight = r[i] > 0 ? bound : r[i] < 0 ? -bound : 0.0;
    next[i] = free[i] > 0 ? law_detail::clamp(next[i], bound) : tight;
  }
  return next;
}

/// Writes a block's part of W_FF dr_F = -u_F, the other rows of dr zero, as (B W + A) dr = right.
template <int D>
struct SubspaceRows {
  const ContactLaw<D>* law;
  const Vec<double, D>*r, *u;
  Mat<double, D>*a, *b;
  Vec<double, D>* right;

  SS_HD void operator()(std::size_t c) const {
    const Vec<double, D> free = free_rows(law[c], r[c]);
    a[c] = b[c] = Mat<double, D>::zero();
    for (int i = 0; i < D; ++i) {
      a[c](i, i) = 1 - free[i];
      b[c](i, i) = free[i];
      right[c][i] = -free[i] * u[c][i];
    }
  }
};

template <int D>
struct StepClamped {
  const ContactLaw<D>* law;
  const Vec<double, D>* step;
  Vec<double, D>* r;

  SS_HD void operator()(std::size_t c) const { r[c] = clamped_step(law[c], r[c], step[c]); }
};

/// The second phase of Alg.9.
template <int D>
class Subspace {
 public:
  explicit Subspace(System<D>& s)
      : s_(s),
        system_(s.ctx, s.W, {NewtonLinear::automatic, 1e-6, 200, [&s] { return s.monitor.out_of_budget(); }}),
        law_(s.ctx, s.blocks()),
        u_(s.ctx, s.blocks()),
        right_(s.ctx, s.blocks()),
        step_(s.ctx, s.blocks()),
        best_(s.ctx, s.blocks()),
        sums_(s.ctx, 1) {
    fill_box_laws(s, law_.data());
  }

  /// Up to sm_solves solves from s.r; s.r becomes the best of them and the start. True: the
  /// monitor stops the solve.
  bool run() {
    double best = judge(), last = best;
    copy(s_.ctx, best_.data(), s_.r, s_.blocks());
    bool stop = false;
    for (int k = 0; k < s_.params.sm_solves && !stop; ++k) {
      if (!solve()) break;
      const double residual = judge();
      stop = s_.monitor.done(s_.r, u_.data());
      if (residual < best) {
        best = residual;
        copy(s_.ctx, best_.data(), s_.r, s_.blocks());
      }
      // The first solves may pass through worse points.
      if (!(residual <= 0.5 * last) && k > 0) break;
      last = residual;
    }
    copy(s_.ctx, s_.r, best_.data(), s_.blocks());
    return stop;
  }

 private:
  /// The residual under box friction, and u of s.r.
  double judge() {
    s_.W.apply(s_.ctx, s_.r, u_.data(), true);
    return judge_quickly<D>(s_.ctx, s_.W, law_.data(), s_.r, u_.data(), sums_.data()).residual;
  }

  /// W_FF dr_F = -u_F, the other rows of dr zero. False when it cannot be solved.
  bool solve() {
    launch(s_.ctx, s_.blocks(),
           SubspaceRows<D>{law_.data(), s_.r, u_.data(), system_.impulse_blocks(), system_.velocity_blocks(),
                           right_.data()});
    if (!system_.solve({0, 1e-8}, right_.data(), step_.data())) return false;
    launch(s_.ctx, s_.blocks(), StepClamped<D>{law_.data(), step_.data(), s_.r});
    return true;
  }

  System<D>& s_;
  NewtonSystem<D> system_;
  Buffer<ContactLaw<D>> law_;
  Buffer<Vec<double, D>> u_, right_, step_, best_;
  Buffer<Vec<double, 4>> sums_;
};

}  // namespace

template <int D>
void solve_pgs_sm(System<D>& s) {
  RowSweep<D> sweep(s);
  BoxFriction<D> box(s);
  Subspace<D> subspace(s);
  for (;;) {
    sweep.refresh(s.r);
    for (int k = 0; k < s.params.sm_sweeps; ++k) {
      sweep.run(s.r);
      if (s.monitor.done(s.r) || box.settled(s.r)) return;
    }
    if (subspace.run() || box.settled(s.r)) return;
  }
}
STICKSLIP_SOLVER(solve_pgs_sm)

}  // namespace stickslip::STICKSLIP_BACKEND
