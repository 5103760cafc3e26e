// Volume, centre and inertia of bodies of uniform density, on the host.
#pragma once

#include <span>
#include <vector>

#include "gpu/geometry/shape.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// Of matter of density 1.
struct MassProperties {
  double volume = 0;                                // [m^3]
  Vec<double, 3> center{0, 0, 0};                   // [m] of mass
  Mat<double, 3> inertia = Mat<double, 3>::zero();  // [m^5] about the centre
};

/// Of a sphere, capsule, box or cylinder in its own frame, with `Shape::size` as there. Throws
/// std::invalid_argument for another kind.
MassProperties mass_of_shape(ShapeKind kind, const Vec<double, 3>& size);

/// Of what a closed surface encloses, exactly: the sum over the signed tets between its triangles and a
/// point. The volume is negative when the triangles face inwards.
MassProperties mass_of_surface(const std::vector<Vec<double, 3>>& nodes, const std::vector<Vec3i>& triangles);

/// In a frame in which the matter's own stands at `pose`.
MassProperties moved(const MassProperties& part, const Pose& pose);
/// Of `factor` times the density.
MassProperties scaled(const MassProperties& part, double factor);
/// Of all parts together, by parallel axes; where parts overlap, matter counts twice.
MassProperties united(std::span<const MassProperties> parts);

/// Moments of inertia and the right-handed frame in which they are diagonal.
struct PrincipalAxes {
  Vec<double, 3> moments;
  Quat axes;  // from that frame to the given one
};

/// Jacobi rotations, which turn a frame no further than they must: an inertia that is diagonal up to rounding
/// keeps its axes, so that symmetric bodies keep those of their shapes.
PrincipalAxes principal_axes(const Mat<double, 3>& inertia);

}  // namespace stickslip
