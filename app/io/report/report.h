// JSON forms of what a run reports.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/io/scene/expect.h"
#include "gpu/model/report.h"
#include "gpu/params/params.h"

namespace stickslip {

/// One step, all fields of StepReport by their names; what was not measured is null.
nlohmann::json to_json(const StepReport& report);
/// One row of the parameter tables.
nlohmann::json to_json(const ParamInfo& info);

/// The figures of a whole run, printed as the last line of `stickslip run`.
struct RunSummary {
  std::string scene, variant, backend, solver;
  double scale = 1;
  int frames = 0, converged = 0;  // steps, and those of them that converged
  int stopped_by_budget = 0;      // steps that a time budget ended before they converged
  double seconds = 0;             // wall time of all steps
  int contacts_max = 0;
  double gap_min = std::numeric_limits<double>::infinity();  // infinite: never a contact
  double volume_ratio_min = 1;                               // smallest det F of all elements and steps
  int inverted = 0, inverted_max = 0;  // elements inside out, at the end and in the worst step
  int intersections = -1;              // sum over the steps; -1: not checked
  long newton_iterations = 0, pcg_iterations = 0;
  int contact_limit_halvings = 0, contact_limit_exceeded = 0;  // halved Newton steps; steps that kept more
  // Of steps at velocity level; a residual below 0: there was none.
  long contact_iterations = 0;
  double residual_max = -1, penetration_max = 0;  // [1], [m]
  /// Of checked runs: StepReport::overlap of the step in which it was largest; below 0: not checked.
  double overlap_max = -1;
  std::string overlap_of;
  int overlap_frame = 0;
  bool interrupted = false;
  std::string error;  // what stopped the simulation; empty when nothing did
  std::vector<Verdict> verdicts;

  void add(const StepReport& report, double wall_seconds);
  /// Says so when no step converged, which makes a run a failure; else empty. Steps that a time budget ended
  /// do not count: the user asked for that, and `stopped_by_budget` says how many they are.
  std::string unconverged() const;
  int count(Verdict::Outcome outcome) const;

 private:
  std::string last_stop_;  // how the last step ended that did not converge
};
nlohmann::json to_json(const RunSummary& summary);

}  // namespace stickslip
