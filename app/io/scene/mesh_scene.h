// A scene for a mesh that has none.
#pragma once

#include <filesystem>
#include <optional>

#include "app/io/scene/scene.h"

namespace stickslip {

/// True for .msh, .obj, .ply, .stl and .hair.
bool is_mesh_name(const std::filesystem::path& file);

/// The mesh falls on the ground: a closed surface or tets as a soft solid, an open surface as cloth, strands
/// as hair that is held at its roots. A size outside [0.05, 5] m, as of files in millimetres, becomes 0.3 m.
/// Throws InputError as the readers of meshes do.
Scene load_mesh_scene(const std::filesystem::path& file, std::optional<double> scale,
                      std::optional<double> density = {});

}  // namespace stickslip
