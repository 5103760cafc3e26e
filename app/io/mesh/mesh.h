// Meshes and the files they come from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "gpu/math/vec.h"
#include "gpu/model/cloth_pattern.h"

namespace stickslip {

struct TetMesh {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec4i> tets;            // positive volume
};

struct SurfaceMesh {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec3i> triangles;       // outward
};

/// A surface and the panels that it is sewn from: along seams, triangles share nodes and not their edges in
/// the plane of texture coordinates.
struct SewnSurface {
  SurfaceMesh surface;
  std::vector<PatternTriangle> pattern;  // per triangle; in units of the file
};

/// Method to fill a closed surface: the `tetgen` program if installed, else a lattice.
enum class Mesher { automatic, tetgen, lattice };
inline const std::vector<std::string> mesher_names{"auto", "tetgen", "lattice"};  // in the order of Mesher

struct SolidOptions {
  double edge = 0;  // [m] target edge length; 0: from the surface (tetgen), or its size / 24
  Mesher mesher = Mesher::automatic;
  double tetgen_seconds = 0;  // time limit for tetgen; 0: from the number of tets, at least a minute
};

/// Reads the tets of a .msh, or fills the closed surface of an .obj, .ply or .stl with tets. Nodes without a
/// tet are left out, with a warning on stderr. Throws InputError with the file and the faulty line, byte,
/// element or node.
TetMesh load_solid(const std::filesystem::path& file, const SolidOptions& options = {});
/// Reads an .obj, .ply or .stl, or takes the boundary of the tets of a .msh (its triangles if it has no
/// tets). Vertices without a triangle are left out. Throws like load_solid.
SurfaceMesh load_surface(const std::filesystem::path& file);

/// Reads an .obj with texture coordinates. Throws InputError like load_surface, and also when the file is of
/// another type, a corner has no texture coordinate or one that the file lacks, a triangle has no area in the
/// plane of texture coordinates, or neighbours there lie on each other.
SewnSurface load_sewn(const std::filesystem::path& file);

/// A file's extension in small letters, with its dot.
std::string lower_extension(const std::filesystem::path& file);

/// The boundary of a tet mesh, with the nodes that lie on it.
SurfaceMesh boundary_surface(const TetMesh& mesh);

}  // namespace stickslip
