// Conditions and reasons that rules of several rows share. Only the tables include this.
#pragma once

#include <string>

#include "gpu/params/param_scope.h"

namespace stickslip::param_rules {

inline constexpr const char* kNothingToSolve = "penalty_explicit has forces in place of a solver";
inline constexpr const char* kNoBounce =
    "penalty forces have no restitution: penalty_damping sets what an impact loses";
inline constexpr const char* kPlainPenalty = "coefficients of penalty forces do not depend on the solution";
inline constexpr const char* kNoRollingPenalty = "penalty forces act at points: they have no moments";
inline constexpr const char* kNoJoints =
    "penalty forces remove overlaps by themselves, and there are no joints";
inline constexpr const char* kNoOverlapLeft = "penalty forces remove overlaps by themselves";
inline constexpr const char* kOwnBounds = "sigma_rule = ipc2020 has bounds and a growth of its own";
inline constexpr const char* kOwnStiffness = "barrier = cubic has a stiffness of each contact";
inline constexpr const char* kFixedStiffness = "barrier_stiffness is fixed; at 0 it adapts";

/// The forces of joints would alternate from step to step with Newmark's rule, and grow.
inline constexpr const char* kJointsNeedEuler = "scenes with joints are stepped by backward Euler";

/// Rows of stabilisation act on joints alone.
inline bool only_joints_stabilised(const ParamScope& s) { return s.penalty() && !s.scene.joints; }
inline bool is_stabilised_by(const ParamScope& s, Stabilisation kind) {
  return s.params.stabilisation == kind;
}
inline bool moves_overlaps_back(const ParamScope& s) {
  return is_stabilised_by(s, Stabilisation::baumgarte) || is_stabilised_by(s, Stabilisation::projection);
}
/// Whether contact rows take overlaps back.
inline bool is_corrected_by_rows(const ParamScope& s) {
  return is_stabilised_by(s, Stabilisation::baumgarte) || is_stabilised_by(s, Stabilisation::spring_damper);
}
inline std::string not_read_by_stabilisation(const ParamScope& s) {
  return "stabilisation = " + param_text(&s.params, *find_param(param_table(), "stabilisation")) +
         " does not read this";
}
inline bool has_penalty_length(const ParamScope& s) {
  return s.params.penalty_spring == PenaltySpring::power ||
         s.params.penalty_spring == PenaltySpring::exponential;
}
/// The other springs push at gaps, too.
inline bool pushes_overlaps_alone(const ParamScope& s) {
  return s.params.penalty_spring == PenaltySpring::linear || s.params.penalty_spring == PenaltySpring::power;
}
inline bool is_nodal_admm(const ParamScope& s) {
  return s.scene.coupled && s.params.coupling == SolidCoupling::nodal_admm;
}
inline constexpr const char* kOpenRods =
    "it takes rods alone: no other elastic object, no closed rod and no spring";
/// Whether each element of rods has copies of its nodes.
inline bool splits_rods(const ParamScope& s) {
  return is_nodal_admm(s) && s.scene.open_rods && s.params.nodal_integrator == NodalIntegrator::admm;
}
inline bool is_factored(const ParamScope& s) {
  return s.scene.coupled && s.params.coupling == SolidCoupling::factor;
}
inline bool is_ica(const ParamScope& s) { return s.scene.coupled && s.params.coupling == SolidCoupling::ica; }
/// Whether contacts of solids are those of nodes, in one way or another.
inline bool is_nodal(const ParamScope& s) { return is_nodal_admm(s) || is_ica(s); }
inline const char* why_not_nodal(const ParamScope& s) {
  return s.scene.coupled ? "coupling is neither nodal_admm nor ica" : "nothing in this scene is elastic";
}
inline const char* why_not_factored(const ParamScope& s) {
  return s.scene.coupled ? "coupling is not factor" : "nothing in this scene is elastic";
}
inline const char* why_no_nodal_admm(const ParamScope& s) {
  return s.scene.coupled ? "coupling is not nodal_admm" : "nothing in this scene is elastic";
}
inline const char* why_no_ica(const ParamScope& s) {
  return s.scene.coupled ? "coupling is not ica" : "nothing in this scene is elastic";
}
inline const char* no_solid(const ParamScope& s) {
  return s.material.rigid ? "only rigid bodies are made of this material"
                          : "only colliders are made of this material";
}
inline constexpr const char* kNoBarrier = "solver = velocity has no barrier";
inline constexpr const char* kNoRigid = "this scene has no rigid bodies";
inline constexpr const char* kAffine =
    "affine bodies read young alone: the orthogonality energy holds them in shape";

inline constexpr const char* kNoThin = "no cloth, no rods and no body of frames are made of this material";
inline constexpr const char* kNoAir = "air_density is 0: there is no air";
inline constexpr const char* kNoWind = "wind_speed is 0: the air is at rest";
inline constexpr const char* kNoTets = "thin objects have an energy of their own";

}  // namespace stickslip::param_rules
