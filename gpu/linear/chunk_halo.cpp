#include "gpu/linear/chunk_halo.h"

#include "gpu/core/launch.h"

namespace stickslip::cpu {
namespace {

/// `place_of`: -1 for every slot, before and after.
void find_part(const ChunkView& rows, std::size_t chunk, const ChunkCouplings& couplings,
               std::vector<std::int32_t>& place_of, ChunkHalo::Part& part) {
  part.slot.clear();
  part.place.clear();
  const auto read = [&](std::int32_t slot) {
    std::int32_t& place = place_of[slot];
    if (place < 0) {
      place = static_cast<std::int32_t>(part.slot.size());
      part.slot.push_back(slot);
    }
    part.place.push_back(place);
  };
  const IndexRange slots = rows.slots_of(chunk);
  for (std::size_t i = slots.begin; i < slots.end; ++i) {
    for (std::int32_t e = rows.outer_begin[i]; e < rows.outer_begin[i + 1]; ++e) read(rows.column[e]);
    if (couplings.range == nullptr) continue;
    for (std::int32_t e = couplings.range[i][0]; e < couplings.range[i][1]; ++e) read(couplings.column[e]);
  }
  part.x.resize(part.slot.size());
  for (const std::int32_t slot : part.slot) place_of[slot] = -1;
}

}  // namespace

void ChunkHalo::find(Context& ctx, const ChunkView& rows, const ChunkCouplings& couplings) {
  parts_.resize(rows.chunk_count());
  launch(
      ctx, parts_.size(),
      [=, parts = parts_.data()](std::size_t chunk) {
        thread_local std::vector<std::int32_t> place_of;
        if (place_of.size() < static_cast<std::size_t>(rows.node_count)) place_of.resize(rows.node_count, -1);
        find_part(rows, chunk, couplings, place_of, parts[chunk]);
      },
      Grain{1});
}

void ChunkHalo::load(Context& ctx, const Lanes3* x) {
  launch(
      ctx, parts_.size(),
      [=, parts = parts_.data()](std::size_t chunk) {
        Part& part = parts[chunk];
        for (std::size_t k = 0; k < part.slot.size(); ++k) part.x[k] = x[part.slot[k]];
      },
      Grain{1});
}

}  // namespace stickslip::cpu
