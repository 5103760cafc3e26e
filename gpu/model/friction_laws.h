// What a material's parameters of friction ask of a step.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/model/friction_table.h"
#include "gpu/model/surface_texture.h"
#include "gpu/params/params.h"

namespace stickslip {

/// True if coefficients of this material's friction depend on the impulses and velocities of the step that
/// they act in, so that its contact problem is solved more than once: see Params::friction_rounds.
inline bool has_lagged_friction(const Material& m) {
  return m.mu_static > 0 || m.viscous_friction > 0 || m.tresca > 0 || m.friction_kind == FrictionKind::tensor;
}

/// The same of any contact of a scene. Coefficients of height maps depend on the direction of sliding.
inline bool has_lagged_friction(const std::vector<Material>& materials,
                                const std::vector<SurfaceTexture>& textures) {
  const auto is_height_map = [](const SurfaceTexture& t) { return t.kind == TextureKind::height; };
  return std::ranges::any_of(materials, [](const Material& m) { return has_lagged_friction(m); }) ||
         std::ranges::any_of(textures, is_height_map);
}

/// Why these materials and textures cannot be in one scene; empty: they can. Friction tensors have no place
/// for coefficients that ploughing adds to those of the surfaces.
inline std::string texture_fault(const std::vector<Material>& materials,
                                 const std::vector<std::string>& names,
                                 const std::vector<SurfaceTexture>& textures) {
  for (const SurfaceTexture& t : textures)
    for (std::size_t m = 0; m < materials.size() && t.kind == TextureKind::height; ++m)
      if (materials[m].friction_kind == FrictionKind::tensor)
        return "friction tensors do not combine with height maps: material '" + names[m] +
               "' has friction_kind = tensor, and '" + names[static_cast<std::size_t>(t.material)] +
               "' a texture of kind height";
  return {};
}

/// Why the material can have no contacts; empty: it can. The symmetric part of a friction tensor must be
/// positive definite: otherwise there are directions in which friction does not oppose sliding, or the tensor
/// is singular [Course Eq.321 to 326].
inline std::string friction_fault(const Material& m) {
  if (m.friction_kind != FrictionKind::tensor) return {};
  if (!(m.mu > 0) || !(m.mu_across > 0))
    return "friction_kind = tensor needs mu and mu_across above 0: the tensor is singular otherwise";
  if (m.torsion_radius > 0) return "friction_kind = tensor has no torsion: torsion_radius must be 0";
  return {};
}

/// Why contacts with rolling resistance cannot be solved beside the other materials; empty: they can, or
/// there are none. Blocks with rolling rows have isotropic friction and no torsional row.
inline std::string rolling_fault(const Model& model) {
  if (rolling_coefficients(model).empty()) return {};
  const std::string alone = "rolling_resistance needs friction that is the same in all directions, ";
  for (std::size_t m = 0; m < model.materials.size(); ++m) {
    const std::string& name = model.material_names[m];
    if (model.materials[m].torsion_radius > 0)
      return std::string("rolling_resistance and torsion_radius exclude each other: the torsion_radius of '")
          .append(name)
          .append("' must be 0");
    if (model.materials[m].friction_kind != FrictionKind::isotropic)
      return std::string(alone).append("and friction_kind of '").append(name).append("' is not isotropic");
  }
  return model.textures.empty() ? "" : alone + "and the scene has textures";
}

}  // namespace stickslip
