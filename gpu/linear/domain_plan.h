// DomainPlan: how an additive Schwarz preconditioner cuts the nodes into domains, level by level. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// Nodes by connected body, within a body along a Morton curve through `positions` [m]. `pairs` couple nodes.
std::vector<std::int32_t> morton_order(std::span<const Vec3> positions, std::span<const Vec2i> pairs);

/// Nodes by linked groups: each `domain_size` of them grow from one node, always by the node with the most
/// links into the group; then groups are the nodes of a coarser graph, in the same way, so that groups of
/// groups are linked too. `links` of a node to itself, or to one below 0, do not count.
std::vector<std::int32_t> linked_order(std::size_t node_count, std::span<const Vec2i> links,
                                       std::int32_t domain_size);

/// Every level has slots, each with three unknowns, and `domain_size` consecutive slots are a domain. On
/// level 0 a slot is a node. On level l + 1 it is the sum of the slots of a domain of level l that pairs of
/// nodes connect [Wu22]: two bodies in one domain stay apart. Slots are numbered through all levels, each
/// level padded to whole domains.
struct DomainPlan {
  std::int32_t domain_size = 1;
  std::size_t node_count = 0;
  std::vector<std::int32_t> level_begin;   // first slot per level, and one more
  std::vector<std::int32_t> slot_of_node;  // of level l: [l * node_count + node]
  std::vector<std::int32_t> member_begin;  // per slot and one more
  std::vector<std::int32_t> members;       // a slot's slots on the level below, ascending; none on level 0
  // Matrices of the domains. Block (a, b), a >= b, of domain d, numbered (d domain_size + a) domain_size + b,
  // adds up source blocks: node << 1, or (node_count + pair) << 1 | transposed.
  std::vector<std::int32_t> source_begin;  // per block and one more
  std::vector<std::uint32_t> sources;

  std::size_t levels() const { return level_begin.size() - 1; }
  std::int32_t slot_count() const { return level_begin.back(); }
};

/// `order`: all nodes. `pairs`: nodes (i, j) of the block A_ij of each pair that the matrix couples; one with
/// i < j is skipped, because it stands for its mirror image. Levels are added until one has a single domain,
/// hardly shrinks, or there are `most_levels`. `links` connect slots as pairs do, but have no block: those of
/// contacts, whose blocks come with the matrix.
DomainPlan make_domain_plan(std::span<const std::int32_t> order, std::span<const Vec2i> pairs,
                            std::int32_t domain_size, int most_levels, std::span<const Vec2i> links = {});

}  // namespace stickslip
