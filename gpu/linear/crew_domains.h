// Solves with the levels of Domains for the loops of CrewPcg. CPU backend only.
#pragma once

#include <vector>

#include "gpu/core/arena.h"
#include "gpu/linear/chunk_rows.h"
#include "gpu/linear/domains.cuh"

namespace stickslip::cpu {

/// Two phases before what all levels give is added up: the domains of nodes, then those of all other levels.
class CrewDomains {
 public:
  static constexpr int kSize = 16;

  /// `domains` must outlive this object or the next call. `fixed`: per row.
  void load(const ChunkView& rows, const Domains<kSize>& domains, const std::uint8_t* fixed);
  /// Solves all domains for r.
  void solve(Arena& arena, const Lanes3* r);
  /// Adds the solutions to z at nodes that move, after `solve`; returns the chunk's r'z.
  Real add(std::size_t chunk, const Lanes3* r, Lanes3* z, const std::uint8_t* fixed) const;

 private:
  void find_parts();
  void solve_nodes(std::int32_t domain, const Lanes3* r);
  void solve_sums(std::int32_t domain);

  ChunkView rows_{};
  DomainsView<kSize> domains_{};
  std::vector<std::int32_t> row_;                // per slot of level 0: that of the matrix, or -1
  std::vector<std::int32_t> first_above_;        // per domain of level 0 and one more: its slots of level 1
  std::vector<std::int32_t> first_part_, part_;  // of each slot above level 0 its slots of level 1
  std::vector<std::int32_t> moving_;             // domains with nodes that move, ascending
  std::size_t moving_nodes_ = 0;                 // those of level 0
  std::vector<Lanes3> sum_, z_;                  // the sums of r per slot of level 1; per slot
};

}  // namespace stickslip::cpu
