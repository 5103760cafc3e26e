// JSON forms of reports.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/io/scene/expect.h"
#include "gpu/model/report.h"
#include "gpu/params/params.h"

namespace stickslip {

/// All fields of one step's StepReport by name; unmeasured ones are null.
nlohmann::json to_json(const StepReport& report);
/// The rows of judgement_table() by name, the number of contacts, and `law`; unmeasured ones are null.
nlohmann::json to_json(const StepJudgement& judgement);
/// One row of the parameter tables.
nlohmann::json to_json(const ParamInfo& info);

/// Summary of a run, printed as the last line of `stickslip run`.
struct RunSummary {
  std::string scene, variant, backend, solver;
  double scale = 1, density = 1;
  int frames = 0, converged = 0;  // steps, and those of them that converged
  int stopped_by_budget = 0;      // steps that a time budget ended before they converged
  double seconds = 0;             // wall time of all steps
  int contacts_max = 0;
  double gap_min = std::numeric_limits<double>::infinity();  // infinite: no contact in the run
  double volume_ratio_min = 1;                               // smallest det F over all elements and steps
  int inverted = 0, inverted_max = 0;  // inverted elements, at the end and in the worst step
  int intersections = -1;              // sum over the steps; -1: not checked
  long newton_iterations = 0, pcg_iterations = 0;
  int contact_limit_halvings = 0, contact_limit_exceeded = 0;  // halved Newton steps; steps that kept more
  // Of velocity-level steps. A residual below 0: there was none.
  long contact_iterations = 0;
  double residual_max = -1, penetration_max = 0;  // [1], [m]
  /// For checked runs: the largest StepReport::overlap; below 0: not checked.
  double overlap_max = -1;
  std::string overlap_of;
  int overlap_frame = 0;
  bool interrupted = false;
  std::string error;  // cause of the end of the simulation; empty if it ran to its end
  std::vector<Verdict> verdicts;

  void add(const StepReport& report, double wall_seconds);
  /// A message if no step converged, which makes the run a failure; else empty. Exception: a run in which a
  /// time budget ended every step, because the user requested it; `stopped_by_budget` counts those steps.
  std::string unconverged() const;
  int count(Verdict::Outcome outcome) const;

 private:
  std::string last_stop_;  // cause of the end of the last step that did not converge
};
nlohmann::json to_json(const RunSummary& summary);

}  // namespace stickslip
