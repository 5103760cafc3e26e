// Camera of an IPC scene script. The format itself has only a zoom on a frontal view of everything.
#pragma once

#include <vector>

#include "app/io/ipc/ipc_layout.h"
#include "app/io/scene/scene.h"

namespace stickslip {

/// View from the front and slightly above; shows the solids at `nodes` and the parts of ground and colliders
/// near them. An orthographic view becomes a camera far away.
CameraStart ipc_camera(const IpcScript& script, const IpcLayout& layout,
                       const std::vector<Vec<double, 3>>& nodes);

}  // namespace stickslip
