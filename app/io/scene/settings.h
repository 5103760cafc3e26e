// `--set key=value`: sets parameters of a loaded scene by their registry names.
#pragma once

#include <string>
#include <vector>

#include "app/io/scene/scene.h"

namespace stickslip {

/// Applies one "key=value". A key of the parameter table sets the run's parameter; a key of the material
/// table sets all materials (`mu` also the half-spaces), and MATERIAL.key sets one; contact.key is a
/// parameter of the contact solvers. Throws InputError with the nearest known key.
void apply_setting(Scene& scene, const std::string& assignment);

/// Valid values of `solver`: the methods of `list_solvers`, and the contact solvers of the method "velocity".
std::vector<std::string> solver_names();
/// Sets the method. The name of a contact solver sets "velocity" and that solver. Throws
/// std::invalid_argument with the nearest name.
void set_solver(Params& params, const std::string& name);
/// Rigid bodies need velocity-level stepping, and velocity-level stepping needs rigid bodies. Throws
/// InputError.
void check_solver(const Params& params, const Model& model);

}  // namespace stickslip
