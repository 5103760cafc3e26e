// All panels. Each draws into the ImGui window that is open, but for the overlays at the end.
#pragma once

#include "app/viewer/panels/panel_context.h"

namespace stickslip {

void draw_scene_panel(PanelContext& context);
void draw_transport_panel(PanelContext& context);
void draw_parameters_panel(PanelContext& context);
void draw_report_panel(PanelContext& context);
void draw_view_panel(PanelContext& context);
void draw_selection_panel(PanelContext& context);

void draw_log_panel(PanelContext& context);
void draw_status_bar(PanelContext& context);
void draw_help_overlay(PanelContext& context);

/// Lays all of them out along the edges of the window.
void draw_panels(PanelContext& context);

}  // namespace stickslip
