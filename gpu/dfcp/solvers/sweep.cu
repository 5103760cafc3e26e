#include "gpu/dfcp/solvers/sweep.cuh"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The pattern with every edge in both directions: the pattern of a published W need not be symmetric.
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
constexpr std::size_t kRunLength = 64;  // blocks of a run

/// The conflict graph of runs of `length` successive blocks.
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

/// The same for blocks that conflict through shared bodies, without a list of block conflicts: body
/// by body, then run by run.
template <int D>
void runs_of_bodies(const Delassus<D>& W, std::vector<std::int32_t>& start,
                    std::vector<std::int32_t>& column) {
  const std::size_t runs = (W.blocks() + kRunLength - 1) / kRunLength;
  const auto run_of = [&](std::int32_t entry) {
    return W.entry_block()[entry] / static_cast<std::int32_t>(kRunLength);
  };
  std::vector<std::int32_t> body_start{0}, body_run;
  for (std::size_t b = 0; b < W.bodies(); ++b) {
    const std::size_t first = body_run.size();
    for (std::int32_t k = W.gather_start()[b]; k < W.gather_start()[b + 1]; ++k) {
      const std::int32_t run = run_of(W.gather_entry()[k]);
      if (body_run.size() == first || body_run.back() != run) body_run.push_back(run);
    }
    body_start.push_back(static_cast<std::int32_t>(body_run.size()));
  }
  const BodyRows<D> rows = W.body_rows();
  std::vector<std::int32_t> seen_run(runs, -1), seen_body(W.bodies(), -1);
  start.assign(1, 0);
  column.clear();
  for (std::size_t g = 0; g < runs; ++g) {
    const auto self = static_cast<std::int32_t>(g);
    const std::int32_t end = rows.start[std::min(W.blocks(), (g + 1) * kRunLength)];
    for (std::int32_t k = rows.start[g * kRunLength]; k < end; ++k) {
      if (rows.body[k] < 0) continue;
      const auto b = static_cast<std::size_t>(rows.body[k]);
      if (seen_body[b] == self) continue;
      seen_body[b] = self;
      for (std::int32_t i = body_start[b]; i < body_start[b + 1]; ++i) {
        const auto other = static_cast<std::size_t>(body_run[static_cast<std::size_t>(i)]);
        if (seen_run[other] == self) continue;
        seen_run[other] = self;
        column.push_back(static_cast<std::int32_t>(other));
      }
    }
    start.push_back(static_cast<std::int32_t>(column.size()));
  }
}

/// Colours runs with the conflict graph (`start`, `column`). False: a colour would have too few runs, for
/// example when blocks are stored in no order.
bool colour_runs(Context& ctx, std::size_t blocks, const std::vector<std::int32_t>& start,
                 const std::vector<std::int32_t>& column, Colouring& colouring) {
  constexpr std::size_t kLeast = 8;  // runs of a colour on average
  const std::size_t runs = start.size() - 1;
  if (runs < kLeast || column.size() > runs * runs / 2) return false;
  colouring.build_runs(ctx, {runs, start.data(), column.data()}, kRunLength, blocks);
  return runs >= kLeast * static_cast<std::size_t>(colouring.colours());
}
#endif

/// The conflict graph of blocks through shared bodies: for each block, the block lists of its two bodies, one
/// after the other. Blocks between the same two bodies appear twice.
struct BlockLists {
  Buffer<std::int32_t> start, column;
};

template <int D>
BlockLists block_lists(Context& ctx, const Delassus<D>& W) {
  BlockLists lists;
  const std::size_t blocks = W.blocks();
  const BodyRows<D> rows = W.body_rows();
  const std::int32_t *gather = W.gather_start(), *entry = W.gather_entry(), *block_of = W.entry_block();
  lists.start.resize(ctx, blocks + 1);
  std::int32_t* first = lists.start.data();
  launch(ctx, blocks, [=] SS_LAMBDA(std::size_t c) {
    std::int32_t neighbours = 0;
    for (std::int32_t k = rows.start[c]; k < rows.start[c + 1]; ++k)
      if (rows.body[k] >= 0) neighbours += gather[rows.body[k] + 1] - gather[rows.body[k]];
    first[c] = neighbours;
  });
  lists.column.resize(ctx, start_neighbours(ctx, blocks, first, "take prox_jacobi, which needs no colours"));
  std::int32_t* out = lists.column.data();
  launch(ctx, blocks, [=] SS_LAMBDA(std::size_t c) {
    std::int32_t at = first[c];
    for (std::int32_t k = rows.start[c]; k < rows.start[c + 1]; ++k) {
      if (rows.body[k] < 0) continue;
      for (std::int32_t i = gather[rows.body[k]]; i < gather[rows.body[k] + 1]; ++i)
        out[at++] = block_of[entry[i]];
    }
  });
  return lists;
}

/// For a W without a stored pattern.
template <int D>
void colour_by_bodies(System<D>& s) {
#if !STICKSLIP_ON_CUDA
  std::vector<std::int32_t> run_start, run_column;
  runs_of_bodies(s.W, run_start, run_column);
  if (colour_runs(s.ctx, s.blocks(), run_start, run_column, s.colouring)) return;
#endif
  const BlockLists lists = block_lists(s.ctx, s.W);
  s.colouring.build(s.ctx, {s.blocks(), lists.start.data(), lists.column.data()});
}

}  // namespace

template <int D>
void colour_conflicts(System<D>& s) {
  if (s.W.factored() && s.W.pattern_start().empty()) return colour_by_bodies(s);
  std::vector<std::int32_t> start(s.W.pattern_start().begin(), s.W.pattern_start().end());
  std::vector<std::int32_t> column(s.W.pattern_column().begin(), s.W.pattern_column().end());
  symmetrise(start, column);
#if !STICKSLIP_ON_CUDA
  std::vector<std::int32_t> run_start = start, run_column = column;
  join_runs(kRunLength, run_start, run_column);
  if (colour_runs(s.ctx, s.blocks(), run_start, run_column, s.colouring)) return;
#endif
  const Buffer<std::int32_t> device_start(s.ctx, start), device_column(s.ctx, column);
  s.colouring.build(s.ctx, {s.blocks(), device_start.data(), device_column.data()});
}

template <int D>
std::vector<std::int32_t> block_levels(const Delassus<D>& W) {
  const BodyRows<D> rows = W.body_rows();
  constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> height(W.bodies(), kFar), level(W.blocks(), kFar);
  const auto movable = [&](std::size_t c) {
    std::int32_t count = 0;
    for (std::int32_t k = rows.start[c]; k < rows.start[c + 1]; ++k) count += rows.body[k] >= 0;
    return count;
  };
  // Breadth first: in round k the bodies of height k + 1 are found.
  std::vector<std::size_t> rest(W.blocks());
  std::iota(rest.begin(), rest.end(), std::size_t{0});
  for (std::int32_t round = 0; !rest.empty(); ++round) {
    const auto reached = [&](std::size_t c) {
      if (round == 0) return movable(c) < 2;
      for (std::int32_t k = rows.start[c]; k < rows.start[c + 1]; ++k)
        if (rows.body[k] >= 0 && height[static_cast<std::size_t>(rows.body[k])] == round) return true;
      return false;
    };
    const auto others = std::stable_partition(rest.begin(), rest.end(), reached);
    if (others == rest.begin()) break;  // what is left floats
    for (auto c = rest.begin(); c != others; ++c) level[*c] = round;
    for (auto c = rest.begin(); c != others; ++c)
      for (std::int32_t k = rows.start[*c]; k < rows.start[*c + 1]; ++k)
        if (rows.body[k] >= 0) {
          std::int32_t& body = height[static_cast<std::size_t>(rows.body[k])];
          body = std::min(body, round + 1);
        }
    rest.erase(rest.begin(), others);
  }
  return level;
}

template <int D>
std::vector<std::int32_t> list_blocks([[maybe_unused]] const System<D>& s) {
#if STICKSLIP_ON_CUDA
  return {};
#else
  const SweepOrder order = s.params.ordering;
  const bool by_height = order == SweepOrder::height && s.W.factored();
  if (order != SweepOrder::random && order != SweepOrder::gap && order != SweepOrder::impulse && !by_height)
    return {};
  std::vector<std::int32_t> list(s.blocks());
  std::iota(list.begin(), list.end(), 0);
  if (order == SweepOrder::random) {
    std::mt19937_64 random(1);
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
  }
  if (order == SweepOrder::gap)
    std::stable_sort(list.begin(), list.end(), [q = s.W.q()](std::int32_t a, std::int32_t b) {
      return q[static_cast<std::size_t>(a)][0] < q[static_cast<std::size_t>(b)][0];
    });
  if (by_height) {
    const std::vector<std::int32_t> level = block_levels(s.W);
    std::ranges::stable_sort(list, {}, [&](std::int32_t c) { return level[static_cast<std::size_t>(c)]; });
  }
  return list;
#endif
}

template void colour_conflicts(System<3>&);
template void colour_conflicts(System<4>&);
template void colour_conflicts(System<5>&);
template std::vector<std::int32_t> block_levels(const Delassus<3>&);
template std::vector<std::int32_t> block_levels(const Delassus<4>&);
template std::vector<std::int32_t> block_levels(const Delassus<5>&);
template std::vector<std::int32_t> list_blocks(const System<3>&);
template std::vector<std::int32_t> list_blocks(const System<4>&);
template std::vector<std::int32_t> list_blocks(const System<5>&);

}  // namespace stickslip::STICKSLIP_BACKEND
