// Ranking of the solvers of a race, for the command line and the window.
#pragma once

#include <optional>
#include <string_view>

#include "gpu/contact_lab.h"

namespace stickslip {

/// Order: converged solvers by time, then the others by residual, then solvers that refused the problem.
bool ranks_before(const SolveReport& a, const SolveReport& b);

/// Time at which the residual first fell below `bound`; empty if it never did. Reads the history.
std::optional<double> seconds_to(const SolveReport& report, double bound);

/// Calls lab.solve. If the lab refuses the problem while it builds W, the report says refused: the next run
/// may succeed with another storage or solver. `problem` is the one that the lab has loaded.
SolveReport solve_or_refuse(ContactLab& lab, const ContactProblem& problem, std::string_view solver,
                            const LabParams& params, const ContactLab::Options& options);

}  // namespace stickslip
