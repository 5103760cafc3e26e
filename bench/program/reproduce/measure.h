// What a claim's run measures: quantities by name, with one sample per start, and curves for its picture.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/cli.h"
#include "app/io/claims/claims.h"

namespace stickslip {

/// A line of the picture.
struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> band = {};  // least and largest y of each point; empty: no band
};

struct Measurement {
  std::map<std::string, std::vector<double>> samples;  // by quantity, one per start
  std::vector<Curve> curves;                           // the picture; none: bars of the checked quantities
  std::string x_name, y_name;
  bool x_log = false, y_log = false;
  std::vector<std::string> notes;  // what a reader of the verdict has to know

  void add(const std::string& quantity, double value) { samples[quantity].push_back(value); }
};

/// Where and how a measuring function runs.
struct MeasureContext {
  Backend backend = Backend::cpu;
  int threads = 0;
  const EngineFactory* engines = nullptr;
  const LabFactory* labs = nullptr;
  const std::atomic<bool>* cancel = nullptr;

  /// Throws StepInterrupted once the run is cancelled.
  void check() const;
  std::unique_ptr<Engine> engine() const;
};

/// Throws InputError for what the claim's file states wrongly, SimulationError where no step was made, and
/// StepInterrupted.
using Measure = Measurement (*)(const Claim& claim, const ClaimRun& run, const MeasureContext& context);

/// The measuring function of this name, a row of the table in measure.cpp. Throws InputError with the
/// nearest.
Measure find_measure(const std::string& name);
std::vector<std::string> measure_names();

/// Steps of a scene by several methods from the same states. See measure_steps.cpp for the quantities.
Measurement measure_steps(const Claim&, const ClaimRun&, const MeasureContext&);
/// Whole runs of scenes, judged by their expectations.
Measurement measure_scenes(const Claim&, const ClaimRun&, const MeasureContext&);
/// Where runs of a scene by several methods end. See measure_ends.cpp for the quantities.
Measurement measure_ends(const Claim&, const ClaimRun&, const MeasureContext&);
/// The pattern of the matrix along a Morton curve beside that in the nodes' own order; whether impacts of
/// slivers are found on the side from which they come; memory a tet. See measure_data.cpp.
Measurement measure_ordering(const Claim&, const ClaimRun&, const MeasureContext&);
Measurement measure_ccd_sides(const Claim&, const ClaimRun&, const MeasureContext&);
Measurement measure_memory_of_tets(const Claim&, const ClaimRun&, const MeasureContext&);
/// Multigrid as a preconditioner, with two orders of the nodes. See measure_multigrid.cpp.
Measurement measure_multigrid(const Claim&, const ClaimRun&, const MeasureContext&);
/// Iterations of nodal ADMM over the weight beta.
Measurement measure_beta(const Claim&, const ClaimRun&, const MeasureContext&);
/// The residual and the projections within a contact problem of nodal ADMM. See measure_projection.cpp.
Measurement measure_projection(const Claim&, const ClaimRun&, const MeasureContext&);
/// Hair and cloth: contacts, times and rates of `bench thin`.
Measurement measure_thin_rates(const Claim&, const ClaimRun&, const MeasureContext&);
/// Times of couplings for contacts and elasticity on scenes. See measure_contact_times.cpp.
Measurement measure_contact_times(const Claim&, const ClaimRun&, const MeasureContext&);
/// Whole runs of hair, judged at every step. See measure_judged.cpp for the quantities.
Measurement measure_judged(const Claim&, const ClaimRun&, const MeasureContext&);
/// Contact solvers on generated problems.
Measurement measure_solvers(const Claim&, const ClaimRun&, const MeasureContext&);
/// Success of contact solvers over the constraint ratio nu, and their times.
Measurement measure_nu(const Claim&, const ClaimRun&, const MeasureContext&);
Measurement measure_nu_times(const Claim&, const ClaimRun&, const MeasureContext&);
/// The same of steps of fibres. See measure_fibre_nu.cpp.
Measurement measure_fibre_nu(const Claim&, const ClaimRun&, const MeasureContext&);
/// The same of wisps of fibres in three discretisations. See measure_fibre_models.cpp.
Measurement measure_fibre_models(const Claim&, const ClaimRun&, const MeasureContext&);
/// Krylov methods beside solvers of the lab on problems of joints alone.
Measurement measure_linear(const Claim&, const ClaimRun&, const MeasureContext&);
/// Gauss-Seidel over all orders of the contacts of a small tower.
Measurement measure_orderings(const Claim&, const ClaimRun&, const MeasureContext&);
/// Two contacts of one particle: position-based projection beside Gauss-Seidel on impulses.
Measurement measure_two_contacts(const Claim&, const ClaimRun&, const MeasureContext&);
/// The barrier and smoothed friction as their lengths shrink. See measure_formulas.cpp.
Measurement measure_barrier_limit(const Claim&, const ClaimRun&, const MeasureContext&);
Measurement measure_friction_limit(const Claim&, const ClaimRun&, const MeasureContext&);

/// The scene "NAME" or "NAME:VARIANT", with the settings of the run and of the method.
Scene claim_scene(const std::string& name, const ClaimRun& run, const ClaimMethod& method);
/// The one scene of the run; with a size, `hairy-ball` with so many strands.
Scene claim_strands(const Claim& claim, const ClaimRun& run, const ClaimMethod& method);
/// The settings of a run and a method, and its solver.
void apply_claim(const ClaimRun& run, const ClaimMethod& method, Scene& scene);
/// Solves the problem that `lab` has loaded, with the settings of the run and of the method. Throws
/// InputError for an unknown solver or setting, StepInterrupted once the run is cancelled.
SolveReport solve_claim(ContactLab& lab, const ContactProblem& problem, const ClaimRun& run,
                        const ClaimMethod& method, const MeasureContext& context, bool history);
/// Method m of the claim; one of the scene's own settings if the claim has none.
std::vector<ClaimMethod> methods_of(const Claim& claim);
/// The upper one of an even number; 0 of none.
double median(std::vector<double> values);

}  // namespace stickslip
