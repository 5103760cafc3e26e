// The term of ten-node tetrahedra: elasticity and damping of deformable solids.
#pragma once

#include "gpu/energy/point_tet_term.cuh"
#include "gpu/energy/tet10_element.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Point tets are those of tet10_element.h. `TermElements` and all ranges have nine stencils per element
/// (model/tet10.h).
class Tet10Term final : public PointTetTerm {
 public:
  /// Elements of positive volume at all quadrature points.
  Tet10Term(Context& ctx, const TermElements& elements);

 private:
  void write_corners(Context& ctx, IndexRange elements, const Vec3* x, Vec3* y) const override;
  void gather_gradients(Context& ctx, IndexRange stencils, std::size_t first, const Vec3* of_points,
                        Vec3* corner_gradients) const override;
  void gather_blocks(Context& ctx, IndexRange stencils, std::size_t first, const Mat3* of_points,
                     Mat3* corner_blocks) const override;

  Buffer<Tet10> elements_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
