// Staggered projections [Course §3.2.5]: solves for the normal impulses with frozen friction, then
// for friction with frozen bounds, in turn until neither changes. Each half is a convex problem,
// solved by Gauss-Seidel sweeps.
#include <algorithm>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/prox_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"
#include "gpu/law/local_solve.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// One block's update in one half: the exact solution of its own part. Joints belong to both halves.
template <int D>
struct HalfUpdate {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  const LocalData<D>* local;  // of joints, which may have fewer than D independent rows
  ProxBlock<D>* blocks;       // 1 / W_NN and W_TT^-1
  std::int64_t normal;        // which half: 1 or 0
  double omega;
  RestingBlocks<D> resting;

  SS_HD bool skip(std::size_t c) const { return resting.skip(c); }

  SS_HD Vec<double, D> operator()(std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u) const {
    Vec<double, D> next = solve(c, r, u);
    if (omega != 1) {
      next = r + omega * (next - r);
      if (omega > 1) next = clip(law[c], next);
    }
    resting.note(c, next - r);
    return next;
  }

 private:
  SS_HD Vec<double, D> solve(std::size_t c, Vec<double, D> r, const Vec<double, D>& u) const {
    const ContactLaw<D>& l = law[c];
    if (l.set == FrictionSet::bilateral) return local_solve(l, local[c], u - diagonal[c] * r);
    ProxBlock<D>& block = blocks[c];
    if (!(block.normal > 0)) return Vec<double, D>::zero();
    if (normal != 0) {
      r[0] = prox_normal(l, block, 1.0, r[0], u[0]);
      return r;
    }
    return from_parts<D>(r[0], prox_tangential(l, block, 1.0, r[0], tangential(r), tangential(u)));
  }
  /// Projects onto the half's own constraints.
  SS_HD Vec<double, D> clip(const ContactLaw<D>& l, Vec<double, D> r) const {
    if (l.set == FrictionSet::bilateral) return r;
    if (normal == 0) return from_parts<D>(r[0], project_section(l, r[0], tangential(r)));
    r[0] = r[0] > 0 ? r[0] : 0.0;
    return r;
  }
};

template <int D>
Buffer<LocalData<D>> joint_parts(System<D>& s) {
  Buffer<LocalData<D>> joints(s.ctx, s.blocks());
  LocalData<D>* joint = joints.data();
  const ContactLaw<D>* law = s.law;
  const Mat<double, D>* diagonal = s.W.diagonal();
  launch(
      s.ctx, s.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        if (law[c].set == FrictionSet::bilateral) joint[c] = prepare_local(law[c], diagonal[c]);
      },
      kMedium);
  return joints;
}

template <int D>
bool any_associated(System<D>& s) {
  Buffer<std::int32_t> count(s.ctx, 1);
  const ContactLaw<D>* law = s.law;
  reduce_sum(
      s.ctx, s.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        bool friction = false;
        for (int i = 0; i < D - 1; ++i) friction |= law[c].mu[i] > 0;
        return friction && steps_onto_cone(law[c]) ? 1 : 0;
      },
      count.data());
  return read_back(s.ctx, count.data()) > 0;
}

}  // namespace

template <int D>
void solve_staggered(System<D>& s) {
  if (any_associated(s)) {
    s.monitor.stop(
        SolveEnd::refused,
        "staggering splits normal from tangential impulses, which the associated flow rule does not allow");
    return;
  }
  Sweeper<D> sweeper(s);
  const SweepRest<D> resting(s);
  Buffer<ProxBlock<D>> parts = make_r_factors(s, RFactorStrategy::blocked, 1.0);
  const Buffer<LocalData<D>> local = joint_parts(s);
  HalfUpdate<D> update{s.law, s.W.diagonal(), local.data(), parts.data(), 1, s.params.omega, resting.view()};
  sweeper.refresh(s.r);
  do {
    const long left = std::max(1L, s.monitor.limits().max_iterations - s.monitor.iterations());
    const long most = s.params.staggered_sweeps;
    long sweeps = 0;
    for (const bool normal : {true, false}) {
      update.normal = normal ? 1 : 0;
      const long half = std::min(most, (left + (normal ? 1 : 0)) / 2);
      for (long k = 0; k < half; ++k, ++sweeps) {
        if (k > 0 && s.monitor.out_of_budget()) break;
        sweeper.run_both_ways(s.r, update);
      }
    }
    s.monitor.count(sweeps - 1);
  } while (!s.monitor.done(s.r));
}
STICKSLIP_SOLVER(solve_staggered)

}  // namespace stickslip::STICKSLIP_BACKEND
