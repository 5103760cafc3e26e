#include "gpu/dfcp/problem/rolling_rows.h"

#include <cmath>

namespace stickslip {
namespace {

using Form = ContactProblem::Form;

constexpr std::size_t kRows = kRollingRows, kFirst = 3;  // rows of a block; the first rolling row

/// W_ii of a row without compliance.
double diagonal_entry(const ContactProblem& problem, std::size_t row) {
  double sum = 0;
  if (problem.form == Form::local) {
    for (std::int32_t k = problem.W.offsets[row]; k < problem.W.offsets[row + 1]; ++k)
      if (problem.W.indices[k] == static_cast<std::int32_t>(row)) sum = problem.W.values[k];
    return sum;
  }
  if (problem.form == Form::global) {
    const SparseRows &h = problem.H, &a = problem.A;
    for (std::int32_t k = h.offsets[row]; k < h.offsets[row + 1]; ++k)
      for (std::int32_t l = a.offsets[h.indices[k]]; l < a.offsets[h.indices[k] + 1]; ++l)
        if (a.indices[l] == h.indices[k] && a.values[l] > 0) sum += h.values[k] * h.values[k] / a.values[l];
    return sum;
  }
  const int n = problem.body_dofs;
  for (std::int32_t e = problem.block_start[row / kRows]; e < problem.block_start[row / kRows + 1]; ++e) {
    const JacobianBlock& block = problem.jacobian[e];
    const double *h = block.rows.data() + row % kRows * n,
                 *inverse = problem.inverse_mass.data() + static_cast<std::ptrdiff_t>(block.body) * n * n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) sum += h[i] * inverse[i * n + j] * h[j];
  }
  return sum;
}

/// The factor of a row.
double factor_of(const std::vector<double>& lengths, std::size_t row) {
  return row % kRows < kFirst ? 1.0 : lengths[row / kRows];
}

void scale_matrix_rows(const std::vector<double>& lengths, bool columns_too, SparseRows& m) {
  for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row)
    for (std::int32_t k = m.offsets[row]; k < m.offsets[row + 1]; ++k)
      m.values[k] *= factor_of(lengths, row) *
                     (columns_too ? factor_of(lengths, static_cast<std::size_t>(m.indices[k])) : 1.0);
}

}  // namespace

std::vector<double> rolling_lengths(const ContactProblem& problem) {
  std::vector<double> lengths(problem.blocks(), 1.0);
  for (std::size_t c = 0; c < lengths.size(); ++c) {
    if (problem.laws[c].set != FrictionSet::rolling) continue;
    const std::size_t row = c * kRows;
    const double friction = diagonal_entry(problem, row + 1) + diagonal_entry(problem, row + 2),
                 rolling = diagonal_entry(problem, row + 3) + diagonal_entry(problem, row + 4);
    const double length = std::sqrt(friction / rolling);
    if (friction > 0 && rolling > 0 && length > 0 && std::isfinite(length)) lengths[c] = length;
  }
  return lengths;
}

ContactProblem in_rolling_lengths(const ContactProblem& problem, const std::vector<double>& lengths) {
  ContactProblem scaled = problem;
  scale_matrix_rows(lengths, true, scaled.W);
  scale_matrix_rows(lengths, false, scaled.H);
  for (std::vector<double>* velocity : {&scaled.q, &scaled.w}) scale_rolling_rows(lengths, 1, *velocity);
  for (std::vector<double>* impulse : {&scaled.guess, &scaled.solution})
    scale_rolling_rows(lengths, -1, *impulse);
  for (std::size_t c = 0; c < scaled.blocks(); ++c) {
    scaled.laws[c].mu[2] /= lengths[c];
    scaled.laws[c].mu[3] /= lengths[c];
    if (scaled.form != Form::bodies) continue;
    const int n = scaled.body_dofs;
    for (std::int32_t e = scaled.block_start[c]; e < scaled.block_start[c + 1]; ++e)
      for (int i = static_cast<int>(kFirst) * n; i < static_cast<int>(kRows) * n; ++i)
        scaled.jacobian[e].rows[i] *= lengths[c];
  }
  // Compliance becomes that of single rows.
  const bool soft = !scaled.softness.empty() || [&] {
    for (const BlockLaw& law : scaled.laws)
      if (law.compliance != 0) return true;
    return false;
  }();
  if (!soft) return scaled;
  scaled.softness.resize(scaled.size(), 0.0);
  for (std::size_t row = 0; row < scaled.size(); ++row) {
    const double factor = factor_of(lengths, row);
    scaled.softness[row] = (scaled.softness[row] + scaled.laws[row / kRows].compliance) * factor * factor;
  }
  for (BlockLaw& law : scaled.laws) law.compliance = 0;
  return scaled;
}

ContactProblem with_rolling_in_metres(ContactProblem problem) {
  if (problem.dim != kRollingRows || problem.form != Form::bodies) return problem;
  const int n = problem.body_dofs;
  std::vector<double> lengths(problem.blocks(), 1.0);
  for (std::size_t c = 0; c < lengths.size(); ++c) {
    if (problem.laws[c].set != FrictionSet::rolling || problem.block_start[c] == problem.block_start[c + 1])
      continue;
    const double* row = problem.jacobian[problem.block_start[c]].rows.data() + static_cast<int>(kFirst) * n;
    double length2 = 0;
    for (int i = 3; i < n; ++i) length2 += row[i] * row[i];
    if (length2 > 0) lengths[c] = 1 / std::sqrt(length2);
  }
  return in_rolling_lengths(problem, lengths);
}

void scale_rolling_rows(const std::vector<double>& lengths, int power, std::vector<double>& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double factor = factor_of(lengths, row);
    rows[row] *= power > 0 ? factor : 1 / factor;
  }
}

}  // namespace stickslip
