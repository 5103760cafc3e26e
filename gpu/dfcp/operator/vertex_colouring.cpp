#include "gpu/dfcp/operator/vertex_colouring.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace stickslip {
namespace {

template <class F>
void for_each_vertex(const TouchedVertices& of, std::size_t block, F f) {
  for (std::size_t e = of.entries * block; e < of.entries * (block + 1); ++e)
    for (int k = 0; k < 4; ++k)
      if (of.touched[e][k] >= 0) f(static_cast<std::size_t>(of.touched[e][k]));
}

/// Which colours a vertex has: a word of 64 colours per vertex, and more words as more are needed.
class TakenColours {
 public:
  explicit TakenColours(const TouchedVertices& of) : of_(of) {}

  std::int32_t smallest_free(std::size_t block) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      std::uint64_t taken = 0;
      for_each_vertex(of_, block, [&](std::size_t v) { taken |= words_[k][v]; });
      if (~taken != 0) return static_cast<std::int32_t>(64 * k) + std::countr_one(taken);
    }
    return static_cast<std::int32_t>(64 * words_.size());
  }
  bool has_neighbour(std::size_t block, std::int32_t colour) const {
    const std::vector<std::uint64_t>& word = words_[static_cast<std::size_t>(colour) / 64];
    bool has = false;
    for_each_vertex(of_, block, [&](std::size_t v) { has |= (word[v] >> (colour % 64) & 1U) != 0; });
    return has;
  }
  void take(std::size_t block, std::int32_t colour) {
    const std::size_t k = static_cast<std::size_t>(colour) / 64;
    if (k == words_.size()) words_.emplace_back(of_.vertices, 0);
    for_each_vertex(of_, block, [&](std::size_t v) { words_[k][v] |= bit(colour); });
  }
  void give_back(std::size_t block, std::int32_t colour) {
    std::vector<std::uint64_t>& word = words_[static_cast<std::size_t>(colour) / 64];
    for_each_vertex(of_, block, [&](std::size_t v) { word[v] &= ~bit(colour); });
  }

 private:
  static std::uint64_t bit(std::int32_t colour) { return std::uint64_t{1} << (colour % 64); }

  const TouchedVertices& of_;
  std::vector<std::vector<std::uint64_t>> words_;
};

void colour_greedily(const TouchedVertices& of, const std::int32_t* touches, TakenColours& taken,
                     std::int32_t* colour) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> order(of.blocks);
  for (std::size_t c = 0; c < of.blocks; ++c) {
    std::int32_t neighbours = 0;
    for_each_vertex(of, c, [&](std::size_t v) { neighbours += touches[v]; });
    order[c] = {colouring_key(neighbours, static_cast<std::int32_t>(c)), static_cast<std::int32_t>(c)};
  }
  std::ranges::sort(order);
  for (const auto& [key, c] : order) {
    const auto block = static_cast<std::size_t>(c);
    colour[block] = taken.smallest_free(block);
    taken.take(block, colour[block]);
  }
}

using ColourLists = std::vector<std::vector<std::int32_t>>;

ColourLists lists_of(const TouchedVertices& of, const std::int32_t* colour) {
  ColourLists lists;
  for (std::size_t c = 0; c < of.blocks; ++c) {
    const auto k = static_cast<std::size_t>(colour[c]);
    if (k >= lists.size()) lists.resize(k + 1);
    lists[k].push_back(static_cast<std::int32_t>(c));
  }
  return lists;
}

/// Moves the first blocks of colour `from` that may have colour `to`, at most `most`. The target never gives
/// blocks away later, so that its list need not stay in order.
void move_blocks(ColourLists& lists, std::size_t from, std::size_t to, std::size_t most, TakenColours& taken,
                 std::int32_t* colour) {
  const auto old_colour = static_cast<std::int32_t>(from), new_colour = static_cast<std::int32_t>(to);
  std::erase_if(lists[from], [&](std::int32_t c) {
    const auto block = static_cast<std::size_t>(c);
    if (most == 0 || taken.has_neighbour(block, new_colour)) return false;
    --most;
    taken.give_back(block, old_colour);
    taken.take(block, new_colour);
    colour[block] = new_colour;
    lists[to].push_back(c);
    return true;
  });
}

/// As `balance` of Colouring: blocks of overfull colours go to colours with room.
void balance(const TouchedVertices& of, ColourLists& lists, TakenColours& taken, std::int32_t* colour) {
  constexpr int kAttempts = 1000;
  const std::size_t fair = (of.blocks + lists.size() - 1) / lists.size();
  std::size_t most = 0;
  for (const auto& list : lists) most = std::max(most, list.size());
  if (most <= fair + fair / 4) return;
  int attempts = kAttempts;
  for (std::size_t from = 0; from < lists.size(); ++from)
    for (std::size_t to = 0; to < lists.size() && lists[from].size() > fair; ++to) {
      if (lists[to].size() >= fair) continue;
      if (attempts-- == 0) return;
      move_blocks(lists, from, to, std::min(lists[from].size() - fair, fair - lists[to].size()), taken,
                  colour);
    }
}

}  // namespace

void count_touches(const TouchedVertices& of, std::int32_t* touches) {
  std::fill(touches, touches + of.vertices, 0);
  for (std::size_t c = 0; c < of.blocks; ++c) for_each_vertex(of, c, [&](std::size_t v) { ++touches[v]; });
}

std::vector<std::size_t> colour_by_vertices(const TouchedVertices& of, const std::int32_t* touches,
                                            std::int32_t* colour) {
  TakenColours taken(of);
  colour_greedily(of, touches, taken, colour);
  ColourLists lists = lists_of(of, colour);
  if (!lists.empty()) balance(of, lists, taken, colour);
  std::vector<std::size_t> sizes;
  for (const auto& list : lists) sizes.push_back(list.size());
  return sizes;
}

}  // namespace stickslip
