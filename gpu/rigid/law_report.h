// What the report of a velocity-level step says of how its contact problem was solved.
#pragma once

#include "gpu/model/report.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Whether the solve converged and what ended it, from report.contact_solve and the seconds of the solve.
/// `rounds`: it solved several contact problems (bodies beside elastic solids), whose iterations add up.
void report_convergence(const LabParams& lab, bool rounds, StepReport& report);

/// Puts `law` into the report. A step whose impulses leave their cones by more than the tolerance, or whose
/// velocities are not those of its impulses, has not converged, whatever the residual of its solver says.
/// Solvers of box friction are not checked against the circular cone.
void report_law(const LawCheck& law, const Params& params, StepReport& report);

}  // namespace stickslip
