// ManifoldSolver: solves the contact problem of a step of rigid bodies by sweeps over packs of manifolds.
#pragma once

#include <cmath>
#include <functional>
#include <limits>

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/model/report.h"
#include "gpu/params/lab_params.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/manifold/block_sources.h"
#include "gpu/rigid/manifold/block_sweeps.cuh"
#include "gpu/rigid/manifold/manifold_conjugate.cuh"
#include "gpu/rigid/manifold/manifold_order.cuh"
#include "gpu/rigid/manifold/manifold_packs.h"
#include "gpu/rigid/manifold/manifold_problem.h"

namespace stickslip {

/// The input of a problem. The plain contacts of `list` form manifolds; all others, and the joints, are
/// `blocks`, in `groups`.
template <int D>
struct ManifoldInput {
  PairedContacts list;
  SurfaceTable surfaces;
  ContactRowOptions options;
  StepBlocks<D> blocks{};
  std::size_t block_count = 0;
  BlockGroups groups{};
  // [m/s] per block, as in StepConstraints.
  double least_speed = 0, most_speed = std::numeric_limits<double>::infinity();
  double scale = 0;         // [m/s] what residuals are relative to; 0: |q|
  bool same_order = false;  // the contacts are those of the last call
};

/// The place of each block of BlockSweeps among all blocks (see ManifoldSolver::impulses).
struct BlockPlaces {
  std::size_t first = 0;                // the blocks before this one keep their number
  const std::int32_t* rough = nullptr;  // the place of each further block behind `first`
  std::size_t contacts = 0;             // the place of the first contact of the list

  SS_HD std::size_t operator()(std::size_t c) const {
    return c < first ? c : contacts + static_cast<std::size_t>(rough[c - first]);
  }
};

/// Progress of a solve, in backend memory.
struct ManifoldProgress {
  std::int32_t stop, iterations;
  std::int32_t jams;      // 1: a contact is beyond the limit of these sweeps (kMostJam)
  std::int32_t is_best;   // 1: the impulses of the last check are the best
  double residual, best;  // at the last check; the least of all checks
  double scale;           // [m/s] the norm that residuals are relative to
  double mark;            // the residual after the last significant progress,
  std::int32_t mark_at;   // and the iteration

  /// Progress is significant if the residual drops by a tenth. After kPatience iterations without it,
  /// steps along directions pause for kRest iterations, repeatedly: with friction the solution does not
  /// minimise the quadratic function that those steps lower, and each of them can move the impulses of a body
  /// that starts to slide farther from the solution.
  static constexpr std::int32_t kPatience = 100, kRest = 50;
  static constexpr double kProgress = 0.9;

  /// Call after a check. True when the next sweeps run without steps along directions.
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

/// |e| relative to |q|, or to its lower bound where q is less; absolute [m/s] where both are zero. Never
/// relative to the velocities of the result, which grow with its errors.
SS_HD inline double relative_error(double error2, double free2, double least2) {
  const double size2 = free2 < least2 ? least2 : free2;
  return std::sqrt(size2 > 0 ? error2 / size2 : error2);
}

}  // namespace manifold_detail

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Gauss-Seidel like `prox_gs`, optimised for running scenes. Velocities of bodies are swept with the
/// impulses. A sweep reads only normals, arms, inverse masses and impulses of contacts with isotropic
/// friction: 72 numbers per manifold, where rows of H alone take 144. A forward sweep ends with the other
/// blocks (such as joints), a backward sweep begins with them: see BlockSweeps.
///
/// Between pairs of a forward and a backward sweep, conjugate gradients extrapolate their change (parameter
/// `conjugate`): see ConjugateSteps. A solve returns the impulses with the least residual of all checks,
/// including the check of the start, and the velocities that follow from them.
template <int D>
class ManifoldSolver {
 public:
  /// Builds the packs, with the impulses of the last step. Call after `bodies.predict`.
  void build(Context& ctx, const DeviceBodies& bodies, const ManifoldInput<D>& input);
  /// Builds the packs of a problem of the lab, with its impulses to start from. For D = 3.
  void build(Context& ctx, const ManifoldProblem& problem);
  /// Continues from the current impulses. If friction can jam a contact (kMostJam), it leaves them unchanged
  /// and sets a message: sweeps may diverge at such a contact, and the caller must use a solver with exact
  /// local solutions. `observe`, unless empty, is called every `check_interval` iterations; it ends the solve
  /// by returning false.
  using Observer = std::function<bool(const ManifoldProgress&)>;
  void solve(Context& ctx, const LabParams& params, ContactSolveRecord& record, const Observer& observe = {});
  /// Velocities of all movable bodies.
  void velocities(Context& ctx, DeviceBodies& bodies) const;
  /// Impulses of the joint blocks, then of the contacts in list order, in the frame of ContactBlocks. Of a
  /// problem of the lab: those of its `blocks`, then of its points.
  void impulses(Context& ctx, Vec<double, D>* r) const;
  /// Impulses of the joint blocks alone.
  void joint_impulses(Context& ctx, Vec<double, D>* r) const;
  /// Impulses of the contacts, in world axes with torsion fourth.
  void world_impulses(Context& ctx, Vec<double, 4>* out) const;

  /// The r-factors [kg] of the contacts' points, normal and tangential, in the order of `impulses`, for
  /// sweeps with this `omega`; zero for other blocks.
  void r_factors(Context& ctx, double omega, Vec<float, 2>* out) const;

  /// All blocks in the order of `impulses`, from which W can be built.
  void put_blocks(Context& ctx, const BlockWriter<D>& writer, ContactLaw<D>* law) const;

 private:
  void prepare(Context& ctx);
  void load_blocks(Context& ctx, const ManifoldProblem& problem);
  template <class Filler>
  void fill_packs(Context& ctx, const Filler& filler, const BodyInverse* inverse);
  template <class Source>
  void start_blocks(Context& ctx, const Source& source, double most2);
  void sum_lanes(Context& ctx);
  void fill_masses(Context& ctx, const BodyInverse* inverse, const double* free);
  void apply_impulses(Context& ctx);
  void sweep(Context& ctx, const ManifoldSweep& options);
  template <class Op>
  void each_pack(Context& ctx, bool backward, Op op);
  void iterate(Context& ctx, const LabParams& params, const ManifoldLimits& limits);
  void judge(Context& ctx, const ManifoldLimits& limits);
  void check(Context& ctx, const ManifoldLimits& limits);
  void finish(Context& ctx, const ManifoldLimits& limits);
  void take_back(Context& ctx, double residual);
  void wander_on(Context& ctx);
  SweptManifolds swept();
  std::size_t slots() const { return order_.packs() * kPackWidth; }
  /// Impulses of the blocks, behind those of the packs.
  double* block_impulse() { return impulse_.data() + slots() * kImpulseFields; }
  const double* block_impulse() const { return impulse_.data() + slots() * kImpulseFields; }
  ManifoldView view() { return {data_.data(), impulse_.data(), body_.data(), points_.data(), v_.data()}; }

  ManifoldOrder order_;
  std::size_t bodies_ = 0;
  double least2_ = 0;  // [m^2/s^2] lower bound for |q|^2
  Buffer<double> data_, impulse_, v_, v_free_, mass_;
  Buffer<std::int32_t> body_, owner_;  // owner: the manifold of each lane, -1: none
  Buffer<std::uint8_t> points_;
  Buffer<double> best_impulse_, verified_impulse_;
  Buffer<double> last_impulse_;  // at the end of a span
  ConjugateSteps conjugate_;
  BlockSweeps<D> blocks_;
  BlockPlaces places_;
  Buffer<double> free2_, free_sum_;  // |q|^2 of each lane and block, and in total
  Buffer<double> lane_jam_, jam_;    // the largest mu |W_NT| / W_NN of each lane, and overall
  Buffer<Vec<double, 2>> pair_sum_;
  Buffer<ManifoldProgress> progress_;
  // Of a problem of the lab.
  Buffer<RigidContact> contacts_;
  Buffer<ProblemPoint> problem_points_;
  Buffer<std::int32_t> start_;
  Buffer<BodyInverse> inverse_;
  Buffer<double> free_;
  Buffer<Pose> poses_;
  Buffer<ConstraintBlock<3>> block_rows_;
  Buffer<Vec<double, 3>> block_start_;
  Buffer<std::int32_t> block_order_, block_group_start_;
  std::vector<std::size_t> block_colours_;
  LoopGraph loop_;
  const std::int32_t* halt_ = nullptr;  // the stop flag of the current solve; null: sweeps run
};

}  // namespace stickslip::STICKSLIP_BACKEND
