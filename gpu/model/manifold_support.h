// Which scenes the solver manifold_gs can take.
#pragma once

#include <string>

#include "gpu/model/model.h"

namespace stickslip {

/// Why it cannot take this one, as "a surface has a texture"; empty: it can.
std::string why_no_manifolds(const Model& model);

}  // namespace stickslip
