// Chains: the inverse, as factors, of a matrix restricted to chains of nodes, such as strands of rods.
#pragma once

#include <span>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip {

/// The matrix couples a node of a chain to the kChainReach nodes before and after it in the chain, and to no
/// other one of the chain, but for contacts and springs.
inline constexpr int kChainReach = 4;

/// A row of L D L': the entries of L left of the diagonal, the nearest last, and 1/d. T: one chain's numbers,
/// or those of several chains (Lanes).
template <class T>
struct ChainRow {
  static constexpr int width = 3 * kChainReach + 2;
  T l[width];
  T inverse_pivot;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The band of D + L + L' over each chain, factorised without fill-in by L D L'. Couplings of contacts are
/// left out; their diagonals are part of D, so the band stays positive definite. Couplings of springs beyond
/// kChainReach are left out, too; where that makes a pivot negative, the diagonal takes its place. A chain is
/// one sequential task: the parallel ones are the chains, and on processors the lanes of a pack of chains of
/// similar length, which take the same steps together. CG without a preconditioner like this takes
/// hundreds of iterations along a chain of hundreds of stiff segments; with it, and without contacts, one.
class Chains {
 public:
  /// `chains`: nodes in order, each at most in one chain. `entries`: those of the matrix (SplitMatrix).
  void set_plan(Context& ctx, std::span<const std::vector<std::int32_t>> chains,
                std::span<const Vec2i> entries, std::size_t node_count);
  bool has_plan() const { return pack_count_ > 0; }
  /// Gives the memory back.
  void forget_plan() { *this = {}; }
  /// Whether the band has all couplings of nodes of chains, but for those of contacts: it is then their part
  /// of the matrix, and no other node is coupled to them.
  bool is_exact() const { return has_plan() && !leaves_out_; }
  /// Whether the matrix couples nodes of no chain.
  bool has_others() const { return has_others_; }

  /// Of the matrix as it is now; `fixed` may be null.
  void build(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed);
  /// z() = inverse times r; nothing while *skip is not zero. r is zero at fixed nodes.
  void solve(Context& ctx, const Vec3* r, const std::int32_t* skip);

  /// By node; zero at nodes of no chain.
  const Vec3* z() const { return z_.data(); }
  /// 1 at nodes of a chain.
  const std::uint8_t* is_member() const { return is_member_.data(); }

 private:
  /// Chains by length in packs of `lanes`; the slots of a pack are as many as its longest chain has nodes.
  void arrange(std::span<const std::vector<std::int32_t>> chains, int lanes);

  std::size_t pack_count_ = 0;
  int lanes_ = 1;
  bool leaves_out_ = false, has_others_ = false;
  std::vector<std::int32_t> begin_, node_of_;  // those below, on the host
  Buffer<std::int32_t> pack_begin_;            // one more than packs, into the slots
  Buffer<std::int32_t> node_;                  // by slot and lane; -1: that chain is shorter
  /// By slot and lane, of the blocks of its row with the slots 1, 2, ... before it: twice the entry of the
  /// matrix, plus 1 if that is the transpose; -1: none.
  Buffer<Vec4i> sources_;
  Buffer<Real> rows_;  // three ChainRow per slot
  Buffer<std::uint8_t> is_member_;
  Buffer<Real> y_;  // by row and lane
  Buffer<Vec3> z_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
