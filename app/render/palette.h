// Default colours of objects: muted, distinct in hue and lightness.
#pragma once

#include <cstddef>

#include "gpu/math/vec.h"

namespace stickslip {

/// sRGB in [0, 1]; repeats after `palette_size()` entries.
Vec3f palette_color(std::size_t index);
std::size_t palette_size();

}  // namespace stickslip
