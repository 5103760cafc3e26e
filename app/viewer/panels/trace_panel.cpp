// Part of the report panel for the stages of a step.
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"
#include "gpu/core/span_totals.h"

namespace stickslip {
namespace {

void time_cell(bool known, double seconds) {
  ImGui::TableNextColumn();
  if (known) ImGui::TextUnformatted(duration_text(seconds).c_str());
  else ImGui::TextDisabled("-");
}

void draw_row(const SpanTotal& span) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const float indent = em(1.5f) * static_cast<float>(span.depth);
  if (indent > 0) ImGui::Indent(indent);
  ImGui::TextUnformatted(span.name);
  if (indent > 0) ImGui::Unindent(indent);
  ImGui::TableNextColumn();
  ImGui::Text("%d", span.count);
  time_cell(true, span.host);
  time_cell(span.has_device, span.device);
}

}  // namespace

void draw_trace(Simulation& simulation) {
  bool on = simulation.tracing();
  if (ImGui::Checkbox("Time the stages", &on)) simulation.set_tracing(on);
  tooltip("With a GPU, this waits for it twice per step");
  if (!on) return;
  const std::deque<StepReport>& history = simulation.history();
  if (history.empty() || history.back().trace.empty()) {
    ImGui::TextDisabled("From the next step on.");
    return;
  }
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg;
  if (!ImGui::BeginTable("trace", 4, flags)) return;
  for (const char* title : {"stage", "times", "host", "device"}) ImGui::TableSetupColumn(title);
  ImGui::TableHeadersRow();
  for (const SpanTotal& span : span_totals(history.back().trace)) draw_row(span);
  ImGui::EndTable();
}

}  // namespace stickslip
