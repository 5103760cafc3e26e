#include "gpu/linear/coarse_matrix.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace stickslip {
namespace {

constexpr int kModes = 12;
// What the diagonal gets, relative to itself.
constexpr Real kCoarseRidge = sizeof(Real) == 8 ? Real(1e-10) : Real(1e-5);

/// out = a b.
void multiply(const CoarseBlock& a, const CoarseBlock& b, CoarseBlock& out) {
  for (int r = 0; r < kModes; ++r) {
    Quad sum[kQuads]{};
    for (int m = 0; m < kModes; ++m)
      for (int q = 0; q < kQuads; ++q) sum[q] += a(r, m) * quad(b, m, q);
    for (int q = 0; q < kQuads; ++q) quad(out, r, q) = sum[q];
  }
}

/// out -= a' b.
void subtract_transposed(const CoarseBlock& a, const CoarseBlock& b, CoarseBlock& out) {
  for (int r = 0; r < kModes; ++r) {
    Quad sum[kQuads];
    for (int q = 0; q < kQuads; ++q) sum[q] = quad(out, r, q);
    for (int m = 0; m < kModes; ++m)
      for (int q = 0; q < kQuads; ++q) sum[q] -= a(m, r) * quad(b, m, q);
    for (int q = 0; q < kQuads; ++q) quad(out, r, q) = sum[q];
  }
}

/// a becomes its inverse, by Gauss-Jordan elimination of rows as a whole; false, and a is spoilt, unless a is
/// positive definite. Symmetric to the last bit.
bool invert(CoarseBlock& a) {
  for (int k = 0; k < kModes; ++k) {
    const Real pivot = a(k, k);
    if (!(pivot > 0)) return false;
    const Real scale = 1 / pivot;
    a(k, k) = 1;
    for (int q = 0; q < kQuads; ++q) quad(a, k, q) *= scale;
    for (int r = 0; r < kModes; ++r) {
      if (r == k) continue;
      const Real factor = a(r, k);
      a(r, k) = 0;
      for (int q = 0; q < kQuads; ++q) quad(a, r, q) -= factor * quad(a, k, q);
    }
  }
  for (int r = 0; r < kModes; ++r)
    for (int c = 0; c < r; ++c) a(r, c) = a(c, r) = (a(r, c) + a(c, r)) / 2;
  return true;
}

void add_ridge(CoarseBlock& d) {
  Real of_gradients = 0;
  for (int k = 3; k < kModes; ++k) of_gradients += d(k, k);
  for (int k = 0; k < kModes; ++k) {
    const Real scale = k < 3 ? d(k, k) : std::max(d(k, k), of_gradients / 9);
    d(k, k) = scale > 0 ? d(k, k) + kCoarseRidge * scale : Real(1);
  }
}

/// Sets of groups as bits.
class Neighbours {
 public:
  explicit Neighbours(std::int32_t groups)
      : words_((groups + 63) / 64), bits_(std::size_t(groups) * words_) {}
  std::uint64_t* of(std::int32_t g) { return bits_.data() + std::size_t(g) * words_; }
  void set(std::int32_t g, std::int32_t h) { of(g)[h / 64] |= std::uint64_t{1} << (h % 64); }
  void clear(std::int32_t g, std::int32_t h) { of(g)[h / 64] &= ~(std::uint64_t{1} << (h % 64)); }
  void join(std::int32_t into, std::int32_t from) {
    for (std::size_t w = 0; w < words_; ++w) of(into)[w] |= of(from)[w];
  }
  int count(std::int32_t g) {
    int n = 0;
    for (std::size_t w = 0; w < words_; ++w) n += std::popcount(of(g)[w]);
    return n;
  }
  std::vector<std::int32_t> list(std::int32_t g) {
    std::vector<std::int32_t> out;
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t left = of(g)[w]; left != 0; left &= left - 1)
        out.push_back(static_cast<std::int32_t>(64 * w) + std::countr_zero(left));
    return out;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

void CoarseMatrix::begin(std::int32_t groups, std::span<const Vec2i> pairs) {
  std::vector<Vec2i> sorted;
  sorted.reserve(pairs.size());
  for (const Vec2i& p : pairs) sorted.push_back({std::min(p[0], p[1]), std::max(p[0], p[1])});
  const auto before = [](const Vec2i& a, const Vec2i& b) {
    return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
  };
  const auto same = [](const Vec2i& a, const Vec2i& b) { return a[0] == b[0] && a[1] == b[1]; };
  std::sort(sorted.begin(), sorted.end(), before);
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  if (groups != groups_ || !std::equal(sorted.begin(), sorted.end(), pairs_.begin(), pairs_.end(), same)) {
    groups_ = groups;
    pairs_ = std::move(sorted);
    find_order(pairs_);
  }
  block_.assign(column_.size(), CoarseBlock::zero());
  diagonal_.assign(static_cast<std::size_t>(groups_), CoarseBlock::zero());
}

/// Eliminates the group with the fewest neighbours that are left, the first of these; its neighbours become
/// neighbours of each other.
void CoarseMatrix::find_order(std::span<const Vec2i> pairs) {
  Neighbours neighbours(groups_);
  for (const Vec2i& p : pairs) {
    neighbours.set(p[0], p[1]);
    neighbours.set(p[1], p[0]);
  }
  const auto n = static_cast<std::size_t>(groups_);
  std::vector<int> degree(n);
  for (std::int32_t g = 0; g < groups_; ++g) degree[g] = neighbours.count(g);
  group_.clear();
  place_.assign(n, -1);
  std::vector<std::vector<std::int32_t>> rows;
  for (std::int32_t k = 0; k < groups_; ++k) {
    std::int32_t next = -1;
    for (std::int32_t g = 0; g < groups_; ++g)
      if (place_[g] < 0 && (next < 0 || degree[g] < degree[next])) next = g;
    place_[next] = k;
    group_.push_back(next);
    const std::vector<std::int32_t> row = neighbours.list(next);
    for (const std::int32_t g : row) {
      neighbours.join(g, next);
      neighbours.clear(g, g);
      neighbours.clear(g, next);
      degree[g] = neighbours.count(g);
    }
    rows.push_back(row);
  }
  row_.assign(1, 0);
  column_.clear();
  for (std::vector<std::int32_t>& row : rows) {
    for (std::int32_t& g : row) g = place_[g];
    std::sort(row.begin(), row.end());
    column_.insert(column_.end(), row.begin(), row.end());
    row_.push_back(static_cast<std::int32_t>(column_.size()));
  }
}

CoarseBlock& CoarseMatrix::off_diagonal(std::int32_t row, std::int32_t column) {
  const auto first = column_.begin() + row_[row];
  return block_[std::lower_bound(first, column_.begin() + row_[row + 1], column) - column_.begin()];
}

void CoarseMatrix::add(std::int32_t g, std::int32_t h, const CoarseBlock& b) {
  const std::int32_t row = place_[g], column = place_[h];
  if (g == h) {
    CoarseBlock& d = diagonal_[row];
    for (int i = 0; i < kModes; ++i)
      for (int j = 0; j < kModes; ++j) d(i, j) += b(i, j) + b(j, i);
  } else if (row < column) {
    off_diagonal(row, column) += b;
  } else {
    CoarseBlock& out = off_diagonal(column, row);
    for (int i = 0; i < kModes; ++i)
      for (int j = 0; j < kModes; ++j) out(i, j) += b(j, i);
  }
}

void CoarseMatrix::factorise(Arena* arena) {
  for (CoarseBlock& d : diagonal_) add_ridge(d);
  for (std::int32_t k = 0; k < groups_; ++k) eliminate(k, arena);
}

/// Row k of U, and what it takes from the rows below.
void CoarseMatrix::eliminate(std::int32_t k, Arena* arena) {
  constexpr std::int32_t kEnough = 4;  // rows below that are worth other threads: a microsecond each
  CoarseBlock& d = diagonal_[k];
  if (!invert(d)) d = CoarseBlock::zero();
  const std::int32_t begin = row_[k], end = row_[k + 1];
  product_.resize(static_cast<std::size_t>(end - begin));
  const auto update = [&](std::size_t e) { update_row(begin, end, d, begin + static_cast<std::int32_t>(e)); };
  if (arena != nullptr && end - begin >= kEnough) arena->run_each(product_.size(), update);
  else
    for (std::size_t e = 0; e < product_.size(); ++e) update(e);
  std::copy(product_.begin(), product_.end(), block_.begin() + begin);
}

/// What block e of the eliminated row [begin, end) takes from the row of its column.
void CoarseMatrix::update_row(std::int32_t begin, std::int32_t end, const CoarseBlock& inverse,
                              std::int32_t e) {
  CoarseBlock& product = product_[e - begin];
  multiply(inverse, block_[e], product);
  const std::int32_t row = column_[e];
  subtract_transposed(product, block_[e], diagonal_[row]);
  std::int32_t place = row_[row];
  for (std::int32_t f = e + 1; f < end; ++f) {
    while (column_[place] != column_[f]) ++place;
    subtract_transposed(product, block_[f], block_[place]);
  }
}

CoarseFactors CoarseMatrix::factors() const {
  return {groups_, group_.data(), row_.data(), column_.data(), block_.data(), diagonal_.data()};
}

}  // namespace stickslip
