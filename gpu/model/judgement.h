// StepJudgement: one measure for every step, whatever made it. Its numbers come from contact points with the
// impulses that acted, and from velocities at the end of the step, by code that no solver shares.
#pragma once

#include <limits>
#include <span>
#include <string_view>

namespace stickslip {

/// How far the end of a step is from Coulomb's law and from Newton's, in SI units and apart from any solver:
/// from contacts and surfaces as they were found, impulses, and velocities of bodies. Every number but
/// `friction_work` and those to compare with is zero where the laws hold.
struct LawCheck {
  double approach = 0;         // [m/s] largest -u_N
  double pull = 0;             // [N s] largest -r_N
  double cone = 0;             // [N s] largest part of friction beyond mu r_N
  double complementarity = 0;  // [J] largest r_N u_N of contacts that open
  double slip = 0;  // [J] largest mu r_N |u_T| + r_T . u_T: friction that does not oppose sliding in full
  double friction_work = 0;     // [J] sum of r_T . u_T: at most zero
  double impulse = 0;           // [N s] largest |r|, to compare with
  double momentum = 0;          // [N s] that bodies gained and no contact gave them
  double angular_momentum = 0;  // [N m s], about the origin
  double momentum_size = 0;     // [N s] sum of m |v|, to compare with
  double torque = 0;            // [N m s] largest |x r| of a contact about the origin, likewise
};

// VALUE(name, unit, meaning): the numbers of a StepJudgement beside those of LawCheck. The report file, the
// window and the table of a race are made from these rows.
// clang-format off
#define STICKSLIP_JUDGEMENT(VALUE)                                                                             \
  VALUE(residual, "1", "|e|_2 / |q|_2 over all contacts, by Coulomb's exact law")                              \
  VALUE(error, "m/s", "largest e_c of a contact")                                                              \
  VALUE(scale, "m/s", "|q|_2, after its two bounds")                                                           \
  VALUE(penetration, "m", "largest overlap of a contact when contacts were found; barrier step: 0 if no edge passes through a triangle")                             \
  VALUE(energy_change, "J", "of kinetic, elastic and gravity energy in the step")                              \
  VALUE(barrier_energy, "J", "of barriers and multipliers at the end, which is no part of energy_change")      \
  VALUE(work, "J", "of scripts, forces and the mouse on what moves freely in the step")
// clang-format on

/// One step under the judge. With r_c the impulse that acted at contact c and u_c the velocity at the end,
///   e_c = s_c |r_c - P_K(r_c - u~_c / s_c)| [m/s],  s_c = trace(W_cc) / D,  u~ = u + sigma(u_T) n.
/// u_N is the gap at the end over the time step, as far as velocities determine it: a gap may close. A value
/// that was not measured is NaN; docs/equations.md defines q for both kinds of steps.
struct StepJudgement {
#define STICKSLIP_FIELD(name, unit, meaning) double name = std::numeric_limits<double>::quiet_NaN();
  STICKSLIP_JUDGEMENT(STICKSLIP_FIELD)
#undef STICKSLIP_FIELD
  int contacts = 0;  // that were judged: those with a side that can move
  LawCheck law;
};

using JudgementField = double StepJudgement::*;

/// One row of STICKSLIP_JUDGEMENT.
struct JudgementInfo {
  std::string_view name, unit, meaning;
  JudgementField value;
};

inline std::span<const JudgementInfo> judgement_table() {
#define STICKSLIP_ROW(name, unit, meaning) {#name, unit, meaning, &StepJudgement::name},
  static constexpr JudgementInfo rows[] = {STICKSLIP_JUDGEMENT(STICKSLIP_ROW)};
#undef STICKSLIP_ROW
  return rows;
}

}  // namespace stickslip
