// One line about the result of a velocity-level step.
#pragma once

#include <string>
#include <string_view>

#include "gpu/model/report.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Whether the contact solve of a step missed its tolerance. False for steps without a contact solve.
bool missed_tolerance(const StepReport& report);

/// [m/s] Largest e_c of a contact (ContactRecord::error) that obeys the law within the tolerance of its step.
/// At velocity level the tolerance times |q|_2: a single larger error makes the residual miss the tolerance;
/// none (infinite) with penalty forces. A barrier acts at a distance and smooths friction: what frozen
/// friction of a converged step may have (docs/limits.md).
float error_limit(const StepReport& report, const Params& params);

/// "nsgs  1200 contacts  nu 1.8  residual 2.1e-04 of 1e-03"; empty without a contact solve.
std::string solve_text(const StepReport& report, std::string_view solver);

/// "41 iterations", of the contact solver or of Newton's method, and whether the step converged.
std::string result_text(const StepReport& report);

}  // namespace stickslip
