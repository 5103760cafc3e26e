// Meshes of kinematic points and segments, and their files.
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

/// Kind of an OBJ without faces: segments if it has lines (`l i j ...`), else points. Empty if it has faces
/// or is not an .obj. Throws InputError when the file cannot be read.
std::optional<PointKind> kind_without_faces(const std::filesystem::path& file);

/// .seg: lines `v x y z` and `s i j`, counted from 1. .pt: lines `v x y z`. An .obj without faces: its
/// vertices and lines. Other files: the vertices of a surface and, for `segments`, its edges. Throws
/// InputError with the file and line.
PointMesh load_point_mesh(const std::filesystem::path& file, PointKind kind);

}  // namespace stickslip
