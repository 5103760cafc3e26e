// Discrete elastic rods: the nodes of their elements, and the stencils that hold the matrix blocks.
//
// A rod is a chain of segments. Each segment carries its material frame by a node of its own, the *ghost*:
// see gpu/energy/rod_element.h. Ghosts have mass and move like other nodes, but they collide with nothing.
#pragma once

#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// A vertex between two segments: x0, x1, x2 of the centreline, then the ghosts of x0 x1 and of x1 x2.
inline constexpr int kRodVertexNodes = 5, kRodVertexStencils = 3;

/// Node `corner` of stencil `stencil`, -1: none. Assembly takes stencils of four nodes. Three of them, the
/// least number, hold every pair of five nodes.
SS_HD constexpr int rod_vertex_stencil(int stencil, int corner) {
  constexpr std::int8_t stencils[kRodVertexStencils][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}, {3, 4, -1, -1}};
  return stencils[stencil][corner];
}

/// Whether the block of two corners of a stencil stands there. A block stands in the first stencil with both
/// of its nodes; the other places hold zero.
SS_HD constexpr bool rod_vertex_owns(int stencil, int row, int column) {
  if (stencil == 0) return true;
  if (stencil == 1) return row == 3;
  return row == 1 && column == 0;
}

/// An elliptic section: `diameter` [m] is that of the circle of equal area, `aspect` the semi-axis along the
/// frame's d1 divided by the one along d2.
struct RodSection {
  double area;       // [m^2]
  double across_d1;  // [m^4] second moment of area of bending about d1
  double across_d2;  // the same about d2
  double torsion;    // [m^4] J of the torsional rigidity G J (Saint-Venant)
  double polar;      // [m^4] sum of both second moments
};
SS_HD inline RodSection rod_section(double diameter, double aspect) {
  const double r2 = diameter * diameter / 4, r4 = r2 * r2, quarter = std::numbers::pi / 4;
  // Semi-axes r sqrt(aspect) along d1 and r / sqrt(aspect) along d2.
  const double d1 = quarter * r4 / aspect, d2 = quarter * r4 * aspect;
  return {std::numbers::pi * r2, d1, d2, 4 * quarter * r4 / (aspect + 1 / aspect), d1 + d2};
}

/// [m] Distance at which a ghost is placed. A quarter of the segment makes small steps of the ghost small
/// turns of the frame, which the radius of a hair would not; two diameters or more keep its share of the
/// mass below 1/32, and the centre of the segment's mass within d/16 of its line.
SS_HD inline double ghost_arm(double length, double diameter) {
  return length / 4 > 2 * diameter ? length / 4 : 2 * diameter;
}

/// The part of a segment's mass that its ghost carries at the distance `arm` [m]: the one that has the
/// segment's moment of inertia about its own axis.
SS_HD inline double ghost_share(const RodSection& section, double arm) {
  return section.polar / (section.area * arm * arm);
}

/// [s] Four times what a wave of twist takes along a strand with quasistatic twist: the slowest period of a
/// strand with one free end.
inline constexpr double kQuasistaticPeriod = 1e-4;

/// The part of `ghost_share` that is left with quasistatic twist [Bergou08 §5], for a strand of the length
/// `length` [m]. Without inertia the angles of a free strand with a round section could be any, and the
/// matrix of a step would be singular; with enough of it that the slowest wave of twist, of the speed
///   c = sqrt(G J / (density (I_1 + I_2))),
/// has kQuasistaticPeriod = 4 length / c, the matrix is regular, and the lowest mode of twist lags behind its
/// equilibrium by the factor (kQuasistaticPeriod / (2 pi dt))^2 in a step of backward Euler. Strands whose
/// true wave is as fast keep their inertia.
SS_HD inline double quasistatic_share(const RodSection& section, double length, double shear_modulus,
                                      double density) {
  const double c2 = shear_modulus * section.torsion / (density * section.polar);
  const double share = kQuasistaticPeriod * kQuasistaticPeriod * c2 / (16 * length * length);
  return share < 1 ? share : 1;
}

/// Segments that follow each other: `segments[first][1] == segments[second][0]`.
struct RodJoint {
  std::int32_t first, second;
};
/// Of rods, ascending by the second segment. A rod may be closed. Throws std::invalid_argument if a segment
/// joins a node to itself, or if two begin or two end at one node.
std::vector<RodJoint> rod_joints(std::span<const Vec2i> segments);

/// Where ghosts are at rest, one per segment: frames without twist along each rod. d1 of its first segment is
/// the direction next to y, or next to x where the segment itself is along y.
std::vector<Vec<double, 3>> place_ghosts(std::span<const Vec<double, 3>> nodes,
                                         std::span<const Vec2i> segments, double diameter);

}  // namespace stickslip
