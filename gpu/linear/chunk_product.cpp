#include "gpu/linear/chunk_product.h"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::cpu {
namespace {

struct PlainVector {
  const Vec3* x;
  const std::int32_t* node;
  Lanes3 operator()(std::int32_t slot) const { return to_lanes(x[node[slot]]); }
  void ask_for(std::int32_t slot) const { __builtin_prefetch(x + node[slot]); }
  Lanes3 across(std::int32_t slot) const { return (*this)(slot); }
  void ask_for_across(std::int32_t slot) const { ask_for(slot); }
};

}  // namespace

std::int32_t ChunkProduct::chunk_size(std::size_t node_count) {
  return static_cast<std::int32_t>(std::clamp<std::size_t>(node_count / 8, kSmallestChunk, kLargestChunk));
}

void ChunkProduct::set_pattern(Context& ctx, const Pattern& pattern) {
  node_count_ = static_cast<std::int32_t>(pattern.node.size());
  entry_count_ = static_cast<std::int32_t>(pattern.entries.size());
  chunk_size_ = pattern.chunk_size;
  node_.upload(ctx, pattern.node);
  inner_begin_.upload(ctx, pattern.inner_begin);
  outer_begin_.upload(ctx, pattern.outer_begin);
  column_.upload(ctx, pattern.column);
  std::vector<std::int32_t> slot(pattern.node.size());
  for (std::size_t s = 0; s < slot.size(); ++s) slot[pattern.node[s]] = static_cast<std::int32_t>(s);
  slot_of_node_.upload(ctx, slot);
  dots_.resize(ctx, (pattern.node.size() + chunk_size_ - 1) / chunk_size_);
}

ChunkView ChunkProduct::view(const Mat3* diagonal, const Mat3* lower) const {
  return {node_count_,         chunk_size_,    entry_count_ - 1,     node_.data(), inner_begin_.data(),
          outer_begin_.data(), column_.data(), slot_of_node_.data(), diagonal,     lower};
}

void ChunkProduct::multiply(Context& ctx, const Mat3* diagonal, const Mat3* lower, const Vec3* x, Vec3* y,
                            Real* x_dot_y, const std::int32_t* skip, const NodeGroup* group) {
  if (skip != nullptr && *skip != 0) return;
  const ChunkView rows = view(diagonal, lower);
  const std::size_t chunks = rows.chunk_count();
  Real* dots = dots_.data();
  const auto multiply_coupled = [&](auto coupled) {
    launch(
        ctx, chunks,
        [=](std::size_t chunk) {
          dots[chunk] = multiply_chunk(
              rows, chunk, {}, coupled, PlainVector{x, rows.node},
              [=](std::int32_t slot, const Lanes3&, const Lanes3& yi) { y[rows.node[slot]] = to_vec(yi); });
        },
        Grain{1});
  };
  if (group != nullptr) multiply_coupled(SameGroup{group});
  else multiply_coupled(AllCoupled{});
  Real total = 0;
  for (std::size_t c = 0; c < chunks; ++c) total += dots[c];
  *x_dot_y = total;
}

}  // namespace stickslip::cpu
