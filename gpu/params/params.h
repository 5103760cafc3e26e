// Every tunable, declared once. From these two lists come the structs below, the sliders of the window,
// `--set`, the scene keys, `stickslip list params` and the reference page (all through `param_table` and
// `material_table`).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/params/contact_solvers.h"
#include "gpu/params/elastic_models.h"

namespace stickslip {

// REAL(name, default, low, high, unit, group, meaning, rules)      INT likewise
// BOOL(name, default, group, meaning, rules)
// CHOICE(name, EnumType, default enumerator, group, meaning, "first|second|...", rules)
// `rules` may be left out: INACTIVE(condition on the ParamScope s, reason) INACTIVE(...), the first that
// holds says why the parameter has no effect. What several rows share stands in param_rules.h. `group` says
// who reads it, and is a row of param_groups.cpp: time, integration, solver, barrier, augmented, friction,
// newton, pcg, ccd, boundary, interaction, air; velocity, stabilisation, sleep, penalty (velocity-level
// stepping).
// clang-format off
#define STICKSLIP_PARAMS(REAL, INT, BOOL, CHOICE)                                                                              \
  REAL(dt, 1.0 / 60.0, 1e-6, 10.0, "s", time, "time step")                                                                      \
  REAL(gravity, -9.81, -100.0, 100.0, "m/s^2", time, "acceleration along y")                                                   \
  CHOICE(time_integrator, TimeIntegrator, backward_euler, integration, "of barrier steps: backward_euler, or newmark with the acceleration as a state [Li20 suppl.]", "backward_euler|newmark", INACTIVE(s.scene.joints, kJointsNeedEuler)) \
  REAL(newmark_beta, 0.25, 0.01, 1.0, "1", integration, "newmark: share of the new acceleration in positions; 1/4 is the trapezoidal rule", INACTIVE(s.scene.joints, kJointsNeedEuler) INACTIVE(s.params.time_integrator == TimeIntegrator::backward_euler, "time_integrator is backward_euler")) \
  REAL(newmark_gamma, 0.5, 0.5, 1.0, "1", integration, "newmark: share of the new acceleration in velocities; 1/2 is of second order, more damps", INACTIVE(s.scene.joints, kJointsNeedEuler) INACTIVE(s.params.time_integrator == TimeIntegrator::backward_euler, "time_integrator is backward_euler")) \
  CHOICE(solver, SolverKind, ipc, solver, "method that finds the end of a step: plain barrier, barrier with multipliers, velocity-level contact, or multipliers without a barrier", "ipc|barrier_al|velocity|ccd_al")     \
  BOOL(drop_unsupported, false, solver, "ipc, barrier_al: step rigid bodies without what has no meaning there (restitution, torsion, friction with a direction, textures), instead of refusing", INACTIVE(!s.scene.rigid, kNoRigid) INACTIVE(s.params.solver == SolverKind::velocity, kNoBarrier)) \
  INT(contact_limit, 0, 0, 1000000000, "1", solver, "active contacts at most: Newton steps are halved to stay inside; 0 means no limit", INACTIVE(s.velocity_level(), kNoBarrier)) \
  REAL(d_hat, 2e-3, 1e-7, 1.0, "m", barrier, "distance at which the contact barrier starts to act")                            \
  CHOICE(barrier, BarrierKind, logarithmic, barrier, "log: sigma b(d), one sigma for all contacts; cubic: each contact has its own stiffness, from mass, dt, gap and elastic stiffness [Ando24]", "log|cubic") \
  REAL(barrier_stiffness, 0.0, 0.0, 1e14, "N/m", barrier, "weight sigma of the barrier; 0 adapts it every step", INACTIVE(s.params.barrier == BarrierKind::cubic, kOwnStiffness))  \
  REAL(barrier_floor, 1.0, 1e-8, 100.0, "1", barrier, "least sigma that adapts, in units of what a node resists with by itself", INACTIVE(s.params.barrier == BarrierKind::cubic, kOwnStiffness) INACTIVE(s.params.barrier_stiffness != 0, kFixedStiffness) INACTIVE(s.params.sigma_rule == SigmaRule::ipc2020, kOwnBounds)) \
  REAL(barrier_growth, 2.0, 1.0, 100.0, "1", barrier, "factor on sigma while the smallest gap stays below 1% of d_hat", INACTIVE(s.params.barrier == BarrierKind::cubic, kOwnStiffness) INACTIVE(s.params.barrier_stiffness != 0, kFixedStiffness) INACTIVE(s.params.sigma_rule == SigmaRule::ipc2020, kOwnBounds)) \
  REAL(barrier_cap, 100.0, 1.0, 1e8, "1", barrier, "largest sigma relative to its first value in a step", INACTIVE(s.params.barrier == BarrierKind::cubic, kOwnStiffness) INACTIVE(s.params.barrier_stiffness != 0, kFixedStiffness) INACTIVE(s.params.sigma_rule == SigmaRule::ipc2020, kOwnBounds)) \
  CHOICE(sigma_rule, SigmaRule, capped, barrier, "capped: min(growth sigma, cap sigma_0); jump: max(growth sigma, cap sigma_0); ipc2020: within bounds from masses, doubled where a gap below 1e-9 of the scene stays [Li20 suppl.]", "capped|jump|ipc2020", INACTIVE(s.params.barrier == BarrierKind::cubic, kOwnStiffness) INACTIVE(s.params.barrier_stiffness != 0, kFixedStiffness)) \
  REAL(contact_skin, 0.5, 0.0, 10.0, "1", barrier, "rigid bodies: how far the surface that collides lies inside the drawn one, in units of d_hat, when a run starts or the solver changes; more where bodies overlap", INACTIVE(!s.scene.rigid, kNoRigid)) \
  REAL(tessellation, 0.02, 1e-4, 0.3, "1", barrier, "rigid bodies: round shapes become triangles that are at most this share of the radius inside, when a run starts or the solver changes", INACTIVE(!s.scene.rigid, kNoRigid)) \
  REAL(strain_bound, 1e-3, 1e-7, 0.1, "1", barrier, "rigid bodies: largest strain |F'F - I| after a step; a step that exceeds it is repeated with stiffer bodies", INACTIVE(!s.scene.rigid, kNoRigid)) \
  REAL(joint_tolerance, 1e-5, 1e-12, 0.1, "m", barrier, "multipliers of joints are renewed until no joint is violated by more than this, nor by more than 3% of g dt^2; angles times a length of the bodies", INACTIVE(!s.scene.joints, "there are no joints")) \
  REAL(augmentation_gap, 1e-2, 1e-6, 1.0, "1", augmented, "contacts closer than this share of d_hat get a multiplier")      \
  CHOICE(multiplier_update, MultiplierUpdate, derivative, augmented, "what multipliers grow by: sigma b (as printed in the paper), or -sigma b', a force", "value|derivative") \
  REAL(multiplier_pace, 0.1, 1e-6, 1e6, "1", augmented, "multipliers change when the gradient fell to this share since their last change; 1e6: in every iteration") \
  CHOICE(augmentation_end, AugmentationEnd, singly, augmented, "together: multipliers end when every gap is wide enough; singly: each when its contact opened", "together|singly") \
  REAL(eps_v, 1e-3, 1e-9, 1.0, "m/s", friction, "sliding speed below which friction is smoothed (stick)")                      \
  CHOICE(friction_update, FrictionUpdate, newton, friction, "when normal forces and tangent frames of friction are refreshed", "newton|lagged") \
  INT(friction_lags, 1, 1, 100, "1", friction, "minimisations per step when friction is lagged", INACTIVE(s.params.friction_update == FrictionUpdate::newton, "friction_update = newton refreshes friction in every Newton iteration")) \
  CHOICE(newton_start, NewtonStart, ahead, newton, "where a step's search begins: ahead: bodies without contact where inertia and gravity take them, others along their velocity, up to half of the way to an impact; state: where the last step ended", "ahead|state") \
  CHOICE(newton_stop, NewtonStop, displacement, newton, "what ends the Newton loop", "displacement|gradient")                  \
  REAL(newton_tolerance, 1e-2, 1e-12, 1.0, "1", newton, "displacement: speed in units of the scene's diagonal per second, with rigid bodies of gravity times dt; gradient: relative norm") \
  INT(newton_iterations, 200, 1, 100000, "1", newton, "Newton iterations per step at most")                                    \
  REAL(budget_ms, 0.0, 0.0, 1e7, "ms", newton, "wall time per step after which Newton stops early; 0 means none")              \
  CHOICE(linear_solver, LinearSolverKind, pcg, pcg, "how Newton directions are found; cholesky: on the host, for reference and small scenes", "pcg|cholesky") \
  CHOICE(preconditioner, PreconditionerKind, automatic, pcg, "auto: factors or two_level where they pay, else block_jacobi; additive: blocks of 3, 9 or 27 rows summed (additive_blocks); multilevel: additive Schwarz over Morton order; multilevel_contacts: over groups of nodes that elements and present contacts link [StiffGIPC]; factors: sparse Cholesky factors of all but contacts; two_level: block_jacobi and a coarse space of affine motions of groups of nodes", "auto|none|block_jacobi|additive|multilevel|multilevel_contacts|factors|two_level") \
  CHOICE(additive_blocks, AdditiveBlocks, b3_27, pcg, "rows of the blocks that the additive preconditioner sums", "3+9|3+27|9+27|3+9+27", INACTIVE(s.params.preconditioner != PreconditionerKind::additive, "preconditioner is not additive")) \
  BOOL(warm_start, false, pcg, "start PCG from separate solves of groups of equally stiff nodes")                              \
  REAL(warm_start_tolerance, 1e-1, 1e-14, 0.9, "1", pcg, "relative residual that ends a group's solve", INACTIVE(!s.params.warm_start, "warm_start is off")) \
  INT(warm_start_iterations, 100, 1, 1000000, "1", pcg, "iterations of the group solves at most", INACTIVE(!s.params.warm_start, "warm_start is off")) \
  CHOICE(pcg_stop, PcgCriterion, relative, pcg, "what ends PCG: pcg_tolerance in the preconditioner's norm or (euclidean) in |.|_2, or criterion (i), (ii) or (iii) of [Guo24 App. B]", "relative|truncated|condition_x|condition_b|euclidean") \
  REAL(pcg_tolerance, 1e-4, 1e-14, 0.5, "1", pcg, "relative residual that ends PCG, see pcg_stop", INACTIVE(s.params.pcg_stop != PcgCriterion::relative && s.params.pcg_stop != PcgCriterion::euclidean, "only pcg_stop = relative or euclidean reads a tolerance")) \
  INT(pcg_iterations, 10000, 1, 1000000, "1", pcg, "PCG iterations per Newton iteration at most")                              \
  CHOICE(ccd, CcdMethod, additive, ccd, "time-of-impact method: conservative advancement; roots of the volume, which rounding can hide; roots in time and both coordinates by Newton's method, or by bisection with inclusions", "additive|cubic|multivariate|inclusion") \
  REAL(ccd_slack, 0.9, 0.1, 0.999, "1", ccd, "share of the distance to the first impact that a step may use")                  \
  BOOL(check_intersections, false, ccd, "test the surface for edge-triangle intersections after every step")                  \
  REAL(kinematic_stiffness, 1e6, 1.0, 1e12, "1", boundary, "weight of scripted targets, in units of mass / dt^2, while contacts block their way", INACTIVE(!s.scene.scripted, "nothing in this scene is scripted")) \
  REAL(drag_stiffness, 200.0, 0.0, 1e9, "N/m", interaction, "spring between the pointer and the dragged body")                 \
  REAL(air_density, 0.0, 0.0, 2000.0, "kg/m^3", air, "density of what surrounds cloth, rods and bodies of frames, 1.2 of air; 0: no drag") \
  REAL(wind_speed, 0.0, 0.0, 100.0, "m/s", air, "mean speed of the wind", INACTIVE(s.params.air_density == 0, kNoAir)) \
  REAL(wind_heading, 0.0, -360.0, 360.0, "deg", air, "direction in which the wind blows, turned about y: 0 along x, 90 along -z", INACTIVE(s.params.air_density == 0, kNoAir) INACTIVE(s.params.wind_speed == 0, kNoWind)) \
  REAL(wind_rise, 0.0, -90.0, 90.0, "deg", air, "angle of the wind above the horizon", INACTIVE(s.params.air_density == 0, kNoAir) INACTIVE(s.params.wind_speed == 0, kNoWind)) \
  REAL(gust, 0.0, 0.0, 4.0, "1", air, "largest change of the wind along its mean and across it, in units of wind_speed; gusts travel with the mean wind", INACTIVE(s.params.air_density == 0, kNoAir) INACTIVE(s.params.wind_speed == 0, kNoWind)) \
  REAL(gust_period, 2.0, 1e-2, 1e3, "s", air, "time between the longest gusts", INACTIVE(s.params.air_density == 0, kNoAir) INACTIVE(s.params.wind_speed == 0, kNoWind) INACTIVE(s.params.gust == 0, "gust is 0")) \
  CHOICE(contact_solver, ContactSolverKind, nsgs, velocity, "method that finds the impulses of a step; the lab's solvers, sweeps made for running scenes, or penalty forces", contact_solver_choices()) \
  CHOICE(integrator, RigidIntegrator, semi_implicit, velocity, "where a step takes its contacts: at its start, or half a step ahead [Course 1.2]", "semi_implicit|midpoint") \
  BOOL(gyroscopic, true, velocity, "the torque that turns the spin of bodies of unequal moments, implicitly")                  \
  REAL(contact_margin, 0.01, 0.0, 1.0, "m", velocity, "bodies this near are contacts that may close within the step")          \
  REAL(cohesion_range, 2e-3, 1e-6, 1.0, "m", velocity, "gap at which the cohesion of materials has fallen to zero, linearly from a gap of zero; contact_margin limits it, too", INACTIVE(!s.coheres, "nothing coheres: cohesion is 0 in all materials")) \
  BOOL(continuous, true, velocity, "widen the margin by the way that a body goes in a step, so that none passes through another", INACTIVE(s.penalty_explicit() && pushes_overlaps_alone(s) && !is_stabilised_by(s, Stabilisation::projection), "penalty_explicit acts on overlaps alone")) \
  INT(manifold_points, 4, 1, 8, "1", velocity, "points kept of a pair's contact area")                                          \
  REAL(restitution_speed, 0.5, 0.0, 100.0, "m/s", velocity, "approach below which nothing bounces", INACTIVE(s.penalty(), kNoBounce) INACTIVE(!s.bounces, "nothing bounces: restitution and tangential_restitution are 0 in all materials")) \
  INT(friction_rounds, 30, 0, 10000, "1", velocity, "contact problems per step at most, beside the first, while coefficients of friction that depend on the solution change by more than contact.tolerance", INACTIVE(s.penalty(), kPlainPenalty) INACTIVE(!s.lags, "no coefficient of friction depends on the solution")) \
  INT(cold_start_iterations, 1000, 0, 1000000, "1", velocity, "of manifold_gs (if chosen) or apgd at most, before the chosen solver, in a step whose contacts are new, as the first one of a scene; 0: none", INACTIVE(s.scene.coupled, "beside elastic solids the chosen solver starts by itself") INACTIVE(s.penalty_explicit(), kNothingToSolve)) \
  BOOL(shock_propagation, false, velocity, "after the solve, once more from the ground up with what lies below held still", INACTIVE(s.scene.coupled, "it does not handle elastic solids") INACTIVE(s.penalty_explicit(), "penalty_explicit leaves no contact constraints to propagate")) \
  INT(linearisations, 1, 1, 100, "1", velocity, "contact problems per step, each with the elastic forces linearised where the last one led", INACTIVE(!s.scene.coupled, "nothing in this scene is elastic") INACTIVE(splits_rods(s), "nodal_integrator = admm minimises the elastic energy itself")) \
  CHOICE(coupling, SolidCoupling, rounds, velocity, "how contacts of elastic solids are solved: rounds of a problem between bodies and particles and of PCG; factor: W of all contacts from a factorisation on the host, for problems of up to some thousand rows; nodal_admm: ADMM on the velocities of touched nodes [Daviet20]; ica: Jacobi splitting of A, for comparison [Course Alg.16]", "rounds|factor|nodal_admm|ica", INACTIVE(!s.scene.coupled, "nothing in this scene is elastic")) \
  REAL(dual_pcg_tolerance, 0.0, 0.0, 0.5, "1", velocity, "coupling = factor: A^-1 by conjugate gradients to this relative residual in place of a factorisation [Daviet20 2.2]; solvers that need nothing but products with W (spg, apgd) then take H A^-1 H' without W, unless contact.storage = assembled; 0: factorisation", INACTIVE(!is_factored(s), why_not_factored(s))) \
  CHOICE(nodal_integrator, NodalIntegrator, newton, velocity, "nodal_admm: how a step treats elastic forces: newton: linearised once, or linearisations times; admm: each element of rods has copies of its nodes, and every iteration minimises its nonlinear energy [Daviet20 6.1; Narain16]", "newton|admm", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s)) INACTIVE(!s.scene.open_rods, kOpenRods)) \
  REAL(admm_tolerance, 1e-5, 1e-12, 1.0, "m", velocity, "nodal_admm: ends where dt (|v - v_last| + |v - p|) is less, for the largest component of each, and the residual is at most contact.tolerance; ica: where dt |v - v_last| is less", INACTIVE(!is_nodal(s), why_not_nodal(s))) \
  INT(admm_iterations, 1000, 1, 100000, "1", velocity, "nodal_admm and ica: iterations per contact problem at most", INACTIVE(!is_nodal(s), why_not_nodal(s))) \
  INT(projection_sweeps, 10, 1, 10000, "1", velocity, "nodal_admm and ica: Gauss-Seidel sweeps over the contacts in each projection", INACTIVE(!is_nodal(s), why_not_nodal(s))) \
  REAL(admm_beta, 25.0, 1e-6, 1e12, "1", velocity, "nodal_admm: the weight of a node is at most this times its mass, or admm_sigma times its stiffness if that is more", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s))) \
  REAL(admm_sigma, 1e-3, 0.0, 1.0, "1", velocity, "nodal_admm: the weight of a node is at least this times the smallest eigenvalue of its block of A", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s))) \
  BOOL(admm_accelerated, true, velocity, "nodal_admm: Nesterov's momentum, restarted where the residual grows [Daviet20 Alg.4]", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s))) \
  REAL(admm_sleep, 0.01, 0.0, 1.0, "1", velocity, "nodal_admm: a contact whose velocity a sweep changes by less than this share of the last iteration's residual sleeps for the next sweeps of its projection; 0: none sleeps [Daviet20 6.3.3]", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s))) \
  BOOL(admm_isotropic, true, velocity, "nodal_admm: contacts between nodes are solved in closed form; off: all by the solver of full blocks, for comparison [Daviet20 Table 3]", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s))) \
  INT(admm_search_every, 0, 0, 100000, "1", velocity, "nodal_admm: after so many iterations, and where they would end, what the motion found so far would cross becomes contacts, too [Daviet20 6.2.3]; contacts of solids then keep a tenth of contact_margin, as with penetration_guard; 0: contacts are searched before the step alone", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s))) \
  CHOICE(nodal_projection, ProjectionRule, impulses, velocity, "nodal_admm: what a contact of the projection solves: impulses: it takes back its own impulse first [Daviet20 Alg.3]; positions: it projects the present velocity, as position-based dynamics does, which breaks the contact law where contacts act on each other, for comparison [Daviet20 5.2.4; Mueller07]", "impulses|positions", INACTIVE(!is_nodal_admm(s), why_no_nodal_admm(s))) \
  CHOICE(ica_cone, IcaCone, round, velocity, "ica: friction cones: round: Coulomb's, which is NL-ICA; facets: pyramids with ica_facets sides, for comparison [Otaduy09]", "round|facets", INACTIVE(!is_ica(s), why_no_ica(s))) \
  INT(ica_facets, 8, 4, 64, "1", velocity, "ica: facets of a friction cone", INACTIVE(!is_ica(s), why_no_ica(s)) INACTIVE(s.params.ica_cone == IcaCone::round, "ica_cone is round")) \
  BOOL(penetration_guard, false, velocity, "surfaces of solids, colliders and rigid bodies that are apart before a step are apart after it, except those of two rigid bodies: contacts of solids keep a tenth of contact_margin, crossings that CCD finds become contacts, and what would still cross stops short of it", INACTIVE(!s.scene.coupled, "nothing in this scene is elastic")) \
  CHOICE(stabilisation, Stabilisation, baumgarte, stabilisation, "what takes overlaps back [Course 1.9, 3.4.6]", "none|baumgarte|spring_damper|projection") \
  REAL(baumgarte, 0.2, 0.0, 1.0, "1", stabilisation, "share of an overlap that a step takes back", INACTIVE(only_joints_stabilised(s), kNoJoints) INACTIVE(!is_stabilised_by(s, Stabilisation::baumgarte), not_read_by_stabilisation(s))) \
  REAL(baumgarte_speed, 2.0, 0.0, 1000.0, "m/s", stabilisation, "speed at which overlaps are taken back at most", INACTIVE(only_joints_stabilised(s) && is_stabilised_by(s, Stabilisation::baumgarte), kNoJoints) INACTIVE(!moves_overlaps_back(s), not_read_by_stabilisation(s))) \
  REAL(contact_slop, 1e-4, 0.0, 0.1, "m", stabilisation, "overlap that is left alone", INACTIVE(only_joints_stabilised(s) && is_stabilised_by(s, Stabilisation::baumgarte), kNoJoints) INACTIVE(s.penalty() && !s.scene.joint_limits && is_stabilised_by(s, Stabilisation::baumgarte), "penalty forces remove overlaps by themselves, and no joint has limits") INACTIVE(!moves_overlaps_back(s), not_read_by_stabilisation(s))) \
  REAL(spring_frequency, 30.0, 0.01, 1e4, "1/s", stabilisation, "spring_damper: frequency of the constraint's spring", INACTIVE(only_joints_stabilised(s), kNoJoints) INACTIVE(!is_stabilised_by(s, Stabilisation::spring_damper), not_read_by_stabilisation(s))) \
  REAL(spring_damping, 1.0, 0.0, 100.0, "1", stabilisation, "spring_damper: damping ratio of the constraint's spring", INACTIVE(only_joints_stabilised(s), kNoJoints) INACTIVE(!is_stabilised_by(s, Stabilisation::spring_damper), not_read_by_stabilisation(s))) \
  INT(projection_iterations, 10, 1, 10000, "1", stabilisation, "projection: sweeps over the position corrections of a step", INACTIVE(!is_stabilised_by(s, Stabilisation::projection), not_read_by_stabilisation(s))) \
  CHOICE(geometric_correction, GeometricCorrection, velocity, stabilisation, "elastic objects: where overlaps are taken back: velocity: in the velocities at the end of a step, which objects keep; position: in positions alone, by the velocities of a second contact problem [Daviet20 6.2.7]", "velocity|position", INACTIVE(!s.scene.coupled, "nothing in this scene is elastic") INACTIVE(s.penalty(), kNoOverlapLeft) INACTIVE(!is_corrected_by_rows(s), not_read_by_stabilisation(s))) \
  BOOL(sleeping, false, sleep, "islands that rest are left out until something touches them")                                  \
  REAL(sleep_speed, 0.02, 0.0, 10.0, "m/s", sleep, "speed of a body's points below which it may fall asleep", INACTIVE(!s.params.sleeping, "sleeping is off")) \
  REAL(sleep_time, 0.5, 0.0, 100.0, "s", sleep, "time that an island has to rest before it sleeps", INACTIVE(!s.params.sleeping, "sleeping is off")) \
  REAL(penalty_stiffness, 1e5, 1.0, 1e12, "N/m", penalty, "k of the spring of a contact [Course 5.1]")                         \
  REAL(penalty_damping, 100.0, 0.0, 1e9, "N s/m", penalty, "damper of a penetrating contact; also along the tangents with anchored friction") \
  CHOICE(penalty_spring, PenaltySpring, linear, penalty, "force of an overlap d: linear k d; power k L (d/L)^p, exponential k L exp(d/L) (also at gaps, d < 0), with L = penalty_length; layered: of the quadratic energies k i^3 g^2 / 2, i = 1, 2, ..., that begin at the gaps penalty_thickness i^(-1/4) [Course Eq.281, 286, 290]", "linear|power|exponential|layered") \
  REAL(penalty_exponent, 1.5, 1.0, 10.0, "1", penalty, "power: the exponent p", INACTIVE(s.params.penalty_spring != PenaltySpring::power, "penalty_spring is not power")) \
  REAL(penalty_length, 1e-3, 1e-6, 1.0, "m", penalty, "L: power: overlap at which the force is that of the linear spring; exponential: overlap in which the force grows e times", INACTIVE(!has_penalty_length(s), "penalty_spring is neither power nor exponential")) \
  REAL(penalty_thickness, 1e-3, 1e-6, 1.0, "m", penalty, "layered: gap at which the first layer begins to push", INACTIVE(s.params.penalty_spring != PenaltySpring::layered, "penalty_spring is not layered")) \
  INT(penalty_layers, 100, 1, 1000000, "1", penalty, "layered: layers at most; without this limit the force would be infinite at a gap of zero", INACTIVE(s.params.penalty_spring != PenaltySpring::layered, "penalty_spring is not layered")) \
  REAL(penalty_recede, 1.0, 0.0, 1.0, "1", penalty, "factor on the force while a contact separates; without a damper a ball bounces off with sqrt(this) of its approach [Course Eq.279, 282]") \
  CHOICE(penalty_friction, PenaltyFriction, regularised, penalty, "regularised: viscous below penalty_slip; anchored: springs from a point that follows once the bound is exceeded; kinetic: Coulomb's force against sliding, nothing at rest [Course 5.1.4]", "regularised|anchored|kinetic") \
  REAL(penalty_slip, 1e-2, 1e-9, 10.0, "m/s", penalty, "sliding speed below which penalty friction is viscous", INACTIVE(s.params.penalty_friction != PenaltyFriction::regularised, "penalty_friction is not regularised")) \
  REAL(penalty_friction_stiffness, 1e5, 1.0, 1e12, "N/m", penalty, "anchored: spring between a contact and its anchor", INACTIVE(s.params.penalty_friction != PenaltyFriction::anchored, "penalty_friction is not anchored"))

#define STICKSLIP_MATERIAL_PARAMS(REAL, INT, BOOL, CHOICE)                                                                     \
  CHOICE(model, ElasticModel, stable_neo_hookean, material, "elastic energy of deformable bodies; neo_hookean forbids inverted elements", elastic_model_choices(), INACTIVE(!s.material.solid, no_solid(s)) INACTIVE(!s.material.deformable, kAffine) INACTIVE(!s.material.tets, kNoTets)) \
  REAL(young, 1e5, 1.0, 1e13, "Pa", material, "Young's modulus E, of cloth along the warp; an affine body keeps its shape with kappa = E/8", INACTIVE(!s.material.solid, no_solid(s))) \
  REAL(poisson, 0.4, 0.0, 0.495, "1", material, "Poisson's ratio nu", INACTIVE(!s.material.solid, no_solid(s)) INACTIVE(!s.material.deformable, kAffine) INACTIVE(s.material.arap && !s.material.cloth, "the ARAP energy has no volume term")) \
  REAL(young_weft, 0.0, 0.0, 1e13, "Pa", cloth, "Young's modulus across the warp; 0: that along it") \
  REAL(shear, 0.0, 0.0, 1e13, "Pa", cloth, "shear modulus between warp and weft; 0: sqrt(E_warp E_weft) / (2 (1 + nu)), as of an isotropic sheet") \
  REAL(bending, 1.0, 0.0, 1e6, "1", cloth, "factor on the bending stiffness, E t^3 / (12 (1 - nu^2)) of a plate of its thickness") \
  REAL(density, 1000.0, 1e-3, 1e6, "kg/m^3", material, "mass density", INACTIVE(!s.material.solid && !s.material.rigid, no_solid(s)) INACTIVE(!s.material.solid && !s.material.weighed, "its bodies stand still or have a mass of their own")) \
  REAL(damping, 0.0, 0.0, 10.0, "s", material, "stiffness-proportional damping time", INACTIVE(!s.material.solid, no_solid(s)) INACTIVE(!s.material.deformable, kAffine)) \
  REAL(drag, 1.2, 0.0, 100.0, "1", material, "drag coefficient of air that blows across cloth or rods: force over rho u^2 / 2 times the area (of rods, length times diameter; of bodies of frames, half of their surface)", INACTIVE(!s.material.thin, kNoThin) INACTIVE(s.params.air_density == 0, kNoAir)) \
  REAL(skin_drag, 0.02, 0.0, 100.0, "1", material, "the same of air that blows along cloth, for both sides together, or along rods, with their surface as the area, or along bodies of frames, with half of it", INACTIVE(!s.material.thin, kNoThin) INACTIVE(s.params.air_density == 0, kNoAir)) \
  REAL(mu, 0.3, 0.0, 10.0, "1", material, "Coulomb friction coefficient; a pair without its own uses the geometric mean") \
  REAL(restitution, 0.0, 0.0, 1.0, "1", rigid, "share of the approach that a rigid body bounces back with (Newton); of a pair, the larger", INACTIVE(s.velocity_level() && s.penalty(), kNoBounce)) \
  REAL(torsion_radius, 0.0, 0.0, 10.0, "m", rigid, "friction about the normal, mu times this times the normal force; of a pair, the mean; 0: none")              \
  REAL(rolling_resistance, 0.0, 0.0, 10.0, "m", rigid, "the moment against rolling at a contact between rigid bodies is at most this times the normal force; of a pair, the larger; half-spaces have none; 0: none. Not together with torsion_radius, friction with a direction or textures", INACTIVE(!s.material.body, "no rigid body is made of this material") INACTIVE(s.velocity_level() && s.penalty(), kNoRollingPenalty)) \
  REAL(cohesion, 0.0, 0.0, 1e9, "N", rigid, "largest pull of a contact point; of a pair, the geometric mean; half-spaces have none") \
  REAL(compliance, 0.0, 0.0, 1.0, "m/N", rigid, "a contact yields along its normal by this times its force; of a pair, the sum; 0: rigid", INACTIVE(s.velocity_level() && s.penalty(), "penalty forces have springs of their own")) \
  CHOICE(friction_kind, FrictionKind, isotropic, rigid, "how mu depends on the direction of sliding against the body's grain; tensor: friction is a linear map of that direction [Course 6.2]", "isotropic|elliptic|matchstick|tensor")     \
  REAL(mu_across, 0.3, 0.0, 10.0, "1", rigid, "elliptic, matchstick, tensor: coefficient across the grain; mu is that along it", INACTIVE(s.material.isotropic, "friction_kind = isotropic has mu in all directions")) \
  REAL(mu_crossed, 0.0, 0.0, 10.0, "1", rigid, "matchstick: coefficient where the grains of both surfaces cross at a right angle; 0: sqrt(mu mu_across)", INACTIVE(!s.material.matchstick, "friction_kind is not matchstick")) \
  REAL(mu_skew, 0.0, -10.0, 10.0, "1", rigid, "tensor: friction of this size at a right angle to sliding, turned by +90 degrees about the outward normal from the friction that opposes it", INACTIVE(!s.material.tensor, "friction_kind is not tensor")) \
  REAL(mu_static, 0.0, 0.0, 10.0, "1", rigid, "coefficient of contacts that stick; at the slip speed s it is mu + (mu_static - mu) exp(-(s / stribeck_speed)^2); 0: mu", INACTIVE(s.velocity_level() && s.penalty(), kPlainPenalty)) \
  REAL(stribeck_speed, 1e-3, 1e-9, 100.0, "m/s", rigid, "slip speed at which friction has fallen from mu_static most of the way to mu; of a pair with two, the geometric mean", INACTIVE(s.velocity_level() && s.penalty(), kPlainPenalty) INACTIVE(!s.material.has_static, "mu_static is 0: a contact that sticks has the coefficient of one that slides")) \
  REAL(viscous_friction, 0.0, 0.0, 1000.0, "s/m", rigid, "added to the coefficient per slip speed; of a pair, the larger; half-spaces have none", INACTIVE(s.velocity_level() && s.penalty(), kPlainPenalty)) \
  REAL(tresca, 0.0, 0.0, 1e9, "N", rigid, "Tresca friction: force of a contact point that slides, whatever its normal force, in place of mu; of a pair, the geometric mean, against a half-space the body's; 0: Coulomb", INACTIVE(s.velocity_level() && s.penalty(), kPlainPenalty)) \
  REAL(tangential_restitution, 0.0, -1.0, 1.0, "1", rigid, "share of the slip before an impact that it reverses, as far as friction can [Course Eq.219b]; of a pair, the one farther from 0; see restitution_speed", INACTIVE(s.velocity_level() && s.penalty(), kNoBounce))
// clang-format on

enum class TimeIntegrator : int { backward_euler, newmark };
enum class SolverKind : int { ipc, barrier_al, velocity, ccd_al };
enum class BarrierKind : int { logarithmic, cubic };
enum class SigmaRule : int { capped, jump, ipc2020 };
enum class MultiplierUpdate : int { value, derivative };
enum class AugmentationEnd : int { together, singly };
enum class FrictionUpdate : int { newton, lagged };
enum class NewtonStart : int { ahead, state };
enum class NewtonStop : int { displacement, gradient };
enum class LinearSolverKind : int { pcg, cholesky };
enum class PreconditionerKind : int {
  automatic,
  none,
  block_jacobi,
  additive,
  multilevel,
  multilevel_contacts,
  factors,
  two_level
};
enum class AdditiveBlocks : int { b3_9, b3_27, b9_27, b3_9_27 };
enum class PcgCriterion : int { relative, truncated, condition_x, condition_b, euclidean };
enum class CcdMethod : int { additive, cubic, multivariate, inclusion };
enum class RigidIntegrator : int { semi_implicit, midpoint };
enum class SolidCoupling : int { rounds, factor, nodal_admm, ica };
enum class NodalIntegrator : int { newton, admm };
enum class ProjectionRule : int { impulses, positions };
enum class IcaCone : int { round, facets };
enum class Stabilisation : int { none, baumgarte, spring_damper, projection };
enum class GeometricCorrection : int { velocity, position };
enum class PenaltySpring : int { linear, power, exponential, layered };
enum class PenaltyFriction : int { regularised, anchored, kinetic };
enum class FrictionKind : int { isotropic, elliptic, matchstick, tensor };

#define STICKSLIP_FIELD_REAL(name, value, ...) double name = value;
#define STICKSLIP_FIELD_INT(name, value, ...) int name = value;
#define STICKSLIP_FIELD_BOOL(name, value, ...) bool name = value;
#define STICKSLIP_FIELD_CHOICE(name, Enum, value, ...) Enum name = Enum::value;

/// The settings of a run. Changing any of them between steps is allowed.
struct Params {
  STICKSLIP_PARAMS(STICKSLIP_FIELD_REAL, STICKSLIP_FIELD_INT, STICKSLIP_FIELD_BOOL, STICKSLIP_FIELD_CHOICE)
};

/// The settings of one material. Changing `density` rescales masses, it does not change velocities.
struct Material {
  STICKSLIP_MATERIAL_PARAMS(STICKSLIP_FIELD_REAL, STICKSLIP_FIELD_INT, STICKSLIP_FIELD_BOOL,
                            STICKSLIP_FIELD_CHOICE)
};

#undef STICKSLIP_FIELD_REAL
#undef STICKSLIP_FIELD_INT
#undef STICKSLIP_FIELD_BOOL
#undef STICKSLIP_FIELD_CHOICE

enum class ParamType { real, integer, boolean, choice };

struct ParamGroup;  // param_scope.h
struct ParamScope;

/// One row of a parameter table. `offset` locates the field inside Params or Material.
struct ParamInfo {
  std::string_view name;
  ParamType type;
  double default_value;  // the index of the choice for `choice`
  double low, high;
  std::string_view unit, group, meaning;
  std::vector<std::string_view> choices;
  std::size_t offset;
  std::string (*rule)(const ParamScope& scope) = nullptr;  // see inactive_reason in param_scope.h
  const ParamGroup* group_row = nullptr;
};

std::span<const ParamInfo> param_table();
std::span<const ParamInfo> material_table();

/// The row called `name`, or nullptr.
const ParamInfo* find_param(std::span<const ParamInfo> table, std::string_view name);

/// The known name nearest to `name` in edit distance, for messages; empty when nothing is near.
std::string nearest_name(std::span<const std::string_view> names, std::string_view name);
std::string nearest_name(std::span<const ParamInfo> table, std::string_view name);

/// Reads or writes one field of a Params or Material through its row. A choice reads as its index.
double get_param(const void* object, const ParamInfo& info);
/// Throws std::invalid_argument naming parameter, value, range and unit when `value` is NaN or out of range.
void set_param(void* object, const ParamInfo& info, double value);
/// Parses `text` (number, true/false, or the name of a choice) and sets it; errors as above.
void set_param(void* object, const ParamInfo& info, std::string_view text);
/// The field as text that `set_param` would read back.
std::string param_text(const void* object, const ParamInfo& info);

}  // namespace stickslip
