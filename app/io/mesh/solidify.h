// Fills a closed surface with tets.
#pragma once

#include <string>

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// Fills a closed surface with tets, by the `tetgen` program or by isosurface stuffing. Results are cached in
/// the user's cache folder. `name` is the file's name in messages. Throws InputError when the surface is not
/// closed, cannot be filled, or needs more than ten million tets.
TetMesh solidify(SurfaceMesh surface, const SolidOptions& options, const std::string& name);

/// Merges equal positions into one vertex, drops triangles that collapse, and flips a surface that is
/// oriented inward. Throws InputError with an edge that does not have exactly two triangles of opposite
/// direction.
SurfaceMesh checked_closed(SurfaceMesh surface, const std::string& name);

/// Volume inside a closed surface [m^3], by the divergence theorem.
double enclosed_volume(const SurfaceMesh& surface);
/// Winding number of the surface around `p`: 1 inside, 0 outside [VanOosterom83].
double winding_number(const SurfaceMesh& surface, const Vec<double, 3>& p);

/// Throws InputError when filling with `tets` tets of this edge [m] gives more than ten million, or when
/// `bytes` of memory are not available.
void check_tet_count(double tets, double bytes, double edge, const std::string& name);

/// Fills the surface with the program at `tetgen`, which keeps the surface. `edge` [m] bounds the size of the
/// tets; 0: tetgen adapts it to the surface. Throws InputError when tetgen fails or exceeds `seconds`.
TetMesh fill_by_tetgen(const std::filesystem::path& tetgen, const SurfaceMesh& surface, double edge,
                       const std::string& name, double seconds);

/// Isosurface stuffing [Labelle07] with uniform tets: a body-centred cubic lattice of spacing `edge` [m].
/// Lattice points near the surface move onto it, and the surface cuts the tets. Details below `edge` and
/// sharp corners are lost; all nodes of the new boundary lie on the surface.
TetMesh fill_by_lattice(const SurfaceMesh& surface, double edge, const std::string& name);

}  // namespace stickslip
