// Files that are dropped on the window.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "app/viewer/simulation.h"

namespace stickslip {

/// Loads a scene, a checkpoint or a mesh into the simulation, or passes the contact problem of an FCLIB file
/// to `race`, and the path of a journal to `replay`. Of other files, and of what cannot be read, the log says
/// why not.
void open_file(const std::filesystem::path& file, Simulation& simulation,
               const std::function<void(std::shared_ptr<const FrozenStep>)>& race,
               const std::function<void(const std::filesystem::path&)>& replay);

}  // namespace stickslip
