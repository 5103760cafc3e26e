// The part of a velocity-level step's report about the solution of its contact problem.
#pragma once

#include "gpu/linear/pcg_state.h"
#include "gpu/model/report.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"
#include "gpu/rigid/solid_momentum.h"

namespace stickslip {

/// Fills in whether the solve converged and what ended it, from report.contact_solve and the seconds
/// of the solve. A step that a budget ended before its last linearisation has not converged.
void report_convergence(const LabParams& lab, const Params& params, StepReport& report);

/// Adds `law` to the report. A step has not converged if its impulses leave their cones by more than the
/// tolerance, or if its velocities do not follow from its impulses, even if the solver's residual is small.
/// Solvers of box friction are not checked against the circular
/// cone, and impulses at the rounding of the bodies' momenta are not checked at all.
void report_law(const LawCheck& law, const Params& params, StepReport& report);

/// After report_law, of a step with coefficients of friction that depend on its solution. It has not
/// converged if the judge, which evaluates them at the end of the step, finds a residual far above the
/// tolerance, relative to the larger of its own and the solver's scale. Solvers of box friction or of cones
/// with facets are not checked against elliptic sections.
void report_friction(const Params& params, StepReport& report);

/// Adds the check of the elastic solids, after report_law. A step has not converged if their velocities leave
/// a residual of A v = f + J, or momentum that nothing gave them, above the larger of the tolerances of PCG
/// and of the contact problem, relative to what moves them. `pcg`: what ended the last linear solve.
void report_solids(const SolidsCheck& solids, PcgStop pcg, const Params& params, StepReport& report);

/// The part of report_solids about A v = f + J, for steps whose contacts are explicit penalty forces.
void report_solid_equations(const SolidsCheck& solids, PcgStop pcg, const Params& params, StepReport& report);

/// Adds the fault of explicit penalty forces, which no law judges: where `steepness`, the largest
/// penalty_steepness of a contact, exceeds `decays`, the step has not converged.
void report_penalties(double steepness, double decays, const Params& params, StepReport& report);

/// Adds what penetration_guard did. A step in which it shortened a motion by more than contact_slop has not
/// converged: its end is not that of its velocities.
void report_guard(const Params& params, StepReport& report);

}  // namespace stickslip
