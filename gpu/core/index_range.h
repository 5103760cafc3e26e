// IndexRange: the indices [begin, end), for work that is done piece by piece.
#pragma once

#include "gpu/core/backend.h"

namespace stickslip {

struct IndexRange {
  std::size_t begin = 0, end = 0;
  SS_HD std::size_t size() const { return end - begin; }
  SS_HD bool has(std::size_t i) const { return i >= begin && i < end; }
};

}  // namespace stickslip
