// Pivoting methods for small dense linear complementarity problems with bounds [Course §3.1]. Host only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace stickslip {

/// v = A x + b, lower <= x <= upper; v_i = 0 strictly between the bounds, v_i >= 0 at the lower one, v_i <= 0
/// at the upper one. A is symmetric positive definite, so there is one solution.
struct BoundedProblem {
  std::size_t n = 0;
  std::vector<double> a;  // row-major, n * n
  std::vector<double> b, lower, upper;

  double entry(std::size_t i, std::size_t j) const { return a[i * n + j]; }
};

/// Cholesky factor of the rows and columns F of a matrix; F changes row by row.
class PrincipalFactor {
 public:
  explicit PrincipalFactor(const BoundedProblem& problem);

  std::span<const std::int32_t> rows() const { return rows_; }
  /// Factorises A_FF from scratch: |F|^3 / 3. False when it is not positive definite, or `stop` returned
  /// true; then F is empty.
  bool assign(std::vector<std::int32_t> rows, const std::function<bool()>& stop = {});
  /// Appends one row: |F|^2. False, without a change, when A_FF would not be positive definite.
  bool append(std::int32_t row);
  /// Removes one row: |F|^2.
  void remove(std::int32_t row);
  /// x := A_FF^-1 x, in the order of rows().
  void solve(std::span<double> x) const;

 private:
  double* line(std::size_t k) { return factor_.data() + k * stride_; }
  const double* line(std::size_t k) const { return factor_.data() + k * stride_; }

  const BoundedProblem& problem_;
  std::size_t stride_;
  std::vector<std::int32_t> rows_;
  std::vector<double> factor_, scratch_;  // lower triangle by rows
};

/// The set of a row; `waiting`: not processed yet, x_i fixed at its value.
enum class PivotSet : std::int8_t { waiting, lower, free, upper };

/// Both methods continue from the sets and x of their last call.
class PivotMethod {
 public:
  explicit PivotMethod(const BoundedProblem& problem);

  /// To be called when the matrix has changed: the next solve factorises anew.
  void forget_factor() { factor_.assign({}); }

  /// True: solved. False: `stop()` returned true, or the limit on steps was reached (possible only through
  /// rounding). Incremental: one row at a time, the most violated first, is driven until it is feasible while
  /// the earlier rows stay feasible [Course Alg.3; Baraff94], with both bounds.
  bool solve_incremental(std::vector<double>& x, const std::function<bool()>& stop);
  /// All infeasible rows change sets at once. When that does not help for some rounds, only the one of least
  /// index changes until it does, which guarantees termination [Course Alg.4; Murty74; Judice94].
  bool solve_block(std::vector<double>& x, const std::function<bool()>& stop);

  /// Steps of all calls: pivots (incremental), rounds (block).
  long steps() const { return steps_; }
  std::span<const PivotSet> sets() const { return set_; }

 private:
  struct Block {  // the row that ends a step of the incremental method
    double length;
    std::int32_t row;
    bool at_rest;  // the driven row itself, because its velocity reaches zero
  };

  void take_over(std::vector<double>& x);
  void solve_free(std::vector<double>& x);
  void update_velocities(const std::vector<double>& x);
  std::int32_t most_violated(const std::vector<double>& x, int& direction) const;
  bool drive(std::int32_t row, int direction, std::vector<double>& x, long limit,
             const std::function<bool()>& stop);
  void find_direction(std::int32_t row, int direction);
  Block first_block(std::int32_t row, int direction, const std::vector<double>& x) const;
  bool disobeys(std::size_t i, const std::vector<double>& x) const;
  void change_set(std::size_t i, const std::vector<double>& x);
  bool refactor(const std::function<bool()>& stop);

  const BoundedProblem& p_;
  PrincipalFactor factor_;
  std::vector<PivotSet> set_;
  std::vector<double> v_, dx_, dv_, right_;
  double tolerance_ = 0;  // tolerance on v
  long steps_ = 0;
};

}  // namespace stickslip
