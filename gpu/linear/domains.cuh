// Domains: the inverses, as factors, of a matrix restricted to small domains, level by level: additive
// Schwarz.
#pragma once

#include <span>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/linear/domain_plan.h"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// A^-1 = W' diag(inverse_pivot) W with W unit lower triangular. Single precision is enough to precondition,
/// and the product is positive definite whatever rounding does to W. Processors multiply in single precision,
/// too, so there it is symmetric to that precision only.
template <int N>
struct InverseFactors {
  static constexpr int kTile = 8, kPadded = (N + kTile - 1) / kTile * kTile;
  static constexpr int kValues = (kPadded + kTile) * kPadded / 2;

  float inverse_pivot[kPadded];  // zero from row N on
  /// W below the diagonal, column by column, from the first row of the column's tile of `kTile` rows on; zero
  /// on and above the diagonal, and from row N on. So a processor works on whole vectors.
  float w[kValues];

  SS_HD static constexpr int first_row(int column) { return column / kTile * kTile; }
  SS_HD static constexpr int place(int row, int column) {
    const int first = first_row(column);
    return first * kPadded - first * (first - kTile) / 2 + (column - first) * (kPadded - first) + row - first;
  }
};

/// The parts of Domains that a solve reads. Backend memory, but for `level_begin`.
template <int Size>
struct DomainsView {
  std::span<const std::int32_t> level_begin;                  // first slot per level, and one more
  const std::int32_t *slot_of_node, *member_begin, *members;  // see DomainPlan
  const InverseFactors<3 * Size>* factors;
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

  DomainsView<Size> view() const {
    return {level_begin_, slot_of_node_.data(), member_begin_.data(), members_.data(), factors_.data()};
  }
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
