// What of a scene decides whether a parameter has an effect, and which choices it cannot take.
#pragma once

#include <string>
#include <vector>

#include "gpu/model/model.h"
#include "gpu/params/param_scope.h"

namespace stickslip {

SceneTraits scene_traits(const Model& model);

/// Of `materials[material]`, or of all where it is -1, in a scene that `solver` advances.
MaterialUse material_use(const Model& model, const std::vector<Material>& materials, int material,
                         SolverKind solver);

/// Why choice `index` of a row of param_table() cannot be taken in this scene, or empty. `drop_unsupported`:
/// see Params.
std::string barred_choice_reason(const ParamInfo& info, std::size_t index, const Model& model,
                                 bool drop_unsupported = false);

}  // namespace stickslip
