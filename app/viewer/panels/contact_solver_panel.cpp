#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/param_row.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/param_controls.h"
#include "app/viewer/step_text.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

std::vector<ChoiceNote> solver_notes(const ParamInfo& info) {
  std::vector<ChoiceNote> notes(info.choices.size());
  for (std::size_t i = 0; i < notes.size(); ++i) notes[i].meaning = contact_solver_text(i);
  return notes;
}

void draw_choice(PanelContext& context, const Scene& scene) {
  Simulation& simulation = context.simulation;
  const ParamInfo& info = *find_param(param_table(), "contact_solver");
  const double original = get_param(&scene.params, info);
  const double current = get_param(&simulation.settings().params, info);
  double value = 0;
  const EditAction edit =
      draw_param_row(context.view.typed,
                     {info, current, original, "", current != original, false, solver_notes(info)}, value);
  if (edit != EditAction::none)
    simulation.post(ParamEdit{info.name, edit == EditAction::reset ? original : value});
  ImGui::PushTextWrapPos();
  text_colored(theme::dim_text, contact_solver_text(static_cast<std::size_t>(current)));
  ImGui::PopTextWrapPos();
}

/// Result of the last solve: "12 iterations, residual 3.1e-04 of 1e-03".
void draw_outcome(const std::deque<StepReport>& history) {
  if (history.empty() || !history.back().contact_solve || history.back().contact_solve->tolerance <= 0)
    return;
  const StepReport& report = history.back();
  const ContactSolveRecord& solve = *report.contact_solve;
  char text[96];
  std::snprintf(text, sizeof text, "%ld iterations, residual %.2g of %.2g", solve.iterations, solve.residual,
                solve.tolerance);
  const bool missed = missed_tolerance(report);
  text_colored(missed ? theme::warning : theme::good, text);
  tooltip((missed ? "The last step ended before its tolerance" : "The last step reached its tolerance") +
          (report.stop_reason.empty() ? "" : ": " + report.stop_reason));
}

/// Draws the rows of a group that have an effect, or those without one.
void draw_rows(PanelContext& context, const Scene& scene, const ParamScope& scope, std::string_view group,
               bool inactive) {
  Simulation& simulation = context.simulation;
  bool titled = false;
  for (const ParamInfo& info : lab_param_table()) {
    if (info.group != group || !passes_filter(context.view.param_filter, {info.name, info.meaning})) continue;
    const std::string reason = inactive_reason(info, scope);
    if (reason.empty() == inactive) continue;
    if (!std::exchange(titled, true)) text_colored(theme::accent, info.group_row->title);
    const double original = get_param(&scene.contact_params, info);
    const double current = get_param(&scope.lab, info);
    double value = 0;
    const EditAction edit =
        draw_param_row(context.view.typed, {info, current, original, reason, current != original}, value);
    if (edit != EditAction::none)
      simulation.post(ContactParamEdit{info.name, edit == EditAction::reset ? original : value});
  }
}

void draw_all(PanelContext& context, const Scene& scene, bool inactive) {
  const ParamScope scope = param_scope(context.simulation.settings(), scene.model);
  std::string_view last;
  for (const ParamInfo& info : lab_param_table())
    if (std::exchange(last, info.group) != info.group) draw_rows(context, scene, scope, info.group, inactive);
}

}  // namespace

void draw_contact_solver_panel(PanelContext& context) {
  const std::shared_ptr<const Scene> scene = context.simulation.frame().scene;
  if (!scene || !section(context.view.param_filter.empty() ? "Contact solver" : "Contact solver##found"))
    return;
  ImGui::PushID("contact");
  const std::string& filter = context.view.param_filter;
  if (filter.empty() || passes_filter(filter, {"contact_solver"})) draw_choice(context, *scene);
  if (filter.empty()) draw_outcome(context.simulation.history());
  draw_all(context, *scene, false);
  if (!filter.empty()) draw_all(context, *scene, true);
  else if (ImGui::TreeNodeEx("inactive", ImGuiTreeNodeFlags_SpanAvailWidth)) {
    ImGui::Unindent(ImGui::GetTreeNodeToLabelSpacing());
    draw_all(context, *scene, true);
    ImGui::Indent(ImGui::GetTreeNodeToLabelSpacing());
    ImGui::TreePop();
  }
  tooltip("Parameters of other solvers, each with the reason why it has no effect");
  ImGui::PopID();
}

}  // namespace stickslip
