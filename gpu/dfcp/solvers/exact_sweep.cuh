// Gauss-Seidel sweeps with the exact solution of every block's own problem.
#pragma once

#include "gpu/dfcp/solvers/resting.cuh"
#include "gpu/dfcp/solvers/sweep.cuh"
#include "gpu/law/local_solve.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The update of one block in a sweep.
template <int D>
struct ExactUpdate {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  const LocalData<D>* local;
  double* slip;  // per block: multiplier of the last sliding solution, the next search's initial guess
  double omega;
  RestingBlocks<D> resting;
  std::int64_t without_joints = 0;  // as a flag; wide, so that there is no padding

  SS_HD bool skip(std::size_t c) const {
    return (without_joints != 0 && law[c].set == FrictionSet::bilateral) || resting.skip(c);
  }

  SS_HD Vec<double, D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    const Vec<double, D> solved = local_solve(law[c], local[c], u - diagonal[c] * r, slip[c]);
    const Vec<double, D> next = over_relaxed(law[c], omega, r, solved);
    resting.note(c, next - r);
    return next;
  }
};

/// The parts of the local solutions that do not change, and zero slips.
template <int D>
void prepare_exact_updates(System<D>& s, LocalData<D>* local, double* slip) {
  const ContactLaw<D>* law = s.law;
  const Mat<double, D>* diagonal = s.W.diagonal();
  launch(
      s.ctx, s.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        local[c] = prepare_local(law[c], diagonal[c]);
        slip[c] = 0;
      },
      kMedium);
}

/// The sweeps of `nsgs`, shared by all solvers that use them.
template <int D>
class ExactSweep {
 public:
  explicit ExactSweep(System<D>& s)
      : s_(s), sweeper_(s), local_(s.ctx, s.blocks()), slip_(s.ctx, s.blocks()), resting_(s) {
    prepare_exact_updates(s, local_.data(), slip_.data());
  }

  /// To be called after s.r changed by other means than `run`.
  void refresh() { refresh(s_.r); }
  void refresh(Vec<double, D>* r) { sweeper_.refresh(r); }

  /// Whether sweeps leave out joints.
  void leave_joints(bool leave) { without_joints_ = leave; }

  /// One sweep over s.r (forth and back with `symmetric_sweeps`).
  void run() { run(s_.r); }
  void run(Vec<double, D>* r) {
    const ExactUpdate<D> update{s_.law,          s_.W.diagonal(), local_.data(),          slip_.data(),
                                s_.params.omega, resting_.view(), without_joints_ ? 1 : 0};
    sweeper_.run_both_ways(r, update);
  }

 private:
  System<D>& s_;
  Sweeper<D> sweeper_;
  Buffer<LocalData<D>> local_;
  Buffer<double> slip_;
  SweepRest<D> resting_;
  bool without_joints_ = false;
};

}  // namespace stickslip::STICKSLIP_BACKEND
