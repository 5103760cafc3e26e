// Mesh generators: tetrahedral solids with well-shaped elements, and triangle surfaces. All are centred at
// the origin, but for the voussoir.
#pragma once

#include "app/io/mesh/mesh.h"

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

/// Sharp bodies, centred by their bounding box of `size`. A spike is a pyramid over a rectangle, a wedge a
/// prism whose ridge runs along z. A crack is a V-shaped groove along z in the top of a box, a hole a square
/// funnel there, `opening` wide at the top and `depth` deep; both must be smaller than the box.
TetMesh make_spike(const Vec<double, 3>& size, double edge);
TetMesh make_wedge(const Vec<double, 3>& size, double edge);
TetMesh make_crack(const Vec<double, 3>& size, double opening, double depth, double edge);
TetMesh make_hole(const Vec<double, 3>& size, double opening, double depth, double edge);

/// Six round arms along the axes, which end at `radius`; between them the body is `waist` (smaller) thick
/// from its middle.
TetMesh make_jack(double radius, double waist, double edge);

/// A ball with a conical spine `spine` high on each of 42 evenly spread points.
TetMesh make_puffer(double radius, double spine, double edge);
/// A hollow ball of outer `radius`; with `windows` it has twelve round openings, seen from its middle under
/// 46 degrees.
TetMesh make_shell(double radius, double thickness, bool windows, double edge);

/// A flat net in the plane y = 0: `bars` square bars of `width` along x and as many along z, in one piece.
TetMesh make_net(double size_x, double size_z, int bars, double width, double edge);

/// A flat patch in the plane y = 0, facing up.
SurfaceMesh make_plane(double size_x, double size_z, double edge);
/// A bowl that stands on y = 0, round around y: half a sphere of inner `radius` (less where it is lower) and
/// a straight wall above, `height` deep inside, with a round rim; closed.
SurfaceMesh make_bowl(double radius, double height, double thickness, double edge);
/// Closed, round around y, both for drawing: a tube's straight part is `height` long, and a capsule has half
/// a ball on each end of it.
SurfaceMesh make_capsule(double radius, double height, double edge);
SurfaceMesh make_drum(double radius, double height, double edge);
/// A closed wedge that falls from `height` at -x to zero at +x; its base lies at y = 0.
SurfaceMesh make_ramp(double length, double height, double width);
/// A closed flight of stairs that falls towards +x; its base lies at y = 0. Long thin triangles on purpose:
/// no node but the corners of the steps.
SurfaceMesh make_stairs(int steps, double tread, double rise, double width);

}  // namespace stickslip
