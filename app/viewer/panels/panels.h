// All panels. Each draws into the ImGui window that is open, but for the overlays at the end.
#pragma once

#include "app/viewer/panels/panel_context.h"

namespace stickslip {

void draw_scene_panel(PanelContext& context);
void draw_transport_panel(PanelContext& context);
void draw_parameters_panel(PanelContext& context);
/// Part of the parameters where there are rigid bodies.
void draw_contact_solver_panel(PanelContext& context);
void draw_report_panel(PanelContext& context);
/// Parts of the report of steps at velocity level.
void draw_contact_numbers(const StepReport& report);
void draw_contact_history(const std::deque<StepReport>& history);
/// What ran when in the last step, and the switch for it.
void draw_trace(Simulation& simulation);
void draw_view_panel(PanelContext& context);
void draw_selection_panel(PanelContext& context);

void draw_lab_panel(PanelContext& context);
void draw_log_panel(PanelContext& context);
void draw_status_bar(PanelContext& context);
void draw_help_overlay(PanelContext& context);

/// What the panels leave of a window of this size: [left, right) and [0, bottom), in its coordinates.
struct FreeArea {
  float left, right, bottom;
};
FreeArea free_area(float width, float height, const ViewState& view);

/// Lays all of them out along the edges of the window.
void draw_panels(PanelContext& context);

}  // namespace stickslip
