#include "gpu/model/manifold_support.h"

#include <algorithm>

#include "gpu/model/coupled.h"

namespace stickslip {

std::string why_no_manifolds(const Model& model) {
  const auto any = [&](auto is) { return std::any_of(model.materials.begin(), model.materials.end(), is); };
  if (is_coupled(model)) return "elastic solids are among the bodies";
  if (any([](const Material& m) { return m.torsion_radius > 0; })) return "a material has torsional friction";
  if (any([](const Material& m) { return m.friction_kind != FrictionKind::isotropic; }))
    return "friction of a material has a direction";
  if (!model.textures.empty()) return "a surface has a texture";
  return {};
}

}  // namespace stickslip
