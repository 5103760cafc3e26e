#include "gpu/model/manifold_support.h"

#include <algorithm>

#include "gpu/model/coupled.h"

namespace stickslip {

std::string why_no_manifolds(const Model& model) {
  if (!is_coupled(model)) return {};
  return model.bodies.empty() ? "the scene has no rigid bodies" : "elastic solids are among the bodies";
}

bool has_plain_contacts(const Model& model) {
  return model.textures.empty() && std::ranges::all_of(model.materials, [](const Material& m) {
           return m.friction_kind == FrictionKind::isotropic && !(m.torsion_radius > 0);
         });
}

}  // namespace stickslip
