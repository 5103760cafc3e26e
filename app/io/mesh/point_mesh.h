// Kinematic points and segments and the files they come from.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "app/io/file/input_error.h"
#include "gpu/math/vec.h"

namespace stickslip {

struct PointMesh {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec2i> segments;
};

enum class PointKind { points, segments };

/// Of an OBJ without faces: segments when it has lines (`l i j ...`), else points. Nothing when it has faces
/// or is no .obj. Throws InputError when the file cannot be read.
std::optional<PointKind> kind_without_faces(const std::filesystem::path& file);

/// .seg: `v x y z` and `s i j` lines, counted from 1; .pt: `v x y z` lines; an .obj without faces: its
/// vertices and lines; anything else: the vertices and, for `segments`, the edges of a surface. Throws
/// InputError naming the file and line.
PointMesh load_point_mesh(const std::filesystem::path& file, PointKind kind);

}  // namespace stickslip
