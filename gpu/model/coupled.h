// Restrictions on velocity-level steps of scenes with elastic solids, with or without rigid bodies.
#pragma once

#include <string>

#include "gpu/model/model.h"

namespace stickslip {

/// Whether a model has objects besides rigid bodies: solids or colliders.
bool is_coupled(const Model& model);

/// Whether steps with `params` search contacts again within a contact problem.
bool searches_within(const Params& params);

/// Why a coupled scene cannot run with `params`: sleeping, explicit penalties, projection of poses, shock
/// propagation, midpoints of motions that other settings move. Empty: it can.
std::string coupled_fault(const Params& params);

/// `params` with the nearest settings that a coupled scene can have: all bodies awake, implicit penalties,
/// Baumgarte, no shock propagation.
Params coupled_params(Params params);

}  // namespace stickslip
