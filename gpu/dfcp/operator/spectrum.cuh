// Estimates of the extreme eigenvalues of W.
#pragma once

#include "gpu/dfcp/operator/delassus.cuh"

namespace stickslip::STICKSLIP_BACKEND {

struct Spectrum {
  double largest = 0, smallest = 0;
};

/// Lanczos with full reorthogonalisation from a fixed start: at most `steps` products with W. `largest` is a
/// lower bound good to a few per cent, `smallest` an upper bound; both are zero for an empty problem.
template <int D>
Spectrum estimate_spectrum(Context& ctx, const Delassus<D>& W, int steps = 24);

}  // namespace stickslip::STICKSLIP_BACKEND
