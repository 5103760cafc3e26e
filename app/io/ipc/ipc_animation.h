// The named animation of an IPC scene script, as groups of nodes with a Motion: nodes that are held, moved,
// pushed or start with a velocity. ipc_script.md lists the names.
#pragma once

#include <vector>

#include "app/io/ipc/ipc_layout.h"
#include "app/io/ipc/ipc_script_parse.h"
#include "gpu/model/model.h"

namespace stickslip {

struct IpcAnimation {
  Vec<double, 3> shift{0, 0, 0};        // [m] of all shapes (not of meshCO), applied before the start
  std::vector<ScriptedNodes> scripted;  // nodes index IpcLayout::nodes; positions after the shift
  std::vector<NodeForce> forces;
  struct Start {
    std::vector<std::int32_t> nodes;
    Vec<double, 3> velocity{0, 0, 0};
  };
  std::vector<Start> starts;         // velocities at time 0
  std::vector<Motion> mesh_motions;  // per meshCO
};

/// Throws InputError with the script's line when the script lacks shapes that the animation needs.
IpcAnimation animate(const IpcScript& script, const IpcLayout& layout);

/// The names that `animate` supports.
std::vector<std::string> ipc_animation_names();

/// Number of frames in the script's duration.
int ipc_frames(const IpcScript& script);

}  // namespace stickslip
