// Which barrier steps begin ahead of the state that they start from.
#pragma once

#include "gpu/params/params.h"

namespace stickslip {

/// `ccd_al` moves a target of its own, and a relative gradient is relative to that of the state.
inline bool starts_ahead(const Params& params) {
  return params.newton_start == NewtonStart::ahead && params.newton_stop == NewtonStop::displacement &&
         params.solver != SolverKind::ccd_al;
}

}  // namespace stickslip
