// The term of springs between points of deformable objects, colliders and the world.
#pragma once

#include "gpu/energy/thin_term.cuh"
#include "gpu/model/spring.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Sum over springs, with the distance l = |d| of their ends, of
///   K/2 (l - length)^2 + damping K / (2 dt) (l - l_still)^2,
/// and of those with length 0, which hold two points together, of
///   K/2 |d|^2 + damping K / (2 dt) |d - d_still|^2.
/// The Hessian leaves out that of a compressed spring across its direction, which is negative.
class SpringTerm final : public ThinTerm {
 public:
  SpringTerm(Context& ctx, const TermElements& elements);

  std::size_t size() const override { return stencils_.size(); }
  void set_materials(Context&, std::span<const Material>) override {}

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks) override;

 private:
  Buffer<SpringElement> elements_;
  Buffer<SpringStencil> stencils_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
