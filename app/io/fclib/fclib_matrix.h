// Sparse matrices as FCLIB lays them out, to and from compressed rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// How entries are stored; the numbers are those of `nz` in the file, but for triplets, where nz counts them.
enum class FclibStorage { columns = -1, rows = -2, triplets = 0 };

/// The datasets of a matrix group, as read: nothing in here is to be believed. Compressed: p holds n + 1
/// (columns) or m + 1 (rows) offsets, i the other index of each entry. Triplets: i is the row and p the
/// column.
struct FclibMatrix {
  std::int32_t m = 0, n = 0;  // rows, columns
  std::int32_t nz = 0, nzmax = 0;
  std::vector<std::int32_t> p, i;
  std::vector<double> x;
};

/// What the vectors of the problem say about a matrix.
struct FclibShape {
  std::size_t rows, columns;
};

/// The matrix, or its transpose, with everything checked: shape, sizes against lengths, index ranges, no
/// entry twice. Throws InputError, `name` being what messages call the matrix ("FILE: /fclib_local/W").
SparseRows checked_rows(const FclibMatrix& matrix, FclibShape expected, bool transposed,
                        const std::string& name);

/// The matrix, or its transpose, stored in this way. Throws std::length_error beyond 2^31 - 1 entries.
FclibMatrix to_fclib(const SparseRows& rows, bool transposed, FclibStorage storage);

SparseRows transpose(const SparseRows& matrix);

/// The submatrix of some rows and columns, both ascending.
SparseRows submatrix(const SparseRows& matrix, const std::vector<std::int32_t>& rows,
                     const std::vector<std::int32_t>& columns);

}  // namespace stickslip
