// The product with D + L + L' that suits this backend.
#pragma once

#include "gpu/core/backend.h"

#if STICKSLIP_ON_CUDA
#include "gpu/linear/row_product.cuh"
#else
#include "gpu/linear/chunk_product.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA
using LowerProduct = RowProduct;
#else
using LowerProduct = ChunkProduct;
#endif

}  // namespace stickslip::STICKSLIP_BACKEND
