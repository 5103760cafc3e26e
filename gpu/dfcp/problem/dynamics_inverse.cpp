#include "gpu/dfcp/problem/dynamics_inverse.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "gpu/dfcp/problem/mirrored_pairs.h"

namespace stickslip {
namespace {

/// Cholesky factor in place, in the lower triangle, diagonal inverted. False when a pivot is not positive.
bool factorise(double* a, std::int32_t n) {
  for (std::int32_t i = 0; i < n; ++i) {
    double* row = a + static_cast<std::ptrdiff_t>(i) * n;
    const double diagonal = row[i];
    for (std::int32_t j = 0; j <= i; ++j) {
      const double* other = a + static_cast<std::ptrdiff_t>(j) * n;
      double sum = row[j];
      for (std::int32_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      row[j] = j < i ? sum * other[j] : sum;
    }
    if (!(row[i] > 1e-15 * diagonal)) return false;
    row[i] = 1 / std::sqrt(row[i]);
  }
  return true;
}

void solve_dense(const double* l, std::int32_t n, double* x) {
  for (std::int32_t i = 0; i < n; ++i) {
    const double* row = l + static_cast<std::ptrdiff_t>(i) * n;
    double sum = x[i];
    for (std::int32_t k = 0; k < i; ++k) sum -= row[k] * x[k];
    x[i] = sum * row[i];
  }
  for (std::int32_t i = n - 1; i >= 0; --i) {
    const double* row = l + static_cast<std::ptrdiff_t>(i) * n;
    x[i] *= row[i];
    for (std::int32_t k = 0; k < i; ++k) x[k] -= row[k] * x[i];
  }
}

/// L U in place with partial pivoting: `pivots[k]` is the row that step k swaps with row k; the diagonal of U
/// is inverted. False when the matrix is singular.
bool factorise_general(double* a, std::int32_t n, std::int32_t* pivots) {
  const auto row = [&](std::int32_t i) { return a + static_cast<std::ptrdiff_t>(i) * n; };
  for (std::int32_t k = 0; k < n; ++k) {
    std::int32_t best = k;
    for (std::int32_t i = k + 1; i < n; ++i)
      if (std::fabs(row(i)[k]) > std::fabs(row(best)[k])) best = i;
    pivots[k] = best;
    if (best != k) std::swap_ranges(row(k), row(k) + n, row(best));
    if (row(k)[k] == 0 || !std::isfinite(row(k)[k])) return false;
    row(k)[k] = 1 / row(k)[k];
    for (std::int32_t i = k + 1; i < n; ++i) {
      const double factor = row(i)[k] *= row(k)[k];
      if (factor == 0) continue;
      for (std::int32_t j = k + 1; j < n; ++j) row(i)[j] -= factor * row(k)[j];
    }
  }
  return true;
}

void solve_general(const double* lu, std::int32_t n, const std::int32_t* pivots, double* x) {
  for (std::int32_t k = 0; k < n; ++k) std::swap(x[k], x[pivots[k]]);
  for (std::int32_t i = 0; i < n; ++i) {
    const double* row = lu + static_cast<std::ptrdiff_t>(i) * n;
    for (std::int32_t k = 0; k < i; ++k) x[i] -= row[k] * x[k];
  }
  for (std::int32_t i = n - 1; i >= 0; --i) {
    const double* row = lu + static_cast<std::ptrdiff_t>(i) * n;
    for (std::int32_t k = i + 1; k < n; ++k) x[i] -= row[k] * x[k];
    x[i] *= row[i];
  }
}

/// (a + a') / 2 in its lower triangle.
SparseRows symmetric_part(const SparseRows& a) {
  std::vector<std::vector<std::pair<std::int32_t, double>>> lower(static_cast<std::size_t>(a.rows));
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.indices[k] == i) lower[i].emplace_back(i, a.values[k]);
  for_mirrored_pairs(a, [&](std::int32_t row, std::int32_t column, double below, double above) {
    lower[row].emplace_back(column, 0.5 * (below + above));
  });
  SparseRows out{a.rows, a.columns, {0}, {}, {}};
  for (auto& row : lower) {
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      out.indices.push_back(column);
      out.values.push_back(value);
    }
    out.offsets.push_back(static_cast<std::int32_t>(out.indices.size()));
  }
  return out;
}

std::vector<double> dense_of(const SparseRows& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> out(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::int32_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) out[i * n + a.indices[k]] = a.values[k];
  return out;
}

}  // namespace

DynamicsInverse::DynamicsInverse(const SparseRows& a, const InverseOptions& options)
    : pcg_tolerance_(options.pcg_tolerance) {
  find_parts(a);
  find_general_parts(a);
  pcg_place_.assign(part_count(), -1);
  for (std::size_t part = 0; part < part_count(); ++part) {
    const std::int32_t n = size(part);
    if (n > kSmallPart && pcg_tolerance_ > 0) {
      keep_for_pcg(a, part);
    } else if (n <= kSmallPart || (!has_cholesky() && n <= kMostDenseDofs)) {
      factorise_dense(a, part);
    } else if (has_cholesky()) {
      factorise_sparse(a, part);
    } else {
      throw std::invalid_argument("A has a connected part of " + std::to_string(n) + " dofs: more than " +
                                  std::to_string(kMostDenseDofs) +
                                  " need a sparse factorisation, and this build was made without Eigen");
    }
  }
}

void DynamicsInverse::refuse(std::size_t part) const {
  const std::string place = "its connected part of " + std::to_string(size(part)) +
                            " dofs that begins with dof " + std::to_string(dofs_[begin_[part]]);
  throw std::invalid_argument(
      general_[part] != 0 ? "A is not symmetric, and its symmetric part is not positive definite: " + place +
                                " lets velocities v have v' A v <= 0; masses, stiffness and damping must not"
                          : "A is not positive definite: " + place +
                                " has no Cholesky factor; masses and inertias must be positive");
}

/// Union-find on the pattern. A part is named after its lowest dof, so parts are in that order.
void DynamicsInverse::find_parts(const SparseRows& a) {
  const std::int32_t n = a.rows;
  std::vector<std::int32_t> parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (a.values[k] == 0) continue;
      const std::int32_t r = root(i), s = root(a.indices[k]);
      parent[std::max(r, s)] = std::min(r, s);
    }
  part_.resize(n);
  place_.resize(n);
  begin_.assign(1, 0);
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t r = root(i);
    if (r == i) begin_.push_back(0);
    part_[i] = r == i ? static_cast<std::int32_t>(begin_.size()) - 2 : part_[r];
    place_[i] = begin_[part_[i] + 1]++;
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  dofs_.resize(n);
  for (std::int32_t i = 0; i < n; ++i) dofs_[begin_[part_[i]] + place_[i]] = i;
}

void DynamicsInverse::find_general_parts(const SparseRows& a) {
  general_.assign(part_count(), 0);
  const SymmetryScale scale(a);
  for_mirrored_pairs(a, [&](std::int32_t row, std::int32_t column, double lower, double upper) {
    if (std::fabs(lower - upper) > kSymmetric * scale(row, column)) general_[part_[row]] = 1;
  });
  if (std::find(general_.begin(), general_.end(), 1) != general_.end()) pivots_.resize(dofs_.size());
}

/// The rows and columns of one part.
SparseRows DynamicsInverse::part_rows(const SparseRows& a, std::size_t part) const {
  SparseRows out{size(part), size(part), {0}, {}, {}};
  for (std::int32_t i = begin_[part]; i < begin_[part + 1]; ++i) {
    const std::int32_t dof = dofs_[i];
    for (std::int32_t k = a.offsets[dof]; k < a.offsets[dof + 1]; ++k) {
      if (part_[a.indices[k]] != static_cast<std::int32_t>(part)) continue;
      out.indices.push_back(place_[a.indices[k]]);
      out.values.push_back(a.values[k]);
    }
    out.offsets.push_back(static_cast<std::int32_t>(out.indices.size()));
  }
  return out;
}

void DynamicsInverse::factorise_dense(const SparseRows& a, std::size_t part) {
  const std::int32_t n = size(part);
  const SparseRows rows = part_rows(a, part);
  std::vector<double> factor = dense_of(general_[part] != 0 ? symmetric_part(rows) : rows);
  if (!factorise(factor.data(), n)) refuse(part);
  if (general_[part] != 0) {
    factor = dense_of(rows);
    if (!factorise_general(factor.data(), n, pivots_.data() + begin_[part])) refuse(part);
  }
  factor_begin_.push_back(static_cast<std::int64_t>(dense_.size()));
  dense_.insert(dense_.end(), factor.begin(), factor.end());
}

void DynamicsInverse::factorise_sparse(const SparseRows& a, std::size_t part) {
  const SparseRows rows = part_rows(a, part);
  const SparseRows lower = general_[part] != 0 ? symmetric_part(rows) : rows;
  SparseFactors definite;
  if (!definite.factorise({lower.offsets, lower.indices, lower.values})) refuse(part);
  if (general_[part] == 0) {
    factor_begin_.push_back(-1 - static_cast<std::int64_t>(sparse_.size()));
    sparse_.push_back(std::move(definite));
    return;
  }
  factor_begin_.push_back(-1 - static_cast<std::int64_t>(sparse_general_.size()));
  if (!sparse_general_.emplace_back().factorise({rows.offsets, rows.indices, rows.values})) refuse(part);
}

void DynamicsInverse::keep_for_pcg(const SparseRows& a, std::size_t part) {
  if (general_[part] != 0)
    throw std::invalid_argument("A is not symmetric in its connected part of " + std::to_string(size(part)) +
                                " dofs that begins with dof " + std::to_string(dofs_[begin_[part]]) +
                                ": conjugate gradients need a symmetric one, factors do not");
  factor_begin_.push_back(0);
  pcg_place_[part] = static_cast<std::int32_t>(pcg_.size());
  PcgPart& of = pcg_.emplace_back();
  of.rows = part_rows(a, part);
  const std::int32_t n = size(part);
  for (std::int32_t first = 0; first < n; first += 3) {
    const std::int32_t width = std::min(n - first, 3);
    double block[9] = {};
    for (std::int32_t i = 0; i < width; ++i)
      for (std::int32_t k = of.rows.offsets[first + i]; k < of.rows.offsets[first + i + 1]; ++k)
        if (const std::int32_t j = of.rows.indices[k] - first; j >= 0 && j < width)
          block[width * i + j] = of.rows.values[k];
    if (!factorise(block, width)) refuse(part);
    double inverse[9] = {};  // row i is column i, as the inverse is symmetric
    for (std::int32_t i = 0; i < width; ++i) {
      inverse[3 * i + i] = 1;
      solve_dense(block, width, inverse + 3 * i);
    }
    of.inverse_blocks.insert(of.inverse_blocks.end(), inverse, inverse + 9);
  }
}

/// x := A_part^-1 x.
void DynamicsInverse::solve_by_pcg(std::size_t part, const PcgPart& of, double* x) const {
  constexpr int kMostPerDof = 20;
  const auto n = static_cast<std::size_t>(size(part));
  const double given = std::inner_product(x, x + n, x, 0.0), enough = pcg_tolerance_ * pcg_tolerance_ * given;
  if (!(given > 0)) return;  // zero, and NaN stays
  std::vector<double> r(x, x + n), z(n), p(n), ap(n);
  const auto inner = [n](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin(), 0.0);
  };
  const auto precondition = [&] {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t first = i / 3 * 3;
      z[i] = 0;
      for (std::size_t j = first; j < std::min(first + 3, n); ++j)
        z[i] += of.inverse_blocks[3 * i + j - first] * r[j];
    }
  };
  ++report_.solves;
  std::fill(x, x + n, 0.0);
  precondition();
  p = z;
  double rho = inner(r, z);
  for (std::size_t k = 0; inner(r, r) > enough; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      ap[i] = 0;
      for (std::int32_t e = of.rows.offsets[i]; e < of.rows.offsets[i + 1]; ++e)
        ap[i] += of.rows.values[e] * p[of.rows.indices[e]];
    }
    const double curvature = inner(p, ap);
    if (!(curvature > 0)) refuse(part);
    if (k == kMostPerDof * n)
      throw std::invalid_argument("conjugate gradients do not reach the tolerance in a part of " +
                                  std::to_string(n) + " dofs of A: take a larger one, or factors");
    const double step = rho / curvature;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] += step * p[i];
      r[i] -= step * ap[i];
    }
    precondition();
    const double next = inner(r, z), share = next / rho;
    rho = next;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + share * p[i];
    ++report_.iterations;
  }
}

void DynamicsInverse::solve_part(std::size_t part, double* x, int columns) const {
  const std::int32_t n = size(part);
  if (pcg_place_[part] >= 0) {
    for (int c = 0; c < columns; ++c)
      solve_by_pcg(part, pcg_[static_cast<std::size_t>(pcg_place_[part])],
                   x + static_cast<std::ptrdiff_t>(c) * n);
    return;
  }
  const bool general = general_[part] != 0;
  if (factor_begin_[part] < 0) {
    const auto at = static_cast<std::size_t>(-1 - factor_begin_[part]);
    return general ? sparse_general_[at].solve(x, columns) : sparse_[at].solve(x, columns);
  }
  const double* factor = dense_.data() + factor_begin_[part];
  for (int c = 0; c < columns; ++c) {
    double* column = x + static_cast<std::ptrdiff_t>(c) * n;
    if (general) solve_general(factor, n, pivots_.data() + begin_[part], column);
    else solve_dense(factor, n, column);
  }
}

std::vector<double> DynamicsInverse::solve(const std::vector<double>& b) const {
  std::vector<double> x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) x[i] = b[dofs_[i]];
  for (std::size_t part = 0; part < part_count(); ++part) solve_part(part, x.data() + begin_[part], 1);
  std::vector<double> out(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) out[dofs_[i]] = x[i];
  return out;
}

}  // namespace stickslip
