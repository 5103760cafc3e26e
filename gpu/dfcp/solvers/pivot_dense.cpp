#include "gpu/dfcp/solvers/pivot_dense.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Four independent sums, for SIMD lanes.
double dot(const double* a, const double* b, std::size_t n) {
  double sum[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sum[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

}  // namespace

PrincipalFactor::PrincipalFactor(const BoundedProblem& problem)
    : problem_(problem), stride_(problem.n), factor_(problem.n * problem.n), scratch_(2 * problem.n + 2) {}

bool PrincipalFactor::assign(std::vector<std::int32_t> rows, const std::function<bool()>& stop) {
  constexpr std::size_t kRowsPerLook = 32;
  rows_.clear();
  for (const std::int32_t row : rows) {
    const bool stopped = stop && rows_.size() % kRowsPerLook == kRowsPerLook - 1 && stop();
    if (stopped || !append(row)) {
      rows_.clear();
      return false;
    }
  }
  return true;
}

bool PrincipalFactor::append(std::int32_t row) {
  const std::size_t k = rows_.size();
  double* out = line(k);
  for (std::size_t j = 0; j < k; ++j) {
    const double* other = line(j);
    out[j] = (problem_.entry(at(row), at(rows_[j])) - dot(out, other, j)) / other[j];
  }
  const double diagonal = problem_.entry(at(row), at(row)), rest = diagonal - dot(out, out, k);
  // Also catches NaN.
  if (!(rest > 1e-15 * diagonal)) return false;
  out[k] = std::sqrt(rest);
  rows_.push_back(row);
  return true;
}

/// Removing row p leaves entries right of the diagonal in the rows from there on: one rotation
/// per row eliminates them.
void PrincipalFactor::remove(std::int32_t row) {
  const auto found = std::find(rows_.begin(), rows_.end(), row);
  if (found == rows_.end()) return;
  const auto p = static_cast<std::size_t>(found - rows_.begin());
  rows_.erase(found);
  double *cosine = scratch_.data(), *sine = scratch_.data() + problem_.n;
  for (std::size_t k = p; k < rows_.size(); ++k) {
    double* out = line(k);
    std::copy_n(line(k + 1), k + 2, out);
    for (std::size_t c = p; c < k; ++c) {
      const double a = out[c], b = out[c + 1];
      out[c] = cosine[c] * a + sine[c] * b;
      out[c + 1] = cosine[c] * b - sine[c] * a;
    }
    const double length = std::hypot(out[k], out[k + 1]);
    cosine[k] = out[k] / length;
    sine[k] = out[k + 1] / length;
    out[k] = length;
  }
}

void PrincipalFactor::solve(std::span<double> x) const {
  const std::size_t m = rows_.size();
  for (std::size_t k = 0; k < m; ++k) x[k] = (x[k] - dot(line(k), x.data(), k)) / line(k)[k];
  for (std::size_t k = m; k-- > 0;) {
    const double* l = line(k);
    const double value = x[k] /= l[k];
    for (std::size_t j = 0; j < k; ++j) x[j] -= l[j] * value;
  }
}

PivotMethod::PivotMethod(const BoundedProblem& problem)
    : p_(problem),
      factor_(problem),
      set_(problem.n, PivotSet::waiting),
      v_(problem.n),
      dx_(problem.n),
      dv_(problem.n),
      right_(problem.n) {}

void PivotMethod::update_velocities(const std::vector<double>& x) {
  for (std::size_t i = 0; i < p_.n; ++i) v_[i] = p_.b[i] + dot(p_.a.data() + i * p_.n, x.data(), p_.n);
}

/// x_F for zero velocity, given the other x; updates all v.
void PivotMethod::solve_free(std::vector<double>& x) {
  update_velocities(x);
  const auto rows = factor_.rows();
  for (std::size_t k = 0; k < rows.size(); ++k) right_[k] = -v_[at(rows[k])];
  factor_.solve({right_.data(), rows.size()});
  for (std::size_t k = 0; k < rows.size(); ++k) x[at(rows[k])] += right_[k];
  update_velocities(x);
  for (const std::int32_t row : rows) v_[at(row)] = 0;
}

/// Rows at a bound move with it, all others are clamped to their bounds. Sets the tolerance on velocities.
void PivotMethod::take_over(std::vector<double>& x) {
  double largest = 0;
  for (const double b : p_.b) largest = std::max(largest, std::fabs(b));
  tolerance_ = 1e-13 * largest;
  for (std::size_t i = 0; i < p_.n; ++i) {
    if (set_[i] == PivotSet::lower) x[i] = p_.lower[i];
    else if (set_[i] == PivotSet::upper) x[i] = p_.upper[i];
    else x[i] = std::clamp(x[i], p_.lower[i], p_.upper[i]);
  }
}

bool PivotMethod::refactor(const std::function<bool()>& stop) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < p_.n; ++i)
    if (set_[i] == PivotSet::free) rows.push_back(static_cast<std::int32_t>(i));
  const std::size_t many = rows.size() / 8 + 1;
  std::vector<std::int32_t> gone;
  std::size_t kept = 0;
  for (const std::int32_t row : factor_.rows()) {
    if (set_[at(row)] == PivotSet::free) ++kept;
    else gone.push_back(row);
  }
  if (gone.size() + (rows.size() - kept) > many) return factor_.assign(std::move(rows), stop);
  for (const std::int32_t row : gone) factor_.remove(row);
  std::vector<std::int8_t> there(p_.n, 0);
  for (const std::int32_t row : factor_.rows()) there[at(row)] = 1;
  for (const std::int32_t row : rows)
    if (there[at(row)] == 0 && !factor_.append(row)) return false;
  return true;
}

bool PivotMethod::disobeys(std::size_t i, const std::vector<double>& x) const {
  const double slack = tolerance_ / p_.entry(i, i);
  switch (set_[i]) {
    case PivotSet::free:
      return x[i] < p_.lower[i] - slack || x[i] > p_.upper[i] + slack;
    case PivotSet::lower:
      return v_[i] < -tolerance_ && p_.upper[i] > p_.lower[i];
    case PivotSet::upper:
      return v_[i] > tolerance_ && p_.upper[i] > p_.lower[i];
    case PivotSet::waiting:
      break;
  }
  return false;
}

/// [Course Eq.120]
void PivotMethod::change_set(std::size_t i, const std::vector<double>& x) {
  if (set_[i] == PivotSet::free) set_[i] = x[i] < p_.lower[i] ? PivotSet::lower : PivotSet::upper;
  else set_[i] = PivotSet::free;
}

bool PivotMethod::solve_block(std::vector<double>& x, const std::function<bool()>& stop) {
  constexpr int kPatience = 10;
  take_over(x);
  // The text begins with all rows free; rows without mobility stay at their x.
  for (std::size_t i = 0; i < p_.n; ++i)
    if (p_.lower[i] == p_.upper[i]) set_[i] = PivotSet::lower;
    else if (set_[i] == PivotSet::waiting) set_[i] = PivotSet::free;
  std::size_t fewest = p_.n + 1;
  int patience = kPatience;
  const long limit = steps_ + 100 + 3 * static_cast<long>(p_.n);
  while (steps_ < limit && !stop()) {
    for (std::size_t i = 0; i < p_.n; ++i)
      if (set_[i] == PivotSet::lower) x[i] = p_.lower[i];
      else if (set_[i] == PivotSet::upper) x[i] = p_.upper[i];
    ++steps_;
    if (!refactor(stop)) return false;
    solve_free(x);
    std::size_t count = 0, least = p_.n;
    for (std::size_t i = p_.n; i-- > 0;)
      if (disobeys(i, x)) {
        ++count;
        least = i;
      }
    if (count == 0) return true;
    if (count < fewest) {
      fewest = count;
      patience = kPatience;
    }
    if (patience-- > 0) {
      for (std::size_t i = 0; i < p_.n; ++i)
        if (disobeys(i, x)) change_set(i, x);
    } else {
      change_set(least, x);
    }
  }
  return false;
}

/// The waiting row with the largest violation; -1 when all satisfy their law.
std::int32_t PivotMethod::most_violated(const std::vector<double>& x, int& direction) const {
  double worst = tolerance_;
  std::int32_t row = -1;
  for (std::size_t i = 0; i < p_.n; ++i) {
    if (set_[i] != PivotSet::waiting) continue;
    const bool up = v_[i] < 0;
    if (up ? x[i] >= p_.upper[i] : x[i] <= p_.lower[i]) continue;
    if (std::fabs(v_[i]) <= worst) continue;
    worst = std::fabs(v_[i]);
    row = static_cast<std::int32_t>(i);
    direction = up ? 1 : -1;
  }
  return row;
}

/// dx of the free rows and dv of the others for dx_row = direction [Course Eq.116].
void PivotMethod::find_direction(std::int32_t row, int direction) {
  const auto rows = factor_.rows();
  for (std::size_t k = 0; k < rows.size(); ++k) right_[k] = -direction * p_.entry(at(rows[k]), at(row));
  factor_.solve({right_.data(), rows.size()});
  std::fill(dx_.begin(), dx_.end(), 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) dx_[at(rows[k])] = right_[k];
  dx_[at(row)] = direction;
  for (std::size_t i = 0; i < p_.n; ++i)
    dv_[i] = set_[i] == PivotSet::free ? 0.0 : dot(p_.a.data() + i * p_.n, dx_.data(), p_.n);
}

/// The longest step that keeps every processed row feasible, and the row that limits it [Course Eq.117-119].
PivotMethod::Block PivotMethod::first_block(std::int32_t row, int direction,
                                            const std::vector<double>& x) const {
  const auto j = at(row);
  Block block{direction > 0 ? p_.upper[j] - x[j] : x[j] - p_.lower[j], row, false};
  if (dv_[j] * direction > 0 && std::fabs(v_[j] / dv_[j]) <= block.length)
    block = {std::fabs(v_[j] / dv_[j]), row, true};
  const auto shorten = [&](std::size_t i, double length) {
    length = std::max(length, 0.0);
    if (length < block.length) block = {length, static_cast<std::int32_t>(i), false};
  };
  for (std::size_t i = 0; i < p_.n; ++i) {
    if (set_[i] == PivotSet::free && dx_[i] < 0) shorten(i, (p_.lower[i] - x[i]) / dx_[i]);
    else if (set_[i] == PivotSet::free && dx_[i] > 0) shorten(i, (p_.upper[i] - x[i]) / dx_[i]);
    else if (p_.lower[i] == p_.upper[i]) continue;
    else if (set_[i] == PivotSet::lower && dv_[i] < 0) shorten(i, -v_[i] / dv_[i]);
    else if (set_[i] == PivotSet::upper && dv_[i] > 0) shorten(i, -v_[i] / dv_[i]);
  }
  return block;
}

/// Moves one row until it is feasible, up to `limit` steps of all calls.
bool PivotMethod::drive(std::int32_t row, int direction, std::vector<double>& x, long limit,
                        const std::function<bool()>& stop) {
  const auto j = at(row);
  limit = std::min(limit, steps_ + 100 + 20 * static_cast<long>(p_.n));
  while (steps_ < limit && !stop()) {
    find_direction(row, direction);
    const Block block = first_block(row, direction, x);
    if (!std::isfinite(block.length)) return false;
    for (std::size_t i = 0; i < p_.n; ++i) {
      x[i] += block.length * dx_[i];
      v_[i] += block.length * dv_[i];
    }
    ++steps_;
    const auto i = at(block.row);
    if (i == j) {
      if (block.at_rest) {
        if (factor_.append(row)) set_[j] = PivotSet::free;
        v_[j] = 0;
      } else {
        x[j] = direction > 0 ? p_.upper[j] : p_.lower[j];
        set_[j] = direction > 0 ? PivotSet::upper : PivotSet::lower;
      }
      return true;
    }
    if (set_[i] == PivotSet::free) {
      const bool down = dx_[i] < 0;
      factor_.remove(block.row);
      set_[i] = down ? PivotSet::lower : PivotSet::upper;
      x[i] = down ? p_.lower[i] : p_.upper[i];
    } else {
      v_[i] = 0;
      if (!factor_.append(block.row)) return false;
      set_[i] = PivotSet::free;
    }
  }
  return false;
}

bool PivotMethod::solve_incremental(std::vector<double>& x, const std::function<bool()>& stop) {
  // Rows whose pivots are at rounding level may swap forever.
  const long limit = steps_ + 1000 + 100 * static_cast<long>(p_.n);
  take_over(x);
  // Start from the last call's sets: its free rows at rest within their bounds, the others
  // while they are feasible.
  for (;;) {
    if (stop() || !refactor(stop)) return false;
    solve_free(x);
    bool inside = true;
    for (std::size_t i = 0; i < p_.n; ++i)
      if (set_[i] == PivotSet::free && (x[i] < p_.lower[i] || x[i] > p_.upper[i])) {
        x[i] = std::clamp(x[i], p_.lower[i], p_.upper[i]);
        set_[i] = PivotSet::waiting;
        inside = false;
      }
    if (inside) break;
  }
  for (std::size_t i = 0; i < p_.n; ++i)
    if (disobeys(i, x)) set_[i] = PivotSet::waiting;
  int direction = 1;
  for (std::int32_t row; (row = most_violated(x, direction)) >= 0;)
    if (!drive(row, direction, x, limit, stop)) return false;
  return true;
}

}  // namespace stickslip
