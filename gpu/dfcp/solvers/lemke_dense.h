// Lemke's method for small dense linear complementarity problems [Course 3.1.1; Cottle09 §4.4]. Host only.
#pragma once

#include <functional>
#include <vector>

namespace stickslip {

/// w = M z + q, w >= 0, z >= 0, w . z = 0. M need not be symmetric; its entries should be of the order of 1.
struct ComplementarityProblem {
  std::size_t n = 0;
  std::vector<double> m;  // row-major, n * n
  std::vector<double> q;
};

/// ray: the path ends in a ray; for a copositive M (M z . z >= 0 where z >= 0) there is then no z >= 0 with
/// M z + q >= 0. stopped: `stop` returned true, or there were too many pivots, or rounding errors led
/// the path back to where it was.
enum class LemkeEnd { solved, ray, stopped };

/// `z`: out, the solution, or the direction of the ray; unspecified if `stopped`. `pivots` counts on. Ties
/// are broken by the lexicographic rule, so that only rounding errors can lead the path back. Memory: 16 n^2
/// bytes; a pivot takes 4 n^2 operations. `stop` is asked about every 4 n operations, since a pivot may take
/// as long as a whole step may.
LemkeEnd solve_by_lemke(const ComplementarityProblem& problem, std::vector<double>& z, long& pivots,
                        const std::function<bool()>& stop);

/// The largest |min(z_i, w_i)|, zero exactly at a solution.
double complementarity_error(const ComplementarityProblem& problem, const std::vector<double>& z);

/// LU factors with partial pivoting of a dense matrix (row-major, n * n): 2/3 n^3 operations.
class DenseLu {
 public:
  /// `stop` is asked before each column. Once it returns true, the factors are left unfinished and are not
  /// regular.
  DenseLu(std::size_t n, std::vector<double> matrix, const std::function<bool()>& stop = {});
  bool regular() const { return regular_; }
  /// x := A^-1 x. Only where A is regular.
  void solve(double* x) const;

 private:
  std::size_t n_;
  std::vector<double> lu_;
  std::vector<std::size_t> row_;
  bool regular_ = true;
};

}  // namespace stickslip
