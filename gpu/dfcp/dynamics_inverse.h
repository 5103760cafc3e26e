// DynamicsInverse: A^-1 of a global contact problem. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/dfcp/contact_problem.h"
#include "gpu/linear/sparse_cholesky.h"

namespace stickslip {

/// A falls into connected parts (rigid bodies, meshes), and each is factorised by itself: small ones densely,
/// larger ones by sparse Cholesky, or densely up to kMostDenseDofs where the build has none.
class DynamicsInverse {
 public:
  static constexpr std::int32_t kSmallPart = 12;        // dofs of a rigid or an affine body
  static constexpr std::int32_t kMostDenseDofs = 2000;  // about a second

  /// Throws std::invalid_argument when A is not positive definite, or too large for a build without Eigen.
  explicit DynamicsInverse(const SparseRows& a);

  std::size_t part_count() const { return begin_.size() - 1; }
  std::int32_t part_of(std::int32_t dof) const { return part_[dof]; }
  /// Place of a dof in its part.
  std::int32_t place_of(std::int32_t dof) const { return place_[dof]; }
  std::int32_t size(std::size_t part) const { return begin_[part + 1] - begin_[part]; }

  /// x := A_part^-1 x for `columns` vectors of size(part), one after the other.
  void solve_part(std::size_t part, double* x, int columns) const;
  /// A^-1 b.
  std::vector<double> solve(const std::vector<double>& b) const;

 private:
  void find_parts(const SparseRows& a);
  void factorise_dense(const SparseRows& a, std::size_t part);
  void factorise_sparse(const SparseRows& a, std::size_t part);

  std::vector<std::int32_t> part_, place_;  // per dof
  std::vector<std::int32_t> begin_, dofs_;  // dofs of each part, ascending
  std::vector<std::int64_t> factor_begin_;  // per part, into `dense_`; -1 - i: sparse_[i]
  std::vector<double> dense_;               // lower triangles with inverted diagonals, row-major, n * n
  std::vector<SparseFactors> sparse_;
};

}  // namespace stickslip
