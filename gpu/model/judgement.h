// StepJudgement: the errors of a step, measured in the same way for every stepper. Code that no solver shares
// computes them from contact points, the impulses that acted there, and velocities at the end of the step.
#pragma once

#include <limits>
#include <span>
#include <string_view>

namespace stickslip {

/// Violations of Coulomb's and Newton's laws at the end of a step, in SI units and independent of any solver:
/// from contacts, surfaces, impulses and velocities of bodies. Where the laws hold, every number is zero
/// except `friction_work` and those "for comparison".
struct LawCheck {
  double approach = 0;         // [m/s] largest -u_N
  double pull = 0;             // [N s] largest -r_N
  double cone = 0;             // [N s] largest part of friction beyond mu r_N; of a moment beyond mu_r r_N,
                               // over a length of the contact's bodies
  double complementarity = 0;  // [J] largest r_N u_N of contacts that open
  double slip = 0;  // [J] largest mu r_N |u_T| + r_T . u_T: friction that does not oppose sliding in full
  double friction_work = 0;     // [J] sum of r_T . u_T, and of r_R . u_R: at most zero
  double impulse = 0;           // [N s] largest |r|, for comparison
  double momentum = 0;          // [N s] change that no impulse explains
  double angular_momentum = 0;  // [N m s], about the origin
  double momentum_size = 0;     // [N s] sum of m |v|, for comparison
  double torque = 0;            // [N m s] largest |x cross r| of a contact, plus its moment, for comparison
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

/// The judgement of one step. With the impulse r_c that acted at contact c and the velocity u_c at the end,
///   e_c = s_c |r_c - P_K(r_c - u~_c / s_c)| [m/s],  s_c = trace(W_cc) / D,  u~ = u + sigma(u_T) n.
/// u_N is the gap at the end divided by the time step, because an open gap may close. A value that was not
/// measured is NaN; docs/equations.md defines u_N and q for both kinds of steps.
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
