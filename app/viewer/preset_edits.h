// What keys, panels and scripts do with presets. The log has what was done.
#pragma once

#include <string>

#include "app/viewer/presets.h"
#include "app/viewer/simulation.h"

namespace stickslip {

/// Each throws as the function of Presets, and InputError where no scene is loaded.
void save_preset(const Simulation& simulation, Presets& presets, const std::string& name);
/// All of its edits are one step of undo.
void apply_preset(Simulation& simulation, const Presets& presets, const std::string& name);
void delete_preset(Presets& presets, const std::string& name);
/// Logs the names.
void list_presets(Presets& presets);

}  // namespace stickslip
