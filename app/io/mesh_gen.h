// Mesh generators: tetrahedral solids with well-shaped elements, and triangle surfaces. All are centred at
// the origin.
#pragma once

#include <vector>

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

/// `edge` is the wished edge length [m]; a body has at least one element (box) or three per radius' turn in
/// each direction. All throw std::invalid_argument for lengths that are not positive or a mesh above 10
/// million elements.
TetMesh make_box(const Vec<double, 3>& size, double edge);
TetMesh make_sphere(double radius, double edge);
TetMesh make_cylinder(double radius, double height, double edge);  // axis y
TetMesh make_bar(double length, double width, double edge);        // axis x, square section
TetMesh make_torus(double radius, double tube_radius,
                   double edge);  // axis y; radius of the tube's centre line

/// The boundary of a tet mesh, with the nodes that lie on it.
SurfaceMesh boundary_surface(const TetMesh& mesh);
/// A flat patch in the plane y = 0, facing up.
SurfaceMesh make_plane(double size_x, double size_z, double edge);
/// A closed wedge that falls from `height` at -x to zero at +x; its base lies at y = 0.
SurfaceMesh make_ramp(double length, double height, double width);

}  // namespace stickslip
