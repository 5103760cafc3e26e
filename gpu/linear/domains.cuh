// Domains: the inverses, as factors, of a matrix restricted to small domains, level by level: additive
// Schwarz.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/linear/domain_plan.h"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// A^-1 = W' diag(inverse_pivot) W with W unit lower triangular. Single precision is enough to precondition,
/// and the product stays positive definite whatever rounding does to W.
template <int N>
struct InverseFactors {
  float inverse_pivot[N];
  float w[N * (N - 1) / 2];  // below the diagonal, column by column

  SS_HD static constexpr int place(int row, int column) {
    return column * (2 * N - column - 1) / 2 + row - column - 1;
  }
};

/// With R_l r = the sums of r over the slots of level l (on level 0, the nodes) and A_l = R_l A R_l', keeps
/// the inverses of the diagonal blocks of A_l that belong to domains of `Size` slots. Nodes that do not move
/// count as absent. Instantiated for 3, 9 and 16.
template <int Size>
class Domains {
 public:
  static constexpr int kRows = 3 * Size;

  void set_plan(Context& ctx, const DomainPlan& plan);
  bool has_plan() const { return slot_count_ > 0; }
  /// Gives the memory back.
  void forget_plan() { *this = {}; }
  /// Of the matrix as it is now; `fixed` may be null.
  void build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed);
  /// z() = inverses times R r, for all levels; nothing while *skip (may be null) is not zero.
  void solve(Context& ctx, const Vec3* r, const std::int32_t* skip);

  int levels() const { return static_cast<int>(level_begin_.size()) - 1; }
  /// By slot; what node i gets of level l stands at slot_of_node()[l * nodes + i].
  const Vec3* z() const { return z_.data(); }
  const std::int32_t* slot_of_node() const { return slot_of_node_.data(); }

 private:
  /// Sorts the couplings of stencils by the block of a domain that they add to.
  void sort_stencils(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed);
  /// Inverts the domains' blocks of the matrix, after `sort_stencils`.
  void factorise(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed);

  std::size_t node_count_ = 0, slot_count_ = 0;
  std::vector<std::int32_t> level_begin_;
  Buffer<std::int32_t> slot_of_node_, member_begin_, members_, source_begin_;
  Buffer<std::uint32_t> sources_;
  Buffer<InverseFactors<kRows>> factors_;  // by domain
  Buffer<Vec3> r_, z_;
  NodeGather stencil_gather_;  // its "nodes" are blocks, numbered as in DomainPlan
  Buffer<Vec4i> stencil_blocks_;
};

extern template class Domains<3>;
extern template class Domains<9>;
extern template class Domains<16>;

}  // namespace stickslip::STICKSLIP_BACKEND
