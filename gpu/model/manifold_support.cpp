#include "gpu/model/manifold_support.h"

#include <algorithm>

namespace stickslip {

bool has_plain_contacts(const Model& model) {
  return model.textures.empty() && std::ranges::all_of(model.materials, [](const Material& m) {
           return m.friction_kind == FrictionKind::isotropic && !(m.torsion_radius > 0) &&
                  !(m.compliance > 0);
         });
}

}  // namespace stickslip
