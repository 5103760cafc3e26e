// The meshes of objects and colliders: generated shapes and files. Used by scene_build.cpp only.
#pragma once

#include <optional>

#include "app/io/mesh/mesh.h"
#include "app/io/mesh/point_mesh.h"
#include "app/io/scene/scene_build.h"

namespace stickslip {

/// The solid of an [[object]]; every length `edge` that the table gives is divided by `refinement`.
TetMesh read_solid(TableReader& table, const std::filesystem::path& scene_file, double refinement);
/// The surface of a [[collider]], likewise.
SurfaceMesh read_surface(TableReader& table, const std::filesystem::path& scene_file, double refinement);

/// Of the shapes that read_surface makes.
std::vector<std::string> shape_names();

/// The points of a rigid body's `shape = "hull"`: a list `points`, or those of a `file` of any kind.
std::vector<Vec<double, 3>> read_points_of_hull(TableReader& table, const std::filesystem::path& scene_file);

/// Whether a collider is points or segments: `as` says so, or the file's extension; nothing for a surface.
std::optional<PointKind> read_point_kind(TableReader& table);
PointMesh read_points(TableReader& table, const std::filesystem::path& scene_file, PointKind kind);

}  // namespace stickslip
