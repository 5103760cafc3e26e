#include "gpu/dfcp/solvers/lemke_dense.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_set>

namespace stickslip {
namespace {

/// The equations w - M z - z0 = q, solved for the basic variables. Columns: w, z, z0, right side. A large
/// tableau fills the caches: `stop` is asked for every row, and once it is true the tableau is unfinished.
class LemkeTableau {
 public:
  LemkeTableau(const ComplementarityProblem& p, const std::function<bool()>& stop)
      : n_(p.n), columns_(2 * p.n + 2), basic_(p.n), stop_(stop) {
    entry_.reserve(n_ * columns_);
    for (std::size_t i = 0; i < n_; ++i) {
      if (stopped()) return;
      entry_.resize(entry_.size() + columns_, 0.0);
      double* row = line(i);
      row[i] = 1;
      for (std::size_t j = 0; j < n_; ++j) row[n_ + j] = -p.m[i * n_ + j];
      row[artificial()] = -1;
      row[right()] = p.q[i];
    }
    std::iota(basic_.begin(), basic_.end(), 0);
  }

  bool is_stopped() const { return stopped_; }
  std::size_t artificial() const { return 2 * n_; }
  std::size_t complement(std::size_t variable) const { return variable < n_ ? variable + n_ : variable - n_; }
  std::size_t basic(std::size_t row) const { return basic_[row]; }
  double value(std::size_t row) const { return line(row)[right()]; }

  /// The row whose right side is the least, for the first pivot.
  std::size_t most_negative() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n_; ++i)
      if (precedes(i, best, [](std::size_t) { return 1.0; })) best = i;
    return best;
  }

  /// The row whose basic variable reaches zero first as `entering` grows; that of z0 if it is among them. n:
  /// none does.
  std::size_t blocking_row(std::size_t entering) const {
    constexpr double kLeastPivot = 1e-10;
    const auto pivot = [&](std::size_t i) { return line(i)[entering]; };
    std::size_t best = n_;
    for (std::size_t i = 0; i < n_; ++i)
      if (pivot(i) > kLeastPivot && (best == n_ || precedes(i, best, pivot))) best = i;
    if (best == n_) return best;
    const double ratio = value(best) / pivot(best);
    for (std::size_t i = 0; i < n_; ++i)
      if (basic_[i] == artificial() && pivot(i) > kLeastPivot && value(i) / pivot(i) <= ratio + tie(ratio))
        return i;
    return best;
  }

  /// What the basic variable of a row loses as `entering` grows by 1.
  double loss(std::size_t row, std::size_t entering) const { return line(row)[entering]; }

  /// Makes `entering` basic in `row`; returns the variable that leaves.
  std::size_t pivot(std::size_t row, std::size_t entering) {
    double* pivot_row = line(row);
    const double inverse = 1 / pivot_row[entering];
    for (std::size_t j = 0; j < columns_; ++j) pivot_row[j] *= inverse;
    pivot_row[entering] = 1;
    for (std::size_t i = 0; i < n_; ++i) {
      double* other = line(i);
      const double factor = other[entering];
      if (i == row || factor == 0) continue;
      if (stopped()) break;
      for (std::size_t j = 0; j < columns_; ++j) other[j] -= factor * pivot_row[j];
      other[entering] = 0;
    }
    std::swap(basic_[row], entering);
    return entering;
  }

 private:
  bool stopped() { return stopped_ = stopped_ || stop_(); }
  static double tie(double ratio) { return 1e-12 * (1 + std::fabs(ratio)); }
  std::size_t right() const { return 2 * n_ + 1; }
  double* line(std::size_t row) { return entry_.data() + row * columns_; }
  const double* line(std::size_t row) const { return entry_.data() + row * columns_; }

  /// Lexicographic order of (right side, columns of w) / pivot.
  template <class Pivot>
  bool precedes(std::size_t a, std::size_t b, const Pivot& pivot) const {
    const double *x = line(a), *y = line(b), over_x = 1 / pivot(a), over_y = 1 / pivot(b);
    const double first = x[right()] * over_x, second = y[right()] * over_y;
    if (std::fabs(first - second) > tie(first)) return first < second;
    for (std::size_t j = 0; j < n_; ++j) {
      const double p = x[j] * over_x, q = y[j] * over_y;
      if (std::fabs(p - q) > tie(p)) return p < q;
    }
    return false;
  }

  std::size_t n_, columns_;
  std::vector<double> entry_;
  std::vector<std::size_t> basic_;
  const std::function<bool()>& stop_;
  bool stopped_ = false;
};

/// The sets of basic variables on a path, as sums of random numbers. Without rounding errors none comes
/// twice.
class PathMemory {
 public:
  /// False where the path was before.
  bool is_new(std::size_t entering, std::size_t left) {
    sum_ += number_of(entering) - number_of(left);
    return seen_.insert(sum_).second;
  }

 private:
  /// The output function of splitmix64.
  static std::uint64_t number_of(std::size_t variable) {
    std::uint64_t x = (variable + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }

  std::uint64_t sum_ = 0;
  std::unordered_set<std::uint64_t> seen_{0};
};

std::vector<double> velocities_of(const ComplementarityProblem& p, const std::vector<double>& z) {
  std::vector<double> w(p.q);
  for (std::size_t i = 0; i < p.n; ++i)
    w[i] = std::inner_product(z.begin(), z.end(), p.m.begin() + static_cast<std::ptrdiff_t>(i * p.n), w[i]);
  return w;
}

/// Solves M_FF z_F = -q_F anew, F where z is basic: pivots leave rounding errors. Keeps the more precise one;
/// z as it is once `stop` returns true.
void polish(const ComplementarityProblem& p, const std::vector<std::size_t>& free, std::vector<double>& z,
            const std::function<bool()>& stop) {
  const std::size_t k = free.size();
  std::vector<double> a(k * k), x(k);
  for (std::size_t i = 0; i < k; ++i) {
    x[i] = -p.q[free[i]];
    for (std::size_t j = 0; j < k; ++j) a[i * k + j] = p.m[free[i] * p.n + free[j]];
  }
  const DenseLu lu(k, std::move(a), stop);
  if (!lu.regular()) return;
  lu.solve(x.data());
  std::vector<double> better(p.n, 0.0);
  for (std::size_t i = 0; i < k; ++i) better[free[i]] = std::max(x[i], 0.0);
  if (complementarity_error(p, better) < complementarity_error(p, z)) z = std::move(better);
}

}  // namespace

DenseLu::DenseLu(std::size_t n, std::vector<double> matrix, const std::function<bool()>& stop)
    : n_(n), lu_(std::move(matrix)), row_(n) {
  std::iota(row_.begin(), row_.end(), 0);
  for (std::size_t k = 0; k < n; ++k) {
    if (stop && stop()) {
      regular_ = false;
      return;
    }
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(lu_[i * n + k]) > std::fabs(lu_[best * n + k])) best = i;
    if (!(std::fabs(lu_[best * n + k]) > 0)) {
      regular_ = false;
      return;
    }
    std::swap(row_[k], row_[best]);
    for (std::size_t j = 0; j < n && best != k; ++j) std::swap(lu_[k * n + j], lu_[best * n + j]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = lu_[i * n + k] /= lu_[k * n + k];
      if (factor != 0)
        for (std::size_t j = k + 1; j < n; ++j) lu_[i * n + j] -= factor * lu_[k * n + j];
    }
  }
}

void DenseLu::solve(double* x) const {
  std::vector<double> y(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    y[i] = x[row_[i]];
    for (std::size_t j = 0; j < i; ++j) y[i] -= lu_[i * n_ + j] * y[j];
  }
  for (std::size_t i = n_; i-- > 0;) {
    for (std::size_t j = i + 1; j < n_; ++j) y[i] -= lu_[i * n_ + j] * y[j];
    y[i] /= lu_[i * n_ + i];
  }
  std::copy(y.begin(), y.end(), x);
}

double complementarity_error(const ComplementarityProblem& problem, const std::vector<double>& z) {
  const std::vector<double> w = velocities_of(problem, z);
  double error = 0;
  for (std::size_t i = 0; i < problem.n; ++i) {
    const double e = std::fabs(std::min(z[i], w[i]));
    if (!(e <= error)) error = e == e ? e : std::numeric_limits<double>::infinity();
  }
  return error;
}

LemkeEnd solve_by_lemke(const ComplementarityProblem& problem, std::vector<double>& z, long& pivots,
                        const std::function<bool()>& stop) {
  const std::size_t n = problem.n;
  z.assign(n, 0.0);
  if (std::ranges::all_of(problem.q, [](double q) { return q >= 0; })) return LemkeEnd::solved;
  LemkeTableau tableau(problem, stop);
  if (tableau.is_stopped()) return LemkeEnd::stopped;
  std::size_t entering = tableau.artificial(), row = tableau.most_negative();
  const long most = pivots + 50 * static_cast<long>(n) + 1000;
  PathMemory path;
  for (;;) {
    const std::size_t left = tableau.pivot(row, entering);
    if (tableau.is_stopped()) return LemkeEnd::stopped;
    ++pivots;
    if (left == tableau.artificial()) break;
    if (!path.is_new(entering, left) || pivots > most || stop()) return LemkeEnd::stopped;
    entering = tableau.complement(left);
    row = tableau.blocking_row(entering);
    if (row != n) continue;
    const auto change = [&](std::size_t variable, double by) {
      if (variable >= n && variable < 2 * n) z[variable - n] = by;
    };
    change(entering, 1);
    for (std::size_t i = 0; i < n; ++i) change(tableau.basic(i), -tableau.loss(i, entering));
    return LemkeEnd::ray;
  }
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t variable = tableau.basic(i);
    if (variable < n || variable >= 2 * n) continue;
    z[variable - n] = std::max(tableau.value(i), 0.0);
    free.push_back(variable - n);
  }
  std::ranges::sort(free);
  polish(problem, free, z, stop);
  return LemkeEnd::solved;
}

}  // namespace stickslip
