// Gauss-Seidel sweeps with proximal steps, and the r-factors of all blocks.
#pragma once

#include "gpu/dfcp/operator/spectrum.cuh"
#include "gpu/dfcp/solvers/prox_block.h"
#include "gpu/dfcp/solvers/resting.cuh"
#include "gpu/dfcp/solvers/sweep.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// r-factors of a strategy, each multiplied by `scale`.
template <int D>
Buffer<ProxBlock<D>> make_r_factors(System<D>& s, RFactorStrategy strategy, double scale) {
  Buffer<ProxBlock<D>> factors(s.ctx, s.blocks());
  double global = 0;
  if (strategy == RFactorStrategy::global) {
    const Spectrum spectrum = estimate_spectrum(s.ctx, s.W);
    const double sum = spectrum.largest + (spectrum.smallest > 0 ? spectrum.smallest : 0.0);
    global = 1 / (sum > 0 ? sum : s.W.mean_diagonal());
  }
  ProxBlock<D>* factor = factors.data();
  const ContactLaw<D>* law = s.law;
  const Mat<double, D>* diagonal = s.W.diagonal();
  launch(
      s.ctx, s.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        factor[c] = prepare_prox(law[c], diagonal[c], strategy, global, scale);
      },
      kMedium);
  return factors;
}

/// r-factors of the strategy in the parameters.
template <int D>
Buffer<ProxBlock<D>> make_r_factors(System<D>& s) {
  return make_r_factors(s, s.params.r_strategy, s.params.r_scale);
}

/// The r-factors of a block. Where R_T is no multiple of the identity: of equal trace of R_T^-1.
template <int D>
struct FactorsInUse {
  const ContactLaw<D>* law;
  const ProxBlock<D>* blocks;
  const double* factor;  // multiplier of all r-factors, backend memory

  SS_HD Vec<float, 2> operator()(std::size_t c) const {
    const ProxBlock<D>& block = blocks[c];
    if (!(block.normal > 0)) return {0, 0};
    if (steps_onto_cone(law[c])) {
      const auto least = static_cast<float>(*factor * block.least);
      return {least, least};
    }
    const double metric = (block.metric(0, 0) + block.metric(1, 1)) / 2;  // of sliding alone
    return {static_cast<float>(*factor * block.normal), static_cast<float>(*factor / metric)};
  }
};

template <int D>
void note_r_factors(System<D>& s, const ProxBlock<D>* blocks, const double* factor) {
  s.monitor.note_steps(StepKind::r_factor, FactorsInUse<D>{s.law, blocks, factor});
}

/// The update of one block in a sweep.
template <int D>
struct ProxUpdate {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  ProxBlock<D>* blocks;
  const double* factor;  // multiplier of all r-factors, backend memory
  std::int64_t steps;
  double omega;
  RestingBlocks<D> resting;

  SS_HD bool skip(std::size_t c) const { return resting.skip(c); }

  SS_HD Vec<double, D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    const Vec<double, D> stepped =
        prox_block(law[c], blocks[c], diagonal[c], *factor, static_cast<int>(steps), r, u);
    const Vec<double, D> next = over_relaxed(law[c], omega, r, stepped);
    resting.note(c, next - r);
    return next;
  }
};

/// The sweeps of `prox_gs`.
template <int D>
class ProxSweep {
 public:
  explicit ProxSweep(System<D>& s)
      : s_(s), sweeper_(s), resting_(s), blocks_(make_r_factors(s)), factor_(s.ctx, 1) {
    fill(s.ctx, factor_.data(), 1, 1.0);
  }

  Sweeper<D>& sweeper() { return sweeper_; }
  /// The multiplier of all r-factors; backend memory.
  double* factor() { return factor_.data(); }
  /// Reports the r-factors as they are now, see Monitor::note_steps.
  void note_factors() { note_r_factors(s_, blocks_.data(), factor_.data()); }
  void refresh(Vec<double, D>* r) { sweeper_.refresh(r); }

  /// One sweep over r (forth and back with `symmetric_sweeps`).
  void run(Vec<double, D>* r) {
    const ProxUpdate<D> update{
        s_.law,          s_.W.diagonal(), blocks_.data(), factor_.data(), s_.params.prox_local_steps,
        s_.params.omega, resting_.view()};
    sweeper_.run_both_ways(r, update);
  }

 private:
  System<D>& s_;
  Sweeper<D> sweeper_;
  SweepRest<D> resting_;
  Buffer<ProxBlock<D>> blocks_;
  Buffer<double> factor_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
