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
  Vec3* other_p;      // of iterate_on_grid: a second place for p
  std::int32_t* run;  // of iterate_on_grid: per node, the run of its stencil corners, -1 for none
  const std::uint8_t* fixed;
  Preconditioner::Local local;
  PcgState* state;
  PcgSquares* squares;
  Real* history;
};

/// Iterates while v.state->running(), as Pcg does, with the local preconditioner alone. Two barriers an
/// iteration.
void iterate_on_grid(Context& ctx, const ResidentMatrix& matrix, const PcgVectors& v);

}  // namespace stickslip::STICKSLIP_BACKEND
