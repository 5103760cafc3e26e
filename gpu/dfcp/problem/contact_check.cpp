// The checks that a contact problem must pass before any solver runs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>
#include <stdexcept>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/dfcp/problem/mirrored_pairs.h"

namespace stickslip {
namespace {

constexpr double kSymmetry = 1e-2;    // of W: |W_ij - W_ji| / sqrt(W_ii W_jj)
constexpr double kIndefinite = 1e-6;  // of the largest eigenvalue
constexpr int kLanczosSteps = 16;
constexpr double kInverseMass = 1e-9;  // of a body's largest entry: asymmetry and negative pivots
constexpr double kLargest = 1e100;     // of any value: squares and triple products must not overflow

/// refuse("mu of block ", 3, " is ", x): concatenates the message from its parts.
template <class... Part>
[[noreturn]] void refuse(const Part&... parts) {
  std::ostringstream text;
  text.precision(10);
  (text << ... << parts);
  throw std::invalid_argument(text.str());
}

void check_size(const char* name, std::size_t size, std::size_t right, const char* meaning) {
  if (size != right) refuse(name, " has ", size, " entries and needs ", right, ": ", meaning);
}

/// False for NaN too.
bool sane(double x) { return std::fabs(x) <= kLargest; }
constexpr const char* kSane = ": every value must be finite, and 1e100 in size at most";

void check_finite(const char* name, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!sane(values[i])) refuse(name, "[", i, "] is ", values[i], kSane);
}

constexpr const char* kNotNegative = ": it must be finite, 1e100 at most and not negative";

void check_law(std::size_t c, const BlockLaw& law, int dim) {
  for (int i = 0; i < dim - 1; ++i)
    if (!(law.mu[i] >= 0) || !sane(law.mu[i]))
      refuse("mu of block ", c, ", tangent ", i + 1, ", is ", law.mu[i], kNotNegative);
  const bool rolls = dim == kRollingRows;
  if (law.set != FrictionSet::bilateral && rolls != (law.set == FrictionSet::rolling))
    refuse("block ", c,
           rolls ? " has five rows: its friction set must be `rolling` or `bilateral`"
                 : " has the friction set `rolling`, which needs blocks of five rows");
  if (law.set == FrictionSet::rolling && (law.mu[0] != law.mu[1] || law.mu[2] != law.mu[3]))
    refuse("mu of block ", c, " is ", law.mu[0], ", ", law.mu[1], " (friction), ", law.mu[2], ", ", law.mu[3],
           " (rolling): each pair must be equal, its section is a disc");
  if (!(law.cohesion >= 0) || !sane(law.cohesion))
    refuse("cohesion of block ", c, " is ", law.cohesion, " N s", kNotNegative);
  if (law.set == FrictionSet::bilateral && law.cohesion != 0)
    refuse("cohesion of block ", c, " is ", law.cohesion, " N s, but the block is bilateral: it must be 0");
  if (!(law.compliance >= 0) || !sane(law.compliance))
    refuse("compliance of block ", c, " is ", law.compliance, " m/s per N s", kNotNegative);
}

void check_rows(const char* name, const SparseRows& m, std::size_t rows, std::size_t columns) {
  if (m.rows < 0 || m.columns < 0 || static_cast<std::size_t>(m.rows) != rows ||
      static_cast<std::size_t>(m.columns) != columns)
    refuse(name, " is ", m.rows, " x ", m.columns, " and must be ", rows, " x ", columns);
  if (m.offsets.size() != rows + 1)
    refuse(name, ".offsets has ", m.offsets.size(), " entries and needs rows + 1 = ", rows + 1);
  if (m.offsets.front() != 0) refuse(name, ".offsets[0] is ", m.offsets.front(), " and must be 0");
  for (std::size_t i = 0; i < rows; ++i)
    if (m.offsets[i + 1] < m.offsets[i])
      refuse(name, ".offsets[", i + 1, "] is ", m.offsets[i + 1], ", less than ", m.offsets[i], " before it");
  if (m.indices.size() != static_cast<std::size_t>(m.offsets.back()) || m.values.size() != m.indices.size())
    refuse(name, " has ", m.indices.size(), " indices and ", m.values.size(), " values; its offsets end at ",
           m.offsets.back());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::int32_t k = m.offsets[i]; k < m.offsets[i + 1]; ++k) {
      if (m.indices[k] < 0 || static_cast<std::size_t>(m.indices[k]) >= columns)
        refuse(name, ", row ", i, ": column ", m.indices[k], " is outside [0, ", columns, ")");
      if (k > m.offsets[i] && m.indices[k] <= m.indices[k - 1])
        refuse(name, ", row ", i, ": column ", m.indices[k], " comes after column ", m.indices[k - 1],
               ": columns must ascend, each once");
      if (!sane(m.values[k])) refuse(name, "(", i, ", ", m.indices[k], ") is ", m.values[k], kSane);
    }
}

/// Returns the largest |W_ij - W_ji|.
double check_symmetric(const SparseRows& w) {
  const Asymmetry worst = asymmetry_of(w);
  if (worst.relative > kSymmetry)
    refuse("W is not symmetric: W(", worst.row, ", ", worst.column, ") is ", worst.lower, " and W(",
           worst.column, ", ", worst.row, ") is ", worst.upper, ", apart by ", worst.relative,
           " of the geometric mean of their diagonal entries: ", kSymmetry, " at most is accepted");
  double gap = 0;
  for_mirrored_pairs(w, [&](std::int32_t, std::int32_t, double lower, double upper) {
    gap = std::max(gap, std::fabs(lower - upper));
  });
  return gap;
}

void check_diagonal(const char* name, const SparseRows& m, bool positive) {
  for (std::int32_t i = 0; i < m.rows; ++i) {
    const auto row = m.indices.begin() + m.offsets[i], end = m.indices.begin() + m.offsets[i + 1];
    const auto found = std::lower_bound(row, end, i);
    const double x = found != end && *found == i ? m.values[found - m.indices.begin()] : 0;
    if (positive ? !(x > 0) : x < 0)
      refuse(name, "(", i, ", ", i, ") is ", x, ": diagonal entries ",
             positive ? "must be positive" : "must not be negative");
  }
}

void multiply(const SparseRows& m, const std::vector<double>& x, std::vector<double>& y) {
  for (std::int32_t i = 0; i < m.rows; ++i) {
    double sum = 0;
    for (std::int32_t k = m.offsets[i]; k < m.offsets[i + 1]; ++k) sum += m.values[k] * x[m.indices[k]];
    y[i] = sum;
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Tridiagonal {
  std::vector<double> diagonal, off;  // off[i] couples i and i + 1

  /// Number of eigenvalues below x (Sturm).
  int below(double x) const {
    int count = 0;
    double d = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      d = diagonal[i] - x - (i > 0 ? off[i - 1] * off[i - 1] / d : 0);
      if (d == 0) d = -std::numeric_limits<double>::min();
      count += d < 0 ? 1 : 0;
    }
    return count;
  }
  double eigenvalue(int index) const {
    double radius = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      radius = std::max(radius, std::fabs(diagonal[i]) + (i > 0 ? std::fabs(off[i - 1]) : 0) +
                                    (i < off.size() ? std::fabs(off[i]) : 0));
    double low = -radius, high = radius;
    for (int step = 0; step < 52; ++step) {
      const double middle = 0.5 * (low + high);
      (below(middle) > index ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }
};

/// A few Lanczos steps. Every Ritz value of a symmetric matrix lies between its extreme eigenvalues, so a
/// negative one proves a direction with r' W r < 0. Negative eigenvalues may be missed.
Tridiagonal lanczos(const SparseRows& m) {
  const auto n = static_cast<std::size_t>(m.rows);
  std::vector<double> v(n), before(n, 0.0), y(n);
  double x = 0;
  for (double& entry : v) entry = (x = std::fmod(x + std::numbers::phi, 1.0)) - 0.5;  // as good as random
  const double length = std::sqrt(dot(v, v));
  for (double& entry : v) entry /= length;
  Tridiagonal t;
  for (int step = 0; step < kLanczosSteps && step < m.rows; ++step) {
    multiply(m, v, y);
    t.diagonal.push_back(dot(v, y));
    for (std::size_t i = 0; i < n; ++i)
      y[i] -= t.diagonal.back() * v[i] + (step > 0 ? t.off.back() * before[i] : 0);
    const double norm = std::sqrt(dot(y, y));
    if (!(norm > 1e-12 * std::fabs(t.diagonal.front())) || step + 1 == kLanczosSteps || step + 1 == m.rows)
      break;
    t.off.push_back(norm);
    std::swap(before, v);
    for (std::size_t i = 0; i < n; ++i) v[i] = y[i] / norm;
  }
  return t;
}

/// `asymmetry` [as W]: the uncertainty of each entry of W.
void check_definite(const SparseRows& w, double asymmetry) {
  const Tridiagonal t = lanczos(w);
  const double smallest = t.eigenvalue(0), largest = t.eigenvalue(static_cast<int>(t.diagonal.size()) - 1);
  const double widest = static_cast<double>(w.values.size()) / w.rows;
  if (smallest < -(kIndefinite * largest + asymmetry * widest))
    refuse("W is not positive semidefinite: it has an eigenvalue of ", smallest,
           " or less, and its largest is about ", largest);
}

void check_inverse_mass(const ContactProblem& problem, std::size_t body) {
  const int n = problem.body_dofs;
  std::array<double, 36> a{};
  std::copy_n(problem.inverse_mass.begin() + static_cast<std::ptrdiff_t>(body) * n * n, n * n, a.begin());
  double largest = 0;
  for (const double x : a) largest = std::max(largest, std::fabs(x));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (std::fabs(a[i * n + j] - a[j * n + i]) > kInverseMass * largest)
        refuse("inverse_mass of body ", body, " is not symmetric: (", i, ", ", j, ") is ", a[i * n + j],
               " and (", j, ", ", i, ") is ", a[j * n + i]);
  for (int i = 0; i < n; ++i) {  // L D L' in place
    if (a[i * n + i] < -kInverseMass * largest)
      refuse("inverse_mass of body ", body, " is not positive semidefinite: its pivot ", i, " is ",
             a[i * n + i]);
    if (a[i * n + i] <= kInverseMass * largest * 1e-3) {
      // a_ij^2 <= a_ii a_jj, up to the tolerance for negative pivots.
      for (int j = i + 1; j < n; ++j)
        if (std::fabs(a[i * n + j]) > std::sqrt(kInverseMass) * largest)
          refuse("inverse_mass of body ", body, " is not positive semidefinite: its pivot ", i, " is ",
                 a[i * n + i], " beside an entry of ", a[i * n + j]);
      continue;
    }
    for (int j = i + 1; j < n; ++j)
      for (int k = i + 1; k < n; ++k) a[j * n + k] -= a[j * n + i] * a[i * n + k] / a[i * n + i];
  }
}

void check_local(const ContactProblem& problem) {
  check_rows("W", problem.W, problem.size(), problem.size());
  check_size("q", problem.q.size(), problem.size(), "dim per block");
  check_finite("q", problem.q);
  check_diagonal("W", problem.W, false);
  check_definite(problem.W, check_symmetric(problem.W));
}

void check_global(const ContactProblem& problem) {
  const auto dofs = static_cast<std::size_t>(std::max(problem.A.rows, 0));
  if (dofs == 0) refuse("A has no rows: a global problem needs at least one degree of freedom");
  check_rows("A", problem.A, dofs, dofs);
  check_rows("H", problem.H, problem.size(), dofs);
  check_size("f", problem.f.size(), dofs, "one per degree of freedom");
  check_diagonal("A", problem.A, true);
}

void check_jacobian(const ContactProblem& problem) {
  const std::size_t blocks = problem.blocks(), bodies = problem.bodies();
  check_size("block_start", problem.block_start.size(), blocks + 1, "blocks + 1");
  if (problem.block_start.front() != 0)
    refuse("block_start[0] is ", problem.block_start.front(), " and must be 0");
  for (std::size_t c = 0; c < blocks; ++c)
    if (problem.block_start[c + 1] < problem.block_start[c])
      refuse("block_start[", c + 1, "] is ", problem.block_start[c + 1], ", less than ",
             problem.block_start[c], " before it");
  check_size("jacobian", problem.jacobian.size(), static_cast<std::size_t>(problem.block_start.back()),
             "where block_start ends");
  const int used = problem.dim * problem.body_dofs;
  for (std::size_t c = 0; c < blocks; ++c)
    for (std::int32_t e = problem.block_start[c]; e < problem.block_start[c + 1]; ++e) {
      const JacobianBlock& block = problem.jacobian[e];
      if (block.body < 0 || static_cast<std::size_t>(block.body) >= bodies)
        refuse("jacobian[", e, "] of block ", c, " names body ", block.body, ", outside [0, ", bodies, ")");
      for (std::int32_t other = problem.block_start[c]; other < e; ++other)
        if (problem.jacobian[other].body == block.body)
          refuse("jacobian[", e, "]: block ", c, " names body ", block.body,
                 " a second time; add the two up");
      for (int i = 0; i < used; ++i)
        if (!sane(block.rows[i]))
          refuse("jacobian[", e, "].rows[", i, "] of block ", c, " is ", block.rows[i], kSane);
    }
}

void check_bodies(const ContactProblem& problem) {
  const int n = problem.body_dofs;
  if (n != 3 && n != 6) refuse("body_dofs is ", n, " and must be 6 (rigid bodies) or 3 (nodes)");
  const auto size = static_cast<std::size_t>(n * n);
  if (problem.inverse_mass.empty() || problem.inverse_mass.size() % size != 0)
    refuse("inverse_mass has ", problem.inverse_mass.size(), " entries and needs ", size,
           " for each of its bodies");
  check_finite("inverse_mass", problem.inverse_mass);
  for (std::size_t body = 0; body < problem.bodies(); ++body) check_inverse_mass(problem, body);
  check_size("f", problem.f.size(), problem.dofs(), "body_dofs for each body");
  check_jacobian(problem);
}

}  // namespace

SymmetryScale::SymmetryScale(const SparseRows& m) : root_(static_cast<std::size_t>(m.rows), 0.0) {
  constexpr double kRounding = 1e-13;
  for (std::int32_t i = 0; i < m.rows; ++i)
    for (std::int32_t k = m.offsets[i]; k < m.offsets[i + 1]; ++k) {
      const double size = std::fabs(m.values[k]);
      least_ = std::max(least_, kRounding * size);
      if (m.indices[k] == i) root_[i] = std::sqrt(size);
    }
}

double SymmetryScale::operator()(std::int32_t i, std::int32_t j) const {
  return std::max(root_[i] * root_[j], least_);
}

Asymmetry asymmetry_of(const SparseRows& m) {
  const SymmetryScale scale(m);
  Asymmetry worst;
  bool below = false, above = false;
  for_mirrored_pairs(m, [&](std::int32_t row, std::int32_t column, double lower, double upper) {
    below = below || lower != 0;
    above = above || upper != 0;
    if (lower == upper) return;
    const double relative = std::fabs(lower - upper) / scale(row, column);
    if (relative > worst.relative) worst = {relative, row, column, lower, upper, false};
  });
  worst.one_sided = below != above;
  return worst;
}

void check(const ContactProblem& problem) {
  if (problem.dim < 3 || problem.dim > kRollingRows)
    refuse("dim is ", problem.dim,
           " and must be 3, or 4 with torsional friction, or 5 with rolling resistance");
  if (problem.laws.empty()) refuse("the problem is empty: it needs at least one contact or joint");
  if (problem.blocks() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / problem.dim))
    refuse("the problem has ", problem.blocks(), " blocks, more than 32-bit rows can count");
  for (std::size_t c = 0; c < problem.blocks(); ++c) check_law(c, problem.laws[c], problem.dim);
  if (problem.form == ContactProblem::Form::local) {
    check_local(problem);
  } else {
    problem.form == ContactProblem::Form::global ? check_global(problem) : check_bodies(problem);
    check_finite("f", problem.f);
    check_size("w", problem.w.size(), problem.size(), "dim per block");
    check_finite("w", problem.w);
  }
  const auto check_impulses = [&](const char* name, const std::vector<double>& r) {
    if (r.empty()) return;
    check_size(name, r.size(), problem.size(), "dim per block, or none");
    check_finite(name, r);
  };
  if (!problem.softness.empty() && problem.softness.size() != problem.size())
    refuse("softness has ", problem.softness.size(), " rows and must have ", problem.size());
  for (std::size_t row = 0; row < problem.softness.size(); ++row)
    if (!(problem.softness[row] >= 0) || !sane(problem.softness[row]))
      refuse("softness of row ", row, " is ", problem.softness[row], " m/s per N s", kNotNegative);
  check_impulses("guess", problem.guess);
  check_impulses("solution", problem.solution);
}

}  // namespace stickslip
