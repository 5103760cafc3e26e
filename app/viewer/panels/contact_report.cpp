// Part of the report panel for velocity-level steps.
#include <cstdio>

#include "app/viewer/panels/curves.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/step_text.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

using Step = StepReport;

/// 0 for a step without a contact solve; a history may contain such steps.
template <class Member>
double of_solve(const Step& report, Member member) {
  return report.contact_solve ? static_cast<double>((*report.contact_solve).*member) : 0;
}

}  // namespace

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

void draw_contact_history(const std::deque<StepReport>& history) {
  const std::vector<float> times = times_of(history);
  const auto draw = [&](const PlotAxis& y, float height, std::initializer_list<Curve<Step>> curves) {
    draw_curves<Step>(y, height, history, times, "time, s", curves);
  };
  draw({"Residual of the contact solve", true}, 18,
       {{"residual", theme::series[0],
         [](const Step& r) { return of_solve(r, &ContactSolveRecord::residual); }},
        {"tolerance", theme::series[6],
         [](const Step& r) { return of_solve(r, &ContactSolveRecord::tolerance); }}});
  draw({"Iterations per step", false, true}, 14,
       {{"", theme::series[2], [](const Step& r) { return of_solve(r, &ContactSolveRecord::iterations); }}});
  draw({"Largest penetration, mm", false, true}, 14,
       {{"", theme::series[3],
         [](const Step& r) { return 1e3 * of_solve(r, &ContactSolveRecord::penetration); }}});
  draw({"Contacts", false, true}, 14,
       {{"", theme::series[5], [](const Step& r) { return static_cast<double>(r.contacts); }}});
  draw({"Time per step, ms", false, true}, 18,
       {{"step", theme::series[3], [](const Step& r) { return 1e3 * r.seconds.total(); }},
        {"contact solve", theme::series[0], [](const Step& r) { return 1e3 * r.seconds.contact_solve; }}});
}

}  // namespace stickslip
