// The term of bones of bodies of frames: elasticity and damping.
#pragma once

#include "gpu/energy/point_tet_term.cuh"
#include "gpu/model/frames.h"

namespace stickslip {

/// A sample of a bone as kernels see it. It deforms like a linear tet with the corners y_0 = 0 and
///   y_k = sum_a s_ak x_a = L F e_k,   s_ak = L dN_a/dX_k,   L^3 / 6 = its volume,
/// the *point tet*, whose edges at rest have the length L along the axes. Node a of the bone has the gradient
/// sum_k s_ak g_k, and two nodes have the block sum_kl s_ak s_bl K_kl.
struct BonePoint {
  Vec3 s[kMostLeaders];

  /// Writes the corners; x(a): of node a. All s_a add up to zero.
  template <class Position>
  SS_HD void write_corners(Position x, Vec3* y) const {
    for (int k = 0; k < 4; ++k) y[k] = Vec3::zero();
    for (int a = 1; a < kMostLeaders; ++a) {
      const Vec3 way = x(a) - x(0);
      for (int k = 0; k < 3; ++k) y[k + 1] += s[a][k] * way;
    }
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// `TermElements` and all ranges have kBoneStencils stencils per bone (model/frames.h), and
/// `TermElements::points` has kBonePoints samples of each.
class BoneTerm final : public PointTetTerm {
 public:
  BoneTerm(Context& ctx, const TermElements& elements);

 private:
  void write_corners(Context& ctx, IndexRange bones, const Vec3* x, Vec3* y) const override;
  void gather_gradients(Context& ctx, IndexRange stencils, std::size_t first, const Vec3* of_points,
                        Vec3* corner_gradients) const override;
  void gather_blocks(Context& ctx, IndexRange stencils, std::size_t first, const Mat3* of_points,
                     Mat3* corner_blocks) const override;

  Buffer<Leaders> bones_;
  Buffer<BonePoint> points_;  // kBonePoints per bone
};

}  // namespace stickslip::STICKSLIP_BACKEND
