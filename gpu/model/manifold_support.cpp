#include "gpu/model/manifold_support.h"

#include <algorithm>

#include "gpu/model/friction_laws.h"

namespace stickslip {

bool has_plain_contacts(const Model& model) {
  return model.textures.empty() && std::ranges::all_of(model.materials, [](const Material& m) {
           return !has_lagged_friction(m) && m.friction_kind == FrictionKind::isotropic &&
                  !(m.torsion_radius > 0) && !(m.compliance > 0) && m.tangential_restitution == 0;
         });
}

}  // namespace stickslip
