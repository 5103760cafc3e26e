// A closed surface, filled with tets.
#pragma once

#include <string>

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// Fills a closed surface with tets: by the `tetgen` program, or by stuffing a lattice. The result is kept in
/// the user's cache and taken from there the next time. `name` is the file's in messages. Throws InputError
/// when the surface is not closed, cannot be filled, or needs more than ten million tets.
TetMesh solidify(SurfaceMesh surface, const SolidOptions& options, const std::string& name);

/// Equal positions become one vertex, triangles that thereby collapse are dropped, and a surface whose inside
/// is out is turned. Throws InputError naming an edge that does not belong to two triangles, one on each
/// side.
SurfaceMesh checked_closed(SurfaceMesh surface, const std::string& name);

/// Volume inside a closed surface [m^3], by the divergence theorem.
double enclosed_volume(const SurfaceMesh& surface);
/// How often the surface winds around `p`: 1 inside, 0 outside [VanOosterom83].
double winding_number(const SurfaceMesh& surface, const Vec<double, 3>& p);

/// Throws InputError when filling with `tets` tets of this edge [m] gives more than ten million, or when
/// `bytes` of memory are not at hand.
void check_tet_count(double tets, double bytes, double edge, const std::string& name);

/// Fills by the program at `tetgen`, whose mesh keeps the surface; `edge` [m] bounds the tets' size, 0 leaves
/// that to the surface. Throws InputError when it fails, or has not ended after `seconds`.
TetMesh fill_by_tetgen(const std::filesystem::path& tetgen, const SurfaceMesh& surface, double edge,
                       const std::string& name, double seconds);

/// Isosurface stuffing [Labelle07] with uniform tets: a body-centred cubic lattice of spacing
/// `edge` [m], whose points near the surface move onto it and whose tets are cut by it. Details below `edge`,
/// sharp corners among them, are lost; all nodes of the new boundary lie on the surface.
TetMesh fill_by_lattice(const SurfaceMesh& surface, double edge, const std::string& name);

}  // namespace stickslip
