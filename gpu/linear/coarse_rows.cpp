#include "gpu/linear/coarse_rows.h"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::cpu {
namespace {

/// One row of A times the motions of the groups that it couples: t[q][r] = sum_j w A_ij(r, .) b_q(j), with
/// b(j) = (1, d_j).
struct RowTimesMotions {
  std::int32_t column = 0;  // a place in the group's list
  Lanes3 t[4][3] = {};
};

}  // namespace

// Blocks inside a chunk are stored once, others in the rows of both nodes. So the others, and the diagonal,
// count by half, and CoarseMatrix::add adds each sum and its transpose.
void CoarseRows::assemble(Context& ctx, const ChunkView& rows, const ChunkCouplings& couplings,
                          const MotionView& motions, CoarseMatrix& out) {
  const auto n = static_cast<std::size_t>(rows.node_count);
  group_.assign(n, -1);
  offset_.resize(n);
  first_.assign(motions.groups + 1, 0);
  for (std::size_t slot = 0; slot < n; ++slot) {
    const auto node = static_cast<std::size_t>(rows.node[slot]);
    if (node >= motions.nodes || motions.group[node] < 0) continue;
    group_[slot] = motions.group[node];
    offset_[slot] = to_lanes(motions.offset[node]);
    ++first_[group_[slot] + 1];
  }
  for (std::size_t g = 0; g < motions.groups; ++g) first_[g + 1] += first_[g];
  slot_.resize(static_cast<std::size_t>(first_.back()));
  std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t slot = 0; slot < n; ++slot)
    if (group_[slot] >= 0) slot_[next[group_[slot]]++] = static_cast<std::int32_t>(slot);

  group_rows_.resize(motions.groups);
  launch(
      ctx, motions.groups,
      [&](std::size_t g) {
        GroupRow& row = group_rows_[g];
        row.column.assign(1, static_cast<std::int32_t>(g));
        row.block.assign(1, Wide{});
        std::vector<RowTimesMotions> touched;
        for (std::int32_t k = first_[g]; k < first_[g + 1]; ++k) {
          const std::int32_t slot = slot_[k];
          touched.clear();
          const auto add = [&](std::int32_t other, const Mat3& block, Real weight) {
            const std::int32_t h = group_[other];
            if (h < 0) return;
            auto found = touched.begin();
            while (found != touched.end() && row.column[found->column] != h) ++found;
            if (found == touched.end()) {
              const auto place = std::ranges::find(row.column, h) - row.column.begin();
              if (place == static_cast<std::ptrdiff_t>(row.column.size())) {
                row.column.push_back(h);
                row.block.emplace_back();
              }
              touched.emplace_back().column = static_cast<std::int32_t>(place);
              found = touched.end() - 1;
            }
            const chunk_detail::LaneRows lanes(block);
            const Lanes3 d = offset_[other];
            for (int r = 0; r < 3; ++r) {
              const Lanes3 value = weight * lanes[r];
              found->t[0][r] += value;
              for (int q = 0; q < 3; ++q) found->t[q + 1][r] += d[q] * value;
            }
          };
          const std::int32_t first = slot - slot % rows.chunk_size;
          add(slot, rows.diagonal[rows.node[slot]], Real(0.5));
          for (std::int32_t e = rows.inner_begin[slot]; e < rows.inner_begin[slot + 1]; ++e)
            add(first + rows.column[e], rows.lower[e], Real(1));
          for (std::int32_t e = rows.outer_begin[slot]; e < rows.outer_begin[slot + 1]; ++e)
            add(rows.column[e], rows.lower[e], Real(0.5));
          if (couplings.range != nullptr)
            for (std::int32_t e = couplings.range[slot][0]; e < couplings.range[slot][1]; ++e)
              add(couplings.column[e], couplings.block[e], Real(0.5));
          const Lanes3 d = offset_[slot];
          for (const RowTimesMotions& times : touched) {
            Wide& block = row.block[times.column];
            for (int r = 0; r < 3; ++r)
              for (int q = 0; q < 4; ++q) {
                block.v[0][r][q] += times.t[q][r];
                for (int p = 0; p < 3; ++p) block.v[p + 1][r][q] += d[p] * times.t[q][r];
              }
          }
        }
      },
      Grain{1});

  pairs_.clear();
  for (std::size_t g = 0; g < motions.groups; ++g)
    for (const std::int32_t h : group_rows_[g].column)
      if (h != static_cast<std::int32_t>(g)) pairs_.push_back({static_cast<std::int32_t>(g), h});
  out.begin(static_cast<std::int32_t>(motions.groups), pairs_);
  for (std::size_t g = 0; g < motions.groups; ++g) {
    const GroupRow& row = group_rows_[g];
    for (std::size_t k = 0; k < row.column.size(); ++k) {
      CoarseBlock block;
      for (int p = 0; p < 4; ++p)
        for (int r = 0; r < 3; ++r)
          for (int q = 0; q < 4; ++q)
            for (int c = 0; c < 3; ++c) block(3 * p + r, 3 * q + c) = row.block[k].v[p][r][q][c];
      out.add(static_cast<std::int32_t>(g), row.column[k], block);
    }
  }
}

}  // namespace stickslip::cpu
