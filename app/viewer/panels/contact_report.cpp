// Part of the report panel for velocity-level steps.
#include <cstdio>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/step_text.h"
#include "app/viewer/theme.h"

namespace stickslip {

void draw_contact_numbers(const StepReport& report) {
  const ContactSolveRecord& solve = *report.contact_solve;
  const float column = em(16);
  value_row("Contact solver", column, "%s", counted(solve.iterations, "iteration").c_str());
  value_row("Residual", column, "%s", "");
  ImGui::SameLine(column);
  char text[64];
  std::snprintf(text, sizeof text, solve.tolerance > 0 ? "%.2e of %.0e" : "%.2e", solve.residual,
                solve.tolerance);
  text_colored(missed_tolerance(report) ? theme::warning : theme::good, text);
  tooltip("The judge's residual of the impulses, and the tolerance that was asked for");
  const std::string reason = report.stop_reason.empty() ? "-" : report.stop_reason;
  value_row("Ended by", column, "%s", fit_text(reason, ImGui::GetContentRegionAvail().x - column).c_str());
  tooltip(reason);
  value_row("Contacts", column, "%d in %s", report.contacts, counted(report.candidates, "pair").c_str());
  if (const int joints = solve.blocks - report.contacts; joints > 0) {
    value_row("Joint blocks", column, "%d", joints);
    tooltip("Constraints of joints in the same problem");
  }
  value_row("nu", column, "%.3g", solve.nu);
  tooltip("3 contacts / dofs that can move: beyond 1 the impulses are not unique");
  if (solve.rounds > 0) {
    value_row("Rounds", column, "%d", solve.rounds);
    tooltip("Between the contact problem and the elastic solids");
  }
  if (solve.dual_solves > 0) {
    value_row("PCG with A", column, "%ld solves, %ld iterations", solve.dual_solves, solve.dual_iterations);
    tooltip("For W or its products in place of a factorisation: dual_pcg_tolerance");
  }
  if (solve.colours > 0) {
    value_row("Colours", column, "%d", solve.colours);
    tooltip("Groups of contacts without common bodies; a sweep takes the contacts of a colour in parallel");
  }
  value_row("Penetration", column, "%.3g mm", 1e3 * solve.penetration);
  tooltip("The largest overlap at the start of the step");
  if (const auto& guard = solve.guard) {
    value_row("Guard", column, "%d crossings, %d nodes cut", guard->crossings, guard->shortened);
    tooltip("Pairs whose crossing became a contact, and nodes that stopped short of a crossing");
    if (guard->cut > 0) value_row("Motion cut", column, "%.3g mm", 1e3 * guard->cut);
    if (guard->unguarded + guard->intersections > 0) {
      value_row("Intersections", column, "%d at the end, %d not guarded", guard->intersections,
                guard->unguarded);
      tooltip("Edges that pass through triangles, and pairs that touched at the start");
    }
  }
  if (solve.law) {
    value_row("Approach left", column, "%s", si_text(solve.law->approach, "m/s").c_str());
    tooltip("The largest speed at which surfaces still approach each other beyond what their gap allows");
    value_row("Outside the cone", column, "%s", si_text(solve.law->cone, "N s").c_str());
    tooltip("The largest part of a contact's friction impulse beyond mu r_N");
    value_row("Friction takes", column, "%s", si_text(solve.dissipation, "W").c_str());
    tooltip("The power of friction in the last step");
  }
  value_row("Bodies", column, "%d in %s, %d asleep", solve.bodies, counted(solve.islands, "island").c_str(),
            solve.asleep);
  tooltip("Bodies that move, in groups that touch each other; a group that rests falls asleep as a whole");
  value_row("Memory", column, "%s", si_text(static_cast<double>(report.memory_bytes), "B").c_str());
}

}  // namespace stickslip
