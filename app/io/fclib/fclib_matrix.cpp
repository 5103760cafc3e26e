#include "app/io/fclib/fclib_matrix.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

/// Entries in any order.
struct Triplets {
  std::int32_t rows, columns;
  std::vector<std::int32_t> row, column;
  std::vector<double> value;
};

/// Checks a matrix; its errors give the matrix and the place.
class Checker {
 public:
  Checker(const FclibMatrix& matrix, const std::string& name) : matrix_(matrix), name_(name) {}

  [[noreturn]] void fail(const std::string& what) const { throw InputError(name_ + what); }

  /// The number of entries in the lists.
  std::size_t count(FclibShape expected) const {
    const auto& [m, n, nz, nzmax, p, i, x] = matrix_;
    if (!std::cmp_equal(m, expected.rows) || !std::cmp_equal(n, expected.columns))
      fail(" is " + std::to_string(m) + " x " + std::to_string(n) + ", not " + std::to_string(expected.rows) +
           " x " + std::to_string(expected.columns) + " as the vectors are");
    if (nz < -2)
      fail("/nz = " + std::to_string(nz) + ": -1 (columns), -2 (rows) or the number of triplets is expected");
    const std::size_t entries = nz >= 0 ? static_cast<std::size_t>(nz) : compressed_count();
    if (nz >= 0) check_length("p", p.size(), entries);
    check_length("i", i.size(), entries);
    check_length("x", x.size(), entries);
    if (nzmax < 0 || static_cast<std::size_t>(nzmax) < entries)
      fail("/nzmax = " + std::to_string(nzmax) + " is below the number of entries, " +
           std::to_string(entries));
    return entries;
  }

  void check_index(const char* list, std::size_t k, std::int32_t index, std::int32_t end) const {
    if (index < 0 || index >= end)
      fail("/" + std::string(list) + "[" + std::to_string(k) + "] = " + std::to_string(index) +
           " is outside 0 to " + std::to_string(end - 1));
  }

 private:
  /// Checks that the offsets ascend from zero; returns the last one.
  std::size_t compressed_count() const {
    const std::vector<std::int32_t>& p = matrix_.p;
    const std::size_t lines = static_cast<std::size_t>(matrix_.nz == -1 ? matrix_.n : matrix_.m);
    if (p.size() != lines + 1)
      fail("/p holds " + std::to_string(p.size()) + " offsets, not one more than the " +
           std::to_string(lines) + (matrix_.nz == -1 ? " columns" : " rows"));
    if (p[0] != 0) fail("/p[0] = " + std::to_string(p[0]) + ", not 0");
    for (std::size_t k = 1; k < p.size(); ++k)
      if (p[k] < p[k - 1])
        fail("/p[" + std::to_string(k) + "] = " + std::to_string(p[k]) + " is below the offset before it, " +
             std::to_string(p[k - 1]));
    return static_cast<std::size_t>(p.back());
  }

  void check_length(const char* list, std::size_t length, std::size_t entries) const {
    if (length < entries)
      fail("/" + std::string(list) + " holds " + std::to_string(length) +
           " values, below the number of entries, " + std::to_string(entries));
  }

  const FclibMatrix& matrix_;
  const std::string& name_;
};

Triplets checked_triplets(const FclibMatrix& matrix, FclibShape expected, bool transposed,
                          const Checker& checker) {
  const std::size_t count = checker.count(expected);
  Triplets t{
      matrix.m, matrix.n, {}, {}, {matrix.x.begin(), matrix.x.begin() + static_cast<std::ptrdiff_t>(count)}};
  t.row.assign(matrix.i.begin(), matrix.i.begin() + static_cast<std::ptrdiff_t>(count));
  if (matrix.nz >= 0) {
    t.column.assign(matrix.p.begin(), matrix.p.begin() + static_cast<std::ptrdiff_t>(count));
  } else {
    t.column.resize(count);
    for (std::size_t line = 0; line + 1 < matrix.p.size(); ++line)
      std::fill(t.column.begin() + matrix.p[line], t.column.begin() + matrix.p[line + 1],
                static_cast<std::int32_t>(line));
    if (matrix.nz == -2) t.row.swap(t.column);
  }
  for (std::size_t k = 0; k < count; ++k) {
    checker.check_index(matrix.nz == -2 ? "p" : "i", k, t.row[k], matrix.m);
    checker.check_index(matrix.nz == -2 ? "i" : "p", k, t.column[k], matrix.n);
  }
  if (transposed) {
    t.row.swap(t.column);
    std::swap(t.rows, t.columns);
  }
  return t;
}

/// For each bin, where its entries start in an order sorted by bin.
std::vector<std::int32_t> starts_of(const std::vector<std::int32_t>& bin, std::int32_t bins) {
  std::vector<std::int32_t> start(static_cast<std::size_t>(bins) + 1, 0);
  for (const std::int32_t b : bin) ++start[static_cast<std::size_t>(b) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  return start;
}

/// Two counting sorts: by column, then, keeping that order, by row.
SparseRows sorted(const Triplets& t) {
  const std::size_t count = t.value.size();
  std::vector<std::int32_t> by_column(count), at = starts_of(t.column, t.columns);
  for (std::size_t k = 0; k < count; ++k)
    by_column[static_cast<std::size_t>(at[static_cast<std::size_t>(t.column[k])]++)] =
        static_cast<std::int32_t>(k);
  SparseRows sorted{t.rows, t.columns, starts_of(t.row, t.rows), std::vector<std::int32_t>(count),
                    std::vector<double>(count)};
  at = sorted.offsets;
  for (const std::int32_t entry : by_column) {
    const auto k = static_cast<std::size_t>(entry);
    const auto place = static_cast<std::size_t>(at[static_cast<std::size_t>(t.row[k])]++);
    sorted.indices[place] = t.column[k];
    sorted.values[place] = t.value[k];
  }
  return sorted;
}

void refuse_duplicates(const SparseRows& a, bool transposed, const Checker& checker) {
  for (std::int32_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.offsets[row] + 1; k < a.offsets[row + 1]; ++k)
      if (a.indices[k] == a.indices[k - 1])
        checker.fail(" holds the entry of row " + std::to_string(transposed ? a.indices[k] : row) +
                     ", column " + std::to_string(transposed ? row : a.indices[k]) + " twice");
}

Triplets triplets_of(const SparseRows& a) {
  Triplets t{a.rows, a.columns, {}, a.indices, a.values};
  t.row.reserve(a.values.size());
  for (std::int32_t row = 0; row < a.rows; ++row)
    t.row.insert(t.row.end(), static_cast<std::size_t>(a.offsets[row + 1] - a.offsets[row]), row);
  return t;
}

}  // namespace

SparseRows checked_rows(const FclibMatrix& matrix, FclibShape expected, bool transposed,
                        const std::string& name) {
  const Checker checker(matrix, name);
  SparseRows rows = sorted(checked_triplets(matrix, expected, transposed, checker));
  refuse_duplicates(rows, transposed, checker);
  return rows;
}

SparseRows transpose(const SparseRows& matrix) {
  Triplets t = triplets_of(matrix);
  t.row.swap(t.column);
  std::swap(t.rows, t.columns);
  return sorted(t);
}

FclibMatrix to_fclib(const SparseRows& rows, bool transposed, FclibStorage storage) {
  if (rows.values.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::length_error("a matrix of more entries than FCLIB can count");
  FclibMatrix file{transposed ? rows.columns : rows.rows,
                   transposed ? rows.rows : rows.columns,
                   static_cast<std::int32_t>(storage),
                   static_cast<std::int32_t>(rows.values.size()),
                   {},
                   {},
                   {}};
  if (storage == FclibStorage::triplets) {
    Triplets t = triplets_of(rows);
    if (transposed) t.row.swap(t.column);
    file.nz = file.nzmax;
    file.i = std::move(t.row), file.p = std::move(t.column), file.x = std::move(t.value);
    return file;
  }
  // Our rows are the file's rows, or the columns of its transpose.
  const bool as_is = (storage == FclibStorage::rows) != transposed;
  SparseRows lines = as_is ? rows : transpose(rows);
  file.p = std::move(lines.offsets), file.i = std::move(lines.indices), file.x = std::move(lines.values);
  return file;
}

SparseRows submatrix(const SparseRows& matrix, const std::vector<std::int32_t>& rows,
                     const std::vector<std::int32_t>& columns) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(matrix.columns), -1);
  for (std::size_t k = 0; k < columns.size(); ++k)
    place[static_cast<std::size_t>(columns[k])] = static_cast<std::int32_t>(k);
  SparseRows part{
      static_cast<std::int32_t>(rows.size()), static_cast<std::int32_t>(columns.size()), {0}, {}, {}};
  for (const std::int32_t row : rows) {
    for (std::int32_t k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      if (const std::int32_t column = place[static_cast<std::size_t>(matrix.indices[k])]; column >= 0) {
        part.indices.push_back(column);
        part.values.push_back(matrix.values[k]);
      }
    part.offsets.push_back(static_cast<std::int32_t>(part.values.size()));
  }
  return part;
}

}  // namespace stickslip
