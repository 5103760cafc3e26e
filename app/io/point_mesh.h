// Kinematic points and segments and the files they come from.
#pragma once

#include <filesystem>
#include <vector>

#include "app/io/input_error.h"
#include "gpu/math/vec.h"

namespace stickslip {

struct PointMesh {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec2i> segments;
};

enum class PointKind { points, segments };

/// .seg: `v x y z` and `s i j` lines, counted from 1; .pt: `v x y z` lines; anything else: the vertices and,
/// for `segments`, the edges of a surface. Throws InputError naming the file and line.
PointMesh load_point_mesh(const std::filesystem::path& file, PointKind kind);

}  // namespace stickslip
