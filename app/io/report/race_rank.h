// How the solvers of a race are compared, on the command line and in the window.
#pragma once

#include <optional>
#include <string_view>

#include "gpu/contact_lab.h"

namespace stickslip {

/// Who converged, by time; then the others by residual, and last who would not try.
bool ranks_before(const SolveReport& a, const SolveReport& b);

/// When the residual first fell below `bound`; nothing when it never did. Reads the history.
std::optional<double> seconds_to(const SolveReport& report, double bound);

/// lab.solve, where what the lab turns down while it builds W counts as refused: with another storage or
/// solver the next run may do. `problem` is the one that the lab has loaded.
SolveReport solve_or_refuse(ContactLab& lab, const ContactProblem& problem, std::string_view solver,
                            const LabParams& params, const ContactLab::Options& options);

}  // namespace stickslip
