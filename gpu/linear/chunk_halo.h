// ChunkHalo: what chunks of rows read of a vector outside themselves. CPU backend only.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/core/context.h"
#include "gpu/linear/chunk_rows.h"

namespace stickslip::cpu {

/// A chunk of rows reads few slots elsewhere, but each in several of its entries. With a copy of these, one
/// cache line comes from another thread where several came.
class ChunkHalo {
 public:
  struct Part {
    std::vector<std::int32_t> slot;   // those read by the chunk's outer entries and couplings
    std::vector<std::int32_t> place;  // into `slot`, of these entries in the order of multiply_chunk
    std::vector<Lanes3> x;            // per slot
  };

  void find(Context& ctx, const ChunkView& rows, const ChunkCouplings& couplings);
  /// Takes x of all slots.
  void load(Context& ctx, const Lanes3* x);
  Part& part(std::size_t chunk) { return parts_[chunk]; }

 private:
  std::vector<Part> parts_;
};

}  // namespace stickslip::cpu
