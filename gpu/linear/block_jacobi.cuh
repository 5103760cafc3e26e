// BlockJacobi: the inverse of the 3x3 diagonal blocks as a preconditioner [Guo24 §4.2].
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/linear/symmetric3.h"

namespace stickslip::STICKSLIP_BACKEND {

class BlockJacobi {
 public:
  /// Inverts n blocks; a node with fixed[i] != 0 gets zero, so that it never moves (`fixed` may be null). A
  /// block that is not positive definite to working precision is replaced by its trace times the identity.
  void build(Context& ctx, const Mat3* diagonal, const std::uint8_t* fixed, std::size_t n);

  /// For kernels: z_i = P^-1 r_i needs nothing but node i, and fuses with whatever made r_i.
  struct View {
    const Symmetric3* inverse;
    SS_HD Vec3 apply(std::size_t i, const Vec3& r) const { return inverse[i] * r; }
  };
  View view() const { return {inverse_.data()}; }

 private:
  Buffer<Symmetric3> inverse_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
