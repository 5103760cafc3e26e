#include "gpu/linear/node_gather.cuh"

#include <bit>

#include "gpu/core/select.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {

void NodeGather::build(Context& ctx, const Vec4i* stencils, std::size_t n, std::size_t node_count) {
  const std::size_t corner_count = 4 * n;
  node_count_ = static_cast<std::uint32_t>(node_count);
  run_count_ = 0;
  if (n == 0) return;
  nodes_.resize(ctx, corner_count);
  corners_.resize(ctx, corner_count);
  run_begin_.resize(ctx, corner_count + 1);
  counter_.resize(ctx, 1);
  std::uint32_t* nodes = nodes_.data();
  std::int32_t* corners = corners_.data();
  const std::uint32_t unused = node_count_;
  launch(ctx, corner_count, [=] SS_LAMBDA(std::size_t c) {
    const std::int32_t node = stencils[c / 4][static_cast<int>(c % 4)];
    nodes[c] = node >= 0 ? static_cast<std::uint32_t>(node) : unused;
    corners[c] = static_cast<std::int32_t>(c);
  });
  sort_pairs(ctx, corner_count, nodes, corners, std::bit_width(node_count_));

  std::int32_t* run_begin = run_begin_.data();
  std::int32_t* counter = counter_.data();
  select_indices(
      ctx, corner_count, [=] SS_LAMBDA(std::size_t c) { return c == 0 || nodes[c] != nodes[c - 1]; },
      run_begin, counter);
  launch(ctx, 1,
         [=] SS_LAMBDA(std::size_t) { run_begin[*counter] = static_cast<std::int32_t>(corner_count); });
  run_count_ = static_cast<std::size_t>(read_back(ctx, counter));
}

}  // namespace stickslip::STICKSLIP_BACKEND
