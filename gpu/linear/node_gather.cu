#include "gpu/linear/node_gather.cuh"

#include <algorithm>
#include <bit>

#include "gpu/core/select.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {

void NodeGather::build(Context& ctx, const Vec4i* stencils, std::size_t n, std::size_t node_count) {
  const std::size_t corner_count = 4 * n;
  node_count_ = static_cast<std::uint32_t>(node_count);
  // As many runs as there are nodes, and one of the unused corners.
  const std::size_t most_runs = most_runs_ = std::min(corner_count, node_count + 1);
  counter_.resize(ctx, 1);
  if (n == 0) return fill(ctx, counter_.data(), 1, 0);
  corners_.resize(ctx, corner_count);
  run_node_.resize(ctx, most_runs);
  run_begin_.resize(ctx, most_runs + 1);
  auto* nodes =
      static_cast<std::uint32_t*>(ctx.scratch(slot::gather_nodes, corner_count * sizeof(std::uint32_t)));
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
  std::uint32_t* run_node = run_node_.data();
  launch_counted(ctx, most_runs, counter,
                 [=] SS_LAMBDA(std::size_t run) { run_node[run] = nodes[run_begin[run]]; });
}

}  // namespace stickslip::STICKSLIP_BACKEND
