// Gauss-Seidel sweeps by scalar rows with box friction, |r_i| <= mu_i r_N at the newest r_N [Course
// §3.2.1-3.2.3], and the stopping message of box-friction solvers for problems with another law.
#pragma once

#include <cstdio>
#include <string>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/resting.cuh"
#include "gpu/dfcp/solvers/sweep.cuh"
#include "gpu/law/projection.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The law that projected Gauss-Seidel solves for a block.
template <int D>
SS_HD inline ContactLaw<D> box_law(ContactLaw<D> law) {
  if (law.set == FrictionSet::bilateral) return law;
  law.set = FrictionSet::box;
  law.flow = FlowRule::exact;
  return law;
}

/// One row after the other: r_i - omega u_i / W_ii, clamped. `w`: the block's own part of W.
template <int D>
SS_HD inline Vec<double, D> relax_rows(const ContactLaw<D>& law, const Mat<double, D>& w, double omega,
                                       Vec<double, D> r, Vec<double, D> u) {
  const bool bilateral = law.set == FrictionSet::bilateral;
  for (int i = 0; i < D; ++i) {
    double next = w(i, i) > 0 ? r[i] - omega * u[i] / w(i, i) : 0.0;
    if (!bilateral) next = i == 0 ? (next > 0 ? next : 0.0) : law_detail::clamp(next, law.mu[i - 1] * r[0]);
    const double change = next - r[i];
    r[i] = next;
    for (int j = 0; j < D; ++j) u[j] += w(j, i) * change;
  }
  return r;
}

template <int D>
struct RowUpdate {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  double omega;
  RestingBlocks<D> resting;
  std::int64_t without_joints = 0;  // as a flag; wide, so that there is no padding

  SS_HD bool skip(std::size_t c) const {
    return (without_joints != 0 && law[c].set == FrictionSet::bilateral) || resting.skip(c);
  }
  SS_HD Vec<double, D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    const Vec<double, D> next = relax_rows(law[c], diagonal[c], omega, r, u);
    resting.note(c, next - r);
    return next;
  }
};

/// The sweeps of `pgs`.
template <int D>
class RowSweep {
 public:
  explicit RowSweep(System<D>& s) : s_(s), sweeper_(s), resting_(s) {}

  /// Whether sweeps leave out joints.
  void leave_joints(bool leave) { without_joints_ = leave; }

  void refresh(Vec<double, D>* r) { sweeper_.refresh(r); }

  /// One sweep over r (forth and back with `symmetric_sweeps`).
  void run(Vec<double, D>* r) {
    const RowUpdate<D> update{s_.law, s_.W.diagonal(), s_.params.omega, resting_.view(),
                              without_joints_ ? 1 : 0};
    sweeper_.run_both_ways(r, update);
  }

 private:
  System<D>& s_;
  Sweeper<D> sweeper_;
  SweepRest<D> resting_;
  bool without_joints_ = false;
};

/// The laws with box friction, per block.
template <int D>
void fill_box_laws(System<D>& s, ContactLaw<D>* box) {
  const ContactLaw<D>* law = s.law;
  launch(s.ctx, s.blocks(), [=] SS_LAMBDA(std::size_t c) { box[c] = box_law(law[c]); });
}

/// True for laws that box friction solves exactly: boxes, joints, and blocks without friction.
template <int D>
SS_HD inline bool is_box_law(const ContactLaw<D>& law) {
  if (law.set == FrictionSet::bilateral || (law.set == FrictionSet::box && law.flow == FlowRule::exact))
    return true;
  for (int i = 0; i < D - 1; ++i)
    if (law.mu[i] > 0) return false;
  return true;
}

/// True if box friction does not solve the law of some block exactly. One host read.
template <int D>
bool has_other_laws(System<D>& s) {
  Buffer<std::int32_t> count(s.ctx, 1);
  const ContactLaw<D>* law = s.law;
  reduce_sum(
      s.ctx, s.blocks(), [=] SS_LAMBDA(std::size_t c) { return is_box_law(law[c]) ? 0 : 1; }, count.data());
  return read_back(s.ctx, count.data()) > 0;
}

/// Checks whether an iterate solves the problem with box friction instead of its own law.
template <int D>
class BoxFriction {
 public:
  explicit BoxFriction(System<D>& s) : s_(s), others_(has_other_laws(s)) {
    if (!others_) return;
    u_.resize(s.ctx, s.blocks());
    sums_.resize(s.ctx, 1);
    law_.resize(s.ctx, s.blocks());
    fill_box_laws(s, law_.data());
  }

  /// To be called after every `monitor.done`: true when no improvement is left; the
  /// monitor then has the reason.
  bool settled(const Vec<double, D>* r) {
    if (!others_ || s_.monitor.checks() == checks_) return false;
    checks_ = s_.monitor.checks();
    s_.W.apply(s_.ctx, r, u_.data(), true);
    const double residual = judge_quickly(s_.ctx, s_.W, static_cast<const ContactLaw<D>*>(law_.data()), r,
                                          static_cast<const Vec<double, D>*>(u_.data()), sums_.data())
                                .residual;
    if (!(residual <= s_.monitor.limits().tolerance)) return false;
    char text[160];
    std::snprintf(text, sizeof text,
                  "solves box friction, of which the residual is %.2g; the problem has another law, of which "
                  "it is %.2g",
                  residual, s_.monitor.best_residual());
    s_.monitor.stop(SolveEnd::stalled, text);
    return true;
  }

  /// The laws with box friction, per block, backend memory.
  const ContactLaw<D>* law() const { return others_ ? law_.data() : s_.law; }

 private:
  System<D>& s_;
  bool others_;
  long checks_ = -1;
  Buffer<ContactLaw<D>> law_;
  Buffer<Vec<double, D>> u_;
  Buffer<Vec<double, 4>> sums_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
