// Meshes and the files they come from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "gpu/math/vec.h"

namespace stickslip {

struct TetMesh {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec4i> tets;            // positive volume
};

struct SurfaceMesh {
  std::vector<Vec<double, 3>> nodes;  // [m]
  std::vector<Vec3i> triangles;       // outward
};

/// How a closed surface is filled: by the `tetgen` program when it is installed, else by a lattice.
enum class Mesher { automatic, tetgen, lattice };
inline const std::vector<std::string> mesher_names{"auto", "tetgen", "lattice"};  // in the order of Mesher

struct SolidOptions {
  double edge = 0;  // [m] wished length of the tets' edges; 0: as the surface asks (tetgen), or its size / 24
  Mesher mesher = Mesher::automatic;
  double tetgen_seconds = 0;  // after which tetgen is stopped; 0: by the number of tets, a minute at least
};

/// Reads the tets of a .msh, or fills the closed surface of an .obj, .ply or .stl with tets. Nodes that no
/// tet uses are left out, with a warning on stderr. Throws InputError naming the file and the line, byte,
/// element or node at fault.
TetMesh load_solid(const std::filesystem::path& file, const SolidOptions& options = {});
/// Reads an .obj, .ply or .stl, or takes the boundary of the tets (without any: the triangles) of a .msh.
/// Vertices that no triangle uses are left out. Throws like load_solid.
SurfaceMesh load_surface(const std::filesystem::path& file);

/// The boundary of a tet mesh, with the nodes that lie on it.
SurfaceMesh boundary_surface(const TetMesh& mesh);

}  // namespace stickslip
