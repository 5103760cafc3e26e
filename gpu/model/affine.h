// Affine bodies: solids with 12 degrees of freedom, the positions of four control nodes [Lan22].
#pragma once

#include <array>

#include "gpu/model/model.h"

namespace stickslip {

/// Appends a solid as `add_solid` does, then its four control nodes. Every mesh node follows them,
///   x_s = sum_k w_sk c_k,   sum_k w_sk = 1,
/// and the body's elasticity is that of the one tet that they span, weighted with the body's volume. The
/// control nodes stand where four equal point masses have the mass, the centre and the moments of inertia of
/// the body: then the lumped masses m_s of the mesh nodes add up to an uncoupled mass matrix, sum_s m_s w_sk
/// w_sl = m/4 if k = l, else 0.
Object& add_affine(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                   const std::vector<Vec4i>& tets, std::int32_t material);

/// Four points that carry a quarter of the weight each, and have the mean and the covariance of the weighted
/// points, which are in no common plane. The four others that are mirrored at the mean have them too.
std::array<Vec<double, 3>, 4> equimomental_points(const Vec<double, 3>* points,
                                                  const std::vector<double>& weights);

/// The nodes of the control tet, with positive volume.
inline Vec4i control_tet(const Object& body) {
  const std::int32_t c = body.control_begin;
  return {c, c + 1, c + 2, c + 3};
}

/// w_s of the body's mesh nodes, in their order: barycentric coordinates at rest.
std::vector<Vec<double, 4>> control_weights(const Model& model, const Object& body);

/// Gives each affine body's control nodes the affine motion nearest to that of its mesh nodes, by mass, and
/// the mesh nodes that motion's velocities: momentum and angular momentum stay. Throws std::invalid_argument
/// naming a body whose start is no affine image of its rest shape, or is inside out. Skips bodies that stand
/// for rigid ones. A stage of `finalize`.
void set_control_nodes(Model& model);

}  // namespace stickslip
