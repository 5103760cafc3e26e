// StepReport: the results of one time step, for the report file, the plots and the tests.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/core/counters.h"
#include "gpu/core/trace_span.h"
#include "gpu/math/vec.h"
#include "gpu/model/judgement.h"

namespace stickslip {

/// The results of one Newton iteration.
struct NewtonRecord {
  double gradient_norm = 0;        // |grad E|_2 over the free nodes [N]
  double imbalance = 0;            // [m/s] of the momentum of an object, see ObjectBalance
  double step_norm = 0;            // |p|_inf / dt [m/s]
  double step_length = 0;          // alpha accepted by the line search, in (0, 1]
  double ccd_bound = 0;            // largest alpha that CCD allowed
  double energy = 0;               // incremental potential after the step [J]
  int contact_limit_halvings = 0;  // of this iteration's step
  int pcg_iterations = 0;
  double pcg_residual = 0;       // relative, at the end
  int contacts = 0;              // active stencils |A|
  int augmented = 0;             // those of them with a multiplier |A'|
  double barrier_stiffness = 0;  // sigma [N/m]
  double gap_min = -1;           // [m] smallest distance at the start of the iteration; -1: no active contact
};

/// Nodes whose assembled stiffness e lies in [10^exponent, 10^(exponent + 1)) N/m [Guo24 §4.2].
struct StiffnessGroup {
  int exponent = 0, nodes = 0;
};

struct StageTimes {  // seconds of wall time
  double broad_phase = 0, contacts = 0, assembly = 0, linear_solve = 0, ccd = 0, line_search = 0, other = 0;
  double contact_solve = 0;  // velocity-level stepping only
  double check = 0;          // of intersections or overlaps, with Params::check_intersections
  double total() const {
    return broad_phase + contacts + assembly + linear_solve + ccd + line_search + contact_solve + check +
           other;
  }
  StageTimes& operator+=(const StageTimes& s) {
    broad_phase += s.broad_phase;
    contacts += s.contacts;
    assembly += s.assembly;
    linear_solve += s.linear_solve;
    ccd += s.ccd;
    line_search += s.line_search;
    other += s.other;
    contact_solve += s.contact_solve;
    check += s.check;
    return *this;
  }
};

/// What Params::penetration_guard did in a step (gpu/elastic/penetration_guard.cuh).
struct GuardRecord {
  int crossings = 0;      // pairs whose crossing became a contact, in all further solves
  int solves = 0;         // contact problems beyond the first, with these contacts
  int shortened = 0;      // nodes and bodies that moved less than dt v
  double cut = 0;         // [m] the largest distance by which one of them fell short of dt v
  int unguarded = 0;      // pairs that intersected or touched at the start
  int intersections = 0;  // edge-triangle pairs at the end, counted without CCD
};

/// The results of a velocity-level step's contact problem.
struct ContactSolveRecord {
  double residual = 0;         // the judge's, at the end [1]
  double tolerance = 0;        // that was asked for
  double scale = 0;            // [m/s] what the residual is relative to: |q|_2, or what stands for it
  long iterations = 0;         // of the contact solver
  int rounds = 0;              // between bodies and elastic solids
  long dual_solves = 0;        // of connected parts of A by dual_pcg_tolerance, for W or its products ...
  long dual_iterations = 0;    // ... and the iterations of PCG in them
  int linearisations = 0;      // of the elastic forces; 0: there are none
  int friction_rounds = 0;     // contact problems beside the first, for coefficients of friction
  double friction_change = 0;  // of friction impulses by the last change of coefficients, relative to all
                               // impulses; 0: no coefficient depends on the solution
  bool linearisations_diverge = false;  // the step is that of the first one
  bool linearisation_error = false;     // the last one creates energy, see LinearisationError
  bool splitting_unfinished = false;    // nodal_integrator = admm ended before admm_tolerance
  int blocks = 0;                       // contacts and joints
  double nu = 0;                        // 3 contacts / dofs that can move
  std::string message;                  // why another solver replaced the chosen one; empty: none did
  int colours = 0;                      // of the sweeps; 0: none
  std::vector<double> changes;          // [m] nodal_admm and ica: what admm_tolerance is compared with, by
                                        // iterations of the last contact problem
  double projection_seconds = 0;        // of nodal_admm and ica, in total
  double penetration = 0;               // [m] largest overlap when contacts were found
  double solids_residual = 0;           // of the elastic solids' equations at the end, beyond rounding [1]
  std::optional<LawCheck> law;          // none after explicit penalty forces
  double dissipation = 0;               // [W] of friction
  int bodies = 0, asleep = 0;           // number that can move; how many of them sleep
  int islands = 0;                      // of bodies that touch
  std::optional<GuardRecord> guard;     // none without penetration_guard
};

inline constexpr const char* kFrictionFrozen = "converged, friction frozen";  // friction's normal forces lag

struct StepReport {
  int frame = 0;
  double time = 0;  // [s] at the end of the step
  StageTimes seconds;
  std::vector<NewtonRecord> newton;
  int newton_iterations = 0;
  int pcg_iterations = 0;
  bool converged = false;
  bool stopped_by_budget = false;
  std::string stop_reason;  // "converged", kFrictionFrozen, "friction does not converge", "budget",
                            // "iteration cap", "line search failed", "contact limit", or which bound of
                            // rigid bodies does not hold (joints, strain); of a velocity-level step
                            // "converged", "budget", "out of iterations", the law that is violated, or what
                            // replaced a solver

  int candidates = 0;                   // broad-phase pairs of the last Newton iteration
  int contacts = 0;                     // active stencils at the end
  int augmented = 0;                    // multipliers at the end
  double multiplier_max = 0;            // [N] the largest of them
  int contact_limit_halvings = 0;       // halved Newton steps, to stay below Params::contact_limit
  bool contact_limit_exceeded = false;  // a step began with more contacts than that
  std::vector<StiffnessGroup>
      groups;                    // of the last Newton iteration, by exponent; empty where none were made
  double gap_min = -1;           // [m] smallest distance at the end; -1: no active contact
  double volume_ratio_min = 1;   // smallest J = det F of all elements at the end
  int inverted = 0;              // elements with J <= 0 at the end, of materials that permit it
  double barrier_stiffness = 0;  // sigma [N/m]
  int intersections = -1;        // edge-triangle pairs; -1: not checked
  /// [m] velocity-level steps, where contacts may overlap: the deepest point of one object's surface inside
  /// another (see OverlapCheck); -1: not checked.
  double overlap = -1;
  std::string overlap_of;  // the two objects: "'a' in 'b'"; empty: none overlap

  /// Barrier steps of rigid bodies: largest strain |F'F - I| at the end, in Frobenius' norm, and how often
  /// the step was repeated with stiffer bodies to keep it below Params::strain_bound; -1: there are none.
  /// Times, iterations and `newton` are those of all attempts.
  double body_strain = -1;
  int strain_repeats = 0;
  double joint_residual =
      -1;  // [m] barrier steps: the largest violation of a joint at the end; -1: no joints

  std::optional<ContactSolveRecord> contact_solve;  // velocity-level steps only
  std::optional<StepJudgement> judgement;           // none after explicit penalty forces

  double kinetic_energy = 0, elastic_energy = 0, gravity_energy = 0;  // [J]
  Vec<double, 3> momentum{0, 0, 0};                                   // [kg m/s] of the free nodes
  Vec<double, 3> angular_momentum{0, 0, 0};                           // [kg m^2/s] about the origin
  Counters counters;                                                  // of the backend during the step
  std::size_t memory_bytes = 0;  // largest backend memory of the process since `load`
  std::vector<TraceSpan> trace;  // start and end of each stage; empty unless the engine traces
};

/// Thrown when a step cannot be finished: NaN in the state, a device error. The engine keeps the last good
/// state.
struct SimulationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace stickslip
