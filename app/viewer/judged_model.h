// The model that choices of parameters are judged by in a window.
#pragma once

#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// What stepper_refusal and barred_choice_reason read of a scene, with the materials as they are now: those
/// of the scene are of its start, and the engine judges by the present ones. Without nodes and elements, so
/// that it takes no longer in a large scene.
inline Model judged_model(const Model& scene, const std::vector<Material>& materials) {
  Model model;
  model.objects = scene.objects;
  model.bodies = scene.bodies;
  model.material_names = scene.material_names;
  model.materials = materials.size() == scene.materials.size() ? materials : scene.materials;
  model.pair_friction = scene.pair_friction;
  model.textures = scene.textures;
  return model;
}

}  // namespace stickslip
