// Motions and forces that an IPC scene script gives with its shapes: velocities, DBC and NBC boxes.
#pragma once

#include "app/io/ipc/ipc_animation.h"

namespace stickslip {

/// Adds velocities of shapes and DBC boxes. The velocities of several parts on one node add. Throws
/// InputError with the shape's line when two of them rotate.
void add_shape_motions(const IpcScript& script, const IpcLayout& layout, IpcAnimation& animation);

/// Adds NBC boxes.
void add_forces(const IpcScript& script, const IpcLayout& layout, IpcAnimation& animation);

}  // namespace stickslip
