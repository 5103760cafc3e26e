// SolidFrames: the frames of joints on solids, in backend memory.
#pragma once

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/joint_rows.h"
#include "gpu/rigid/solid_frames.h"

namespace stickslip {

/// The sums of Coupling::last_step over frames: those over points, then dR . (rigid motion's A^-1) dR.
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
  /// Writes their inverses; see Coupling for the share.
  void weigh(Context& ctx, double share, BodyInverse* inverse) const;
  /// Writes t = B v - A^-1 R into `free`, and its change into `shift`; `impulse` null: R = 0.
  void move_free(Context& ctx, const Vec3* v, const Wrench* impulse, const BodyInverse* inverse, double* free,
                 double* shift) const;
  void settle(Context& ctx, const Vec3* v, Vec<double, 3>* velocity, Vec<double, 3>* spin) const;

  /// R from the impulses of joint blocks.
  template <int D>
  void take_impulses(Context& ctx, const BodyRows<D>& rows, const Vec<double, D>* r, Wrench* impulse) const;
  /// at_nodes += B' R.
  void add_impulses(Context& ctx, const Wrench* impulse, Vec3* at_nodes) const;
  /// Writes sums for a step from `start` to `now` to backend memory; see Coupling::last_step.
  void launch_sums(Context& ctx, const Wrench* now, const Wrench* start, const Wrench* last, const Vec3* v,
                   const Vec3* v_start, double share, FrameSums* out) const;

  /// The joints of the step, whose sides are these bodies.
  const DeviceJoint* joints() const { return joints_.data(); }
  const SolidSide* sides() const { return sides_.data(); }
  const TetFrame* frames() const { return frames_.data(); }

 private:
  Buffer<SolidSide> sides_;
  Buffer<TetFrame> frames_;
  Buffer<SideMobility> mobility_;
  Buffer<DeviceJoint> joints_;
  Buffer<Vec4i> stencils_;
  NodeGather gather_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
