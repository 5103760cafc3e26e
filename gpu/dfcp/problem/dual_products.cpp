#include "gpu/dfcp/problem/dual_products.h"

#include <algorithm>
#include <stdexcept>

namespace stickslip {
namespace {

/// y += H x.
void add_rows(const SparseRows& h, const std::vector<double>& x, double* y) {
  for (std::int32_t row = 0; row < h.rows; ++row)
    for (std::int32_t k = h.offsets[row]; k < h.offsets[row + 1]; ++k)
      y[row] += h.values[k] * x[h.indices[k]];
}

const SparseRows& global_matrix(const ContactProblem& problem) {
  if (problem.form != ContactProblem::Form::global)
    throw std::invalid_argument("products through A^-1 need A: the problem is not in its global form");
  return problem.A;
}

bool has_entries(const SparseRows& h, std::size_t row) {
  return std::any_of(h.values.begin() + h.offsets[row], h.values.begin() + h.offsets[row + 1],
                     [](double value) { return value != 0; });
}

}  // namespace

DualProducts::DualProducts(const ContactProblem& problem, const InverseOptions& options)
    : h_(problem.H),
      inverse_(global_matrix(problem), options),
      compliance_(row_compliance(problem)),
      q_(problem.w) {
  add_rows(h_, inverse_.solve(problem.f), q_.data());
  for (std::size_t row = 0; row < q_.size(); ++row)
    if (!has_entries(h_, row)) check_immovable_row(problem, row, compliance_[row], q_[row]);
  const std::vector<double> apex = with_cohesion(problem, std::vector<double>(problem.size(), 0.0));
  if (std::all_of(apex.begin(), apex.end(), [](double x) { return x == 0; })) return;
  std::vector<double> shift(q_.size());
  apply(apex.data(), shift.data());
  for (std::size_t row = 0; row < q_.size(); ++row) q_[row] -= shift[row];
}

void DualProducts::apply(const double* r, double* u) const {
  std::vector<double> b(static_cast<std::size_t>(h_.columns), 0.0);
  for (std::int32_t row = 0; row < h_.rows; ++row)
    for (std::int32_t k = h_.offsets[row]; k < h_.offsets[row + 1]; ++k)
      b[h_.indices[k]] += h_.values[k] * r[row];
  for (std::size_t row = 0; row < compliance_.size(); ++row) u[row] = compliance_[row] * r[row];
  add_rows(h_, inverse_.solve(b), u);
}

}  // namespace stickslip
