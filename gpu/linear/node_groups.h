// Groups of nodes that lie close together, for coarse spaces. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// The group of each node, numbered from 0; -1 for a node that no pair couples. Each connected body is cut
/// across its longest side, by the `positions` [m] of its nodes, into as few equal parts as have at most
/// `most` nodes each. `pairs` couple nodes.
std::vector<std::int32_t> make_node_groups(std::span<const Vec3> positions, std::span<const Vec2i> pairs,
                                           std::size_t most);

}  // namespace stickslip
