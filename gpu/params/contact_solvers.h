// The contact solvers, one row each. From the rows come ContactSolverKind, the choices of `contact_solver`,
// `--solver`, `race` and the lists, the declaration of each solver's function and its dispatch
// (gpu/dfcp/solvers/solvers), and the solvers that the tests compare.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace stickslip {

// PROBLEM(enumerator, name, law, traits, "groups", "meaning"): its `solve_<name>` of gpu/dfcp solves
//   any contact problem, those of the lab and those of steps.
// BODIES(as PROBLEM): gpu/rigid calls it, for steps and for problems of the lab that are made of manifolds.
// STEP(as PROBLEM): only steps of a running scene have it; gpu/rigid calls it.
// `law` is what the method solves by itself: exact (Coulomb's law), associated (exact with de_saxce), box (a
// pyramid in place of the cone), penalty (springs in place of the law). `traits` are those of SolverTrait,
// joined by |. `groups` of LabParams are what it reads beside `stop`, which all read. Rows are appended: the
// order is that of the enumerators.
// clang-format off
#define STICKSLIP_CONTACT_SOLVERS(PROBLEM, BODIES, STEP)                                                                               \
  PROBLEM(pgs_jacobi, pgs_jacobi, box, none, "relaxation contraction",                                                         \
          "projected Jacobi by scalar rows, box friction [Course 3.2.1]")                                                      \
  PROBLEM(pgs, pgs, box, none, "sweep joints relaxation contraction",                                                          \
          "projected Gauss-Seidel by scalar rows, box friction (PSOR with omega) [Course Alg.6]")                              \
  PROBLEM(nsgs, nsgs, exact, rolling, "sweep joints relaxation",                                                               \
          "blocked Gauss-Seidel with the exact solution of every contact [Course 3.2.4]")                                      \
  PROBLEM(prox_jacobi, prox_jacobi, exact, rolling, "prox adaptive",                                                           \
          "proximal fixed point, Jacobi, r-factors [Course Alg.11]")                                                           \
  PROBLEM(prox_gs, prox_gs, exact, rolling, "sweep relaxation prox prox_local adaptive",                                       \
          "proximal fixed point, Gauss-Seidel, r-factors [Course Alg.12]")                                                     \
  PROBLEM(staggered, staggered, exact, none, "sweep relaxation staggered",                                                     \
          "normal and tangential problems in turn [Course 3.2.5]")                                                             \
  PROBLEM(pgs_sm, pgs_sm, box, none, "sweep relaxation subspace",                                                              \
          "projected Gauss-Seidel with subspace minimisation, box friction [Course Alg.9]")                                    \
  PROBLEM(nncg, nncg, exact, none, "sweep relaxation nncg prox prox_local",                                                    \
          "sweeps accelerated by nonsmooth nonlinear conjugate gradients [Course Alg.10]; nncg_sweep = prox reads prox and prox_local") \
  PROBLEM(newton_ac, newton_ac, exact, assembled | free_checks | rolling, "newton damping alart_curnier",                      \
          "damped nonsmooth Newton on the Alart-Curnier function [Bertails11]")                                                \
  PROBLEM(newton_fb, newton_fb, exact, assembled | free_checks, "newton damping fischer_burmeister",                           \
          "damped nonsmooth Newton on the Fischer-Burmeister function [Course 3.3]")                                           \
  PROBLEM(newton_minmap, newton_minmap, exact, assembled | free_checks | rolling, "newton damping",                            \
          "damped nonsmooth Newton on the minimum map [Course 3.3]")                                                           \
  PROBLEM(spg, spg, associated, rolling | products, "convex shifts spg",                                                                  \
          "preconditioned spectral projected gradient with fallback, P-SPG-FB [Tasora13]")                                     \
  PROBLEM(apgd, apgd, associated, rolling | products, "convex shifts acceleration",                                                       \
          "accelerated projected gradient with restart (Nesterov)")                                                            \
  PROBLEM(admm, admm, associated, assembled | rolling, "convex admm",                                                          \
          "alternating directions on the dual problem")                                                                        \
  PROBLEM(pivot_incremental, pivot_incremental, box, assembled | free_checks, "pivot",                                         \
          "incremental pivoting of a small dense problem, box friction [Course Alg.3]")                                        \
  PROBLEM(pivot_block, pivot_block, box, assembled | free_checks, "pivot",                                                     \
          "block principal pivoting of a small dense problem, box friction [Course Alg.4]")                                    \
  PROBLEM(lemke, lemke, polyhedral, assembled | free_checks, "pivot facets",                                                   \
          "Lemke's method on the linear complementarity problem of a small dense problem, friction cones with facets [Course 1.6, 3.1.1]") \
  PROBLEM(automatic, auto, exact, rolling, "sweep relaxation newton alart_curnier auto",                                       \
          "Gauss-Seidel until the active set settles, then extrapolated sweeps, nonsmooth Newton or interior points, whichever pays") \
  BODIES(manifold_gs, manifold_gs, exact, manifolds, "relaxation prox_local manifold",                                           \
       "Gauss-Seidel by manifolds that are swept side by side, carried further by conjugate gradients; of the lab, problems of rigid bodies") \
  STEP(penalty_explicit, penalty_explicit, penalty, forces, "sweep relaxation",                                                \
       "springs and dampers at overlaps, from the state at the step's start: small steps only, and nothing is exact [Course 5.1]") \
  STEP(penalty_implicit, penalty_implicit, penalty, forces, "sweep relaxation",                                                \
       "springs and dampers at overlaps, linearised at the step's end: stable, and soft [Course 5.1]") \
  PROBLEM(newton_al, newton_al, exact, bodies | free_checks, "augmentation",                                                   \
          "Newton on the augmented Lagrangian, in the velocities of the bodies, multipliers by Uzawa's method [Alart91]") \
  PROBLEM(newton_ncp, newton_ncp, exact, assembled | free_checks, "newton damping fischer_burmeister ncp",                     \
          "damped nonsmooth Newton on complementarity functions, with the multiplier of maximal dissipation as an unknown [Course 3.3.3-3.3.4]")
// clang-format on

enum class ContactSolverKind : int {
#define STICKSLIP_ENUMERATOR(kind, ...) kind,
  STICKSLIP_CONTACT_SOLVERS(STICKSLIP_ENUMERATOR, STICKSLIP_ENUMERATOR, STICKSLIP_ENUMERATOR)
#undef STICKSLIP_ENUMERATOR
};

/// Bits of ContactSolverInfo::traits.
namespace SolverTrait {
enum : unsigned {
  none = 0,
  assembled = 1,    // needs the entries of W, not only its products: storage = auto assembles
  free_checks = 2,  // has the velocities of every iterate, so that a check of the residual costs nothing
  manifolds = 4,    // sweeps contact manifolds; the lab refuses problems that have none
  forces = 8,       // acts by forces; nsgs solves what they leave (joints, implicit forces)
  bodies = 16,      // works in the velocities of bodies: storage = auto keeps W by bodies
  rolling = 32,     // takes blocks of five rows, contacts with rolling resistance; the others refuse them
  products = 64,    // needs nothing but products with W and a diagonal near its own
};
}  // namespace SolverTrait

/// A row. The table of all is indexed by ContactSolverKind.
struct ContactSolverInfo {
  std::string_view name, meaning;
  std::string_view law;                  // "exact", "associated", "box", "polyhedral", "penalty"
  std::vector<std::string_view> groups;  // of the LabParams that it reads
  ContactSolverKind kind = ContactSolverKind::nsgs;
  unsigned traits = SolverTrait::none;
  bool solves_problems = true;  // any of the lab
  bool in_lab = true;           // those, or problems of rigid bodies; the others need a running scene

  bool has(unsigned trait) const { return (traits & trait) != 0; }
};

std::span<const ContactSolverInfo> contact_solver_table();
const ContactSolverInfo& contact_solver_info(ContactSolverKind kind);
/// nullptr where no solver has this name.
const ContactSolverInfo* find_contact_solver(std::string_view name);

/// The solvers that take every problem: `auto` first, then those of the exact, the associated and the box
/// law.
std::vector<ContactSolverInfo> list_contact_solvers();
/// Those of the lab: these, and behind them those that refuse what is no problem of rigid bodies.
std::vector<ContactSolverInfo> list_lab_solvers();
/// Those of the lab and what running scenes alone have, but for penalty forces.
std::vector<ContactSolverInfo> list_stepping_solvers();

/// "pgs_jacobi|pgs|...": the choices of the parameter `contact_solver`.
std::string_view contact_solver_choices();

}  // namespace stickslip
