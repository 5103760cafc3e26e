// Writes the shape of a whole scene at one instant as a mesh file.
#pragma once

#include <filesystem>
#include <vector>

#include "app/io/mesh/mesh.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Throws InputError unless `file` ends in .msh or .obj, is writable, and would not be empty: a .msh contains
/// only the solids.
void check_state_file(const std::filesystem::path& file, const Model& model);

/// Writes the model's objects at `positions` [m], one per node. MSH 4.1: the tets of each solid as an entity
/// of its name; OBJ: the surface of every object, under `o name`, and the centrelines of rods as lines (`l`),
/// one per strand. Throws InputError.
void write_state(const std::filesystem::path& file, const Model& model,
                 const std::vector<Vec<double, 3>>& positions);

}  // namespace stickslip
