// Converts problems of bodies to the global form.
#include <algorithm>
#include <cmath>

#include "app/io/fclib/fclib.h"
#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

/// Inverts a symmetric positive definite matrix of n rows through its factor L L'; false when it is not
/// definite.
bool invert(std::vector<double>& a, std::size_t n) {
  std::vector<double> l(n * n, 0.0), inverse_l(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      if (i != j) {
        l[i * n + j] = sum / l[j * n + j];
      } else if (sum > 0) {
        l[i * n + i] = std::sqrt(sum);
      } else {
        return false;
      }
    }
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) {
      double sum = i == j ? 1 : 0;
      for (std::size_t k = j; k < i; ++k) sum -= l[i * n + k] * inverse_l[k * n + j];
      inverse_l[i * n + j] = sum / l[i * n + i];
    }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = std::max(i, j); k < n; ++k) sum += inverse_l[k * n + i] * inverse_l[k * n + j];
      a[i * n + j] = sum;
    }
  return true;
}

/// Appends the rows of A of one body's movable dofs.
void add_mass(const ContactProblem& problem, std::size_t body, std::vector<std::int32_t>& dofs,
              SparseRows& mass) {
  const auto n = static_cast<std::size_t>(problem.body_dofs);
  const double* inverse = problem.inverse_mass.data() + body * n * n;
  std::vector<std::size_t> movable;
  for (std::size_t i = 0; i < n; ++i)
    if (inverse[i * n + i] != 0) movable.push_back(i);
  const std::size_t m = movable.size();
  std::vector<double> a(m * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) a[i * m + j] = inverse[movable[i] * n + movable[j]];
  if (!invert(a, m))
    throw InputError("the inverse mass of body " + std::to_string(body) + " is not positive semidefinite");
  const auto first = static_cast<std::int32_t>(dofs.size());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j)
      if (i == j || a[i * m + j] != 0) {
        mass.indices.push_back(first + static_cast<std::int32_t>(j));
        mass.values.push_back(a[i * m + j]);
      }
    mass.offsets.push_back(static_cast<std::int32_t>(mass.values.size()));
    dofs.push_back(static_cast<std::int32_t>(body * n + movable[i]));
  }
}

/// Appends the entries of one block of rows, body by body in ascending order, without the immovable dofs.
void add_block(const ContactProblem& problem, std::size_t c, const std::vector<std::int32_t>& place,
               SparseRows& h) {
  const auto n = static_cast<std::size_t>(problem.body_dofs);
  std::vector<const JacobianBlock*> blocks;
  for (std::int32_t k = problem.block_start[c]; k < problem.block_start[c + 1]; ++k)
    blocks.push_back(&problem.jacobian[static_cast<std::size_t>(k)]);
  std::sort(blocks.begin(), blocks.end(),
            [](const JacobianBlock* a, const JacobianBlock* b) { return a->body < b->body; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.dim); ++i) {
    for (const JacobianBlock* block : blocks)
      for (std::size_t j = 0; j < n; ++j)
        if (const std::int32_t dof = place[static_cast<std::size_t>(block->body) * n + j];
            dof >= 0 && block->rows[i * n + j] != 0) {
          h.indices.push_back(dof);
          h.values.push_back(block->rows[i * n + j]);
        }
    h.offsets.push_back(static_cast<std::int32_t>(h.values.size()));
  }
}

}  // namespace

ContactProblem global_of_bodies(const ContactProblem& problem, std::vector<std::int32_t>& dofs) {
  ContactProblem global;
  global.title = problem.title, global.description = problem.description;
  global.dim = problem.dim, global.laws = problem.laws;
  global.guess = problem.guess, global.solution = problem.solution;
  global.form = ContactProblem::Form::global;
  global.w = problem.w;
  dofs.clear();
  global.A.offsets = global.H.offsets = {0};
  for (std::size_t body = 0; body < problem.bodies(); ++body) add_mass(problem, body, dofs, global.A);
  std::vector<std::int32_t> place(problem.dofs(), -1);
  for (std::size_t k = 0; k < dofs.size(); ++k) {
    place[static_cast<std::size_t>(dofs[k])] = static_cast<std::int32_t>(k);
    global.f.push_back(problem.f[static_cast<std::size_t>(dofs[k])]);
  }
  for (std::size_t c = 0; c < problem.blocks(); ++c) add_block(problem, c, place, global.H);
  global.A.rows = global.A.columns = global.H.columns = static_cast<std::int32_t>(dofs.size());
  global.H.rows = static_cast<std::int32_t>(problem.size());
  return global;
}

}  // namespace stickslip
