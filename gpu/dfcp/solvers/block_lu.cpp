#include "gpu/dfcp/solvers/block_lu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/linear/fill_order.h"

namespace stickslip {
namespace {

/// Four doubles in one register, where the processor has such registers; eight for blocks of more rows.
using FourLanes [[gnu::vector_size(32)]] = double;
using EightLanes [[gnu::vector_size(64)]] = double;
template <int D>
using Lanes = std::conditional_t<(D > 4), EightLanes, FourLanes>;

/// A D x D block by columns, each padded to the rows of Lanes.
template <int D>
struct Columns {
  Lanes<D> column[D];
};

template <int D>
Columns<D> columns_of(const Mat<double, D>& m) {
  Columns<D> a{};
  for (int j = 0; j < D; ++j)
    for (int i = 0; i < D; ++i) a.column[j][i] = m(i, j);
  return a;
}

/// c -= a b
template <int D>
void subtract_product(Columns<D>& c, const Columns<D>& a, const Columns<D>& b) {
  for (int j = 0; j < D; ++j) {
    Lanes<D> sum = c.column[j];
    for (int k = 0; k < D; ++k) sum -= a.column[k] * b.column[j][k];
    c.column[j] = sum;
  }
}

template <int D>
Columns<D> product(const Columns<D>& a, const Columns<D>& b) {
  Columns<D> c{};
  for (int j = 0; j < D; ++j)
    for (int k = 0; k < D; ++k) c.column[j] += a.column[k] * b.column[j][k];
  return c;
}

template <int D>
void subtract_product(Lanes<D>& y, const Columns<D>& a, const Lanes<D>& x) {
  for (int k = 0; k < D; ++k) y -= a.column[k] * x[k];
}

/// a^-1 by elimination with row pivots; false when a is singular to rounding.
template <int D>
bool invert(const Columns<D>& a, Columns<D>& inverse) {
  double m[D][2 * D];
  double size = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      m[i][j] = a.column[j][i];
      m[i][D + j] = i == j ? 1 : 0;
      size = std::max(size, std::fabs(m[i][j]));
    }
  for (int k = 0; k < D; ++k) {
    int pivot = k;
    for (int i = k + 1; i < D; ++i)
      if (std::fabs(m[i][k]) > std::fabs(m[pivot][k])) pivot = i;
    // Also catches NaN.
    if (!(std::fabs(m[pivot][k]) > 1e-300 + 1e-18 * size)) return false;
    if (pivot != k)
      for (int j = 0; j < 2 * D; ++j) std::swap(m[k][j], m[pivot][j]);
    const double scale = 1 / m[k][k];
    for (int j = k; j < 2 * D; ++j) m[k][j] *= scale;
    for (int i = 0; i < D; ++i) {
      if (i == k) continue;
      const double factor = m[i][k];
      for (int j = k; j < 2 * D; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  for (int j = 0; j < D; ++j) {
    inverse.column[j] = Lanes<D>{};
    for (int i = 0; i < D; ++i) inverse.column[j][i] = m[i][D + j];
  }
  return true;
}

using Index = std::int32_t;
std::size_t index_of(Index i) { return static_cast<std::size_t>(i); }

/// The pattern with every entry mirrored, columns ascending.
void symmetric_pattern(std::span<const Index> start, std::span<const Index> column, std::vector<Index>& s,
                       std::vector<Index>& c) {
  const std::size_t n = start.size() - 1;
  std::vector<Index> count(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (Index k = start[i]; k < start[i + 1]; ++k) {
      ++count[i];
      if (index_of(column[index_of(k)]) != i) ++count[index_of(column[index_of(k)])];
    }
  std::vector<Index> first(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) first[i + 1] = first[i] + count[i];
  std::vector<Index> all(index_of(first[n])), next(first);
  for (std::size_t i = 0; i < n; ++i)
    for (Index k = start[i]; k < start[i + 1]; ++k) {
      const Index j = column[index_of(k)];
      all[index_of(next[i]++)] = j;
      if (index_of(j) != i) all[index_of(next[index_of(j)]++)] = static_cast<Index>(i);
    }
  s.assign(1, 0);
  c.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = all.begin() + first[i], end = all.begin() + first[i + 1];
    std::sort(begin, end);
    c.insert(c.end(), begin, std::unique(begin, end));
    s.push_back(static_cast<Index>(c.size()));
  }
}

}  // namespace

/// A = L U by rows of blocks, in the order of elimination: L has unit diagonal blocks and is kept to the left
/// of the diagonal, U to the right, the inverse of U's diagonal blocks apart.
template <int D>
struct BlockLu<D>::Impl {
  std::vector<Index> start, column;  // of the given matrix
  std::vector<Index> order, place;   // order[k] is eliminated k-th; place is its inverse
  std::vector<Index> row_start, row_column, row_diagonal;  // pattern of L + U in eliminated order
  std::vector<Columns<D>> value, inverse;                  // of L + U; of U's diagonal
  std::vector<Columns<D>> matrix;                          // as given, for refinement
  std::vector<Columns<D>> row;                             // the current row, dense
  std::vector<Lanes<D>> x, residual, right;
  double work = 0;
  bool possible = true, allocated = false;
  // 10 GB of blocks: more would take too long on a host.
  static constexpr std::size_t kMostFill = 50'000'000;

  bool find_fill(const std::vector<Index>& symmetric_start, const std::vector<Index>& symmetric_column);
  void allocate();
  bool eliminate();
  void substitute(const std::vector<Lanes<D>>& b, std::vector<Lanes<D>>& y) const;
};

/// Row i of L + U: the entries of A, and the updates from rows k < i in its L part (up-looking, with marks).
template <int D>
bool BlockLu<D>::Impl::find_fill(const std::vector<Index>& symmetric_start,
                                 const std::vector<Index>& symmetric_column) {
  const std::size_t n = order.size();
  // The elimination tree of the symmetric pattern gives the rows of L; U mirrors it.
  std::vector<Index> parent(n, -1), mark(n, -1), upper_count(n, 0), lower_start(n + 1, 0), lower;
  for (std::size_t i = 0; i < n; ++i) {
    const auto self = static_cast<Index>(i);
    mark[i] = self;
    const std::size_t original = index_of(order[i]);
    for (Index k = symmetric_start[original]; k < symmetric_start[original + 1]; ++k)
      for (Index j = place[index_of(symmetric_column[index_of(k)])]; j < self && mark[index_of(j)] != self;
           j = parent[index_of(j)]) {
        if (parent[index_of(j)] < 0) parent[index_of(j)] = self;
        mark[index_of(j)] = self;
        if (lower.size() >= kMostFill) return false;
        lower.push_back(j);
        ++upper_count[index_of(j)];
      }
    std::sort(lower.begin() + lower_start[i], lower.end());
    lower_start[i + 1] = static_cast<Index>(lower.size());
  }
  row_start.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    row_start[i + 1] = row_start[i] + (lower_start[i + 1] - lower_start[i]) + 1 + upper_count[i];
  row_column.resize(index_of(row_start[n]));
  row_diagonal.resize(n);
  std::vector<Index> next(n);
  work = static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = lower.begin() + lower_start[i], last = lower.begin() + lower_start[i + 1];
    std::copy(first, last, row_column.begin() + row_start[i]);
    row_diagonal[i] = row_start[i] + (lower_start[i + 1] - lower_start[i]);
    row_column[index_of(row_diagonal[i])] = static_cast<Index>(i);
    next[i] = row_diagonal[i] + 1;
    // Rows ascend, so each upper part fills in ascending columns.
    for (auto j = first; j != last; ++j) {
      row_column[index_of(next[index_of(*j)]++)] = static_cast<Index>(i);
      work += 1 + upper_count[index_of(*j)];
    }
  }
  return true;
}

template <int D>
bool BlockLu<D>::Impl::eliminate() {
  const std::size_t n = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (Index k = row_start[i]; k < row_start[i + 1]; ++k)
      row[index_of(row_column[index_of(k)])] = Columns<D>{};
    const std::size_t original = index_of(order[i]);
    for (Index k = start[original]; k < start[original + 1]; ++k)
      row[index_of(place[index_of(column[index_of(k)])])] = matrix[index_of(k)];
    for (Index k = row_start[i]; k < row_diagonal[i]; ++k) {
      const std::size_t j = index_of(row_column[index_of(k)]);
      const Columns<D> factor = product(row[j], inverse[j]);
      row[j] = factor;
      for (Index l = row_diagonal[j] + 1; l < row_start[j + 1]; ++l)
        subtract_product(row[index_of(row_column[index_of(l)])], factor, value[index_of(l)]);
    }
    for (Index k = row_start[i]; k < row_start[i + 1]; ++k)
      value[index_of(k)] = row[index_of(row_column[index_of(k)])];
    if (!invert(row[i], inverse[i])) return false;
  }
  return true;
}

template <int D>
void BlockLu<D>::Impl::substitute(const std::vector<Lanes<D>>& b, std::vector<Lanes<D>>& y) const {
  const std::size_t n = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    Lanes<D> sum = b[i];
    for (Index k = row_start[i]; k < row_diagonal[i]; ++k)
      subtract_product<D>(sum, value[index_of(k)], y[index_of(row_column[index_of(k)])]);
    y[i] = sum;
  }
  for (std::size_t i = n; i-- > 0;) {
    Lanes<D> sum = y[i];
    for (Index k = row_diagonal[i] + 1; k < row_start[i + 1]; ++k)
      subtract_product<D>(sum, value[index_of(k)], y[index_of(row_column[index_of(k)])]);
    Lanes<D> solved{};
    for (int j = 0; j < D; ++j) solved += inverse[i].column[j] * sum[j];
    y[i] = solved;
  }
}

template <int D>
BlockLu<D>::BlockLu() : impl_(std::make_unique<Impl>()) {}
template <int D>
BlockLu<D>::~BlockLu() = default;
template <int D>
BlockLu<D>::BlockLu(BlockLu&&) noexcept = default;
template <int D>
BlockLu<D>& BlockLu<D>::operator=(BlockLu&&) noexcept = default;

template <int D>
void BlockLu<D>::analyse(std::span<const Index> start, std::span<const Index> column) {
  Impl& m = *impl_;
  m.start.assign(start.begin(), start.end());
  m.column.assign(column.begin(), column.end());
  std::vector<Index> symmetric_start, symmetric_column;
  symmetric_pattern(start, column, symmetric_start, symmetric_column);
  m.order = fill_reducing_order(symmetric_start, symmetric_column);
  const std::size_t n = m.order.size();
  m.place.resize(n);
  for (std::size_t k = 0; k < n; ++k) m.place[index_of(m.order[k])] = static_cast<Index>(k);
  m.possible = m.find_fill(symmetric_start, symmetric_column);
  if (!m.possible) m.work = std::numeric_limits<double>::infinity();
  m.allocated = false;
}

template <int D>
void BlockLu<D>::Impl::allocate() {
  const std::size_t n = order.size();
  value.resize(row_column.size());
  inverse.resize(n);
  matrix.resize(column.size());
  row.resize(n);
  x.resize(n);
  residual.resize(n);
  right.resize(n);
  allocated = true;
}

template <int D>
double BlockLu<D>::work() const {
  return impl_->work;
}

template <int D>
bool BlockLu<D>::factorise(std::span<const Mat<double, D>> values) {
  if (!impl_->possible) return false;
  if (!impl_->allocated) impl_->allocate();
  for (std::size_t k = 0; k < values.size(); ++k) impl_->matrix[k] = columns_of(values[k]);
  return impl_->eliminate();
}

template <int D>
void BlockLu<D>::solve(const Vec<double, D>* b, Vec<double, D>* x) {
  Impl& m = *impl_;
  const std::size_t n = m.order.size();
  for (std::size_t i = 0; i < n; ++i) {
    m.right[i] = Lanes<D>{};
    for (int j = 0; j < D; ++j) m.right[i][j] = b[index_of(m.order[i])][j];
  }
  m.substitute(m.right, m.x);
  for (std::size_t i = 0; i < n; ++i) {
    Lanes<D> sum = m.right[i];
    const std::size_t original = index_of(m.order[i]);
    for (Index k = m.start[original]; k < m.start[original + 1]; ++k)
      subtract_product<D>(sum, m.matrix[index_of(k)],
                          m.x[index_of(m.place[index_of(m.column[index_of(k)])])]);
    m.residual[i] = sum;
  }
  m.substitute(m.residual, m.residual);
  for (std::size_t i = 0; i < n; ++i)
    for (int j = 0; j < D; ++j) x[index_of(m.order[i])][j] = m.x[i][j] + m.residual[i][j];
}

template class BlockLu<3>;
template class BlockLu<4>;
template class BlockLu<6>;
template class BlockLu<5>;

}  // namespace stickslip
