#include "app/io/report/race_rank.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace stickslip {

bool ranks_before(const SolveReport& a, const SolveReport& b) {
  if (a.converged != b.converged) return a.converged;
  if (a.converged) return a.seconds < b.seconds;
  const bool refused = a.end == SolveEnd::refused, other = b.end == SolveEnd::refused;
  if (refused != other) return other;
  // NaN ranks last.
  const double p = a.judgement.residual, q = b.judgement.residual;
  return std::isnan(q) ? !std::isnan(p) : p < q;
}

std::optional<double> seconds_to(const SolveReport& report, double bound) {
  for (const HistoryPoint& point : report.history)
    if (point.residual <= bound) return point.seconds;
  return std::nullopt;
}

SolveReport solve_or_refuse(ContactLab& lab, const ContactProblem& problem, std::string_view solver,
                            const LabParams& params, const ContactLab::Options& options) {
  try {
    return lab.solve(solver, params, options);
  } catch (const std::invalid_argument& error) {
    SolveReport report;
    report.solver = solver;
    report.end = SolveEnd::refused;
    report.message = error.what();
    report.judgement.residual = report.judgement.residual_fclib = std::numeric_limits<double>::infinity();
    report.contacts = problem.contacts();
    report.blocks = problem.blocks();
    return report;
  }
}

}  // namespace stickslip
