#include "gpu/model/manifold_support.h"

#include <algorithm>

#include "gpu/model/coupled.h"

namespace stickslip {

std::string why_no_manifolds(const Model& model) {
  const auto any = [&](auto is) { return std::any_of(model.materials.begin(), model.materials.end(), is); };
  if (is_coupled(model))
    return model.bodies.empty() ? "the scene has no rigid bodies" : "elastic solids are among the bodies";
  if (!model.joints.empty()) return "the scene has joints";
  if (any([](const Material& m) { return m.torsion_radius > 0; })) return "a material has torsional friction";
  if (any([](const Material& m) { return m.friction_kind != FrictionKind::isotropic; }))
    return "friction of a material has a direction";
  if (!model.textures.empty()) return "a surface has a texture";
  return {};
}

}  // namespace stickslip
