// What keys do with the selected object and with plots. Where no object is selected they log that, and do
// nothing.
#pragma once

#include "app/viewer/panels/panel_context.h"
#include "app/viewer/simulation.h"

namespace stickslip {

/// Takes it out of the scene.
void remove_selected(Simulation& simulation, ViewState& view);
/// See copy_toml.
void copy_selected(Simulation& simulation, ViewState& view);
/// The first time a rope begins where the object was clicked, the second time it ends there: see tie_toml.
void tie_selected(Simulation& simulation, ViewState& view);
/// The same with a spring: see spring_toml.
void spring_selected(Simulation& simulation, ViewState& view);
/// The first time it is the body, the second time the place: see joint_toml.
void joint_selected(Simulation& simulation, ViewState& view);
void untie_selected(Simulation& simulation, ViewState& view);
/// Holds the nodes around the place that was clicked: see nodes_near.
void pin_selected(Simulation& simulation, ViewState& view);
void unpin_selected(Simulation& simulation, ViewState& view);
/// The picked contact, or else the selected object: plots its numbers over time, or no longer.
void track_selected(Simulation& simulation, ViewState& view);

/// Plots over steps stay as they are while the run goes on, or follow it again.
void pause_plots(const Simulation& simulation, ViewState& view);

}  // namespace stickslip
