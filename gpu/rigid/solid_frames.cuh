// SolidFrames: the frames of joints on solids, in backend memory.
#pragma once

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/joint_rows.h"
#include "gpu/rigid/particle_shares.cuh"
#include "gpu/rigid/solid_frames.h"

namespace stickslip {

/// StepSums of a frame, then dR . (rigid motion's A^-1) dR.
using FrameSums = Vec<double, 5>;

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Each side is a body of the contact problem with six degrees of freedom: B maps velocities of the nodes to
/// the twist of the frame, B' impulses on the frame to the nodes (tet_frame.h).
class SolidFrames {
 public:
  void load(Context& ctx, const Model& model, const ElasticSolids& solids);
  std::size_t size() const { return sides_.size(); }

  /// Prepares a step: writes poses, velocities and spins of the frames at the solids' present state. The
  /// frames are the bodies `first` and following. `joints`: of the scene.
  void stage(Context& ctx, const ElasticSolids& solids, std::int32_t first, const DeviceJoint* joints,
             std::size_t joint_count, DeviceBodies& all);
  /// Writes their inverses; `shares`: per object, see ParticleShares.
  void weigh(Context& ctx, const double* shares, BodyInverse* inverse) const;
  /// Writes t = B v - A^-1 R into `free`, and its change into `shift`; `impulse` null: R = 0.
  void move_free(Context& ctx, const Vec3* v, const Wrench* impulse, const BodyInverse* inverse, double* free,
                 double* shift) const;
  void settle(Context& ctx, const Vec3* v, Vec<double, 3>* velocity, Vec<double, 3>* spin) const;

  /// R from the impulses of joint blocks.
  template <int D>
  void take_impulses(Context& ctx, const BodyRows<D>& rows, const Vec<double, D>* r, Wrench* impulse) const;
  /// at_nodes += B' R.
  void add_impulses(Context& ctx, const Wrench* impulse, Vec3* at_nodes) const;
  /// R of a round: now, at its start, of the last round. Per frame, in backend memory.
  struct RoundImpulses {
    const Wrench *now, *start, *last;
  };
  /// For a round's step, adds the sums of the frames to those of their objects, and what the rigid motions
  /// take up to `core_work`; see ParticleShares.
  void add_sums(Context& ctx, const RoundImpulses& impulses, const Vec3* v, const Vec3* v_start,
                const double* shares, StepSums* sums, double* core_work);

  /// The joints of the step, whose sides are these bodies.
  const DeviceJoint* joints() const { return joints_.data(); }
  const SolidSide* sides() const { return sides_.data(); }
  const TetFrame* frames() const { return frames_.data(); }

 private:
  Buffer<SolidSide> sides_;
  Buffer<TetFrame> frames_;
  Buffer<SideMobility> mobility_;
  Buffer<FrameSums> sums_;
  Buffer<DeviceJoint> joints_;
  Buffer<Vec4i> stencils_;
  NodeGather gather_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
