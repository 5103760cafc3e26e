// Volume, centre and inertia of bodies of uniform density, on the host.
#pragma once

#include <span>
#include <vector>

#include "gpu/geometry/shape.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// Volume, centre and inertia of a body of density 1.
struct MassProperties {
  double volume = 0;                                // [m^3]
  Vec<double, 3> center{0, 0, 0};                   // [m] of mass
  Mat<double, 3> inertia = Mat<double, 3>::zero();  // [m^5] about the centre
};

/// Mass properties of a sphere, capsule, box or cylinder in its own frame; `size` as in Shape. Throws
/// std::invalid_argument for another kind.
MassProperties mass_of_shape(ShapeKind kind, const Vec<double, 3>& size);

/// Mass properties of the interior of a closed surface, exact: the sum over the signed tets between its
/// triangles and a point. The volume is negative if the triangles face inward.
MassProperties mass_of_surface(const std::vector<Vec<double, 3>>& nodes, const std::vector<Vec3i>& triangles);

/// `part` after a transformation by `pose`.
MassProperties moved(const MassProperties& part, const Pose& pose);
/// `part` with `factor` times the density.
MassProperties scaled(const MassProperties& part, double factor);
/// The sum of all parts, by the parallel axis theorem; where parts overlap, mass counts twice.
MassProperties united(std::span<const MassProperties> parts);

/// Moments of inertia and the right-handed frame in which they are diagonal.
struct PrincipalAxes {
  Vec<double, 3> moments;
  Quat axes;  // from that frame to the given one
};

/// By Jacobi rotations of at most 45 degrees each: an inertia that is diagonal up to rounding keeps its axes,
/// so that symmetric bodies keep the axes of their shapes.
PrincipalAxes principal_axes(const Mat<double, 3>& inertia);

}  // namespace stickslip
