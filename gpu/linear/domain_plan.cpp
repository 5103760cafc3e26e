#include "gpu/linear/domain_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

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
std::vector<std::vector<std::int32_t>> aggregate(const DomainPlan& plan, std::span<const Vec2i> pairs) {
  const std::size_t level = plan.levels() - 1;
  const std::int32_t* slot = plan.slot_of_node.data() + level * plan.node_count;
  Sets sets(static_cast<std::size_t>(plan.slot_count()));
  for (const Vec2i& pair : pairs)
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

DomainPlan make_domain_plan(std::span<const std::int32_t> order, std::span<const Vec2i> pairs,
                            std::int32_t domain_size, int most_levels) {
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
    slots = aggregate(plan, pairs);
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
