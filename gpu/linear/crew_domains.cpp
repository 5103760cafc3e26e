#include "gpu/linear/crew_domains.h"

#include <algorithm>
#include <numeric>

#include "gpu/linear/domain_rows.h"

namespace stickslip::cpu {
namespace {

constexpr int kRows = 3 * CrewDomains::kSize;

void put(DomainRows<kRows>& rows, int slot, const Lanes3& value) {
  for (int c = 0; c < 3; ++c) rows.v[3 * slot + c] = static_cast<float>(value[c]);
}

Lanes3 take(const DomainRows<kRows>& rows, int slot) {
  const float* v = rows.v + 3 * slot;
  return Lanes3{v[0], v[1], v[2], Real(0)};
}

}  // namespace

void CrewDomains::load(const ChunkView& rows, const Domains<kSize>& domains, const std::uint8_t* fixed) {
  rows_ = rows;
  domains_ = domains.view();
  const std::span<const std::int32_t> level = domains_.level_begin;
  row_.assign(static_cast<std::size_t>(level[1]), -1);
  for (std::int32_t node = 0; node < rows.node_count; ++node)
    row_[static_cast<std::size_t>(domains_.slot_of_node[node])] = rows.slot_of_node[node];
  // The members of a slot of level 1 are of one domain, and slots follow the order of these.
  first_above_.assign(static_cast<std::size_t>(level[1] / kSize) + 1, 0);
  first_above_[0] = level[1];
  for (std::int32_t s = level[1]; level.size() > 2 && s < level[2]; ++s) {
    const std::int32_t first = domains_.member_begin[s];
    if (first == domains_.member_begin[s + 1]) break;  // fills up the last domain
    ++first_above_[static_cast<std::size_t>(domains_.members[first] / kSize) + 1];
  }
  std::partial_sum(first_above_.begin(), first_above_.end(), first_above_.begin());
  std::vector<bool> moves(static_cast<std::size_t>(level.back() / kSize), false);
  for (std::size_t l = 0; l + 1 < level.size(); ++l)
    for (std::int32_t node = 0; node < rows.node_count; ++node)
      if (fixed[rows.slot_of_node[node]] == 0)
        moves[static_cast<std::size_t>(domains_.slot_of_node[l * static_cast<std::size_t>(rows.node_count) +
                                                             static_cast<std::size_t>(node)] /
                                       kSize)] = true;
  moving_.clear();
  for (std::size_t domain = 0; domain < moves.size(); ++domain)
    if (moves[domain]) moving_.push_back(static_cast<std::int32_t>(domain));
  moving_nodes_ = std::ranges::lower_bound(moving_, level[1] / kSize) - moving_.begin();
  find_parts();
  sum_.assign(static_cast<std::size_t>(level.back() - level[1]), Lanes3{});
  z_.assign(static_cast<std::size_t>(level.back()), Lanes3{});
}

/// Of each slot above level 0 its slots of level 1.
void CrewDomains::find_parts() {
  const std::span<const std::int32_t> level = domains_.level_begin;
  first_part_.assign(1, 0);
  part_.clear();
  for (std::int32_t s = level[1]; s < level.back(); ++s) {
    if (level.size() > 2 && s < level[2]) {
      part_.push_back(s - level[1]);
    } else {
      for (std::int32_t k = domains_.member_begin[s]; k < domains_.member_begin[s + 1]; ++k) {
        const std::int32_t member = domains_.members[k] - level[1];
        for (std::int32_t p = first_part_[member]; p < first_part_[member + 1]; ++p)
          part_.push_back(part_[p]);
      }
    }
    first_part_.push_back(static_cast<std::int32_t>(part_.size()));
  }
}

void CrewDomains::solve_nodes(std::int32_t domain, const Lanes3* r) {
  DomainRows<kRows> rows;
  const std::int32_t first = domain * kSize;
  for (int k = 0; k < kSize; ++k)
    if (row_[first + k] >= 0) put(rows, k, r[row_[first + k]]);
  apply_inverse(domains_.factors[domain], rows);
  for (int k = 0; k < kSize; ++k) z_[first + k] = take(rows, k);
  const std::int32_t level_1 = domains_.level_begin[1];
  for (std::int32_t s = first_above_[domain]; s < first_above_[domain + 1]; ++s) {
    Lanes3 sum{};
    for (std::int32_t k = domains_.member_begin[s]; k < domains_.member_begin[s + 1]; ++k)
      sum += r[row_[domains_.members[k]]];
    sum_[s - level_1] = sum;
  }
}

void CrewDomains::solve_sums(std::int32_t domain) {
  DomainRows<kRows> rows;
  const std::int32_t first = domain * kSize, first_sum = first - domains_.level_begin[1];
  for (int k = 0; k < kSize; ++k) {
    Lanes3 sum{};
    for (std::int32_t p = first_part_[first_sum + k]; p < first_part_[first_sum + k + 1]; ++p)
      sum += sum_[part_[p]];
    put(rows, k, sum);
  }
  apply_inverse(domains_.factors[domain], rows);
  for (int k = 0; k < kSize; ++k) z_[first + k] = take(rows, k);
}

void CrewDomains::solve(Arena& arena, const Lanes3* r) {
  arena.run_each(moving_nodes_, [&](std::size_t k) { solve_nodes(moving_[k], r); });
  arena.run_each(moving_.size() - moving_nodes_,
                 [&](std::size_t k) { solve_sums(moving_[moving_nodes_ + k]); });
}

Real CrewDomains::add(std::size_t chunk, const Lanes3* r, Lanes3* z, const std::uint8_t* fixed) const {
  const std::size_t levels = domains_.level_begin.size() - 1, n = static_cast<std::size_t>(rows_.node_count);
  Lanes3 rz{};
  const IndexRange slots = rows_.slots_of(chunk);
  for (std::size_t i = slots.begin; i < slots.end; ++i) {
    if (fixed[i] != 0) continue;
    const auto node = static_cast<std::size_t>(rows_.node[i]);
    Lanes3 total = z[i];
    for (std::size_t l = 0; l < levels; ++l)
      total += z_[static_cast<std::size_t>(domains_.slot_of_node[l * n + node])];
    z[i] = total;
    rz += r[i] * total;
  }
  return rz[0] + rz[1] + rz[2];
}

}  // namespace stickslip::cpu
