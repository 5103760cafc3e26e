// Sparse matrices in FCLIB's layout, to and from compressed rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// How entries are stored. The numbers are those of `nz` in the file, except for triplets, where nz is the
/// count.
enum class FclibStorage { columns = -1, rows = -2, triplets = 0 };

/// The unchecked datasets of a matrix group. Compressed: p holds n + 1 (columns) or m + 1 (rows) offsets, i
/// the other index of each entry. Triplets: i is the row and p the column.
struct FclibMatrix {
  std::int32_t m = 0, n = 0;  // rows, columns
  std::int32_t nz = 0, nzmax = 0;
  std::vector<std::int32_t> p, i;
  std::vector<double> x;
};

/// Shape of a matrix that follows from the vectors of the problem.
struct FclibShape {
  std::size_t rows, columns;
};

/// The matrix, or its transpose, after all checks: shape, sizes against lengths, index ranges, no duplicate
/// entry. Throws InputError; messages call the matrix `name` ("FILE: /fclib_local/W").
SparseRows checked_rows(const FclibMatrix& matrix, FclibShape expected, bool transposed,
                        const std::string& name);

/// The matrix, or its transpose, in the given storage. Throws std::length_error beyond 2^31 - 1 entries.
FclibMatrix to_fclib(const SparseRows& rows, bool transposed, FclibStorage storage);

SparseRows transpose(const SparseRows& matrix);

/// The submatrix of some rows and columns, both ascending.
SparseRows submatrix(const SparseRows& matrix, const std::vector<std::int32_t>& rows,
                     const std::vector<std::int32_t>& columns);

}  // namespace stickslip
