// The term of ten-node tetrahedra: elasticity and damping of deformable solids.
#pragma once

#include "gpu/energy/tet10_element.h"
#include "gpu/energy/tet_terms.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// The sum of a TetTerm over the point tets of all elements, see tet10_element.h. So every elastic model, its
/// projection and damping are those of linear tets. `TermElements` and all ranges have nine stencils per
/// element (model/tet10.h).
class Tet10Term final : public EnergyTerm {
 public:
  /// Elements of positive volume at all quadrature points.
  Tet10Term(Context& ctx, const TermElements& elements);

  std::size_t size() const override { return kTet10Stencils * tets_.size(); }
  void set_materials(Context& ctx, std::span<const Material> materials) override;
  bool forbids_inversion() const override { return points_.forbids_inversion(); }
  double energy_rounding() const override { return points_.energy_rounding(); }
  void begin_step() override;

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks) override;
  /// Over all quadrature points.
  void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) override;
  /// Elements that are inverted at some quadrature point.
  void count_inverted(Context& ctx, const Vec3* x, double* out) override;

 private:
  IndexRange all_elements() const { return {0, tets_.size()}; }
  /// The same motion of the point tets of `elements`.
  SolidMotion at_points(Context& ctx, const SolidMotion& motion, IndexRange elements);

  Buffer<Tet10> tets_;
  TetTerm points_;                // four tets per element
  Buffer<Vec3> x_, x_t_, still_;  // corners of the point tets: sixteen per element
  bool has_start_ = false;        // x_t_ is that of all elements at the x_t of the step
  Buffer<Vec3> point_gradients_;
  Buffer<Mat3> point_blocks_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
