#include "app/viewer/step_text.h"

#include <cstdio>
#include <limits>

namespace stickslip {

bool missed_tolerance(const StepReport& report) {
  if (!report.contact_solve) return false;
  const ContactSolveRecord& solve = *report.contact_solve;
  // Penalty forces have no tolerance. A NaN is a miss.
  return solve.tolerance > 0 && !(solve.residual <= solve.tolerance * (1 + 1e-6));
}

float error_limit(const StepReport& report, const Params& params) {
  if (!report.contact_solve) return static_cast<float>(2 * (params.d_hat / params.dt + 2 * params.eps_v));
  const ContactSolveRecord& solve = *report.contact_solve;
  if (!(solve.tolerance > 0 && solve.scale > 0)) return std::numeric_limits<float>::infinity();
  return static_cast<float>(solve.tolerance * (1 + 1e-6) * solve.scale);
}

std::string solve_text(const StepReport& report, std::string_view solver) {
  if (!report.contact_solve) return {};
  const ContactSolveRecord& solve = *report.contact_solve;
  char text[128];
  int length = std::snprintf(text, sizeof text, "%.*s   %d contacts   nu %.3g",
                             static_cast<int>(solver.size()), solver.data(), report.contacts, solve.nu);
  std::string line(text, static_cast<std::size_t>(length));
  if (solve.tolerance > 0) {
    length = std::snprintf(text, sizeof text, "   residual %.2g of %.2g", solve.residual, solve.tolerance);
    line.append(text, static_cast<std::size_t>(length));
  }
  if (missed_tolerance(report)) line += ": not reached";
  return line;
}

std::string result_text(const StepReport& report) {
  const bool is_contact = report.contact_solve.has_value();
  const long count = is_contact ? report.contact_solve->iterations : report.newton_iterations;
  const bool converged = report.converged && !missed_tolerance(report);
  return std::to_string(count) + (is_contact ? " iteration" : " Newton iteration") + (count == 1 ? "" : "s") +
         (converged ? ", converged" : ", not converged");
}

}  // namespace stickslip
