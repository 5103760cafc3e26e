// Mesh generators: tetrahedral solids with well-shaped elements, and triangle surfaces. All are centred at
// the origin, but for the voussoir.
#pragma once

#include "app/io/mesh.h"

namespace stickslip {

/// `edge` is the wished edge length [m]; a body has at least one element (box) or three per radius' turn in
/// each direction. All throw std::invalid_argument for lengths that are not positive or a mesh above 10
/// million elements.
TetMesh make_box(const Vec<double, 3>& size, double edge);
TetMesh make_sphere(double radius, double edge);
TetMesh make_cylinder(double radius, double height, double edge);  // axis y
TetMesh make_bar(double length, double width, double edge);        // axis x, square section
TetMesh make_torus(double radius, double tube_radius,
                   double edge);  // axis y; radius of the tube's centre line

/// A block of a round arch, cut by two planes through the arch's axis z, which runs through the origin; the
/// block lies above it. `radius`: of the inner face; `angle` [degrees], below 180: between the two cuts.
TetMesh make_voussoir(double radius, double thickness, double depth, double angle, double edge);

/// A flat patch in the plane y = 0, facing up.
SurfaceMesh make_plane(double size_x, double size_z, double edge);
/// A closed wedge that falls from `height` at -x to zero at +x; its base lies at y = 0.
SurfaceMesh make_ramp(double length, double height, double width);

}  // namespace stickslip
