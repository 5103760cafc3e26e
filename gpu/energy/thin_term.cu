#include "gpu/energy/thin_term.cuh"

#include <limits>

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

void ThinTerm::min_determinant(Context& ctx, const Vec3*, bool, double* out) {
  fill(ctx, out, 1, std::numeric_limits<double>::infinity());
}

void ThinTerm::count_inverted(Context& ctx, const Vec3*, double* out) { fill(ctx, out, 1, 0.0); }

}  // namespace stickslip::STICKSLIP_BACKEND
