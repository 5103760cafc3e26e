// Whether all contacts between the rigid bodies of a scene form manifolds of manifold_gs.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

/// True if friction of all surfaces is isotropic, uniform and without torsion. Contacts of other surfaces
/// form no manifolds; they are solved one by one.
bool has_plain_contacts(const Model& model);

}  // namespace stickslip
