// Proximal fixed points [Course §3.4, Alg.11-12]: every block steps against its velocity and is projected
// back onto its law's set, with adaptive r-factors.
#include <cmath>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/prox_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The change of r in one iteration.
struct Stride {
  double length;  // |r^{k+1} - r^k|_inf [N s]
  double along;   // its dot product with the previous change
};
struct BothStrides {
  SS_HD Stride operator()(const Stride& a, const Stride& b) const {
    return {a.length < b.length ? b.length : a.length, a.along + b.along};
  }
};

template <int D>
SS_HD Stride stride_of(const Vec<double, D>& x, const Vec<double, D>& before) {
  double length = 0;
  for (int i = 0; i < D; ++i) {
    const double size = std::fabs(x[i]);
    if (!(size <= length)) length = size < 1e300 ? size : 1e300;  // NaN counts as infinite
  }
  return {length, dot(x, before)};
}

/// The adaptive rule's state, in backend memory: no iteration waits for a read-back.
struct Adaptation {
  static constexpr int kWindow = 16;
  Stride stride;         // of the current iterate
  double kept[kWindow];  // ring of the lengths of the last iterates kept
  int count;             // number of iterates kept
  int calm;              // number kept since the r-factors changed
  int dropped;           // 1: the current iterate is dropped
};

/// `printed`: the text drops every iterate that moved further than the one before, and shrinks the factors
/// for good. But steps of a converging sweep also grow by chance, whenever blocks change between rest, slip
/// and take-off. Here an iterate is dropped when it moved further, by more than `slack`, than all of the last
/// `kWindow`, or when it reversed direction and was hardly shorter than they (a cycle need not grow). The
/// factors grow again after `patience` iterates that were kept.
struct AdaptiveRule {
  double shrink, grow, slack, least;
  int patience;
  bool printed;

  SS_HD bool drops(const Adaptation& a) const {
    if (printed) return a.count > 0 && !(a.stride.length <= a.kept[(a.count - 1) % Adaptation::kWindow]);
    // With factors far too large, an even number of local steps can end at its start.
    if (!(a.stride.length > 0)) return true;
    double longest = 0;
    for (const double length : a.kept) longest = length > longest ? length : longest;
    if (a.count < Adaptation::kWindow)  // the first steps may grow, as impulses spread
      return !(a.stride.length < 1e300) || (a.count > 0 && a.stride.length > 2 * longest);
    const bool turned = a.stride.along < 0;
    return !(a.stride.length <= (turned ? 1 / slack : slack) * longest);
  }
  SS_HD void apply(Adaptation& a, double& factor) const {
    a.dropped = drops(a) && factor > least ? 1 : 0;
    if (a.dropped != 0) {
      factor *= shrink;
      a.calm = 0;
      return;
    }
    a.kept[a.count++ % Adaptation::kWindow] = a.stride.length;
    if (printed || ++a.calm < patience || factor >= 1) return;
    const double grown = factor * grow < 1 ? factor * grow : 1.0;
    for (double& length : a.kept) length *= grown / factor;  // steps scale with the factors
    factor = grown;
    a.calm = 0;
  }
};

/// Keeps or drops iterates, on the backend.
template <int D>
class AdaptiveIterates {
 public:
  AdaptiveIterates(System<D>& s, double* factor)
      : s_(s), factor_(factor), old_(s.ctx, s.blocks()), change_(s.ctx, s.blocks()), state_(s.ctx, 1) {
    const double shrink = s.params.r_shrink > 0                           ? s.params.r_shrink
                          : s.params.r_strategy == RFactorStrategy::local ? 0.9
                                                                          : 0.5;
    rule_ = {shrink, std::pow(shrink, -0.25), 1.02, 1e-6, 8, s.params.r_rule == AdaptiveRFactors::printed};
    copy(s.ctx, old_.data(), s.r, s.blocks());
    fill(s.ctx, state_.data(), 1, Adaptation{});
    fill(s.ctx, change_.data(), s.blocks(), Vec<double, D>::zero());
  }

  /// Keeps the iterate in s.r, or restores the previous one and shrinks the factors.
  void keep_or_drop() {
    Vec<double, D>*r = s_.r, *old = old_.data(), *change = change_.data();
    Adaptation* state = state_.data();
    double* factor = factor_;
    const AdaptiveRule rule = rule_;
    reduce(
        s_.ctx, s_.blocks(), [=] SS_LAMBDA(std::size_t c) { return stride_of(r[c] - old[c], change[c]); },
        BothStrides{}, Stride{0, 0}, &state->stride, kMedium);
    launch(s_.ctx, 1, [=] SS_LAMBDA(std::size_t) { rule.apply(*state, *factor); });
    launch(s_.ctx, s_.blocks(), [=] SS_LAMBDA(std::size_t c) {
      if (state->dropped != 0) {
        r[c] = old[c];
      } else {
        change[c] = r[c] - old[c];
        old[c] = r[c];
      }
    });
  }

  /// 1 where the last iterate was dropped, backend memory.
  const int* dropped() const { return &state_.data()->dropped; }

 private:
  System<D>& s_;
  double* factor_;
  AdaptiveRule rule_{};
  Buffer<Vec<double, D>> old_, change_;
  Buffer<Adaptation> state_;
};

/// Body velocities of the last iterate kept.
template <int D>
class BodyMemory {
 public:
  BodyMemory(System<D>& s, Sweeper<D>& sweeper) : s_(s), sweeper_(sweeper) {
    old_.resize(s.ctx, sweeper.velocities().size());
    copy(s.ctx, old_.data(), sweeper.velocities().data(), old_.size());
  }
  void keep_or_drop(const int* dropped) {
    double *v = sweeper_.velocities().data(), *old = old_.data();
    launch(s_.ctx, old_.size(), [=] SS_LAMBDA(std::size_t i) {
      if (*dropped != 0) v[i] = old[i];
      else old[i] = v[i];
    });
  }

 private:
  System<D>& s_;
  Sweeper<D>& sweeper_;
  Buffer<double> old_;
};

}  // namespace

/// [Course Alg.12], with several proximal steps per block update.
template <int D>
void solve_prox_gs(System<D>& s) {
  ProxSweep<D> sweep(s);
  sweep.refresh(s.r);
  if (!s.params.r_adaptive) {
    do sweep.run(s.r);
    while (!s.monitor.done(s.r));
    sweep.note_factors();
    return;
  }
  AdaptiveIterates<D> iterates(s, sweep.factor());
  BodyMemory<D> bodies(s, sweep.sweeper());
  do {
    sweep.run(s.r);
    iterates.keep_or_drop();
    bodies.keep_or_drop(iterates.dropped());
  } while (!s.monitor.done(s.r));
  sweep.note_factors();
}
STICKSLIP_ROLLING_SOLVER(solve_prox_gs)

/// [Course Alg.11]: all blocks step at once, and the old normal impulses bound friction. So iterates leave
/// their cones slightly; the nearest impulses in the cones are judged and returned.
template <int D>
void solve_prox_jacobi(System<D>& s) {
  Buffer<ProxBlock<D>> factors = make_r_factors(s);
  Buffer<Vec<double, D>> velocity(s.ctx, s.blocks()), inside(s.ctx, s.blocks());
  Buffer<double> all(s.ctx, 1);
  fill(s.ctx, all.data(), 1, 1.0);
  AdaptiveIterates<D> iterates(s, all.data());
  ProxBlock<D>* blocks = factors.data();
  const ContactLaw<D>* law = s.law;
  const Vec<double, D>* u = velocity.data();
  const double* factor = all.data();
  Vec<double, D>*r = s.r, *judged = inside.data();
  do {
    s.W.apply(s.ctx, r, velocity.data(), true);
    launch(
        s.ctx, s.blocks(),
        [=] SS_LAMBDA(std::size_t c) { r[c] = prox_step(law[c], blocks[c], *factor, r[c], u[c]); }, kMedium);
    if (s.params.r_adaptive) iterates.keep_or_drop();
    launch(
        s.ctx, s.blocks(), [=] SS_LAMBDA(std::size_t c) { judged[c] = project(law[c], r[c]); }, kMedium);
  } while (!s.monitor.done(judged));
  note_r_factors(s, blocks, factor);
}
STICKSLIP_ROLLING_SOLVER(solve_prox_jacobi)

}  // namespace stickslip::STICKSLIP_BACKEND
