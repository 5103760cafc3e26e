// Nonsmooth nonlinear conjugate gradients [Course §3.2.7 Alg.10]: treats the change by a sweep as a negative
// gradient and extrapolates it along Fletcher and Reeves' directions.
#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/exact_sweep.cuh"
#include "gpu/dfcp/solvers/prox_sweep.cuh"
#include "gpu/dfcp/solvers/row_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Norms of the last two gradients, in backend memory: no iteration waits for a read-back.
struct GradientNorms {
  double now, last;  // squared [N^2 s^2]

  /// beta of Fletcher and Reeves; negative: restart.
  SS_HD double beta() const {
    const double ratio = last > 0 ? now / last : 0.0;
    return ratio <= 1 ? ratio : -1.0;
  }
};

/// Extrapolates sweeps. `law`: iterates are projected onto its cones.
template <int D>
class Conjugation {
 public:
  Conjugation(System<D>& s, const ContactLaw<D>* law)
      : s_(s), law_(law), before_(s.ctx, s.blocks()), direction_(s.ctx, s.blocks()), norms_(s.ctx, 1) {
    fill(s.ctx, direction_.data(), s.blocks(), Vec<double, D>::zero());
    fill(s.ctx, norms_.data(), 1, GradientNorms{0, 0});
  }

  /// To be called before a sweep over s.r.
  void remember() { copy(s_.ctx, before_.data(), s_.r, s_.blocks()); }

  /// To be called after the sweep: r += beta p, projected back into the law's cone, which
  /// sweeps require of their start.
  void extrapolate() {
    Vec<double, D>*r = s_.r, *p = direction_.data();
    const Vec<double, D>* before = before_.data();
    const ContactLaw<D>* law = law_;
    GradientNorms* norms = norms_.data();
    reduce_sum(
        s_.ctx, s_.blocks(), [=] SS_LAMBDA(std::size_t c) { return norm2(r[c] - before[c]); }, &norms->now,
        kMedium);
    launch(
        s_.ctx, s_.blocks(),
        [=] SS_LAMBDA(std::size_t c) {
          const double beta = norms->beta();
          if (beta < 0) {
            p[c] = Vec<double, D>::zero();
            return;
          }
          const Vec<double, D> descent = r[c] - before[c], step = beta * p[c];
          r[c] = project(law[c], r[c] + step);
          p[c] = step + descent;
        },
        kMedium);
    launch(s_.ctx, 1, [=] SS_LAMBDA(std::size_t) { norms->last = norms->now; });
  }

 private:
  System<D>& s_;
  const ContactLaw<D>* law_;
  Buffer<Vec<double, D>> before_, direction_;
  Buffer<GradientNorms> norms_;
};

/// `settled`: called after every iteration; true when the sweeps cannot improve any more.
template <int D, class Sweep, class Settled>
void accelerate(System<D>& s, Sweep& sweep, const ContactLaw<D>* law, Settled settled) {
  Conjugation<D> conjugation(s, law);
  do {
    conjugation.remember();
    sweep.refresh(s.r);
    sweep.run(s.r);
    conjugation.extrapolate();
  } while (!s.monitor.done(s.r) && !settled());
}

}  // namespace

template <int D>
void solve_nncg(System<D>& s) {
  const auto never = [] { return false; };
  if (s.params.nncg_sweep == NncgSweep::pgs) {
    RowSweep<D> sweep(s);
    BoxFriction<D> box(s);
    accelerate(s, sweep, box.law(), [&] { return box.settled(s.r); });
  } else if (s.params.nncg_sweep == NncgSweep::prox) {
    ProxSweep<D> sweep(s);
    accelerate(s, sweep, s.law, never);
    sweep.note_factors();
  } else {
    ExactSweep<D> sweep(s);
    accelerate(s, sweep, s.law, never);
  }
}
STICKSLIP_SOLVER(solve_nncg)

}  // namespace stickslip::STICKSLIP_BACKEND
