// Blocks of D, L and C by cells, compared with a dense matrix.
#include "gpu/linear/matrix_parts.h"

#include <gtest/gtest.h>

#include <set>

#include "gpu/linear/pattern.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/linear/systems.h"

namespace stickslip {
namespace {

/// Which nodes are in one stencil with which others, row by row.
std::set<std::pair<int, int>> coupled_places(const std::vector<Vec4i>& stencils) {
  std::set<std::pair<int, int>> places;
  for (const Vec4i& s : stencils)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (a != b && s[a] >= 0 && s[b] >= 0) places.insert({s[a], s[b]});
  return places;
}

void expect_dense_counts(const MatrixParts& parts, int n, const std::vector<Vec4i>& tets,
                         const std::vector<Vec4i>& contacts) {
  const auto elastic = coupled_places(tets), contact = coupled_places(contacts);
  std::vector<MatrixParts::Counts> want(parts.count.size(), MatrixParts::Counts{});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      // Cell c has the rows from c n / cells on.
      int row = 0, column = 0;
      while ((row + 1) * n <= i * parts.cells) ++row;
      while ((column + 1) * n <= j * parts.cells) ++column;
      MatrixParts::Counts& cell = want[static_cast<std::size_t>(row * parts.cells + column)];
      cell[MatrixParts::diagonal] += i == j;
      cell[MatrixParts::elastic] += static_cast<std::int64_t>(elastic.count({i, j}));
      cell[MatrixParts::contact] += static_cast<std::int64_t>(contact.count({i, j}));
    }
  EXPECT_EQ(parts.count, want);
  EXPECT_EQ(parts.total[MatrixParts::diagonal], n);
  EXPECT_EQ(parts.total[MatrixParts::elastic], static_cast<std::int64_t>(elastic.size()));
  EXPECT_EQ(parts.total[MatrixParts::contact], static_cast<std::int64_t>(contact.size()));
}

TEST(MatrixParts, CellsCountTheBlocksOfADenseMatrix) {
  FRESH_SEED(seed);
  test::Random random(seed);
  for (const int side : {2, 4, 6}) {
    const std::vector<Vec4i> tets = test::lattice_tets(side, side, side + 1);
    const int n = side * side * (side + 1);
    std::vector<Vec4i> contacts;
    for (int k = 0; k < 20; ++k) {
      contacts.push_back(random.stencil(static_cast<std::size_t>(n), 1 + k % 4));
      if (k % 5 == 0) contacts.push_back(contacts.back());
    }
    // Chunks of few nodes: many pairs have two entries.
    for (const int chunk : {5, 1000})
      for (const int cells : {1, 7, 32, 500}) {
        const Pattern pattern = make_pattern(static_cast<std::size_t>(n), tets, chunk);
        const MatrixParts parts = count_parts(n, pattern.entries, contacts, cells);
        ASSERT_EQ(parts.cells, std::min(n, cells));
        expect_dense_counts(parts, n, tets, contacts);
      }
  }
}

TEST(MatrixParts, CellsKnowTheirRows) {
  const MatrixParts parts = count_parts(100, {}, {}, 7);
  for (int cell = 0; cell < 7; ++cell) {
    EXPECT_EQ(parts.cell_of(parts.first_of(cell)), cell);
    if (cell > 0) {
      EXPECT_EQ(parts.cell_of(parts.first_of(cell) - 1), cell - 1);
    }
  }
  EXPECT_EQ(parts.first_of(7), 100);
  EXPECT_TRUE(count_parts(0, {}, {}, 7).empty());
}

}  // namespace
}  // namespace stickslip
