// The properties of a scene that determine which parameters have an effect, and which choices are barred.
#pragma once

#include <string>
#include <vector>

#include "gpu/model/model.h"
#include "gpu/params/param_scope.h"

namespace stickslip {

SceneTraits scene_traits(const Model& model);

/// The use of `materials[material]`, or of all materials if it is -1, in a scene that `solver` advances.
MaterialUse material_use(const Model& model, const std::vector<Material>& materials, int material,
                         SolverKind solver);

/// Why choice `index` of a row of param_table() cannot be taken in this scene, or empty. `drop_unsupported`:
/// see Params.
std::string barred_choice_reason(const ParamInfo& info, std::size_t index, const Model& model,
                                 bool drop_unsupported = false);

}  // namespace stickslip
