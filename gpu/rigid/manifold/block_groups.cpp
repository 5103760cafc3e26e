#include "gpu/rigid/manifold/block_groups.h"

#include <algorithm>

namespace stickslip {

GroupOrder colour_groups(std::span<const std::array<std::int32_t, 2>> bodies,
                         std::span<const std::uint8_t> moves) {
  std::vector<std::vector<bool>> taken(moves.size());  // per body, by colour
  std::vector<std::vector<std::int32_t>> by_colour;
  for (std::size_t g = 0; g < bodies.size(); ++g) {
    std::size_t colour = 0;
    const auto movable = [&](std::int32_t b) { return b >= 0 && moves[static_cast<std::size_t>(b)] != 0; };
    const auto is_taken = [&](std::int32_t b) {
      if (!movable(b)) return false;
      const std::vector<bool>& of_body = taken[static_cast<std::size_t>(b)];
      return colour < of_body.size() && of_body[colour];
    };
    while (std::ranges::any_of(bodies[g], is_taken)) ++colour;
    for (const std::int32_t b : bodies[g]) {
      if (!movable(b)) continue;
      std::vector<bool>& of_body = taken[static_cast<std::size_t>(b)];
      of_body.resize(std::max(of_body.size(), colour + 1));
      of_body[colour] = true;
    }
    if (colour >= by_colour.size()) by_colour.resize(colour + 1);
    by_colour[colour].push_back(static_cast<std::int32_t>(g));
  }
  GroupOrder order;
  for (const std::vector<std::int32_t>& groups : by_colour) {
    order.group.insert(order.group.end(), groups.begin(), groups.end());
    order.colours.push_back(order.group.size());
  }
  return order;
}

}  // namespace stickslip
