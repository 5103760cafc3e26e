// SolidCores: the rigid motions of elastic objects, as bodies.
#pragma once

#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/elastic/touched_surfaces.cuh"
#include "gpu/rigid/point_cores.h"

namespace stickslip {

/// Force and torque about the centre of a core, or their impulses.
using Wrench = Vec<double, 6>;

/// Sums over nodes of an object.
struct NodeMoments {
  double mass = 0;                                 // [kg]
  Vec<double, 3> first{0, 0, 0};                   // sum m x
  Vec<double, 6> second = Vec<double, 6>::zero();  // sum m x x': xx, yy, zz, xy, xz, yz
  double held = 0;                                 // scripted nodes
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// One per object of the solids' model. An object with a scripted node has none: its inverse is zero.
class SolidCores {
 public:
  void load(Context& ctx, const Model& solids);
  std::size_t count() const { return objects_; }

  /// Takes the objects of the touched points.
  void stage_points(Context& ctx, const ElasticSolids& solids, const TouchedSurfaces& touching);
  /// Writes centres and inverses at the solids' present positions.
  void stage(Context& ctx, const ElasticSolids& solids, Pose* pose, BodyInverse* inverse);
  /// Per touched point: its object.
  const std::int32_t* core_of_point() const { return core_of_point_.data(); }
  /// out[object] = sum of f(point) over its touched points, in their order; out[object] stays where there are
  /// none. T has `+=` and `zero()`.
  template <class T, class F>
  void sum_by_object(Context& ctx, F f, T* out) const {
    gather_.sum(
        ctx, [=] SS_LAMBDA(std::int32_t corner) { return corner % 4 == 0 ? f(corner / 4) : T::zero(); }, out,
        Accumulate::overwrite);
  }
  /// The wrenches of impulses on the touched points, one per core. `position`: of the points.
  const Wrench* wrenches(Context& ctx, const Vec<double, 3>* impulse, const Pose* position, const Pose* pose);

 private:
  std::size_t objects_ = 0;
  Buffer<Vec2i> chunk_;               // nodes [begin, end) of one object
  Buffer<std::int32_t> chunk_start_;  // per object and one more
  Buffer<NodeMoments> partial_;
  Buffer<std::int32_t> core_of_point_;
  Buffer<Vec4i> stencils_;
  NodeGather gather_;
  Buffer<Wrench> wrench_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
