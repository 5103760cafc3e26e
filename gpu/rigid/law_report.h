// The part of a velocity-level step's report about the solution of its contact problem.
#pragma once

#include "gpu/model/report.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Fills in whether the solve converged and what ended it, from report.contact_solve and the seconds
/// of the solve. `rounds`: several contact problems were solved (bodies beside elastic solids),
/// whose iterations add up.
void report_convergence(const LabParams& lab, bool rounds, StepReport& report);

/// Adds `law` to the report. A step has not converged if its impulses leave their cones by more than the
/// tolerance, or if its velocities do not follow from its impulses, even if the solver's residual is small.
/// Solvers of box friction are not checked against the circular cone.
void report_law(const LawCheck& law, const Params& params, StepReport& report);

}  // namespace stickslip
