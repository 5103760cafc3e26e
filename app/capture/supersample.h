// Pictures drawn larger than they are kept.
#pragma once

#include "app/render/image.h"

namespace stickslip {

/// The mean of each square of `factor` x `factor` pixels, of the light that they emit (sRGB) and of alpha;
/// colours count by their alpha. Rows and columns that fill no square are left out.
Image reduced(const Image& image, int factor);

}  // namespace stickslip
