// Contact problems of the lab as manifolds: the input of manifold_gs, from a ContactProblem.
#pragma once

#include <string>
#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// A block as a point of a manifold.
struct ProblemPoint {
  Vec<double, 3> arm, arm_b;  // [m] from the centres of a and b
  Vec<double, 3> tangent;     // of the first tangential row; the second is normal x tangent
  double mu;
  double speed;          // w_N [m/s]
  double softness;       // E_NN [m/s per N s]
  Vec<double, 3> start;  // [N s] impulse to start from
};

/// The points of manifold m are [start[m], start[m + 1]). `contacts` has their bodies and normals. `blocks`
/// has the blocks that are not points of manifolds.
struct ManifoldProblem {
  std::vector<RigidContact> contacts;
  std::vector<ProblemPoint> points;  // of the contacts
  std::vector<std::int32_t> start;
  std::vector<ConstraintBlock<3>> blocks;
  std::vector<Vec<double, 3>> block_start;  // [N s] impulses to start from
  std::vector<std::int32_t> block;          // index in the problem: of each of `blocks`, then of `points`
  std::vector<double> handedness;    // likewise: -1 where the second tangential row is tangent x normal
  std::vector<BodyInverse> inverse;  // per body
  std::vector<double> free;          // A^-1 f, 6 per body [m/s, rad/s]
};

/// Fills `out` and returns nothing, or says why manifold_gs cannot solve the problem. It takes problems
/// of rigid bodies whose blocks have three rows and no cohesion, between two bodies or a body and the world.
/// Points of contact, with isotropic Coulomb friction along orthonormal axes at one place, form manifolds. It
/// accepts a global problem if A has the masses and inertias of rigid bodies on its diagonal.
std::string read_manifolds(const ContactProblem& given, ManifoldProblem& out);

}  // namespace stickslip
