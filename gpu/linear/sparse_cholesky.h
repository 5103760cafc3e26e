// Sparse factorisations on the host, in builds with Eigen: for reference, and for contact problems.
#pragma once

#include <memory>
#include <span>

#include "gpu/linear/host_blocks.h"

namespace stickslip {

/// Beyond this, fill-in takes gigabytes and minutes per solve.
inline constexpr std::size_t kMostCholeskyNodes = 50000;

/// Whether this build has it.
bool has_cholesky();

/// Solves A x = b for the nodes with fixed[i] == 0; the others get zero (`fixed` may be empty). Throws
/// SimulationError when this build has no Eigen, there are more than kMostCholeskyNodes nodes, or A is not
/// positive definite.
std::vector<Vec3> solve_cholesky(const HostBlocks& a, std::span<const Vec3> b,
                                 std::span<const std::uint8_t> fixed);

/// A symmetric matrix in compressed rows: `offsets` one longer than the rows; both triangles or the lower
/// one.
struct SymmetricRows {
  std::span<const std::int32_t> offsets, indices;
  std::span<const double> values;
};

/// L D L' of a positive definite matrix, to be solved with again and again. Only the lower triangle is read.
class SparseFactors {
 public:
  SparseFactors();
  ~SparseFactors();
  SparseFactors(SparseFactors&&) noexcept;
  SparseFactors& operator=(SparseFactors&&) noexcept;

  /// False when the matrix is not positive definite; then there is nothing to solve with. Throws
  /// SimulationError when this build has no Eigen.
  bool factorise(const SymmetricRows& a);
  /// x := A^-1 x for each of `columns` vectors, one after the other in memory.
  void solve(double* x, int columns) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A square matrix in compressed rows, columns ascending.
struct GeneralRows {
  std::span<const std::int32_t> offsets, indices;
  std::span<const double> values;
};

/// L U with partial pivoting of a matrix that need not be symmetric, to be solved with again and again.
class GeneralFactors {
 public:
  GeneralFactors();
  ~GeneralFactors();
  GeneralFactors(GeneralFactors&&) noexcept;
  GeneralFactors& operator=(GeneralFactors&&) noexcept;

  /// False when the matrix is singular; then there is nothing to solve with. Throws SimulationError when this
  /// build has no Eigen.
  bool factorise(const GeneralRows& a);
  /// x := A^-1 x for each of `columns` vectors, one after the other in memory.
  void solve(double* x, int columns) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stickslip
