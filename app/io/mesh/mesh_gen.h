// Mesh generators: tetrahedral solids with well-shaped elements, and triangle surfaces. All except the
// voussoir are centred at the origin.
#pragma once

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// `edge` is the target edge length [m]. A body has at least one element along each direction, and a round
/// one at least five around its axis. All throw std::invalid_argument for lengths that are not positive or a
/// mesh above 10 million elements.
TetMesh make_box(const Vec<double, 3>& size, double edge);
TetMesh make_sphere(double radius, double edge);
TetMesh make_cylinder(double radius, double height, double edge);  // axis y
TetMesh make_tube(double radius, double thickness, double height,
                  double edge);  // axis y, open at both ends; radius of the outer face
TetMesh make_bar(double length, double width, double edge);  // axis x, square section
TetMesh make_torus(double radius, double tube_radius,
                   double edge);  // axis y; radius of the tube's centre line

/// A block of a round arch, cut by two planes through the arch's axis z. The axis runs through the origin,
/// the block lies above it. `radius`: of the inner face; `angle` [degrees], below 180: between the two cuts.
TetMesh make_voussoir(double radius, double thickness, double depth, double angle, double edge);

/// Sharp bodies, centred by their bounding box of `size`. A spike is a pyramid over a rectangle. A wedge is a
/// prism with its ridge along z. A crack is a V-shaped groove along z in the top of a box; a hole is a square
/// funnel there, `opening` wide at the top and `depth` deep. Both must be smaller than the box.
TetMesh make_spike(const Vec<double, 3>& size, double edge);
TetMesh make_wedge(const Vec<double, 3>& size, double edge);
TetMesh make_crack(const Vec<double, 3>& size, double opening, double depth, double edge);
TetMesh make_hole(const Vec<double, 3>& size, double opening, double depth, double edge);

/// Six round arms along the axes that end at `radius`. Between the arms the surface is `waist` (smaller) from
/// the middle.
TetMesh make_jack(double radius, double waist, double edge);

/// A ball with 42 evenly spread conical spines of height `spine`.
TetMesh make_puffer(double radius, double spine, double edge);
/// A hollow ball of outer `radius`. With `windows` it has twelve round openings, each 46 degrees wide as seen
/// from the centre.
TetMesh make_shell(double radius, double thickness, bool windows, double edge);

/// A flat net in the plane y = 0: `bars` square bars of `width` along x and as many along z, in one piece.
TetMesh make_net(double size_x, double size_z, int bars, double width, double edge);

/// A flat patch in the plane y = 0, facing up.
SurfaceMesh make_plane(double size_x, double size_z, double edge);
/// The same of nearly equilateral triangles: rows along x, every other one shifted by half an edge.
SurfaceMesh make_sheet(double size_x, double size_z, double edge);
/// A closed bowl that stands on y = 0, with axis y: half a sphere of inner `radius` (less if `height` is
/// smaller), a straight wall above, and a round rim. It is `height` deep inside.
SurfaceMesh make_bowl(double radius, double height, double thickness, double edge);
/// Closed surfaces of revolution about y, for drawing. The straight part of the tube is `height` long; a
/// capsule has a hemisphere at each end.
SurfaceMesh make_capsule(double radius, double height, double edge);
SurfaceMesh make_drum(double radius, double height, double edge);
/// A closed wedge that descends from `height` at -x to zero at +x; its base lies at y = 0.
SurfaceMesh make_ramp(double length, double height, double width);
/// A closed flight of stairs that descends towards +x; its base lies at y = 0. The only nodes are the corners
/// of the steps, so its triangles are deliberately long and thin.
SurfaceMesh make_stairs(int steps, double tread, double rise, double width);

}  // namespace stickslip
