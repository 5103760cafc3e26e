// The mouse spring on a rigid body.
#pragma once

#include <optional>

#include "gpu/model/interaction.h"
#include "gpu/rigid/bodies.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// A spring of params.drag_stiffness with critical damping for the body's mass, implicit at the dragged
/// point, so it is stable at any stiffness. Call before `predict`. If the dragged body cannot move, or is not
/// rigid, the result has no body. One host read.
MouseSpring mouse_spring(Context& ctx, const DeviceBodies& bodies, const Model& model, const Params& params,
                         const std::optional<Drag>& drag);

}  // namespace stickslip::STICKSLIP_BACKEND
