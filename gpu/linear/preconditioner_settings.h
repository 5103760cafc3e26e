// Which preconditioner.
#pragma once

#include "gpu/params/params.h"

namespace stickslip {

struct PreconditionerSettings {
  PreconditionerKind kind = PreconditionerKind::block_jacobi;
  AdditiveBlocks additive_blocks = AdditiveBlocks::b3_27;
  // Of two_level: the coarse space is that of the last matrix for which one was built, with the same fixed
  // nodes. Near that matrix it is almost as good as its own, and it costs nothing.
  bool keep_coarse = false;
};

}  // namespace stickslip
