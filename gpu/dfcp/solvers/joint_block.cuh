// JointBlock: all joints of a problem as one block of a hierarchical Gauss-Seidel method.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/damped_solver.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// One host read.
template <int D>
bool has_joints(System<D>& s) {
  Buffer<std::int32_t> count(s.ctx, 1);
  const ContactLaw<D>* law = s.law;
  reduce_sum(
      s.ctx, s.blocks(),
      [=] SS_LAMBDA(std::size_t c) { return law[c].set == FrictionSet::bilateral ? 1 : 0; }, count.data());
  return s.blocks() > 0 && read_back(s.ctx, count.data()) > 0;
}

/// R of a block: so stiff on contacts that they keep their impulses, and just regular on joints, which may be
/// redundant.
template <int D>
struct HoldContacts {
  static constexpr double kHeld = 1e12, kRegular = 1e-10;  // in units of s_c
  const ContactLaw<D>* law;
  const double* scale;
  Vec<double, D>* damping;

  SS_HD void operator()(std::size_t c) const {
    const double r = law[c].set == FrictionSet::bilateral ? kRegular : kHeld;
    damping[c] = Vec<double, D>::filled(r * scale[c]);
  }
};

/// -u of joints, zero of contacts; returns a block's part of its square.
template <int D>
struct OpposeJoints {
  const ContactLaw<D>* law;
  const Vec<double, D>* u;
  Vec<double, D>* right;

  SS_HD double operator()(std::size_t c) const {
    right[c] = law[c].set == FrictionSet::bilateral ? -u[c] : Vec<double, D>::zero();
    return norm2(right[c]);
  }
};

/// A block's part of the square of the step of joints, in velocities.
template <int D>
struct SizeOfJointStep {
  const ContactLaw<D>* law;
  const double* scale;
  const Vec<double, D>* step;

  SS_HD double operator()(std::size_t c) const {
    return law[c].set == FrictionSet::bilateral ? scale[c] * scale[c] * norm2(step[c]) : 0.0;
  }
};

/// r += step, of joints alone.
template <int D>
struct MoveJoints {
  const ContactLaw<D>* law;
  const Vec<double, D>* step;
  Vec<double, D>* r;

  SS_HD void operator()(std::size_t c) const {
    if (law[c].set == FrictionSet::bilateral) r[c] += step[c];
  }
};

/// The rows of joints are a linear system, W_JJ dr = -u_J: positive semidefinite, so that conjugate gradients
/// or a factorisation bring them to rest at once, where sweeps joint by joint converge slowly along chains
/// [Course §3.2.4]. `joint_block`.
///
/// It is solved as W + R on all rows, by the solver that other methods share, with a stiff R on contacts.
/// Joints that contradict each other (a loop that does not close) cannot come to rest, and R alone would
/// bound their impulses: a step that is far too long, or does not slow them down, is undone, and sweeps take
/// the joints from then on.
template <int D>
class JointBlock {
 public:
  explicit JointBlock(System<D>& s) : s_(s) {
    if (!s.params.joint_block || !has_joints(s)) return;
    size_.resize(s.ctx, 1);
    solver_.emplace(s);
    for (Buffer<Vec<double, D>>* buffer : {&damping_, &u_, &right_, &step_, &before_})
      buffer->resize(s.ctx, s.blocks());
    launch(s.ctx, s.blocks(), HoldContacts<D>{s.law, s.W.scale(), damping_.data()});
    if (!solver_->set(damping_.data())) solver_.reset();
  }

  /// Whether sweeps leave joints to `solve`.
  bool active() const { return solver_.has_value(); }

  /// Brings the joints to rest while all other impulses stay. True if r may have changed.
  bool solve(Vec<double, D>* r) {
    constexpr double kShare = 0.01;    // of the joints' velocity may remain
    constexpr double kMostGain = 1e7;  // of a step in velocities over what it is to stop
    if (!active()) return false;
    const double speed = measure(r);
    const double enough = 0.1 * s_.monitor.limits().tolerance * s_.W.norm_q();
    if (!(speed > enough)) return false;
    fill(s_.ctx, step_.data(), s_.blocks(), Vec<double, D>::zero());
    if (!solver_->solve(right_.data(), step_.data(), std::max(kShare * speed, enough))) return false;
    copy(s_.ctx, before_.data(), r, s_.blocks());
    launch(s_.ctx, s_.blocks(), MoveJoints<D>{s_.law, step_.data(), r});
    if (step_size() < kMostGain * speed && measure(r) < speed) return true;
    copy(s_.ctx, r, before_.data(), s_.blocks());
    solver_.reset();
    return true;
  }

 private:
  /// [m/s]
  double step_size() {
    reduce_sum(s_.ctx, s_.blocks(), SizeOfJointStep<D>{s_.law, s_.W.scale(), step_.data()}, size_.data());
    return std::sqrt(read_back(s_.ctx, size_.data()));
  }

  /// Sets the right side to -u of the joints. Returns its norm [m/s].
  double measure(const Vec<double, D>* r) {
    s_.W.apply(s_.ctx, r, u_.data(), true);
    reduce_sum(s_.ctx, s_.blocks(), OpposeJoints<D>{s_.law, u_.data(), right_.data()}, size_.data());
    return std::sqrt(read_back(s_.ctx, size_.data()));
  }

  System<D>& s_;
  std::optional<DampedSolver<D>> solver_;
  Buffer<Vec<double, D>> damping_, u_, right_, step_, before_;
  Buffer<double> size_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
