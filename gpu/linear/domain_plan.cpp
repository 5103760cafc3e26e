#include "gpu/linear/domain_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace stickslip {
namespace {

// A level that has more than this share of the slots below it costs more than it does good.
constexpr double kWorthALevel = 0.7;
constexpr int kMortonBits = 10;

/// Disjoint sets of [0, n), each named by its smallest member.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t find(std::int32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::int32_t i, std::int32_t j) {
    i = find(i), j = find(j);
    parent_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<std::int32_t> parent_;
};

std::uint32_t morton_code(const Vec3& x, const Vec3& low, Real cells_per_metre) {
  std::uint32_t code = 0;
  for (int c = 0; c < 3; ++c) {
    const Real most = (1 << kMortonBits) - 1;
    const auto cell =
        static_cast<std::uint32_t>(std::clamp((x[c] - low[c]) * cells_per_metre, Real(0), most));
    for (int bit = 0; bit < kMortonBits; ++bit) code |= (cell >> bit & 1U) << (3 * bit + c);
  }
  return code;
}

/// Appends a level: the members of each of its slots, and the slot of every node.
void add_level(DomainPlan& plan, std::span<const std::vector<std::int32_t>> slots,
               std::span<const std::int32_t> slot_of_node) {
  const auto size = static_cast<std::size_t>(plan.domain_size);
  const std::size_t padded = (slots.size() + size - 1) / size * size;
  for (std::size_t s = 0; s < padded; ++s) {
    if (s < slots.size()) plan.members.insert(plan.members.end(), slots[s].begin(), slots[s].end());
    plan.member_begin.push_back(static_cast<std::int32_t>(plan.members.size()));
  }
  plan.slot_of_node.insert(plan.slot_of_node.end(), slot_of_node.begin(), slot_of_node.end());
  plan.level_begin.push_back(plan.level_begin.back() + static_cast<std::int32_t>(padded));
}

/// The slots that the level above the last one would have, as lists of slots of the last.
std::vector<std::vector<std::int32_t>> aggregate(const DomainPlan& plan, std::span<const Vec2i> pairs,
                                                 std::span<const Vec2i> links) {
  const std::size_t level = plan.levels() - 1;
  const std::int32_t* slot = plan.slot_of_node.data() + level * plan.node_count;
  Sets sets(static_cast<std::size_t>(plan.slot_count()));
  for (const auto& of_one_kind : {pairs, links})
    for (const Vec2i& pair : of_one_kind)
      if (slot[pair[0]] / plan.domain_size == slot[pair[1]] / plan.domain_size)
        sets.join(slot[pair[0]], slot[pair[1]]);

  std::vector<bool> used(static_cast<std::size_t>(plan.slot_count()), false);
  for (std::size_t i = 0; i < plan.node_count; ++i) used[slot[i]] = true;
  std::vector<std::int32_t> index(static_cast<std::size_t>(plan.slot_count()), -1);
  std::vector<std::vector<std::int32_t>> slots;
  for (std::int32_t s = plan.level_begin[level]; s < plan.level_begin[level + 1]; ++s) {
    if (!used[s]) continue;
    std::int32_t& place = index[sets.find(s)];
    if (place < 0) {
      place = static_cast<std::int32_t>(slots.size());
      slots.emplace_back();
    }
    slots[place].push_back(s);
  }
  return slots;
}

/// A graph with weighted edges, by node.
struct LinkGraph {
  std::vector<std::int32_t> begin, neighbour, weight;
  std::size_t size() const { return begin.size() - 1; }
};

/// Of the links (i, j) with i != j, both in [0, n): a link that comes k times has the weight k.
LinkGraph link_graph(std::size_t n, std::vector<Vec2i> links) {
  const std::size_t given = links.size();
  for (std::size_t k = 0; k < given; ++k) links.push_back({links[k][1], links[k][0]});
  std::erase_if(links, [](const Vec2i& link) { return link[0] == link[1] || link[0] < 0 || link[1] < 0; });
  const auto place = [](const Vec2i& link) { return std::pair(link[0], link[1]); };
  std::ranges::sort(links, {}, place);
  LinkGraph graph;
  graph.begin.assign(n + 1, 0);
  for (std::size_t k = 0; k < links.size();) {
    std::size_t end = k;
    while (end < links.size() && place(links[end]) == place(links[k])) ++end;
    graph.neighbour.push_back(links[k][1]);
    graph.weight.push_back(static_cast<std::int32_t>(end - k));
    ++graph.begin[links[k][0] + 1];
    k = end;
  }
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  return graph;
}

/// All nodes of the graph, so that each `size` of them in a row are a grown group (see linked_order).
std::vector<std::int32_t> grow_groups(const LinkGraph& graph, std::int32_t size) {
  const auto n = static_cast<std::int32_t>(graph.size());
  std::vector<std::int32_t> order, inside(graph.size(), 0), round(graph.size(), -1);
  std::vector<bool> taken(graph.size(), false);
  order.reserve(graph.size());
  // Candidates of the group by links into it, then by the smaller index. What a group leaves begins the next.
  std::set<std::pair<std::int32_t, std::int32_t>> frontier;
  std::int32_t next_seed = 0, seed_from = -1;
  for (std::int32_t group = 0; static_cast<std::int32_t>(order.size()) < n; ++group) {
    if (!frontier.empty()) seed_from = frontier.begin()->second;
    frontier.clear();
    for (std::int32_t k = 0; k < size && static_cast<std::int32_t>(order.size()) < n; ++k) {
      std::int32_t node = seed_from;
      if (!frontier.empty()) {
        node = frontier.begin()->second;
        frontier.erase(frontier.begin());
      } else if (node < 0 || taken[node]) {
        while (taken[next_seed]) ++next_seed;
        node = next_seed;
      }
      seed_from = -1;
      taken[node] = true;
      order.push_back(node);
      for (std::int32_t e = graph.begin[node]; e < graph.begin[node + 1]; ++e) {
        const std::int32_t other = graph.neighbour[e];
        if (taken[other]) continue;
        if (round[other] == group) frontier.erase({-inside[other], other});
        else inside[other] = 0;
        round[other] = group;
        inside[other] += graph.weight[e];
        frontier.insert({-inside[other], other});
      }
    }
  }
  return order;
}

/// Calls visit(block, source) for every source of every block.
template <class Visit>
void visit_sources(const DomainPlan& plan, std::span<const Vec2i> pairs, Visit visit) {
  const std::int32_t size = plan.domain_size;
  for (std::size_t level = 0; level < plan.levels(); ++level) {
    const std::int32_t* slot = plan.slot_of_node.data() + level * plan.node_count;
    for (std::size_t i = 0; i < plan.node_count; ++i)
      visit(static_cast<std::size_t>(slot[i]) * size + slot[i] % size, static_cast<std::uint32_t>(i) << 1);
    for (std::size_t e = 0; e < pairs.size(); ++e) {
      const std::int32_t row = slot[pairs[e][0]], column = slot[pairs[e][1]];
      if (pairs[e][0] < pairs[e][1] || row / size != column / size) continue;
      const auto source = static_cast<std::uint32_t>(plan.node_count + e) << 1;
      if (row >= column) visit(static_cast<std::size_t>(row) * size + column % size, source);
      if (row <= column) visit(static_cast<std::size_t>(column) * size + row % size, source | 1U);
    }
  }
}

}  // namespace

std::vector<std::int32_t> morton_order(std::span<const Vec3> positions, std::span<const Vec2i> pairs) {
  const std::size_t n = positions.size();
  Sets bodies(n);
  for (const Vec2i& pair : pairs) bodies.join(pair[0], pair[1]);
  Vec3 low = Vec3::filled(std::numeric_limits<Real>::max()), high = -low;
  for (const Vec3& x : positions) low = min(low, x), high = max(high, x);
  const Vec3 extent = high - low;
  const Real longest = std::max({extent[0], extent[1], extent[2]});
  const Real cells_per_metre = longest > 0 ? (1 << kMortonBits) / longest : Real(0);

  std::vector<std::tuple<std::int32_t, std::uint32_t, std::int32_t>> keys;
  keys.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto node = static_cast<std::int32_t>(i);
    keys.emplace_back(bodies.find(node), morton_code(positions[i], low, cells_per_metre), node);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::int32_t> order;
  order.reserve(n);
  for (const auto& key : keys) order.push_back(std::get<2>(key));
  return order;
}

std::vector<std::int32_t> linked_order(std::size_t node_count, std::span<const Vec2i> links,
                                       std::int32_t domain_size) {
  std::vector<std::int32_t> order(node_count);
  std::iota(order.begin(), order.end(), 0);
  std::vector<Vec2i> present(links.begin(), links.end());
  std::size_t width = 1;  // nodes in a unit of this level
  for (std::size_t units = node_count; units > static_cast<std::size_t>(domain_size);) {
    std::vector<std::int32_t> grown = grow_groups(link_graph(units, present), domain_size);
    // The last unit may have fewer nodes: it stays last, so that all others begin at a multiple of the width.
    const auto last = std::ranges::find(grown, static_cast<std::int32_t>(units) - 1);
    std::rotate(last, last + 1, grown.end());
    std::vector<std::int32_t> sorted, group_of(units);
    sorted.reserve(node_count);
    for (std::size_t k = 0; k < units; ++k) {
      const auto unit = static_cast<std::size_t>(grown[k]);
      group_of[unit] = static_cast<std::int32_t>(k) / domain_size;
      const std::size_t end = std::min(node_count, (unit + 1) * width);
      sorted.insert(sorted.end(), order.begin() + static_cast<std::ptrdiff_t>(unit * width),
                    order.begin() + static_cast<std::ptrdiff_t>(end));
    }
    order = std::move(sorted);
    for (Vec2i& link : present)
      if (link[0] >= 0 && link[1] >= 0) link = {group_of[link[0]], group_of[link[1]]};
    units = (units + static_cast<std::size_t>(domain_size) - 1) / static_cast<std::size_t>(domain_size);
    width *= static_cast<std::size_t>(domain_size);
  }
  return order;
}

DomainPlan make_domain_plan(std::span<const std::int32_t> order, std::span<const Vec2i> pairs,
                            std::int32_t domain_size, int most_levels, std::span<const Vec2i> links) {
  DomainPlan plan;
  plan.domain_size = domain_size;
  plan.node_count = order.size();
  plan.level_begin = {0};
  plan.member_begin = {0};
  std::vector<std::int32_t> slot_of_node(order.size());
  for (std::size_t s = 0; s < order.size(); ++s) slot_of_node[order[s]] = static_cast<std::int32_t>(s);
  std::vector<std::vector<std::int32_t>> slots(order.size());
  add_level(plan, slots, slot_of_node);

  // Nodes that no pair couples, those of colliders say, join nothing: they do not tell what a level is worth.
  std::vector<bool> coupled(order.size(), false);
  for (const Vec2i& pair : pairs)
    if (pair[0] != pair[1]) coupled[pair[0]] = coupled[pair[1]] = true;
  const auto alone = static_cast<std::size_t>(std::count(coupled.begin(), coupled.end(), false));

  while (static_cast<int>(plan.levels()) < most_levels &&
         slots.size() - alone > static_cast<std::size_t>(domain_size)) {
    const std::size_t below = slots.size();
    slots = aggregate(plan, pairs, links);
    if (static_cast<double>(slots.size() - alone) > kWorthALevel * static_cast<double>(below - alone)) break;
    std::vector<std::int32_t> parent(static_cast<std::size_t>(plan.slot_count()));
    for (std::size_t s = 0; s < slots.size(); ++s)
      for (const std::int32_t member : slots[s])
        parent[member] = plan.slot_count() + static_cast<std::int32_t>(s);
    const std::size_t last = (plan.levels() - 1) * plan.node_count;
    for (std::size_t i = 0; i < plan.node_count; ++i) slot_of_node[i] = parent[plan.slot_of_node[last + i]];
    add_level(plan, slots, slot_of_node);
  }

  plan.source_begin.assign(static_cast<std::size_t>(plan.slot_count()) * domain_size + 1, 0);
  visit_sources(plan, pairs, [&](std::size_t block, std::uint32_t) { ++plan.source_begin[block + 1]; });
  std::partial_sum(plan.source_begin.begin(), plan.source_begin.end(), plan.source_begin.begin());
  plan.sources.resize(plan.source_begin.back());
  std::vector<std::int32_t> next(plan.source_begin.begin(), plan.source_begin.end() - 1);
  visit_sources(plan, pairs,
                [&](std::size_t block, std::uint32_t source) { plan.sources[next[block]++] = source; });
  return plan;
}

}  // namespace stickslip
