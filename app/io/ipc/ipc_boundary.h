// Motions and forces that an IPC scene script states with its shapes: velocities, DBC and NBC boxes.
#pragma once

#include "app/io/ipc/ipc_animation.h"

namespace stickslip {

/// Shapes with a velocity of their own and DBC boxes; where several hold a node their velocities add.
/// Throws InputError with the shape's line when two that turn would have to.
void add_shape_motions(const IpcScript& script, const IpcLayout& layout, IpcAnimation& animation);

/// NBC boxes.
void add_forces(const IpcScript& script, const IpcLayout& layout, IpcAnimation& animation);

}  // namespace stickslip
