// The meshes of objects and colliders: generated shapes and files. Used by scene_build.cpp only.
#pragma once

#include <optional>

#include "app/io/mesh/mesh.h"
#include "app/io/mesh/point_mesh.h"
#include "app/io/scene/scene_build.h"
#include "gpu/model/lattice.h"

namespace stickslip {

/// Reads the solid of an [[object]]; every length `edge` in the table is divided by `refinement`.
TetMesh read_solid(TableReader& table, const std::filesystem::path& scene_file, double refinement);
/// Reads the surface of an [[object]] with `lattice`, and embeds it in cells of that edge, likewise.
EmbeddedSolid read_embedded(TableReader& table, const std::filesystem::path& scene_file, double refinement);
/// Reads the key `frames` of a body of frames: places [m] along one path, or a file of lines, see
/// frame_paths.
using FramePaths = std::vector<std::vector<Vec<double, 3>>>;
FramePaths read_frames(TableReader& table, const std::filesystem::path& scene_file);
/// The paths of a mesh of segments: one goes on as long as each segment begins where the last one ends.
FramePaths frame_paths(const PointMesh& lines);
/// Reads the surface of a [[collider]], likewise.
SurfaceMesh read_surface(TableReader& table, const std::filesystem::path& scene_file, double refinement);

/// Names of the shapes that read_surface generates.
std::vector<std::string> shape_names();

/// The points of a rigid body's `shape = "hull"`: a list `points`, or the points of a `file` of any kind.
std::vector<Vec<double, 3>> read_points_of_hull(TableReader& table, const std::filesystem::path& scene_file);

/// Whether a collider consists of points or segments, by `as` or by the file's extension; empty for a
/// surface.
std::optional<PointKind> read_point_kind(TableReader& table);
PointMesh read_points(TableReader& table, const std::filesystem::path& scene_file, PointKind kind);

}  // namespace stickslip
