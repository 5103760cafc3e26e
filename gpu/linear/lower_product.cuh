// The product with D + L + L' that suits this backend.
#pragma once

#include <optional>

#include "gpu/linear/row_product.cuh"

#if !STICKSLIP_ON_CUDA
#include "gpu/linear/chunk_product.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA
using LowerProduct = RowProduct;
inline std::optional<RowView> row_view(const RowProduct& product, const Mat3* diagonal, const Mat3* lower) {
  return product.view(diagonal, lower);
}
#else
using LowerProduct = ChunkProduct;
inline std::optional<RowView> row_view(const ChunkProduct&, const Mat3*, const Mat3*) { return {}; }
#endif

}  // namespace stickslip::STICKSLIP_BACKEND
