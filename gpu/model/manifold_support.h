// Whether the solver manifold_gs accepts a scene, and whether all its contacts form manifolds.
#pragma once

#include <string>

#include "gpu/model/model.h"

namespace stickslip {

/// Why manifold_gs cannot solve this scene, for example "elastic solids are among the bodies"; empty: it can.
std::string why_no_manifolds(const Model& model);

/// True if friction of all surfaces is isotropic, uniform and without torsion. Contacts of other surfaces
/// form no manifolds; they are solved one by one.
bool has_plain_contacts(const Model& model);

}  // namespace stickslip
