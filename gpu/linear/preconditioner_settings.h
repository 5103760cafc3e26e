// Which preconditioner.
#pragma once

#include "gpu/params/params.h"

namespace stickslip {

struct PreconditionerSettings {
  PreconditionerKind kind = PreconditionerKind::block_jacobi;
  AdditiveBlocks additive_blocks = AdditiveBlocks::b3_27;
};

}  // namespace stickslip
