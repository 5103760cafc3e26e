// The part of the touching surfaces that each contact stands for: the denominator of its pressure. Host only.
//
// Contacts between the same two objects, whose normals differ by less than 45 degrees, sample one surface. In
// the tangent plane of contact i, its area is that of the points of the patch that are nearer to it than to
// any other contact: the cell of i in the Voronoi diagram of the contacts around it, inside their convex
// hull. For the four contacts of a box they are quarters of its face; for the nodes of a regular mesh those
// of the lumped pressure, half at edges and a quarter at corners. The hull is that of the contacts within
// twice the distance of the third nearest one, or more if these lie on a line, so that the feet of a table
// are patches of their own. Contacts of points and lines have no area. Between two meshes contacts come in
// clusters, with cells of very different size: in patches of more than eight, those that are nearer to each
// other than the mean spacing share their cells by force, and so have one pressure. Under an even pressure
// the areas of a patch on a plane add up to its hull.
#pragma once

#include <span>

#include "gpu/model/interaction.h"

namespace stickslip {

/// Sets `area` of all records. `resolution` [m]: contacts that are nearer to each other are one cluster,
/// however small, and no patch of their own; narrower patches are lines.
void set_contact_areas(std::span<ContactRecord> contacts, double resolution = 0);

}  // namespace stickslip
