// A view of an IPC scene script's start: the format only has a zoom on a view of everything from the front.
#pragma once

#include <vector>

#include "app/io/ipc/ipc_layout.h"
#include "app/io/scene/scene.h"

namespace stickslip {

/// From the front and a little above; shows the solids at `nodes` and what of the ground and of colliders is
/// near them. An orthographic view is one from far away.
CameraStart ipc_camera(const IpcScript& script, const IpcLayout& layout,
                       const std::vector<Vec<double, 3>>& nodes);

}  // namespace stickslip
