// The coarse matrix Z'A Z from the rows of A by chunks. CPU backend only.
#pragma once

#include <vector>

#include "gpu/linear/chunk_rows.h"
#include "gpu/linear/coarse_matrix.h"
#include "gpu/linear/motion_space.cuh"

namespace stickslip::cpu {

class CoarseRows {
 public:
  /// Sets `out` to Z'A Z, not yet factorised.
  void assemble(Context& ctx, const ChunkView& rows, const ChunkCouplings& couplings,
                const MotionView& motions, CoarseMatrix& out);

 private:
  /// What the rows of one group add to its blocks: [p][r][q] is the row 3 p + r, columns 3 q to 3 q + 2.
  struct Wide {
    Lanes3 v[4][3][4] = {};
  };
  struct GroupRow {
    std::vector<std::int32_t> column;
    std::vector<Wide> block;
  };

  std::vector<std::int32_t> first_, slot_;  // slots by group
  std::vector<std::int32_t> group_;         // per slot; -1 for none
  std::vector<Lanes3> offset_;              // per slot
  std::vector<GroupRow> group_rows_;
  std::vector<Vec2i> pairs_;
};

}  // namespace stickslip::cpu
