#include "gpu/dfcp/sweep.cuh"

#include <algorithm>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The pattern with every edge in both directions: published W need not even have a symmetric pattern.
void symmetrise(std::vector<std::int32_t>& start, std::vector<std::int32_t>& column) {
  const std::size_t n = start.size() - 1;
  const auto has = [&](std::size_t row, std::int32_t wanted) {
    return std::binary_search(column.begin() + start[row], column.begin() + start[row + 1], wanted);
  };
  std::vector<std::vector<std::int32_t>> missing(n);
  bool any = false;
  for (std::size_t c = 0; c < n; ++c)
    for (std::int32_t k = start[c]; k < start[c + 1]; ++k) {
      const auto d = static_cast<std::size_t>(column[static_cast<std::size_t>(k)]);
      if (has(d, static_cast<std::int32_t>(c))) continue;
      missing[d].push_back(static_cast<std::int32_t>(c));
      any = true;
    }
  if (!any) return;
  std::vector<std::int32_t> new_start{0}, new_column;
  for (std::size_t c = 0; c < n; ++c) {
    new_column.insert(new_column.end(), column.begin() + start[c], column.begin() + start[c + 1]);
    new_column.insert(new_column.end(), missing[c].begin(), missing[c].end());
    std::sort(new_column.begin() + new_start.back(), new_column.end());
    new_start.push_back(static_cast<std::int32_t>(new_column.size()));
  }
  start = std::move(new_start);
  column = std::move(new_column);
}

#if !STICKSLIP_ON_CUDA
/// Which runs of `length` successive blocks meet.
void join_runs(std::size_t length, std::vector<std::int32_t>& start, std::vector<std::int32_t>& column) {
  const std::size_t blocks = start.size() - 1, runs = (blocks + length - 1) / length;
  std::vector<std::int32_t> run_start{0}, run_column, seen(runs, -1);
  for (std::size_t g = 0; g < runs; ++g) {
    const auto begin = static_cast<std::size_t>(start[g * length]);
    const auto end = static_cast<std::size_t>(start[std::min(blocks, (g + 1) * length)]);
    for (std::size_t k = begin; k < end; ++k) {
      const auto other = static_cast<std::size_t>(column[k]) / length;
      if (seen[other] == static_cast<std::int32_t>(g)) continue;
      seen[other] = static_cast<std::int32_t>(g);
      run_column.push_back(static_cast<std::int32_t>(other));
    }
    run_start.push_back(static_cast<std::int32_t>(run_column.size()));
  }
  start = std::move(run_start);
  column = std::move(run_column);
}

/// Colours runs. False: a colour would have too few of them, as where blocks are stored in no order.
bool colour_runs(Context& ctx, std::vector<std::int32_t> start, std::vector<std::int32_t> column,
                 Colouring& colouring) {
  constexpr std::size_t kLength = 64, kLeast = 8;  // blocks of a run, runs of a colour on average
  const std::size_t blocks = start.size() - 1;
  join_runs(kLength, start, column);
  const std::size_t runs = start.size() - 1;
  if (runs < kLeast || column.size() > runs * runs / 2) return false;
  colouring.build_runs(ctx, {runs, start.data(), column.data()}, kLength, blocks);
  return runs >= kLeast * static_cast<std::size_t>(colouring.colours());
}
#endif

}  // namespace

template <int D>
void colour_conflicts(System<D>& s) {
  std::vector<std::int32_t> start(s.W.pattern_start().begin(), s.W.pattern_start().end());
  std::vector<std::int32_t> column(s.W.pattern_column().begin(), s.W.pattern_column().end());
  symmetrise(start, column);
#if !STICKSLIP_ON_CUDA
  if (colour_runs(s.ctx, start, column, s.colouring)) return;
#endif
  const Buffer<std::int32_t> device_start(s.ctx, start), device_column(s.ctx, column);
  s.colouring.build(s.ctx, {s.blocks(), device_start.data(), device_column.data()});
}

template void colour_conflicts(System<3>&);
template void colour_conflicts(System<4>&);

}  // namespace stickslip::STICKSLIP_BACKEND
