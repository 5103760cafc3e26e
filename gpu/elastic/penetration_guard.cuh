// PenetrationGuard: surfaces of solids, colliders and rigid bodies that are apart before a step are apart
// after it, except those of two rigid bodies.
#pragma once

#include "gpu/broadphase/broadphase.cuh"
#include "gpu/broadphase/intersections.cuh"
#include "gpu/elastic/body_guard.cuh"
#include "gpu/elastic/guarded_pair.h"
#include "gpu/linear/embedding.cuh"
#include "gpu/model/device_model.cuh"
#include "gpu/model/report.h"

namespace stickslip {

/// Sums over all pairs, nodes and bodies.
struct GuardTotals {
  std::int32_t crossing = 0;       // pairs that are the first to cross for one of their nodes
  std::int32_t crossing_body = 0;  // triangles and shapes likewise, also for their body
  std::int32_t stopped = 0;        // nodes and bodies that reach a half-space or a crossing
  std::int32_t unguarded = 0;      // pairs
  std::int32_t shortened = 0;      // nodes and bodies
  double cut = 0;                  // [m]
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Params::penetration_guard, for surfaces that move on straight lines x + t p, p = dt v: the pairs of the
/// broad phase along p, their conservative times of impact (gpu/ccd), and the share of p that each node may
/// move. Rigid bodies move by x + t dt v and rotate by t dt omega; their shapes are tested against triangles
/// (BodyGuard). A pair that crosses stops its nodes and its body at its time of impact; nodes of an affine
/// body or of a collider stop together. As other pairs may cross because some nodes stop, this repeats; if
/// pairs still cross after kPasses, all move by the same share of what they have. Pairs that intersect or
/// touch at the start are not guarded. Thin objects keep their thickness, but only their midsurfaces apart
/// where they overlap at the start.
class PenetrationGuard {
 public:
  struct Input {
    const DeviceModel* solids;
    const Embedding* embedding;
    Vec3* x;        // per node: at the start of the step [m]
    const Vec3* v;  // [m/s]
    double dt;
    double keep;            // [m] what contacts keep
    ShapeView shapes;       // of the rigid bodies
    BodyMotionView motion;  // at the start of the step, with velocities like v
  };
  /// Contacts of the last find().
  struct Crossings {
    std::size_t between_meshes = 0, with_bodies = 0;
    std::size_t total() const { return between_meshes + with_bodies; }
  };

  /// `exempt`: pairs of objects and bodies that never touch, ascending.
  void load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt);
  /// The positions may have changed since the last step.
  void forget() { known_ = false; }

  /// At the start of a step: finds primitives that intersect. No work after a step that ended without any.
  void begin(Context& ctx, const Input& in);
  /// Finds what crosses on the way to x + dt v. Returns the numbers of contacts that would prevent it. Two
  /// host reads, one more if there are any, one more with bodies.
  Crossings find(Context& ctx, const Input& in);
  // Of the last find(), backend memory: contacts between meshes have two points each and open sides.
  const RigidContact* contacts() const { return contacts_.data(); }
  const SurfacePoint* points() const { return points_.data(); }
  /// Those with bodies: one point each, side a is open.
  const BodyGuard& with_bodies() const { return bodies_; }

  /// Moves x along the last find()'s motion, as far as no pair crosses, and sets body_shares(). Counts
  /// intersections. One host read if nothing crosses.
  void move(Context& ctx, const Input& in, GuardRecord& record);
  /// Per body: the share of the step that it may move.
  const double* body_shares() const { return bodies_.shares(); }

 private:
  GuardedMotion motion(const Input& in, Real caution) const;
  SurfaceView surface(const Input& in) const;
  void aim(Context& ctx, const Input& in);
  GuardTotals measure(Context& ctx, const Input& in, Real caution);
  void write_contacts(Context& ctx, const Input& in, std::size_t count);
  static BodyGuard::Input of_bodies(const Input& in) { return {in.solids, in.shapes, in.motion, in.dt}; }
  void scale(Context& ctx);
  void scale_all(Context& ctx);
  void shorten(Context& ctx, const Input& in, GuardRecord& record);
  std::size_t pairs() const;

  bool known_ = false, clean_ = false;  // whether `clean_` is that of the present positions
  bool marked_ = false;                 // nodes are tangled
  BroadPhase broad_phase_;
  BodyGuard bodies_;
  IntersectionCheck check_;
  Lbvh tree_;
  Buffer<FloatBox> boxes_;
  Buffer<std::int32_t> tangled_;      // per node
  Buffer<std::int32_t> owner_;        // per node: the node whose share it has
  Buffer<std::uint8_t> of_collider_;  // per node
  Buffer<Vec3> full_, p_;             // displacements: to the end of the step, and the share of it
  Buffer<std::int32_t> first_;        // per node, then per body: the least time of impact, in ticks
  Buffer<Real> time_;                 // per candidate
  Buffer<std::int32_t> least_;        // one: of all nodes and bodies
  Buffer<GuardTotals> totals_;        // one
  Buffer<std::int32_t> start_;        // per candidate and one more
  Buffer<RigidContact> contacts_;
  Buffer<SurfacePoint> points_;
  GuardTotals found_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
