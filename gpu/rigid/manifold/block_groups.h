// BlockGroups: blocks of a contact problem in groups that Gauss-Seidel updates at once, by colours.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace stickslip {

/// Groups by colours: those of colour k are group[colours[k]] .. group[colours[k + 1] - 1].
struct GroupOrder {
  std::vector<std::int32_t> group;
  std::vector<std::size_t> colours{0};
};

/// Colours groups of blocks so that groups of one colour share no body. `bodies`: the two bodies of each
/// group, -1 for the world; `moves`: per body, 0 for bodies that impulses do not change. Every group takes
/// the first colour that its bodies do not have yet, in the given order: a body with n groups needs n
/// colours.
GroupOrder colour_groups(std::span<const std::array<std::int32_t, 2>> bodies,
                         std::span<const std::uint8_t> moves);

/// The same in backend memory, except `colours`; the blocks of group g are [start[g], start[g + 1]).
struct BlockGroups {
  const std::int32_t *group = nullptr, *start = nullptr;
  std::span<const std::size_t> colours = {};

  int count() const { return colours.empty() ? 0 : static_cast<int>(colours.size()) - 1; }
};

}  // namespace stickslip
