// LowerBlocks: the lower triangle of W in dim x dim blocks, the intermediate form between H and A^-1 and
// compressed rows. For a W that is not symmetric it has the upper triangle too. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// Bipartite graph of contact blocks and groups of dofs (bodies, connected parts of A): the groups that each
/// block touches and the blocks that touch each group. An entry is one pair.
struct Incidence {
  std::vector<std::int32_t> entry_begin;  // blocks + 1
  std::vector<std::int32_t> group;        // of each entry; -1: immovable, couples nothing
  std::vector<std::int32_t> list_begin;   // groups + 1, into `list`
  std::vector<std::int32_t> list;         // a group's entries, ascending
  std::vector<std::int32_t> block;        // of each item of `list`, ascending within a group

  /// Fills the lists from `entry_begin` and `group`.
  void invert(std::size_t group_count);
};

struct LowerBlocks {
  int dim = 3;
  std::vector<std::int64_t> begin;    // blocks + 1
  std::vector<std::int32_t> columns;  // of each block, ascending in a row: its diagonal block is the last
  std::vector<double> values;         // dim * dim each, row-major
  std::vector<double> mirrored;       // block (d, c) for each block (c, d) of `values`; empty: W is symmetric

  std::size_t rows() const { return begin.size() - 1; }
  double* at(std::int64_t position) { return values.data() + position * dim * dim; }
  /// Position of block (row, column), column <= row; the block must exist.
  std::int64_t position(std::int32_t row, std::int32_t column) const;
  /// Block (row, column) of either triangle.
  double* block(std::int32_t row, std::int32_t column);
};

/// Zero blocks for each pair of contact blocks that share a group, and on the diagonal. Throws
/// std::invalid_argument when W would have more entries than 32 bits can index.
LowerBlocks make_lower_blocks(int dim, const Incidence& incidence);

/// Adds H A^-1 H' of a problem of form `bodies`.
void add_bodies(const ContactProblem& problem, const Incidence& incidence, LowerBlocks& lower);

/// Both triangles. Exactly symmetric without `mirrored`: the upper triangle is then a copy of the lower one.
SparseRows to_rows(const LowerBlocks& lower);

/// The same matrix with complete blocks: a dim x dim block with any entry gets all of them, and every
/// diagonal block is present. Values do not change.
SparseRows complete_blocks(const SparseRows& matrix, int dim);

}  // namespace stickslip
