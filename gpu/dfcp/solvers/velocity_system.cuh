// VelocitySystem: the systems (I + C W) d = b of a W that is given by bodies, solved in the velocities of the
// bodies.
#pragma once

#include <vector>

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/dfcp/solvers/block_lu.h"

namespace stickslip::STICKSLIP_BACKEND {

/// With W = H A^-1 H' + E and T = I + C E,
///   (I + A^-1 H' T^-1 C H) v = A^-1 H' T^-1 b,   d = T^-1 (b - C H v),
/// a matrix with a row of blocks per body, whatever the number of contacts, and regular where W is not. It is
/// factorised on the host.
template <int D>
class VelocitySystem {
 public:
  /// `W` is borrowed, and factored.
  VelocitySystem(Context& ctx, const Delassus<D>& W);

  /// Block operations of a factorisation; infinite where it would need too much memory.
  double work() const;

  /// False when the matrix is singular, or d not finite. `c`: C by blocks. Backend memory; b and d may be the
  /// same.
  bool solve(const Mat<double, D>* c, const Vec<double, D>* b, Vec<double, D>* d);

 private:
  template <int N>
  void analyse(BlockLu<N>& lu);
  template <int N>
  bool solve_with(BlockLu<N>& lu);
  template <int N>
  void assemble(std::vector<Mat<double, N>>& values) const;
  std::size_t entry_begin(std::size_t c) const { return static_cast<std::size_t>(start_[c]); }
  std::size_t entry_end(std::size_t c) const { return static_cast<std::size_t>(start_[c + 1]); }

  Context& ctx_;
  std::size_t blocks_, bodies_;
  int dofs_;
  std::vector<std::int32_t> start_, body_;   // entries of blocks, on bodies that move
  std::vector<double> jacobian_, response_;  // of the entries: H (D x dofs), A^-1 H' (dofs x D)
  std::vector<Vec<double, D>> compliance_;
  std::vector<std::int32_t> pattern_start_, pattern_column_;  // of the matrix
  std::vector<std::int32_t> place_;  // in it, of each pair of entries of a block, and of each diagonal block
  std::vector<std::int32_t> diagonal_;
  BlockLu<6> six_;  // the one that bodies of dofs_ need
  BlockLu<3> three_;
  std::vector<Mat<double, D>> c_;  // T^-1 C
  std::vector<Vec<double, D>> b_;  // T^-1 b, then d
  std::vector<Mat<double, 6>> six_values_;
  std::vector<Mat<double, 3>> three_values_;
};

extern template class VelocitySystem<3>;
extern template class VelocitySystem<4>;

}  // namespace stickslip::STICKSLIP_BACKEND
