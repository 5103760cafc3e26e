// Sparse LU of matrices of D x D blocks on the host: Newton matrices of contact problems, in impulses (B W +
// A with diagonal A, B) or in the velocities of bodies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gpu/math/mat.h"

namespace stickslip {

/// Pivots are sought within diagonal blocks only, so the diagonal blocks must be well conditioned. `solve`
/// refines once. Not thread safe.
template <int D>
class BlockLu {
 public:
  BlockLu();
  ~BlockLu();
  BlockLu(BlockLu&&) noexcept;
  BlockLu& operator=(BlockLu&&) noexcept;

  /// Takes the pattern (blocks of row c are column[start[c] .. start[c+1]), the diagonal one among them; need
  /// not be symmetric), finds an order of little fill and allocates.
  void analyse(std::span<const std::int32_t> start, std::span<const std::int32_t> column);
  /// Block operations of one factorisation, 2 D^3 flops each; `auto` compares costs with it. Call after
  /// `analyse`. Infinite when the fill would take more than 10 GB; `factorise` then returns false.
  double work() const;

  /// Factorises the matrix with these blocks, in the pattern's order. False when a diagonal block is
  /// singular.
  bool factorise(std::span<const Mat<double, D>> values);
  /// x = A^-1 b, with one step of iterative refinement. b and x may be the same.
  void solve(const Vec<double, D>* b, Vec<double, D>* x);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class BlockLu<3>;
extern template class BlockLu<4>;
extern template class BlockLu<6>;
extern template class BlockLu<5>;

}  // namespace stickslip
