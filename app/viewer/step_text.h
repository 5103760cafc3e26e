// One line about the result of a velocity-level step.
#pragma once

#include <string>
#include <string_view>

#include "gpu/model/report.h"

namespace stickslip {

/// Whether the contact solve of a step missed its tolerance. False for steps without a contact solve.
bool missed_tolerance(const StepReport& report);

/// "nsgs  1200 contacts  nu 1.8  residual 2.1e-04 of 1e-03"; empty without a contact solve.
std::string solve_text(const StepReport& report, std::string_view solver);

/// "41 iterations", of the contact solver or of Newton's method, and whether the step converged.
std::string result_text(const StepReport& report);

}  // namespace stickslip
