// All panels. Each draws into the current ImGui window, except the overlays at the end.
#pragma once

#include "app/viewer/panels/panel_context.h"

namespace stickslip {

void draw_scene_panel(PanelContext& context);
void draw_transport_panel(PanelContext& context);
/// The strip below the scene: where the run stands among the states that are kept.
void draw_timeline(PanelContext& context);
/// Limits of the timeline, and tripwires.
void draw_time_section(PanelContext& context);
/// Named sets of parameters.
void draw_presets_section(PanelContext& context);
/// Runs that go on beside this one, and their distances.
void draw_forks_section(PanelContext& context);
/// Part of that section: the sweep over a parameter.
void draw_sweep(PanelContext& context);
void draw_parameters_panel(PanelContext& context);
/// Part of the parameter panel, for velocity-level steps and scenes with rigid bodies.
void draw_contact_solver_panel(PanelContext& context);
void draw_report_panel(PanelContext& context);
/// Plots of what is tracked; nothing where nothing is.
void draw_tracked_section(PanelContext& context);
/// Plots of what the scene expects; nothing where it expects nothing that has a curve.
void draw_expect_section(PanelContext& context);
/// Part of the report of velocity-level steps.
void draw_contact_numbers(const StepReport& report);
/// The pattern of W of the contacts that are shown; `swept`: in the order of sweeps by colours.
void draw_matrix_pattern(const Model& model, std::span<const ContactRecord> contacts, bool& swept);
/// Where D, L and C have blocks; `missing`: what is said where there are none.
void draw_matrix_parts(const MatrixParts& parts, const char* missing);
/// What the pointer tells of a cell: rows, columns, and blocks and numbers of each part.
std::string matrix_cell_text(const MatrixParts& parts, std::int32_t row, std::int32_t column);
/// The judge's numbers of any step.
void draw_judgement(const StepReport& report);
/// Timeline of the last step, and the switch for tracing.
void draw_trace(Simulation& simulation);
void draw_view_panel(PanelContext& context);
void draw_selection_panel(PanelContext& context);
/// Controls of the most important properties of one material, those that have an effect.
void draw_material_of_selected(Simulation& simulation, TypedNumber& typed, int material);
/// What the next object is that is added to the scene.
void draw_add_panel(PanelContext& context);

/// Over the scene, below the panels: the handles at the selected object.
void draw_gizmo(PanelContext& context);
/// Likewise: what each pane shows.
void draw_pane_captions(PanelContext& context);
/// The same in a picture without panels, `scale` times as large as in the window.
void draw_pane_captions(Image& picture, std::span<const PaneCaption> captions,
                        std::span<const PaneArea> panes, float scale);
/// Likewise: numbers of what is under the pointer.
void draw_hover_tip(PanelContext& context);

void draw_lab_panel(PanelContext& context);
/// Part of the lab: the slider over the iterations of the highlighted solver.
void draw_iterations(PanelContext& context);
/// Part of the lab: the Newton iterations of one step.
void draw_step_iterations(PanelContext& context);
/// Part of the lab: the race of steppers.
void draw_stepper_race(PanelContext& context);
void draw_log_panel(PanelContext& context);
void draw_status_bar(PanelContext& context);
void draw_help_overlay(PanelContext& context);

/// Part of a window of this size without panels: [left, right) and [0, bottom), in window coordinates. Panels
/// on its sides end at `panel_bottom`; between them, below `bottom`, is the timeline, and above it the log
/// and the lab, if they are open. In a narrow window all panels are on the left.
struct FreeArea {
  float left, right, bottom, panel_bottom;
  float log_height, lab_height;  // 0: not open
  float split;                   // below it are the panels of the right side; 0: they are on the right
  float scene_bottom() const { return bottom - log_height - lab_height; }
};
FreeArea free_area(float width, float height, const ViewState& view);

/// Draws all panels along the edges of the window.
void draw_panels(PanelContext& context);

}  // namespace stickslip
