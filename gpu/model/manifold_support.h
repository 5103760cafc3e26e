// What the solver manifold_gs makes of a scene.
#pragma once

#include <string>

#include "gpu/model/model.h"

namespace stickslip {

/// Why it cannot take this scene, as "elastic solids are among the bodies"; empty: it can.
std::string why_no_manifolds(const Model& model);

/// Whether friction of all surfaces is the same in all directions and everywhere, without torsion. Contacts
/// of other surfaces form no manifolds: they are solved one by one.
bool has_plain_contacts(const Model& model);

}  // namespace stickslip
