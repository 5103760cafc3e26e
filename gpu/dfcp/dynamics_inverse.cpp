#include "gpu/dfcp/dynamics_inverse.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

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

[[noreturn]] void refuse(std::int32_t size, std::int32_t first) {
  throw std::invalid_argument("A is not positive definite: its connected part of " + std::to_string(size) +
                              " dofs that begins with dof " + std::to_string(first) +
                              " has no Cholesky factor; masses and inertias must be positive");
}

}  // namespace

DynamicsInverse::DynamicsInverse(const SparseRows& a) {
  find_parts(a);
  for (std::size_t part = 0; part < part_count(); ++part) {
    const std::int32_t n = size(part);
    if (n <= kSmallPart || (!has_cholesky() && n <= kMostDenseDofs)) {
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

/// Union-find on the pattern; a part is called by its lowest dof, so parts come in the order of those.
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

void DynamicsInverse::factorise_dense(const SparseRows& a, std::size_t part) {
  const std::int32_t n = size(part);
  const std::size_t first = dense_.size();
  factor_begin_.push_back(static_cast<std::int64_t>(first));
  dense_.resize(first + static_cast<std::size_t>(n) * n, 0.0);
  double* l = dense_.data() + first;
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t dof = dofs_[begin_[part] + i];
    for (std::int32_t k = a.offsets[dof]; k < a.offsets[dof + 1]; ++k)
      if (part_[a.indices[k]] == static_cast<std::int32_t>(part))
        l[static_cast<std::size_t>(i) * n + place_[a.indices[k]]] = a.values[k];
  }
  if (!factorise(l, n)) refuse(n, dofs_[begin_[part]]);
}

void DynamicsInverse::factorise_sparse(const SparseRows& a, std::size_t part) {
  std::vector<std::int32_t> offsets{0}, indices;
  std::vector<double> values;
  for (std::int32_t i = begin_[part]; i < begin_[part + 1]; ++i) {
    const std::int32_t dof = dofs_[i];
    for (std::int32_t k = a.offsets[dof]; k < a.offsets[dof + 1]; ++k) {
      if (a.indices[k] > dof || part_[a.indices[k]] != static_cast<std::int32_t>(part)) continue;
      indices.push_back(place_[a.indices[k]]);
      values.push_back(a.values[k]);
    }
    offsets.push_back(static_cast<std::int32_t>(indices.size()));
  }
  factor_begin_.push_back(-1 - static_cast<std::int64_t>(sparse_.size()));
  if (!sparse_.emplace_back().factorise({offsets, indices, values})) refuse(size(part), dofs_[begin_[part]]);
}

void DynamicsInverse::solve_part(std::size_t part, double* x, int columns) const {
  if (factor_begin_[part] < 0) return sparse_[-1 - factor_begin_[part]].solve(x, columns);
  for (int c = 0; c < columns; ++c)
    solve_dense(dense_.data() + factor_begin_[part], size(part),
                x + static_cast<std::ptrdiff_t>(c) * size(part));
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
