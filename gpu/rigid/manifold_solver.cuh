// ManifoldSolver: the contact problem of a step of rigid bodies, swept by manifolds in packs.
#pragma once

#include "gpu/dfcp/delassus.cuh"
#include "gpu/model/report.h"
#include "gpu/params/lab_params.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/manifold_order.cuh"
#include "gpu/rigid/manifold_packs.h"

namespace stickslip {

/// What a problem is made of.
struct ManifoldInput {
  PairedContacts list;
  SurfaceTable surfaces;
  ContactRowOptions options;
  const Vec<double, 4>* before =
      nullptr;  // impulses of the step before in world axes, by RigidContact::previous
  std::size_t before_count = 0;
};

/// Inner products that choose a step along a direction p.
struct ConjugateSums {
  double energy, slope;            // <p, W p>, <p, u> but for what E and w of contacts add,
  double soft_energy, soft_slope;  // which is this
  double conjugation;              // <W p, d> with the start d of the next direction

  SS_HD double beta() const {
    const double sum = energy + soft_energy;
    return sum > 0 ? -conjugation / sum : 0.0;
  }
  /// 0: no way down along p.
  SS_HD double alpha() const {
    const double sum = energy + soft_energy, down = -(slope + soft_slope);
    return sum > 0 && down > 0 ? down / sum : 0.0;
  }
};

/// How far a solve is, in backend memory.
struct ManifoldProgress {
  std::int32_t stop, iterations;
  double residual;  // at the last look
};

/// When to look, and when to stop.
struct ManifoldLimits {
  double tolerance;
  std::int32_t interval, last;  // looks come every `interval` iterations and after the last one

  SS_HD bool is_due(const ManifoldProgress& p) const {
    return p.stop == 0 && ((p.iterations + 1) % interval == 0 || p.iterations + 1 >= last);
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Gauss-Seidel as `prox_gs` (isotropic friction, no joints), made for running scenes. Velocities of bodies
/// are swept with the impulses; normals, arms, inverse masses and impulses are all that a sweep reads: 64
/// numbers per manifold, where rows of H alone take 144.
///
/// Sweeps forth and back are a symmetric preconditioner, so that between them (`conjugate`) flexible
/// conjugate gradients carry the change of a sweep further: d is made W-conjugate to the direction before,
/// and the step along it is the one that makes 1/2 <r, W r> + <r, q> least. <p, W p> is <p_v, M p_v> with p_v
/// = A^-1 H' p, so W is never applied. Impulses may leave their cones on the way, the next sweep takes them
/// back; the last sweep before a look is a plain one.
class ManifoldSolver {
 public:
  /// Packs, with the impulses of the step before. `bodies` has been predicted.
  void build(Context& ctx, const DeviceBodies& bodies, const ManifoldInput& input);
  /// Goes on from the impulses that there are.
  void solve(Context& ctx, const LabParams& params, ContactSolveRecord& record);
  /// Velocities of all bodies that move.
  void velocities(Context& ctx, DeviceBodies& bodies) const;
  /// Of each contact of the list, in the frame (normal, tangents) that ContactBlocks has.
  void impulses(Context& ctx, Vec<double, 3>* r) const;
  /// The same in world axes.
  void world_impulses(Context& ctx, Vec<double, 4>* out) const;

  /// The blocks of all contacts, for who wants W.
  void put_blocks(Context& ctx, const BlockWriter<3>& writer, ContactLaw<3>* law) const;

  // Stages; public because nvcc allows no device lambda in a private member.
  void fill_packs(Context& ctx, const DeviceBodies& bodies, const ManifoldInput& input);
  void fill_masses(Context& ctx, const DeviceBodies& bodies);
  void push_impulses(Context& ctx);
  void sweep(Context& ctx, const ManifoldSweep& options);
  void remember(Context& ctx);
  void go_further(Context& ctx);
  void turn_direction(Context& ctx);
  void measure_direction(Context& ctx);
  void step_along(Context& ctx);
  void iterate(Context& ctx, const LabParams& params, const ManifoldLimits& limits);
  /// Counts an iteration; where a look is due, what the judge says of it, and whether it was the last one.
  void look(Context& ctx, const ManifoldLimits& limits);
  template <class Op>
  void each_pack(Context& ctx, bool backward, Op op);

 private:
  ManifoldView view() { return {data_.data(), impulse_.data(), body_.data(), points_.data(), v_.data()}; }

  ManifoldOrder order_;
  std::size_t bodies_ = 0;
  Buffer<double> data_, impulse_, v_, mass_;
  Buffer<std::int32_t> body_, owner_;  // owner: the manifold of each lane, -1: none
  Buffer<std::uint8_t> points_;
  Buffer<double> impulse_before_, v_before_;  // at the start of a sweep
  Buffer<double> p_, p_v_;                    // the direction
  Buffer<ConjugateSums> sums_;
  Buffer<double> free2_, free_sum_;  // |u|^2 of each lane before any impulse
  Buffer<double> sum_;
  Buffer<Vec<double, 2>> pair_sum_;
  Buffer<ManifoldProgress> progress_;
  LoopGraph loop_;
  const std::int32_t* stop_ = nullptr;  // of the solve that runs
};

}  // namespace stickslip::STICKSLIP_BACKEND
