// From the nodes of a ten-node tetrahedron to F at its quadrature points and back.
//
// With barycentric coordinates L_k the shape functions are N_k = L_k (2 L_k - 1) at corners and
// N_ij = 4 L_i L_j in the middle of an edge, so that
//   F = sum_a x_a dN_a/dX = sum_k y_k dL_k/dX,   y_k = sum_a w_ka x_a,   w_ka = dN_a/dL_k:
// at a point the element deforms like a linear tet with the corners y_k, the *point tet*. If g_k and K_kl are
// the gradients and blocks of the point tets, nodes have sum_k w_ka g_k and sum_kl w_ka w_lb K_kl, summed
// over the points.
#pragma once

#include "gpu/energy/corner_values.h"
#include "gpu/model/tet10.h"

namespace stickslip {

/// Four points of equal weights, exact for quadratic polynomials. The stiffness of a straight-sided element
/// is one where F is near a constant. Six strains at four points are 24 numbers, as many as an element has
/// degrees of freedom besides rigid motions.
inline constexpr int kTet10Points = 4;

/// L_k at a point: (5 + 3 sqrt 5) / 20 at the corner of the same number, (5 - sqrt 5) / 20 at the others.
template <class T>
SS_HD T tet10_coordinate(int point, int corner) {
  return point == corner ? T(0.58541019662496845446) : T(0.13819660112501051518);
}

/// Corners y_k to which a node contributes: `tet10_end(node, side)` for each side.
SS_HD inline int tet10_sides(int node) { return node < 4 ? 1 : 2; }

/// Weight of a node in y_k, k = tet10_end(node, side).
template <class T>
SS_HD T tet10_weight(int point, int node, int side) {
  return node < 4 ? T(4) * tet10_coordinate<T>(point, node) - T(1)
                  : T(4) * tet10_coordinate<T>(point, tet10_end(node, 1 - side));
}

/// Writes y_0 to y_3 of a point, less three times the first node's position: all weights of a y_k add up
/// to 3. `x(node)`: its position.
template <class T, class Position>
SS_HD void point_corners(Position x, int point, Vec<T, 3>* y) {
  for (int k = 0; k < 4; ++k) y[k] = Vec<T, 3>::zero();
  for (int node = 1; node < kTet10Nodes; ++node)
    for (int side = 0; side < tet10_sides(node); ++side)
      y[tet10_end(node, side)] += tet10_weight<T>(point, node, side) * (x(node) - x(0));
}

/// The gradient at a node, from those of the element's point tets: four per point.
SS_HD inline Vec3 node_gradient(int node, const Vec3* of_points) {
  Vec3 sum = Vec3::zero();
  for (int point = 0; point < kTet10Points; ++point)
    for (int side = 0; side < tet10_sides(node); ++side)
      sum += tet10_weight<Real>(point, node, side) * of_points[4 * point + tet10_end(node, side)];
  return sum;
}

/// The block of two nodes, from those of the element's point tets: `kCornerBlocks` per point.
SS_HD inline Mat3 node_block(int row, int column, const Mat3* of_points) {
  Mat3 sum = Mat3::zero();
  for (int point = 0; point < kTet10Points; ++point)
    for (int i = 0; i < tet10_sides(row); ++i)
      for (int j = 0; j < tet10_sides(column); ++j) {
        const int k = tet10_end(row, i), l = tet10_end(column, j);
        const Real weight = tet10_weight<Real>(point, row, i) * tet10_weight<Real>(point, column, j);
        const Mat3* blocks = of_points + kCornerBlocks * point;
        sum += weight * (k >= l ? blocks[corner_block(k, l)] : blocks[corner_block(l, k)].transposed());
      }
  return sum;
}

}  // namespace stickslip
