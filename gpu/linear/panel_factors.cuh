// PanelFactors: sparse Cholesky factors of the part of a matrix that belongs to some nodes.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/index_range.h"
#include "gpu/linear/panel_solves.h"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// L L' = D + L_A + L_A' over the members, couplings of contacts left out; their diagonals are part of D, so
/// the product stays positive definite. The factors are exact where no contacts couple members. The order of
/// all sums is that of the plan, whatever the number of threads.
class PanelFactors {
 public:
  /// `is_member`: per node. `entries`: those of the matrix (SplitMatrix). Without effect, so that has_plan()
  /// stays false, if the factors would take more than `most_values` scalars.
  void set_plan(Context& ctx, std::span<const std::uint8_t> is_member, std::span<const Vec2i> entries,
                std::int64_t most_values);
  bool has_plan() const { return columns_ > 0; }
  /// Gives the memory back.
  void forget_plan() { *this = {}; }
  /// Of a solve: twice the scalars of L. Of `build`: see FactorPlan.
  double solve_multiplications() const { return 2 * static_cast<double>(values_.size()); }
  double build_multiplications() const { return multiplications_; }

  /// Of the matrix as it is now; members with fixed[i] != 0 (may be null) count as absent.
  void build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed);
  /// z() = inverse times r; nothing while *skip is not zero. r is zero at fixed nodes.
  void solve(Context& ctx, const Vec3* r, const std::int32_t* skip);

  /// What `solve` does, and in which order: see FactorPlan. In backend memory.
  PanelSolves view();
  std::span<const std::int32_t> stage_begin() const { return stage_begin_; }
  const std::int32_t* sequence() const { return sequence_.data(); }
  const std::int32_t* task_begin() const { return task_begin_.data(); }
  const std::int32_t* nodes() const { return node_.data(); }
  std::size_t columns() const { return columns_; }

  /// By node; zero at others than members.
  const Vec3* z() const { return z_.data(); }
  const std::uint8_t* is_member() const { return is_member_.data(); }

 private:
  IndexRange tasks_of(std::size_t stage) const {
    return {static_cast<std::size_t>(stage_begin_[stage]), static_cast<std::size_t>(stage_begin_[stage + 1])};
  }

  std::size_t columns_ = 0;
  double multiplications_ = 0;
  std::vector<std::int32_t> stage_begin_;
  std::vector<std::vector<IndexRange>> lone_runs_;  // of a stage: ranges of `sequence`, if it has one task
  Buffer<std::int32_t> node_, rows_, places_, sequence_, task_begin_;
  Buffer<FactorPanel> panels_;
  Buffer<FactorEntry> entries_;
  Buffer<FactorUpdate> updates_;
  Buffer<std::uint8_t> is_member_;
  Buffer<float> values_;    // of L, with the inverses of its diagonal in place of the diagonal
  Buffer<float> solution_;  // per scalar column
  Buffer<float> work_;      // per panel a vector of its rows
  Buffer<Vec3> z_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
