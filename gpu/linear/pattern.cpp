#include "gpu/linear/pattern.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "gpu/math/corner_blocks.h"

namespace stickslip {
namespace {

struct Compressed {
  std::vector<std::int32_t> begin;
  std::vector<std::int32_t> items;
  std::span<const std::int32_t> operator[](std::int32_t i) const {
    return {items.data() + begin[i], items.data() + begin[i + 1]};
  }
};

void counts_to_begins(std::vector<std::int32_t>& counts) {
  std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), 0);
}

void check_elements(std::size_t node_count, std::span<const Vec4i> elements) {
  for (std::size_t e = 0; e < elements.size(); ++e)
    for (int a = 0; a < 4; ++a) {
      const std::int32_t node = elements[e][a];
      if (node == -1 && a > 0) continue;
      bool good = node >= 0 && static_cast<std::size_t>(node) < node_count;
      for (int b = 0; b < a; ++b) good = good && node != elements[e][b] && elements[e][b] >= 0;
      if (!good)
        throw std::invalid_argument("element " + std::to_string(e) + ": node " + std::to_string(node) +
                                    " is repeated, behind an unused corner or outside [0, " +
                                    std::to_string(node_count) + ")");
    }
}

/// Calls visit(row, column, element block << 1 | transposed), row > column, for the couplings of every
/// element: six of four nodes.
template <class Visit>
void for_couplings(std::span<const Vec4i> elements, Visit visit) {
  for (std::size_t e = 0; e < elements.size(); ++e)
    for (int a = 1; a < 4; ++a)
      for (int b = 0; b < a; ++b) {
        const std::int32_t i = elements[e][a], j = elements[e][b];
        if (i < 0) continue;
        const auto block = static_cast<std::uint32_t>(kCornerBlocks * e + corner_block(a, b));
        visit(std::max(i, j), std::min(i, j), block << 1 | (i < j ? 1U : 0U));
      }
}

/// The strictly lower entries, sorted by (row, column), with what adds up to them as in Pattern.
struct Lower {
  std::vector<Vec2i> entries;
  std::vector<std::int32_t> assembly_begin;
  std::vector<std::uint32_t> assembly;
};

Lower collect_entries(std::size_t node_count, std::span<const Vec4i> elements) {
  using Coupling = std::pair<std::int32_t, std::uint32_t>;  // column, element block
  std::vector<std::int32_t> row_begin(node_count + 1, 0);
  for_couplings(elements, [&](std::int32_t row, std::int32_t, std::uint32_t) { ++row_begin[row]; });
  counts_to_begins(row_begin);
  std::vector<Coupling> couplings(static_cast<std::size_t>(row_begin.back()));
  std::vector<std::int32_t> next = row_begin;
  for_couplings(elements, [&](std::int32_t row, std::int32_t column, std::uint32_t block) {
    couplings[next[row]++] = {column, block};
  });

  Lower lower;
  lower.assembly.reserve(couplings.size());
  for (std::size_t row = 0; row < node_count; ++row) {
    std::sort(couplings.begin() + row_begin[row], couplings.begin() + row_begin[row + 1]);
    std::int32_t last_column = -1;
    for (std::int32_t k = row_begin[row]; k < row_begin[row + 1]; ++k) {
      const auto [column, block] = couplings[k];
      if (column != last_column) {
        lower.entries.push_back({static_cast<std::int32_t>(row), column});
        lower.assembly_begin.push_back(k);
        last_column = column;
      }
      lower.assembly.push_back(block);
    }
  }
  lower.assembly_begin.push_back(static_cast<std::int32_t>(couplings.size()));
  return lower;
}

Compressed make_adjacency(std::size_t node_count, const std::vector<Vec2i>& entries) {
  Compressed adjacency;
  adjacency.begin.assign(node_count + 1, 0);
  for (const Vec2i& e : entries) ++adjacency.begin[e[0]], ++adjacency.begin[e[1]];
  counts_to_begins(adjacency.begin);
  adjacency.items.resize(2 * entries.size());
  std::vector<std::int32_t> next = adjacency.begin;
  for (const Vec2i& e : entries) {
    adjacency.items[next[e[0]]++] = e[1];
    adjacency.items[next[e[1]]++] = e[0];
  }
  return adjacency;
}

/// Node per slot. A chunk grows breadth-first from the oldest node left over beside earlier chunks, so that
/// it is round and leaves few crumbs; where nothing is left to grow into, it goes on at the lowest free node.
std::vector<std::int32_t> grow_chunks(std::size_t node_count, const Compressed& adjacency,
                                      std::int32_t chunk_size) {
  const auto n = static_cast<std::int32_t>(node_count);
  std::vector<std::int32_t> order, left_over, queue;
  order.reserve(node_count);
  std::vector<std::uint8_t> placed(node_count, 0);
  std::vector<std::int32_t> queued_by(node_count, -1);
  std::size_t left_over_head = 0;
  std::int32_t lowest_free = 0;
  const auto next_seed = [&] {
    while (left_over_head < left_over.size())
      if (const std::int32_t v = left_over[left_over_head++]; placed[v] == 0) return v;
    while (placed[lowest_free] != 0) ++lowest_free;
    return lowest_free;
  };

  for (std::int32_t begin = 0; begin < n; begin += chunk_size) {
    const std::size_t end = std::min(n, begin + chunk_size);
    queue.clear();
    std::size_t head = 0;
    while (order.size() < end) {
      const std::int32_t v = head < queue.size() ? queue[head++] : next_seed();
      if (placed[v] != 0) continue;
      placed[v] = 1;
      order.push_back(v);
      for (const std::int32_t w : adjacency[v])
        if (placed[w] == 0 && queued_by[w] != begin) {
          queued_by[w] = begin;
          queue.push_back(w);
        }
    }
    left_over.insert(left_over.end(), queue.begin() + static_cast<std::ptrdiff_t>(head), queue.end());
  }
  return order;
}

/// Sorts the nodes of each chunk by the lengths of their rows, so that the loops over the rows run for the
/// same number of entries time after time: a processor that guesses it wrong at every row loses a quarter of
/// its time.
void sort_chunks_by_length(Pattern& p, const std::vector<Vec2i>& lower) {
  const std::size_t n = p.node.size();
  std::vector<std::int32_t> chunk(n);
  for (std::size_t s = 0; s < n; ++s) chunk[p.node[s]] = static_cast<std::int32_t>(s) / p.chunk_size;
  std::vector<Vec2i> length(n, Vec2i{0, 0});  // inside the chunk, across chunks
  for (const Vec2i& e : lower) {
    if (chunk[e[0]] == chunk[e[1]]) ++length[e[0]][0];
    else ++length[e[0]][1], ++length[e[1]][1];
  }
  for (std::size_t begin = 0; begin < n; begin += p.chunk_size) {
    const std::size_t end = std::min(n, begin + p.chunk_size);
    std::sort(p.node.begin() + static_cast<std::ptrdiff_t>(begin),
              p.node.begin() + static_cast<std::ptrdiff_t>(end), [&](std::int32_t a, std::int32_t b) {
                return std::tuple(length[a][0], length[a][1], a) < std::tuple(length[b][0], length[b][1], b);
              });
  }
}

/// Brings `lower`, one entry per pair of nodes, into the order that Pattern promises, and doubles those
/// across chunks.
void lay_out(Pattern& p, const Lower& lower) {
  const std::size_t n = p.node.size();
  std::vector<std::int32_t> slot(n);
  for (std::size_t s = 0; s < n; ++s) slot[p.node[s]] = static_cast<std::int32_t>(s);
  const auto is_outer = [&](const Vec2i& e) {
    return slot[e[0]] / p.chunk_size != slot[e[1]] / p.chunk_size;
  };

  p.inner_begin.assign(n + 1, 0);
  p.outer_begin.assign(n + 1, 0);
  for (const Vec2i& e : lower.entries) {
    if (is_outer(e)) ++p.outer_begin[slot[e[0]]], ++p.outer_begin[slot[e[1]]];
    else ++p.inner_begin[slot[e[0]]];
  }
  counts_to_begins(p.inner_begin);
  counts_to_begins(p.outer_begin);
  for (std::int32_t& begin : p.outer_begin) begin += p.inner_count();

  std::vector<std::uint32_t> source(
      p.outer_begin.back());  // of an entry: position in `lower` << 1 | transposed
  std::vector<std::int32_t> inner_next = p.inner_begin, outer_next = p.outer_begin;
  for (std::size_t k = 0; k < lower.entries.size(); ++k) {
    const Vec2i& e = lower.entries[k];
    const auto plain = static_cast<std::uint32_t>(k) << 1;
    if (is_outer(e)) {
      source[outer_next[slot[e[0]]]++] = plain;
      source[outer_next[slot[e[1]]]++] = plain | 1U;
    } else {
      source[inner_next[slot[e[0]]]++] = plain;
    }
  }

  p.entries.reserve(source.size());
  p.assembly_begin.reserve(source.size() + 1);
  p.assembly.reserve(lower.assembly.size());
  for (const std::uint32_t s : source) {
    const std::uint32_t k = s >> 1, transposed = s & 1U;
    const Vec2i& e = lower.entries[k];
    p.entries.push_back(transposed != 0 ? Vec2i{e[1], e[0]} : e);
    p.assembly_begin.push_back(static_cast<std::int32_t>(p.assembly.size()));
    for (std::int32_t a = lower.assembly_begin[k]; a < lower.assembly_begin[k + 1]; ++a)
      p.assembly.push_back(lower.assembly[a] ^ transposed);
  }
  p.assembly_begin.push_back(static_cast<std::int32_t>(p.assembly.size()));
  p.column.reserve(p.entries.size());
  for (const Vec2i& e : p.entries) p.column.push_back(is_outer(e) ? slot[e[1]] : slot[e[1]] % p.chunk_size);
}

}  // namespace

Pattern make_pattern(std::size_t node_count, std::span<const Vec4i> elements, std::int32_t chunk_size) {
  check_elements(node_count, elements);
  const Lower lower = collect_entries(node_count, elements);
  Pattern p;
  p.chunk_size = chunk_size;
  p.node = grow_chunks(node_count, make_adjacency(node_count, lower.entries), chunk_size);
  sort_chunks_by_length(p, lower.entries);
  lay_out(p, lower);
  return p;
}

RowUses list_rows(const Pattern& pattern) {
  const auto inner_count = static_cast<std::size_t>(pattern.inner_count());
  RowUses rows;
  rows.begin.assign(pattern.node.size() + 1, 0);
  for (std::size_t k = 0; k < pattern.entries.size(); ++k) {
    ++rows.begin[pattern.entries[k][0]];
    if (k < inner_count) ++rows.begin[pattern.entries[k][1]];
  }
  counts_to_begins(rows.begin);
  rows.uses.resize(rows.begin.back());
  std::vector<std::int32_t> next = rows.begin;
  for (std::size_t k = 0; k < pattern.entries.size(); ++k) {
    const std::int32_t row = pattern.entries[k][0], column = pattern.entries[k][1];
    const auto block = static_cast<std::uint32_t>(k) << 1;
    rows.uses[next[row]++] = {block, column};
    if (k < inner_count) rows.uses[next[column]++] = {block | 1U, row};
  }
  for (std::size_t i = 0; i + 1 < rows.begin.size(); ++i)
    std::sort(rows.uses.begin() + rows.begin[i], rows.uses.begin() + rows.begin[i + 1],
              [](const BlockUse& a, const BlockUse& b) { return a.other < b.other; });
  return rows;
}

}  // namespace stickslip
