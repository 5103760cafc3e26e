// The iterations of Pcg as one kernel that stays on the device: for systems whose launches would cost more
// than their work.
#pragma once

#include "gpu/linear/pcg_state.h"
#include "gpu/linear/preconditioner.cuh"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Arguments of the kernels of Pcg. Only `fixed` may be null.
struct PcgVectors {
  Vec3 *x, *r, *z, *p, *q;
  const std::uint8_t* fixed;
  Preconditioner::Local local;
  PcgState* state;
  PcgSquares* squares;
  Real* history;
};

/// Iterates while v.state->running(), as Pcg does, with the local preconditioner alone. Three barriers an
/// iteration, four with stencils.
void iterate_on_grid(Context& ctx, const ResidentMatrix& matrix, const PcgVectors& v);

}  // namespace stickslip::STICKSLIP_BACKEND
