// DynamicsInverse: A^-1 of a global contact problem. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/linear/sparse_cholesky.h"

namespace stickslip {

/// How A^-1 is applied to a vector.
struct InverseOptions {
  /// Relative residual that ends conjugate gradients in parts of more than DynamicsInverse::kSmallPart dofs;
  /// 0: factors.
  double pcg_tolerance = 0;
};

/// What conjugate gradients took: systems of connected parts, and iterations in all of them.
struct InverseReport {
  long solves = 0, iterations = 0;

  InverseReport& operator+=(const InverseReport& further) {
    solves += further.solves;
    iterations += further.iterations;
    return *this;
  }
};

/// A splits into connected parts (rigid bodies, meshes), each factorised separately: small ones
/// densely, larger ones sparsely, or densely up to kMostDenseDofs where the build has no sparse
/// factorisation. A part that is symmetric up to rounding takes the Cholesky factorisation of its lower
/// triangle, any other part LU. With a pcg_tolerance larger parts are not factorised, and must be symmetric:
/// a solve is conjugate gradients from zero, preconditioned by the inverses of the diagonal blocks of three
/// dofs, in place of a pair of solves with factors.
class DynamicsInverse {
 public:
  static constexpr double kSymmetric = 1e-12;           // |A_ij - A_ji| / sqrt(A_ii A_jj): rounding
  static constexpr std::int32_t kSmallPart = 12;        // dofs of a rigid or an affine body
  static constexpr std::int32_t kMostDenseDofs = 2000;  // about a second

  /// Throws std::invalid_argument when A or its symmetric part is not positive definite, or A is too large
  /// for a build without Eigen.
  explicit DynamicsInverse(const SparseRows& a, const InverseOptions& options = {});

  std::size_t part_count() const { return begin_.size() - 1; }
  std::int32_t part_of(std::int32_t dof) const { return part_[dof]; }
  /// Index of a dof within its part.
  std::int32_t place_of(std::int32_t dof) const { return place_[dof]; }
  std::int32_t size(std::size_t part) const { return begin_[part + 1] - begin_[part]; }
  /// True when every part is symmetric.
  bool symmetric() const { return pivots_.empty(); }

  /// Of all solves so far.
  const InverseReport& report() const { return report_; }

  /// x := A_part^-1 x for `columns` vectors of size(part), one after the other.
  void solve_part(std::size_t part, double* x, int columns) const;
  /// A^-1 b.
  std::vector<double> solve(const std::vector<double>& b) const;

 private:
  void find_parts(const SparseRows& a);
  void find_general_parts(const SparseRows& a);
  SparseRows part_rows(const SparseRows& a, std::size_t part) const;
  void factorise_dense(const SparseRows& a, std::size_t part);
  void factorise_sparse(const SparseRows& a, std::size_t part);
  void keep_for_pcg(const SparseRows& a, std::size_t part);
  [[noreturn]] void refuse(std::size_t part) const;

  std::vector<std::int32_t> part_, place_;  // per dof
  std::vector<std::int32_t> begin_, dofs_;  // dofs of each part, ascending
  std::vector<std::uint8_t> general_;       // per part: 1 if it is not symmetric
  std::vector<std::int64_t> factor_begin_;  // per part, into `dense_`; -1 - i: [i] of the sparse ones
  // Cholesky: lower triangles with inverted diagonals. LU: both factors, diagonals of U
  // inverted. Row-major, n * n.
  std::vector<double> dense_;
  std::vector<std::int32_t> pivots_;  // of dense L U: the row that step k swaps with k, at begin_[part] + k
  std::vector<SparseFactors> sparse_;
  std::vector<GeneralFactors> sparse_general_;

  /// A part for conjugate gradients: its rows, and the inverses of its diagonal blocks.
  struct PcgPart {
    SparseRows rows;
    std::vector<double> inverse_blocks;  // 3 x 3 per three dofs; of a last, smaller block the unused are zero
  };
  void solve_by_pcg(std::size_t part, const PcgPart& of, double* x) const;
  double pcg_tolerance_;
  std::vector<std::int32_t> pcg_place_;  // per part: into pcg_, -1: factorised
  std::vector<PcgPart> pcg_;
  mutable InverseReport report_;
};

/// to_local with A^-1 of these options. `report`: null, or what it took.
ContactProblem to_local(const ContactProblem& problem, const InverseOptions& options,
                        InverseReport* report = nullptr);

}  // namespace stickslip
