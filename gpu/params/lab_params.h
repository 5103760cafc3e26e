// The tunables of the velocity-level contact solvers, declared once as those of params.h.
#pragma once

#include "gpu/params/params.h"
#include "gpu/params/printed_variants.h"

namespace stickslip {

// As in params.h; a solver's row (contact_solvers.h) names the groups that it reads.
// clang-format off
#define STICKSLIP_LAB_PARAMS(REAL, INT, BOOL, CHOICE)                                                                          \
  REAL(tolerance, 1e-8, 1e-15, 1.0, "1", stop, "residual (the judge's) that ends the solve")                                   \
  INT(max_iterations, 100000, 1, 2000000000, "1", stop, "iterations at most", INACTIVE(s.solver().kind == ContactSolverKind::lemke, "lemke ends by itself"))\
  REAL(time_budget, 0.0, 0.0, 1e6, "s", stop, "wall time after which the best iterate is returned; 0 means none")              \
  INT(check_interval, 0, 0, 1000000, "1", stop, "iterations between two checks of the residual, where each costs a product with W; 0 chooses from the progress seen", INACTIVE(s.solver().has(SolverTrait::free_checks), std::string(s.solver().name) + " has the velocities of every iterate, so that a check costs nothing")) \
  BOOL(warm_start, false, stop, "start from the problem's guess instead of zero", INACTIVE(s.solver().kind == ContactSolverKind::lemke, "lemke starts from zero"))\
  CHOICE(storage, DelassusStorage, automatic, stop, "W assembled in blocks, or applied as H A^-1 H' (of bodies; of elastic objects with dual_pcg_tolerance)", "auto|assembled|factored", INACTIVE(s.solver().has(SolverTrait::manifolds), "manifold_gs stores manifolds, not W")) \
  CHOICE(ordering, SweepOrder, automatic, sweep, "order of Gauss-Seidel: as stored (one thread), or by colours (parallel); auto: by colours on cuda and for many contacts; on the cpu, for comparison: random, gap (the fastest approach first), impulse (the largest of the last sweep first) or height (the fewest contacts above an immovable body first)", "auto|natural|coloured|random|gap|impulse|height") \
  BOOL(symmetric_sweeps, false, sweep, "sweep forth and back")                                                                 \
  REAL(sleep, 0.0, 0.0, 1.0, "1", sweep, "contacts whose update is below this share of the tolerance rest for a while; 0: none") \
  BOOL(joint_block, false, joints, "solve the rows of all joints as one block after each sweep, factorised or by conjugate gradients, instead of joint by joint", INACTIVE(!s.scene.joints, "this scene has no joints")) \
  REAL(omega, 1.0, 0.01, 1.99, "1", relaxation, "over-relaxation of every block update")                                       \
  CHOICE(r_strategy, RFactorStrategy, blocked, prox, "r-factors: one for all, 1 / W_ii, or by blocks (1 / W_nn, W_tt^-1)", "global|local|blocked") \
  REAL(r_scale, 1.0, 1e-6, 1e6, "1", prox, "factor on the r-factors")                                                          \
  BOOL(r_adaptive, true, adaptive, "drop an iterate that moved further than the last and shrink the r-factors")                \
  REAL(r_shrink, 0.0, 0.0, 0.999, "1", adaptive, "what r-factors shrink by; 0: 0.5 (global, blocked) or 0.9 (local)", INACTIVE(!s.lab.r_adaptive, "r_adaptive is off")) \
  CHOICE(r_rule, AdaptiveRFactors, windowed, adaptive, "when an iterate is dropped: it moved further than all of the last 16 (windowed; r-factors grow again), or than the one before (printed)", "windowed|printed", INACTIVE(!s.lab.r_adaptive, "r_adaptive is off")) \
  CHOICE(contraction_test, ContractionTest, off, contraction, "end when a merit of successive iterates grows (divergence) or settles [Course Alg.7]: the largest change (change), or the largest impulse as printed, which ends nearly every solve at its second sweep", "off|change|printed") \
  REAL(contraction_threshold, 1e-6, 1e-15, 1.0, "1", contraction, "relative size of the merit that counts as settled", INACTIVE(s.lab.contraction_test == ContractionTest::off, "contraction_test is off")) \
  BOOL(conjugate, true, manifold, "carry the change of a symmetric sweep further, along conjugate directions")                  \
  INT(prox_local_steps, 2, 1, 1000, "1", prox_local, "proximal steps of a block in its turn of prox_gs (1: as often as in the text), or rounds of a manifold in its turn of manifold_gs")        \
  BOOL(de_saxce, true, convex, "iterate on the shift mu |u_T| so that convex solvers reach exact Coulomb; else the associated law") \
  REAL(de_saxce_inner, 0.1, 1e-6, 1.0, "1", shifts, "residual of a convex subproblem relative to the outer one", INACTIVE(!s.lab.de_saxce, "de_saxce is off")) \
  BOOL(restart, true, acceleration, "restart acceleration when the step turns against the gradient")                           \
  REAL(spg_alpha_min, 1e-9, 1e-30, 1.0, "1", spg, "least spectral step")                                                       \
  REAL(spg_alpha_max, 1e9, 1.0, 1e30, "1", spg, "largest spectral step")                                                       \
  REAL(spg_sigma_min, 0.1, 1e-6, 0.999, "1", spg, "least factor of a line search cut")                                         \
  REAL(spg_sigma_max, 0.9, 1e-6, 0.999, "1", spg, "largest factor of a line search cut")                                       \
  INT(spg_memory, 10, 1, 100, "1", spg, "values that the non-monotone line search remembers (N_GLL)")                          \
  REAL(spg_gamma, 1e-4, 1e-12, 0.5, "1", spg, "Armijo decrease")                                                               \
  REAL(spg_tau, 1.0, 1e-12, 1e12, "1", spg, "step of the residual that chooses the fallback iterate, in units of 1 / mean diagonal of W") \
  BOOL(spg_precondition, true, spg, "precondition by the diagonal of W averaged over each cone")                               \
  REAL(admm_rho, 1.0, 1e-9, 1e9, "1", admm, "penalty in units of the mean diagonal of W")                                      \
  BOOL(admm_adaptive, true, admm, "balance the penalty by the primal and dual residuals")                                      \
  REAL(admm_relaxation, 1.5, 0.1, 1.9, "1", admm, "over-relaxation of ADMM")                                                   \
  REAL(rho_n, 1.0, 1e-9, 1e9, "1", alart_curnier, "normal Alart-Curnier parameter in units of 1 / W_nn")                       \
  CHOICE(section_radius, SectionRadius, augmented, alart_curnier, "normal impulse that bounds friction: max(r_N - rho_n u_N, 0) [Alart91], or max(r_N, 0) [Bertails11]", "augmented|impulse") \
  REAL(rho_t, 1.0, 1e-9, 1e9, "1", newton, "tangential Alart-Curnier parameter in units of dim-1 over trace W_tt; r-scaling of the other maps") \
  CHOICE(newton_linear, NewtonLinear, automatic, newton, "how Newton systems are solved: factorised on the host, or by a Krylov method on the backend", "auto|direct|krylov") \
  REAL(newton_regularisation, 1e-10, 0.0, 1.0, "1", newton, "added to the diagonal of W in Newton matrices, relative to its mean") \
  INT(newton_cuts, 20, 0, 100, "1", newton, "halvings of a step at most", INACTIVE(!s.lab.newton_damped && s.solver().kind != ContactSolverKind::automatic, "newton_damped is off")) \
  REAL(krylov_tolerance, 1e-10, 1e-15, 0.5, "1", newton, "relative residual that ends a Krylov solve", INACTIVE(s.lab.newton_linear == NewtonLinear::direct, "newton_linear = direct factorises")) \
  INT(krylov_iterations, 1000, 1, 1000000, "1", newton, "Krylov iterations at most", INACTIVE(s.lab.newton_linear == NewtonLinear::direct, "newton_linear = direct factorises")) \
  BOOL(newton_safeguards, true, newton, "a proximal term where contacts outnumber degrees of freedom, and undamped steps where damped ones fail; off: as printed, without them") \
  BOOL(newton_damped, true, damping, "damp steps by a line search on the merit |Phi|^2 / 2")                                   \
  CHOICE(fb_origin, FischerBurmeisterOrigin, diagonal, fischer_burmeister, "derivatives by (impulse, velocity) where both are zero: (1 - 1/sqrt 2) of each, or (1, 0) [Course Eqs.187-188]", "diagonal|printed") \
  CHOICE(ncp_function, NcpFunction, fischer_burmeister, ncp, "the function that vanishes where 0 <= a, 0 <= b, a b = 0", "fischer_burmeister|minimum") \
  CHOICE(ncp_system, NcpSystem, newton, ncp, "Newton systems with the multiplier gamma as an unknown, or the symmetric fixed point in which friction is a compliance [Macklin19]", "newton|fixed_point") \
  REAL(al_rho, 10.0, 1e-3, 1e6, "1", augmentation, "first penalty of newton_al, in units of 1 / s_c, the inverse of a block's mean diagonal; it adapts") \
  INT(sm_sweeps, 10, 1, 10000, "1", subspace, "PGS sweeps before each subspace phase of PGS-SM (k_pgs)")                       \
  INT(sm_solves, 5, 1, 1000, "1", subspace, "subspace solves of a phase at most (k_sm)")                                       \
  CHOICE(nncg_sweep, NncgSweep, nsgs, nncg, "sweep that NNCG accelerates: scalar rows with box friction, or blocks exactly or by proximal steps (prox, prox_local)", "pgs|nsgs|prox") \
  INT(staggered_sweeps, 20, 1, 100000, "1", staggered, "sweeps of each half (normal, tangential) of a staggered projection")   \
  INT(pivot_rows, 3000, 1, 20000, "1", pivot, "rows that pivoting takes on at most (dense matrices)")                          \
  INT(facets, 8, 4, 64, "1", facets, "facets of a friction cone; two more with torsion")                                      \
  INT(auto_sweeps, 20, 1, 100000, "1", auto, "Gauss-Seidel sweeps of `auto` before it tries something faster")             \
  INT(auto_direct_rows, 20000, 0, 10000000, "1", auto, "rows up to which `auto` factorises Newton systems", INACTIVE(s.lab.newton_linear != NewtonLinear::automatic, "newton_linear decides")) \
  INT(auto_memory, 8, 0, 10, "1", auto, "sweeps that `auto` extrapolates from (Anderson mixing); 0: none")
// clang-format on

enum class DelassusStorage : int { automatic, assembled, factored };
enum class SweepOrder : int { automatic, natural, coloured, random, gap, impulse, height };
enum class ContractionTest : int { off, change, printed };
enum class RFactorStrategy : int { global, local, blocked };
enum class AdaptiveRFactors : int { windowed, printed };
enum class NewtonLinear : int { automatic, direct, krylov };
enum class NncgSweep : int { pgs, nsgs, prox };
enum class NcpSystem : int { newton, fixed_point };

/// The settings of a solve in the lab.
struct LabParams {
#define STICKSLIP_FIELD_REAL(name, value, ...) double name = value;
#define STICKSLIP_FIELD_INT(name, value, ...) int name = value;
#define STICKSLIP_FIELD_BOOL(name, value, ...) bool name = value;
#define STICKSLIP_FIELD_CHOICE(name, Enum, value, ...) Enum name = Enum::value;
  STICKSLIP_LAB_PARAMS(STICKSLIP_FIELD_REAL, STICKSLIP_FIELD_INT, STICKSLIP_FIELD_BOOL,
                       STICKSLIP_FIELD_CHOICE)
#undef STICKSLIP_FIELD_REAL
#undef STICKSLIP_FIELD_INT
#undef STICKSLIP_FIELD_BOOL
#undef STICKSLIP_FIELD_CHOICE
};

std::span<const ParamInfo> lab_param_table();

/// What a step of a running scene starts with: a tolerance that the eye cannot tell from a smaller one, few
/// iterations, the impulses of the step before.
LabParams stepping_lab_params();

}  // namespace stickslip
