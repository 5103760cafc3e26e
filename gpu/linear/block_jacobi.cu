#include "gpu/linear/block_jacobi.cuh"

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

void BlockJacobi::build(Context& ctx, const Mat3* diagonal, const std::uint8_t* fixed, std::size_t n) {
  inverse_.resize(ctx, n);
  Symmetric3* inverse = inverse_.data();
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const bool moves = fixed == nullptr || fixed[i] == 0;
        inverse[i] = moves ? inverse_spd(diagonal[i]) : Symmetric3{0, 0, 0, 0, 0, 0};
      },
      kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
