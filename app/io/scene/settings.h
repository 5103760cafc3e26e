// `--set key=value`: the parameters of a loaded scene, by the names of the registry.
#pragma once

#include <string>
#include <vector>

#include "app/io/scene/scene.h"

namespace stickslip {

/// Applies one "key=value". A key of the parameter table sets the run's parameter; a key of the material
/// table sets all materials (`mu` also the half-spaces), and MATERIAL.key sets one; contact.key is a
/// parameter of the contact solvers. Throws InputError with the nearest known key.
void apply_setting(Scene& scene, const std::string& assignment);

/// What `solver` may be: the methods of `list_solvers`, and the contact solvers of its method "velocity".
std::vector<std::string> solver_names();
/// Sets the method; the name of a contact solver sets "velocity" and that. Throws std::invalid_argument with
/// the nearest name.
void set_solver(Params& params, const std::string& name);
/// Rigid bodies need velocity-level stepping, which needs rigid bodies. Throws InputError.
void check_solver(const Params& params, const Model& model);

}  // namespace stickslip
