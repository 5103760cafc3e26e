#include "gpu/dfcp/problem/lower_blocks.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace stickslip {
namespace {

void check_entries(std::int64_t blocks, int dim) {
  const std::int64_t entries = blocks * dim * dim;
  if (entries > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("W would have " + std::to_string(entries) +
                                " entries, more than 32 bits count: solve this problem without forming W");
}

/// Row by row: G = H_c A_b^-1 once for each body b of block c, then G H_d' for each earlier block d on b.
template <int D, int N>
void add_fixed(const ContactProblem& problem, const Incidence& incidence, LowerBlocks& lower) {
  std::vector<std::int64_t> position(lower.rows());
  for (std::size_t c = 0; c < lower.rows(); ++c) {
    for (std::int64_t k = lower.begin[c]; k < lower.begin[c + 1]; ++k) position[lower.columns[k]] = k;
    for (std::int32_t e = incidence.entry_begin[c]; e < incidence.entry_begin[c + 1]; ++e) {
      const std::int32_t body = incidence.group[e];
      if (body < 0) continue;
      const double* a = problem.inverse_mass.data() + static_cast<std::size_t>(body) * N * N;
      const double* h = problem.jacobian[e].rows.data();
      double g[D * N] = {};
      for (int i = 0; i < D; ++i)
        for (int k = 0; k < N; ++k)
          for (int j = 0; j < N; ++j) g[i * N + j] += h[i * N + k] * a[k * N + j];
      for (std::int32_t item = incidence.list_begin[body]; item < incidence.list_begin[body + 1]; ++item) {
        const std::int32_t d = incidence.block[item];
        if (d > static_cast<std::int32_t>(c)) break;
        const double* other = problem.jacobian[incidence.list[item]].rows.data();
        double* out = lower.values.data() + position[d] * D * D;
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < D; ++j) {
            double sum = 0;
            for (int k = 0; k < N; ++k) sum += g[i * N + k] * other[j * N + k];
            out[i * D + j] += sum;
          }
      }
    }
  }
}

}  // namespace

void Incidence::invert(std::size_t group_count) {
  list_begin.assign(group_count + 1, 0);
  for (const std::int32_t g : group)
    if (g >= 0) ++list_begin[g + 1];
  std::partial_sum(list_begin.begin(), list_begin.end(), list_begin.begin());
  list.resize(list_begin.back());
  block.resize(list.size());
  std::vector<std::int32_t> next(list_begin.begin(), list_begin.end() - 1);
  for (std::size_t c = 0; c + 1 < entry_begin.size(); ++c)
    for (std::int32_t e = entry_begin[c]; e < entry_begin[c + 1]; ++e) {
      if (group[e] < 0) continue;
      const std::int32_t item = next[group[e]]++;
      list[item] = e;
      block[item] = static_cast<std::int32_t>(c);
    }
}

std::int64_t LowerBlocks::position(std::int32_t row, std::int32_t column) const {
  const auto first = columns.begin();
  return std::lower_bound(first + begin[row], first + begin[row + 1], column) - first;
}

double* LowerBlocks::block(std::int32_t row, std::int32_t column) {
  if (column <= row) return at(position(row, column));
  return mirrored.data() + position(column, row) * dim * dim;
}

LowerBlocks make_lower_blocks(int dim, const Incidence& incidence) {
  LowerBlocks lower;
  lower.dim = dim;
  const std::size_t n = incidence.entry_begin.size() - 1;
  lower.begin.assign(n + 1, 0);
  lower.columns.reserve(incidence.list.size() * 3 + n);
  std::vector<std::int32_t> seen_by(n, -1);
  for (std::size_t c = 0; c < n; ++c) {
    const auto row = static_cast<std::int32_t>(c);
    const auto first = static_cast<std::ptrdiff_t>(lower.columns.size());
    seen_by[c] = row;
    for (std::int32_t e = incidence.entry_begin[c]; e < incidence.entry_begin[c + 1]; ++e) {
      const std::int32_t g = incidence.group[e];
      if (g < 0) continue;
      for (std::int32_t item = incidence.list_begin[g]; item < incidence.list_begin[g + 1]; ++item) {
        const std::int32_t d = incidence.block[item];
        if (d >= row) break;
        if (seen_by[d] == row) continue;
        seen_by[d] = row;
        lower.columns.push_back(d);
      }
    }
    std::sort(lower.columns.begin() + first, lower.columns.end());
    lower.columns.push_back(row);
    lower.begin[c + 1] = static_cast<std::int64_t>(lower.columns.size());
    check_entries(2 * lower.begin[c + 1] - row - 1, dim);
  }
  lower.values.assign(lower.columns.size() * static_cast<std::size_t>(dim * dim), 0.0);
  return lower;
}

void add_bodies(const ContactProblem& problem, const Incidence& incidence, LowerBlocks& lower) {
  const auto add = [&](auto dim) {
    constexpr int kDim = decltype(dim)::value;
    problem.body_dofs == 3 ? add_fixed<kDim, 3>(problem, incidence, lower)
                           : add_fixed<kDim, 6>(problem, incidence, lower);
  };
  if (problem.dim == 3) add(std::integral_constant<int, 3>{});
  else if (problem.dim == 4) add(std::integral_constant<int, 4>{});
  else add(std::integral_constant<int, 5>{});
}

SparseRows to_rows(const LowerBlocks& lower) {
  const std::size_t n = lower.rows();
  const int dim = lower.dim;
  std::vector<std::int32_t> width(n);
  for (std::size_t c = 0; c < n; ++c)
    for (std::int64_t k = lower.begin[c]; k < lower.begin[c + 1]; ++k) {
      ++width[c];
      if (lower.columns[k] != static_cast<std::int32_t>(c)) ++width[lower.columns[k]];
    }
  SparseRows out;
  out.rows = out.columns = static_cast<std::int32_t>(n) * dim;
  out.offsets.resize(n * dim + 1);
  for (std::size_t c = 0; c < n; ++c)
    for (int i = 0; i < dim; ++i) out.offsets[c * dim + i + 1] = out.offsets[c * dim + i] + width[c] * dim;
  out.indices.resize(out.offsets.back());
  out.values.resize(out.offsets.back());

  // Row d receives its blocks above the diagonal while the later rows are processed, in ascending order.
  const auto write = [&](std::int32_t row, std::int32_t column, std::int32_t position, const double* values,
                         bool transposed) {
    for (int i = 0; i < dim; ++i) {
      const std::int32_t to = out.offsets[row * dim + i] + position * dim;
      for (int j = 0; j < dim; ++j) {
        out.indices[to + j] = column * dim + j;
        out.values[to + j] = transposed ? values[j * dim + i] : values[i * dim + j];
      }
    }
  };
  std::vector<std::int32_t> next(n);
  for (std::size_t c = 0; c < n; ++c) {
    const auto row = static_cast<std::int32_t>(c);
    next[c] = static_cast<std::int32_t>(lower.begin[c + 1] - lower.begin[c]);
    for (std::int64_t k = lower.begin[c]; k < lower.begin[c + 1]; ++k) {
      const std::int32_t d = lower.columns[k];
      const double* values = lower.values.data() + k * dim * dim;
      write(row, d, static_cast<std::int32_t>(k - lower.begin[c]), values, false);
      if (d == row) continue;
      if (lower.mirrored.empty()) write(d, row, next[d]++, values, true);
      else write(d, row, next[d]++, lower.mirrored.data() + k * dim * dim, false);
    }
    if (!lower.mirrored.empty()) continue;
    for (int i = 0; i < dim; ++i)  // of a diagonal block only the lower triangle is used
      for (int j = 0; j < i; ++j) {
        const std::int32_t diagonal = next[c] * dim - dim;
        out.values[out.offsets[c * dim + j] + diagonal + i] =
            out.values[out.offsets[c * dim + i] + diagonal + j];
      }
  }
  return out;
}

SparseRows complete_blocks(const SparseRows& matrix, int dim) {
  const std::int32_t n = matrix.rows / dim;
  SparseRows out;
  out.rows = out.columns = matrix.rows;
  out.offsets.reserve(matrix.offsets.size());
  out.offsets.push_back(0);
  out.indices.reserve(matrix.indices.size());
  out.values.reserve(matrix.values.size());
  std::vector<std::int32_t> columns;
  for (std::int32_t c = 0; c < n; ++c) {
    columns.assign(1, c);
    for (std::int32_t k = matrix.offsets[c * dim]; k < matrix.offsets[(c + 1) * dim]; ++k)
      if (columns.back() != matrix.indices[k] / dim) columns.push_back(matrix.indices[k] / dim);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    check_entries(static_cast<std::int64_t>(out.indices.size()) / (dim * dim) +
                      static_cast<std::int64_t>(columns.size()),
                  dim);
    for (std::int32_t row = c * dim; row < (c + 1) * dim; ++row) {
      std::int32_t k = matrix.offsets[row];
      for (const std::int32_t d : columns)
        for (std::int32_t j = d * dim; j < (d + 1) * dim; ++j) {
          const bool there = k < matrix.offsets[row + 1] && matrix.indices[k] == j;
          out.indices.push_back(j);
          out.values.push_back(there ? matrix.values[k++] : 0.0);
        }
      out.offsets.push_back(static_cast<std::int32_t>(out.indices.size()));
    }
  }
  return out;
}

}  // namespace stickslip
