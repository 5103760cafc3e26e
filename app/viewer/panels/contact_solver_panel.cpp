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
  const Touch touch =
      draw_param_row(context.view.typed,
                     {info, current, original, "", current != original, false, solver_notes(info)}, value);
  if (touch != Touch::none) simulation.post(ParamEdit{info.name, touch == Touch::reset ? original : value});
  ImGui::PushTextWrapPos();
  text_colored(theme::dim_text, contact_solver_text(static_cast<std::size_t>(current)));
  ImGui::PopTextWrapPos();
}

/// How the last step ended: "12 iterations, residual 3.1e-04 of 1e-03".
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

/// The rows of a group that act, or those that do not.
void draw_rows(PanelContext& context, const Scene& scene, std::string_view group, bool idle) {
  Simulation& simulation = context.simulation;
  bool titled = false;
  for (const ParamInfo& info : lab_param_table()) {
    if (info.group != group) continue;
    const Settings& settings = simulation.settings();
    const std::string why = why_contact_idle(info, settings, scene.model);
    if (why.empty() == idle) continue;
    if (!std::exchange(titled, true)) text_colored(theme::accent, contact_group_title(group));
    const double original = get_param(&scene.contact_params, info);
    const double current = get_param(&settings.contact_params, info);
    double value = 0;
    const Touch touch =
        draw_param_row(context.view.typed, {info, current, original, why, current != original}, value);
    if (touch != Touch::none)
      simulation.post(ContactParamEdit{info.name, touch == Touch::reset ? original : value});
  }
}

void draw_all(PanelContext& context, const Scene& scene, bool idle) {
  std::string_view last;
  for (const ParamInfo& info : lab_param_table())
    if (std::exchange(last, info.group) != info.group) draw_rows(context, scene, info.group, idle);
}

}  // namespace

void draw_contact_solver_panel(PanelContext& context) {
  const std::shared_ptr<const Scene> scene = context.simulation.frame().scene;
  if (!scene || !section("Contact solver")) return;
  ImGui::PushID("contact");
  draw_choice(context, *scene);
  draw_outcome(context.simulation.history());
  draw_all(context, *scene, false);
  if (ImGui::TreeNodeEx("not read now", ImGuiTreeNodeFlags_SpanAvailWidth)) {
    ImGui::Unindent(ImGui::GetTreeNodeToLabelSpacing());
    draw_all(context, *scene, true);
    ImGui::Indent(ImGui::GetTreeNodeToLabelSpacing());
    ImGui::TreePop();
  }
  tooltip("Parameters of other solvers, each with the reason why it has no effect");
  ImGui::PopID();
}

}  // namespace stickslip
