// ManifoldSolver: the contact problem of a step of rigid bodies, swept by manifolds in packs.
#pragma once

#include <cmath>
#include <functional>
#include <limits>

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/model/report.h"
#include "gpu/params/lab_params.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/manifold/manifold_conjugate.cuh"
#include "gpu/rigid/manifold/manifold_order.cuh"
#include "gpu/rigid/manifold/manifold_packs.h"
#include "gpu/rigid/manifold/manifold_problem.h"

namespace stickslip {

/// What a problem is made of.
struct ManifoldInput {
  PairedContacts list;
  SurfaceTable surfaces;
  ContactRowOptions options;
  const Vec<double, 4>* before =
      nullptr;  // impulses of the step before in world axes, by RigidContact::previous
  std::size_t before_count = 0;
  // [m/s] per contact: as StepConstraints has them.
  double least_speed = 0, most_speed = std::numeric_limits<double>::infinity();
};

/// How far a solve is, in backend memory.
struct ManifoldProgress {
  std::int32_t stop, iterations;
  std::int32_t jams;      // a contact is beyond what these sweeps can solve
  std::int32_t is_best;   // whether the last check saw the best impulses
  double residual, best;  // at the last check; the least of all checks
  double scale;           // [m/s] what residuals are relative to
  double mark;            // the residual after the last real progress,
  std::int32_t mark_at;   // and the iteration

  /// Progress is real if it takes a tenth of the residual off. After kPatience iterations without any, kRest
  /// follow without steps along directions, and so on: friction's fixed point is not the least of the
  /// quadratic that those steps lower, and a box that starts to slide can be carried off by each of them.
  static constexpr std::int32_t kPatience = 100, kRest = 50;
  static constexpr double kProgress = 0.9;

  /// After a check. Whether the next sweeps go without steps along directions.
  SS_HD bool suspends() {
    if (residual < kProgress * mark) {
      mark = residual;
      mark_at = iterations;
    }
    return (iterations - mark_at) % (kPatience + kRest) >= kPatience;
  }
};

/// When to check, and when to stop.
struct ManifoldLimits {
  double tolerance;
  std::int32_t interval, last;  // checks: at the start, every `interval` iterations and after the last one
  bool unconditional = false;

  static ManifoldLimits always() { return {0, 1, 0, true}; }
  SS_HD bool is_due(const ManifoldProgress& p) const {
    return unconditional || (p.stop == 0 && (p.iterations % interval == 0 || p.iterations >= last));
  }
};

namespace manifold_detail {

/// |e| relative to |q|, or to what stands for it where q is less; absolute [m/s] where both are zero. Never
/// relative to the velocities of the answer, which grow with its errors.
SS_HD inline double relative_error(double error2, double free2, double least2) {
  const double size2 = free2 < least2 ? least2 : free2;
  return std::sqrt(size2 > 0 ? error2 / size2 : error2);
}

}  // namespace manifold_detail

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Gauss-Seidel as `prox_gs` (isotropic friction, no joints), made for running scenes. Velocities of bodies
/// are swept with the impulses; normals, arms, inverse masses and impulses are all that a sweep reads: 64
/// numbers per manifold, where rows of H alone take 144.
///
/// Between sweeps forth and back, conjugate gradients carry their change further (`conjugate`): see
/// ConjugateSteps. A solve hands out the impulses with the least residual of all checks, the first of which
/// sees what it starts from, and the velocities that they cause.
class ManifoldSolver {
 public:
  /// Packs, with the impulses of the step before. `bodies` has been predicted.
  void build(Context& ctx, const DeviceBodies& bodies, const ManifoldInput& input);
  /// Packs of a problem of the lab, with its impulses to start from.
  void build(Context& ctx, const ManifoldProblem& problem);
  /// Goes on from the impulses that there are. Leaves them alone, with a message, where friction can jam a
  /// contact: the sweep's steps of such a contact grow, and the caller must use a solver with exact
  /// local solutions. `observe`, unless empty, is called every `check_interval` iterations; false ends the
  /// solve.
  using Observer = std::function<bool(const ManifoldProgress&)>;
  void solve(Context& ctx, const LabParams& params, ContactSolveRecord& record, const Observer& observe = {});
  /// Velocities of all bodies that move.
  void velocities(Context& ctx, DeviceBodies& bodies) const;
  /// Of each contact of the list, in the frame (normal, tangents) that ContactBlocks has.
  void impulses(Context& ctx, Vec<double, 3>* r) const;
  /// The same in world axes.
  void world_impulses(Context& ctx, Vec<double, 4>* out) const;

  /// The blocks of all contacts, from which W can be made.
  void put_blocks(Context& ctx, const BlockWriter<3>& writer, ContactLaw<3>* law) const;

  // Stages; public because nvcc allows no device lambda in a private member.
  template <class Filler>
  void fill_packs(Context& ctx, const Filler& filler, const BodyInverse* inverse);
  void fill_masses(Context& ctx, const BodyInverse* inverse, const double* free);
  void apply_impulses(Context& ctx);
  void sweep(Context& ctx, const ManifoldSweep& options);
  void iterate(Context& ctx, const LabParams& params, const ManifoldLimits& limits);
  void judge(Context& ctx, const ManifoldLimits& limits);
  void check(Context& ctx, const ManifoldLimits& limits);
  void finish(Context& ctx, const ManifoldLimits& limits);
  template <class Op>
  void each_pack(Context& ctx, bool backward, Op op);

 private:
  void prepare(Context& ctx);
  SweptManifolds swept();
  ManifoldView view() { return {data_.data(), impulse_.data(), body_.data(), points_.data(), v_.data()}; }

  ManifoldOrder order_;
  std::size_t bodies_ = 0;
  double least2_ = 0;  // [m^2/s^2] what |q|^2 counts as at least
  Buffer<double> data_, impulse_, v_, v_free_, mass_;
  Buffer<std::int32_t> body_, owner_;  // owner: the manifold of each lane, -1: none
  Buffer<std::uint8_t> points_;
  Buffer<double> best_impulse_;
  ConjugateSteps conjugate_;
  Buffer<double> free2_, free_sum_;  // |q|^2 of each lane, and of all
  Buffer<double> lane_jam_, jam_;    // the largest mu |W_NT| / W_NN of each lane, and of all
  Buffer<Vec<double, 2>> pair_sum_;
  Buffer<ManifoldProgress> progress_;
  // Of a problem of the lab.
  Buffer<RigidContact> contacts_;
  Buffer<ProblemPoint> problem_points_;
  Buffer<std::int32_t> start_;
  Buffer<BodyInverse> inverse_;
  Buffer<double> free_;
  Buffer<Pose> poses_;
  LoopGraph loop_;
  const std::int32_t* halt_ = nullptr;  // the stop of the solve that runs; null: sweeps run
};

}  // namespace stickslip::STICKSLIP_BACKEND
