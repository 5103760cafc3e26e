// Solves with PanelFactors for the loops of CrewPcg. CPU backend only.
#pragma once

#include <vector>

#include "gpu/core/arena.h"
#include "gpu/linear/chunk_rows.h"
#include "gpu/linear/panel_factors.cuh"

namespace stickslip::cpu {

class CrewFactors {
 public:
  /// `factors` must outlive this object or the next call. `threads`: of the arena.
  void load(const ChunkView& rows, PanelFactors& factors, int threads);
  /// z_i += (L L')^-1 r at slots of members that move.
  void add(Arena& arena, const Lanes3* r, Lanes3* z, const std::uint8_t* fixed) const;

 private:
  PanelSolves solves_{};
  const std::int32_t *sequence_ = nullptr, *task_begin_ = nullptr;
  std::vector<std::int32_t> slot_;                             // per column
  std::vector<std::vector<std::vector<std::int32_t>>> tasks_;  // per stage and thread
};

}  // namespace stickslip::cpu
