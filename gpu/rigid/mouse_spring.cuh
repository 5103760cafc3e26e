// The pointer's spring at a rigid body.
#pragma once

#include <optional>

#include "gpu/model/interaction.h"
#include "gpu/rigid/bodies.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// A spring of params.drag_stiffness with critical damping on the body's mass, taken implicitly at the point
/// that the pointer holds: no stiffness is too large. For bodies before `predict`; no body where the pointer
/// holds none that moves. Five host reads.
MouseSpring mouse_spring(Context& ctx, const DeviceBodies& bodies, const Model& model, const Params& params,
                         const std::optional<Drag>& drag);

}  // namespace stickslip::STICKSLIP_BACKEND
