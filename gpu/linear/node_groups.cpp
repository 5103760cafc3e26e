#include "gpu/linear/node_groups.h"

#include <algorithm>
#include <numeric>

namespace stickslip {
namespace {

using Nodes = std::span<std::int32_t>;

/// The coordinate along which the nodes lie farthest apart.
int longest_side(std::span<const Vec3> positions, Nodes nodes) {
  Vec3 low = positions[nodes[0]], high = low;
  for (const std::int32_t i : nodes)
    for (int c = 0; c < 3; ++c) {
      low[c] = std::min(low[c], positions[i][c]);
      high[c] = std::max(high[c], positions[i][c]);
    }
  const Vec3 size = high - low;
  return static_cast<int>(std::max_element(&size[0], &size[0] + 3) - &size[0]);
}

/// Cuts nodes into `parts`.
void cut(std::span<const Vec3> positions, Nodes nodes, std::size_t parts, std::vector<std::int32_t>& group,
         std::int32_t& count) {
  if (parts == 1) {
    for (const std::int32_t i : nodes) group[i] = count;
    ++count;
    return;
  }
  const int c = longest_side(positions, nodes);
  const std::size_t below = parts / 2, first = nodes.size() * below / parts;
  std::nth_element(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end(),
                   [&](std::int32_t i, std::int32_t j) {
                     return positions[i][c] < positions[j][c] ||
                            (positions[i][c] == positions[j][c] && i < j);
                   });
  cut(positions, nodes.first(first), below, group, count);
  cut(positions, nodes.subspan(first), parts - below, group, count);
}

}  // namespace

std::vector<std::int32_t> make_node_groups(std::span<const Vec3> positions, std::span<const Vec2i> pairs,
                                           std::size_t most) {
  std::vector<std::int32_t> body(positions.size());  // a node of the same body; itself for the first
  std::iota(body.begin(), body.end(), 0);
  const auto first_of = [&](std::int32_t i) {
    while (body[i] != i) i = body[i] = body[body[i]];
    return i;
  };
  std::vector<std::uint8_t> coupled(positions.size(), 0);
  for (const Vec2i& pair : pairs) {
    const std::int32_t a = first_of(pair[0]), b = first_of(pair[1]);
    body[std::max(a, b)] = std::min(a, b);
    coupled[pair[0]] = coupled[pair[1]] = 1;
  }
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (coupled[i] == 0) continue;
    body[i] = first_of(static_cast<std::int32_t>(i));
    order.push_back(static_cast<std::int32_t>(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t i, std::int32_t j) { return body[i] < body[j]; });

  std::vector<std::int32_t> group(positions.size(), -1);
  std::int32_t count = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && body[order[end]] == body[order[begin]]) ++end;
    cut(positions, Nodes(order).subspan(begin, end - begin), (end - begin + most - 1) / most, group, count);
  }
  return group;
}

}  // namespace stickslip
