// The sides of joints that are held by solids, as bodies of the contact problem.
#pragma once

#include <vector>

#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/model/model.h"
#include "gpu/model/tet_frame.h"

namespace stickslip {

/// Force and torque about a body's origin, or their impulses.
using Wrench = Vec<double, 6>;

/// A side of a joint that a tet holds. Nodes and objects are those of the elastic part.
struct SolidSide {
  std::int32_t joint = -1, side = 0;              // side 0 is a
  std::int32_t first_block = 0, block_count = 0;  // of the joint
  std::int32_t object = -1;
  TetPoint point;
  // The solid as a rigid body: 1 / m; I^-1 about its centre in rest axes; the point less the centre at rest.
  // Zero where scripts hold nodes.
  BodyInverse rigid{0, Vec<double, 6>::zero()};
  Vec<double, 3> arm{0, 0, 0};  // [m]
};

/// The sides of a model's joints in their order. `node`, `object`: per node and per object of the whole
/// model, those of the elastic part.
std::vector<SolidSide> solid_sides(const Model& model, const std::vector<std::int32_t>& node,
                                   const std::vector<std::int32_t>& object);

/// [m] scale of the rotational rows of a joint that a solid holds: the smallest radius of gyration of what it
/// joins. It must not depend on the particles' masses, as impulses outlast those.
double solid_joint_length(const Model& model, const Joint& joint);

/// A^-1 of the body that stands for a side: of the rigid motion of its solid, and of its tet.
struct SideMobility {
  BodyInverse rigid{0, Vec<double, 6>::zero()};
  double linear = 0, angular = 0;  // [1/kg], [1/(kg m^2)] of the tet, at a share of 1

  SS_HD BodyInverse inverse(double share) const {
    BodyInverse out = rigid;
    if (!(linear > 0)) return {0, Vec<double, 6>::zero()};
    out.mass += linear / share;
    for (int i = 0; i < 3; ++i) out.inertia[i] += angular / share;
    return out;
  }
};

/// 1 / m + a bound on |arm x|^2 I^-1: the mobility of a side's origin by the rigid motion of its solid, which
/// has turned by `turn`. `resistance`: of the tet's nodes, see ElasticSolids.
SS_HD inline SideMobility side_mobility(const SolidSide& side, const TetFrame& frame,
                                        const double (&resistance)[4]) {
  SideMobility out;
  double across2 = 0;
  for (int k = 0; k < 4; ++k) {
    if (!(resistance[k] > 0)) continue;
    out.linear += frame.weights[k] * frame.weights[k] / resistance[k];
    across2 += norm2(frame.turned[k]) / resistance[k];
  }
  const double spin_of = trace(frame.spin_of) / 3;
  out.angular = spin_of * spin_of * across2;
  const Mat<double, 3> turn = frame.pose.q.matrix();
  const Mat<double, 3> inertia = turn * side.rigid.inertia_matrix() * turn.transposed();
  out.rigid.inertia = {inertia(0, 0), inertia(1, 1), inertia(2, 2),
                       inertia(0, 1), inertia(0, 2), inertia(1, 2)};
  const Vec<double, 3> arm = frame.pose.q.rotate(side.arm);
  double turned = 0;
  for (int i = 0; i < 3; ++i) {
    Vec<double, 3> e{0, 0, 0};
    e[i] = 1;
    const Vec<double, 3> twist = cross(arm, e);
    turned += dot(twist, inertia * twist);
  }
  out.rigid.mass = side.rigid.mass + turned;
  return out;
}

}  // namespace stickslip
