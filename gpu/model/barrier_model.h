// The model that barrier steps advance in place of rigid bodies: affine bodies that an orthogonality energy
// keeps almost rigid [Lan22 §4]. Host memory only.
//
// A body that moves becomes an affine object without tets. Its four control nodes carry a quarter of its mass
// each, at the equimomental points c_k = x + R S t_k: t_k are the alternate corners of the cube [-1, 1]^3,
// and S = diag(s), s_i^2 = (I_j + I_k - I_i) / (2 m), has the body's second moments. So mass, centre and
// inertia are exact. The surface that follows the control nodes and collides is that of the body's shapes
// (shape_surface.h), moved inward by the `skin`. So bodies that touch in a scene are two skins apart, and the
// barrier between them is finite. The drawn surface of such a body has no nodes here: its pose places it. A
// body that stands still or follows a script becomes a collider.
//
// A joint's frames become anchor nodes of both bodies, o at its origin and o + arm e_i along its axes, which
// follow the control nodes. On a solid these anchors are points that follow the nodes of a tet
// (solid_joints.h). So its constraints are functions of two to six points (see NodeConstraint):
//   ball      o_a = o_b
//   hinge     the same for o and x
//   fixed     the same for o, x and y
//   slider    o_a and x_a on b's axis, y_a perpendicular to z_b
//   distance  low <= |o_a - o_b| <= high
//   gear      turn of y_a about x_a = ratio times the turn of y_b about x_b
// Limits and motors act on the angle of a hinge or the displacement of a slider.
#pragma once

#include <vector>

#include "gpu/model/interaction.h"
#include "gpu/model/model.h"
#include "gpu/model/state.h"

namespace stickslip {

struct BarrierModel {
  Model model;                     // finalized; the objects of the scene in their order
  std::vector<std::int32_t> node;  // per node of the scene: its node of `model`; -1: on a moving rigid body
  std::vector<std::int32_t> control;  // per body: the first of its control nodes; -1: it does not move
};

/// [m] per body: `skin`, but at most a tenth of the body's smallest thickness.
std::vector<double> body_skins(const Model& scene, double skin);
/// [m] per body: the largest skin that it can have.
std::vector<double> most_skins(const Model& scene);

/// The barrier model of a finalized scene; `skin` [m] per body; `tolerance`: see shape_surface.
BarrierModel make_barrier_model(const Model& scene, const std::vector<double>& skin, double tolerance);

/// s [m], see above, from the principal moments over mass [m^2].
Vec<double, 3> equimomental_axes(const Vec<double, 3>& unit_inertia);
/// t_k, see above.
SS_HD constexpr Vec<double, 3> equimomental_corner(int k) {
  return {k == 0 || k == 2 ? 1.0 : -1.0, k < 2 ? 1.0 : -1.0, k == 0 || k == 3 ? 1.0 : -1.0};
}

/// Forces on a body of mass m and radius r whose sum of |f| stays below m kReferenceAcceleration strain it by
/// less than the bound that its stiffness was chosen for: mu F (F'F - I) = sum f r' / V.
inline constexpr double kReferenceAcceleration = 1e3;  // [m/s^2]
/// [J] m r kReferenceAcceleration of an object that stands for a rigid body.
double body_stiffness(const Model& model, const Object& object);
/// [kg] of such an object.
double object_mass(const Model& model, const Object& object);

/// Pose of a scripted body at `time`, and its mean velocity over the interval dt before `time`.
BodyState scripted_state(const Model& scene, const Body& body, double time, double dt);

/// Nodes of bodies that follow scripts, ascending.
std::vector<std::int32_t> scripted_body_nodes(const Model& scene, const BarrierModel& barrier);
/// Whether a memory has as many bodies and nodes as the barrier model, and all numbers are finite.
bool fits(const Model& scene, const BarrierModel& barrier, const BarrierMemory& memory);

/// Positions and velocities of all nodes of `barrier.model` for a state of the scene. Scripted bodies have
/// the poses of their scripts. Where state.barrier has bodies and `fits`, control nodes and those of scripted
/// bodies are its own.
State barrier_state(const Model& scene, const BarrierModel& barrier, const State& state, double dt);

/// The drag of the barrier model that corresponds to `drag` of the scene. It pulls a moving rigid body at the
/// point of its colliding surface that is nearest to the dragged point; the vector to the target stays that
/// of the scene. `poses`: of all bodies.
Drag barrier_drag(const Model& scene, const BarrierModel& barrier, const Drag& drag,
                  const std::vector<Pose>& poses);

}  // namespace stickslip
