// The term of bones of bodies of frames: elasticity and damping.
#pragma once

#include "gpu/energy/tet_terms.cuh"
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

/// The sum of a TetTerm over the point tets of all samples. So every elastic model, its projection and
/// damping are those of linear tets. `TermElements` and all ranges have kBoneStencils stencils per bone
/// (model/frames.h), and `TermElements::points` has kBonePoints samples of each.
class BoneTerm final : public EnergyTerm {
 public:
  BoneTerm(Context& ctx, const TermElements& elements);

  std::size_t size() const override { return kBoneStencils * bones_.size(); }
  void set_materials(Context& ctx, std::span<const Material> materials) override;
  bool forbids_inversion() const override { return tets_.forbids_inversion(); }
  double energy_rounding() const override { return tets_.energy_rounding(); }
  void begin_step() override;

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks) override;
  /// Over all samples.
  void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) override;
  /// Bones that are inverted at some sample.
  void count_inverted(Context& ctx, const Vec3* x, double* out) override;

 private:
  IndexRange all_bones() const { return {0, bones_.size()}; }
  /// The same motion of the point tets of `bones`.
  SolidMotion at_points(Context& ctx, const SolidMotion& motion, IndexRange bones);

  Buffer<Leaders> bones_;
  Buffer<BonePoint> points_;      // kBonePoints per bone
  TetTerm tets_;                  // a tet per point
  Buffer<Vec3> x_, x_t_, still_;  // corners of the point tets
  bool has_start_ = false;        // x_t_ is that of all bones at the x_t of the step
  Buffer<Vec3> point_gradients_;
  Buffer<Mat3> point_blocks_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
