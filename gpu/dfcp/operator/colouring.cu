#include "gpu/dfcp/operator/colouring.cuh"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/scan.h"
#include "gpu/core/select.h"
#include "gpu/core/sort.h"
#include "gpu/dfcp/operator/vertex_colouring.h"
#include "gpu/model/report.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::int32_t kNone = -1;

#if STICKSLIP_ON_CUDA
/// Blocks with more neighbours first: greedy colouring then needs fewer colours. Ties by the scrambled index.
SS_HD bool comes_before(const ConflictGraph& g, std::int32_t a, std::int32_t b) {
  const std::int32_t da = g.start[a + 1] - g.start[a], db = g.start[b + 1] - g.start[b];
  if (da != db) return da > db;
  return scramble(static_cast<std::uint32_t>(a)) < scramble(static_cast<std::uint32_t>(b));
}
#endif

/// Smallest colour that no neighbour of c has.
SS_HD std::int32_t smallest_free(const ConflictGraph& g, const std::int32_t* colour, std::int32_t c) {
  for (std::int32_t first = 0;; first += 64) {
    std::uint64_t taken = 0;
    for (std::int32_t k = g.start[c]; k < g.start[c + 1]; ++k) {
      const std::int32_t d = g.column[k];
      const std::int32_t of_d = colour[d] - first;
      if (d != c && of_d >= 0 && of_d < 64) taken |= std::uint64_t{1} << of_d;
    }
    for (std::int32_t bit = 0; bit < 64; ++bit)
      if ((taken >> bit & 1u) == 0) return first + bit;
  }
}

SS_HD bool has_neighbour_of_colour(const ConflictGraph& g, const std::int32_t* colour, std::int32_t c,
                                   std::int32_t wanted) {
  for (std::int32_t k = g.start[c]; k < g.start[c + 1]; ++k)
    if (g.column[k] != c && colour[g.column[k]] == wanted) return true;
  return false;
}

/// Keeps the colours in `keep`; of two neighbours with the same colour the later one loses it.
void keep_colours(Context& ctx, const ConflictGraph& g, std::span<const std::int32_t> keep,
                  Buffer<std::int32_t>& wanted, std::int32_t* colour) {
  if (keep.size() != g.blocks) return fill(ctx, colour, g.blocks, kNone);
  wanted.upload(ctx, keep);
  const std::int32_t* w = wanted.data();
  launch(
      ctx, g.blocks,
      [=] SS_LAMBDA(std::size_t i) {
        const auto c = static_cast<std::int32_t>(i);
        bool clash = w[c] < 0 || static_cast<std::size_t>(w[c]) >= g.blocks;
        for (std::int32_t k = g.start[c]; k < g.start[c + 1]; ++k)
          clash |= g.column[k] < c && w[g.column[k]] == w[c];
        colour[c] = clash ? kNone : w[c];
      },
      kMedium);
}

#if STICKSLIP_ON_CUDA
/// One round of Jones and Plassmann among the *left blocks of `list`: a block that comes before all its
/// uncoloured neighbours takes the smallest free colour. The others go to `next`.
void colour_round(Context& ctx, const ConflictGraph& g, const std::int32_t* list, const std::int32_t* left,
                  std::int32_t* ready, std::int32_t* next, std::int32_t* next_left, std::int32_t* colour) {
  launch_counted(
      ctx, g.blocks, left,
      [=] SS_LAMBDA(std::size_t i) {
        const std::int32_t c = list[i];
        std::int32_t first = 1;
        for (std::int32_t k = g.start[c]; k < g.start[c + 1]; ++k) {
          const std::int32_t d = g.column[k];
          if (d != c && colour[d] == kNone && comes_before(g, d, c)) {
            first = 0;
            break;
          }
        }
        ready[i] = first;
      },
      kMedium);
  launch_counted(
      ctx, g.blocks, left,
      [=] SS_LAMBDA(std::size_t i) {
        if (ready[i] != 0) colour[list[i]] = smallest_free(g, colour, list[i]);
      },
      kMedium);
  // Selects positions within the list, then the blocks at them.
  select_indices_counted(
      ctx, g.blocks, left, [=] SS_LAMBDA(std::size_t i) { return ready[i] == 0; }, next, next_left);
  launch_counted(ctx, g.blocks, next_left, [=] SS_LAMBDA(std::size_t i) { next[i] = list[next[i]]; });
}

/// Repeats rounds until all blocks have a colour. The result is that of greedy colouring in the order of
/// `comes_before`, independent of the parallel schedule.
void colour_rest(Context& ctx, const ConflictGraph& g, ColouringSpace& space, std::int32_t* colour) {
  space.next.resize(ctx, g.blocks);
  space.ready.resize(ctx, g.blocks);
  std::int32_t *waiting = space.waiting.data(), *next = space.next.data(), *ready = space.ready.data();
  std::int32_t *left = space.words.data(), *next_left = left + 1, *done = left + 2;
  select_indices(
      ctx, g.blocks, [=] SS_LAMBDA(std::size_t i) { return colour[i] == kNone; }, waiting, left);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *done = *left == 0 ? 1 : 0; });
  repeat_until(ctx, space.loop, done, [&] {
    colour_round(ctx, g, waiting, left, ready, next, next_left, colour);
    colour_round(ctx, g, next, next_left, ready, waiting, left, colour);
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *done = *left == 0 ? 1 : 0; });
  });
}
#else
/// Greedy colouring in the order of `comes_before`, one block after the other. Rounds of Jones and Plassmann
/// have the same result; they read the neighbours of each block many times, and take ten times as long on two
/// threads.
void colour_rest(Context&, const ConflictGraph& g, ColouringSpace&, std::int32_t* colour) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> order;  // ascending
  for (std::size_t i = 0; i < g.blocks; ++i) {
    const auto c = static_cast<std::int32_t>(i);
    if (colour[c] != kNone) continue;
    order.emplace_back(colouring_key(g.start[c + 1] - g.start[c], c), c);
  }
  std::ranges::sort(order);
  for (const auto& [key, c] : order) colour[c] = smallest_free(g, colour, c);
}
#endif

/// The search for blocks that may move, in backend memory. (a, b) is the pair of colours of this iteration;
/// the search for the next one goes on at (from, to).
struct Balance {
  std::int32_t colours, fair;
  std::int32_t from, to, attempts;
  std::int32_t a, b, found;  // found: blocks of colour a that may have colour b
  std::int32_t stop;
};

/// How many blocks move from colour a to colour b.
SS_HD std::int32_t moved(const Balance& state, const std::int32_t* sizes) {
  if (state.a < 0) return 0;
  const std::int32_t most = std::min(sizes[state.a] - state.fair, state.fair - sizes[state.b]);
  return std::min(state.found, most);
}

/// Sets (a, b) to the next pair of an overfull colour and one with room; a = -1 if none is left.
SS_HD void next_pair(Balance& state, const std::int32_t* sizes) {
  state.a = state.b = -1;
  for (; state.from < state.colours && state.attempts > 0; ++state.from, state.to = 0) {
    for (; state.to < state.colours && sizes[state.from] > state.fair; ++state.to) {
      if (sizes[state.to] >= state.fair) continue;
      --state.attempts;
      state.a = state.from;
      state.b = state.to++;
      return;
    }
  }
  state.stop = 1;
}

/// Moves blocks from overfull colours to colours with room. Blocks of one colour share no body, so all of
/// them that fit another colour can move at once. One host read, also if it has nothing to do. Returns the
/// number of colours.
std::size_t balance(Context& ctx, const ConflictGraph& g, bool wanted, const std::int32_t* colours,
                    std::int32_t* sizes, ColouringSpace& space, std::int32_t* colour) {
  // Every attempt passes over all blocks; the limit bounds the cost for cliques of thousands.
  constexpr std::int32_t kAttempts = 1000;
  space.balance.resize(ctx, sizeof(Balance) / sizeof(std::int32_t));
  auto* const state = reinterpret_cast<Balance*>(space.balance.data());
  std::int32_t* const mover = space.waiting.data();
  const auto blocks = static_cast<std::int32_t>(g.blocks);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    const std::int32_t fair = (blocks + *colours - 1) / *colours;
    std::int32_t most = 0;
    for (std::int32_t k = 0; k < *colours; ++k) most = std::max(most, sizes[k]);
    *state = {*colours, fair, 0, 0, kAttempts, -1, -1, 0, !wanted || most <= fair + fair / 4 ? 1 : 0};
  });
  const Balance start = read_back(ctx, state);
  const auto count = static_cast<std::size_t>(start.colours);
  if (start.stop != 0) return count;
  repeat_until(ctx, space.balance_loop, &state->stop, [&] {
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
      if (state->stop == 0) next_pair(*state, sizes);
    });
    select_indices(
        ctx, g.blocks,
        [=] SS_LAMBDA(std::size_t i) {
          const auto c = static_cast<std::int32_t>(i);
          return colour[c] == state->a && !has_neighbour_of_colour(g, colour, c, state->b);
        },
        mover, &state->found, kMedium);
    launch_counted(ctx, g.blocks, &state->found, [=] SS_LAMBDA(std::size_t i) {
      if (static_cast<std::int32_t>(i) < moved(*state, sizes)) colour[mover[i]] = state->b;
    });
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
      if (state->a < 0) return;
      const std::int32_t n = moved(*state, sizes);
      sizes[state->a] -= n;
      sizes[state->b] += n;
      state->a = -1;
    });
  });
  return count;
}

/// Counts the blocks of each colour, and moves some to other colours if `balanced`. Returns the sizes. Two
/// host reads.
std::vector<std::size_t> colour_sizes(Context& ctx, const ConflictGraph& g, bool balanced,
                                      ColouringSpace& space, std::int32_t* colour) {
  // There are at most as many colours as blocks; without blocks one, which is empty.
  const std::size_t most = std::max<std::size_t>(g.blocks, 1);
  space.sizes.resize(ctx, most);
  std::int32_t *size = space.sizes.data(), *colours = space.words.data();
  reduce_max(
      ctx, g.blocks, [=] SS_LAMBDA(std::size_t i) { return colour[i] + 1; }, std::int32_t{1}, colours);
  fill(ctx, size, most, std::int32_t{0});
  launch(ctx, g.blocks, [=] SS_LAMBDA(std::size_t i) { atomic_add(size + colour[i], 1); });
  const std::size_t count = balance(ctx, g, balanced, colours, size, space, colour);
  space.sizes.resize(ctx, count);
  const std::vector<std::int32_t> sizes = space.sizes.download(ctx);
  return {sizes.begin(), sizes.end()};
}

/// order = the n blocks by their colours. `key`: scratch.
void sort_by_colour(Context& ctx, std::size_t n, const std::int32_t* colour, std::uint32_t* key,
                    std::int32_t* order) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    key[i] = static_cast<std::uint32_t>(colour[i]);
    order[i] = static_cast<std::int32_t>(i);
  });
  sort_pairs(ctx, n, key, order);
}

}  // namespace

std::size_t start_neighbours(Context& ctx, std::size_t n, std::int32_t* numbers, const char* advice) {
  Buffer<std::int64_t> sum(ctx, 1);
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t c) { return static_cast<std::int64_t>(numbers[c]); }, sum.data());
  exclusive_scan(ctx, n, numbers, numbers);
  const std::int64_t total = read_back(ctx, sum.data());
  if (total > std::numeric_limits<std::int32_t>::max())
    throw SimulationError("too many contacts on one body: " + std::to_string(total) +
                          " pairs of contacts share one, and colours are found among 2147483647 at most; " +
                          advice);
  return static_cast<std::size_t>(total);
}

void Colouring::build(Context& ctx, const ConflictGraph& graph, std::span<const std::int32_t> keep,
                      bool balanced) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t n = graph.blocks;
  colour_.resize(ctx, n);
  space_.waiting.resize(ctx, n);
  space_.words.resize(ctx, 3);
  std::int32_t* colour = colour_.data();
  keep_colours(ctx, graph, keep, space_.wanted, colour);
  colour_rest(ctx, graph, space_, colour);
  order_blocks(ctx, colour_sizes(ctx, graph, balanced, space_, colour));
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

#if !STICKSLIP_ON_CUDA
void Colouring::build(Context& ctx, const TouchedVertices& of, const std::int32_t* touches) {
  const auto begin = std::chrono::steady_clock::now();
  colour_.resize(ctx, of.blocks);
  const std::vector<std::size_t> sizes = colour_by_vertices(of, touches, colour_.data());
  space_.sizes.upload(ctx, std::vector<std::int32_t>(sizes.begin(), sizes.end()));
  order_blocks(ctx, sizes);
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
#endif

/// `sizes` of the colours are also in space_.sizes.
void Colouring::order_blocks(Context& ctx, const std::vector<std::size_t>& sizes) {
  const std::size_t n = colour_.size();
  run_length_ = 1;
  order_.resize(ctx, n);
  space_.keys.resize(ctx, n);
  sort_by_colour(ctx, n, colour_.data(), space_.keys.data(), order_.data());
  // A kept colour may have lost all its blocks: no empty launches.
  offsets_.assign(1, 0);
  for (const std::size_t size : sizes)
    if (size > 0) offsets_.push_back(offsets_.back() + size);
  if (offsets_.size() == sizes.size() + 1) {
    device_offsets_.resize(ctx, sizes.size() + 1);
    exclusive_scan(ctx, sizes.size(), space_.sizes.data(), device_offsets_.data());
  } else {
    device_offsets_.upload(ctx, std::vector<std::int32_t>(offsets_.begin(), offsets_.end()));
  }
  sum_up();
}

void Colouring::build_runs(Context& ctx, const ConflictGraph& runs, std::size_t length, std::size_t blocks) {
  const auto begin = std::chrono::steady_clock::now();
  build(ctx, runs);
  runs_.swap(order_);
  run_offsets_ = offsets_;
  run_length_ = length;
  const std::vector<std::int32_t> run_order = runs_.download(ctx), run_colour = colour_.download(ctx);
  std::vector<std::int32_t> order, colour(blocks);
  order.reserve(blocks);
  for (std::size_t k = 0, at = 0; k < run_offsets_.size(); ++k) {
    for (; at < run_offsets_[k]; ++at) {
      const auto run = static_cast<std::size_t>(run_order[at]);
      for (std::size_t c = run * length; c < std::min(blocks, (run + 1) * length); ++c) {
        order.push_back(static_cast<std::int32_t>(c));
        colour[c] = run_colour[run];
      }
    }
    offsets_[k] = order.size();
  }
  order_.upload(ctx, order);
  colour_.upload(ctx, colour);
  sum_up();
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Colouring::sum_up() {
  report_.colours = colours();
  report_.smallest = offsets_.back();
  report_.largest = 0;
  for (int k = 0; k < colours(); ++k) {
    const std::size_t size = offset(k + 1) - offset(k);
    report_.smallest = std::min(report_.smallest, size);
    report_.largest = std::max(report_.largest, size);
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
