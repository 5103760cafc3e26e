// What holds at velocity level in scenes with elastic solids, with or without rigid bodies.
#pragma once

#include <string>

#include "gpu/model/model.h"

namespace stickslip {

/// Whether a model has objects besides rigid bodies: solids or colliders.
bool is_coupled(const Model& model);

/// Why a coupled scene cannot have the choice `params` make: sleeping, explicit penalties, poses that are
/// corrected. Empty: it can.
std::string coupled_fault(const Params& params);

/// The same settings with what comes nearest in place of those: all bodies awake, implicit penalties,
/// Baumgarte; no shock propagation.
Params coupled_params(Params params);

}  // namespace stickslip
