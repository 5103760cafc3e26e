// `--set key=value`: the parameters of a loaded scene, by the names of the registry.
#pragma once

#include <string>

#include "app/io/scene.h"

namespace stickslip {

/// Applies one "key=value". A key of the parameter table sets the run's parameter; a key of the material
/// table sets all materials (`mu` also the half-spaces), and MATERIAL.key sets one; contact.key is a parameter
/// of the contact solvers. Throws InputError with the nearest known key.
void apply_setting(Scene& scene, const std::string& assignment);

}  // namespace stickslip
