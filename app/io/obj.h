// Wavefront OBJ surfaces, as colliders.
#pragma once

#include <filesystem>

#include "app/io/input_error.h"
#include "app/io/mesh_gen.h"

namespace stickslip {

/// All faces of the file, triangulated, with the vertices they use. Throws InputError naming the file when it
/// cannot be read, has no faces or a position that is not finite.
SurfaceMesh load_obj(const std::filesystem::path& file);

}  // namespace stickslip
