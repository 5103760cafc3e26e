// A race of steppers: each advances the same state by a few steps, and one judge measures all of them.
#pragma once

#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "gpu/engine.h"

namespace stickslip {

/// What all steppers of a race start from.
struct StepRaceStart {
  Model model;        // finalized
  Params params;      // of the stepper that made the state
  LabParams contact;  // of the contact solvers
  State state;
};

/// The result of one stepper.
struct StepRun {
  enum class End { finished, refused, failed, cancelled };

  std::string stepper;  // a choice of `solver`, or a contact solver
  End end = End::finished;
  std::string message;           // why it was refused or failed
  std::string note = {};         // what the change of family altered: bodies moved apart, nodes moved, ...
  int steps = 0, converged = 0;  // that were made; of them, converged
  double seconds = 0;            // of all steps, without checks of intersections
  StepJudgement worst;           // of each value the largest, of changes and works the sum over all steps
  bool judged = false;           // false after explicit penalty forces, which follow no law
  int contacts = 0;              // at the end
  double overlap = -1;           // [m] velocity-level steppers, the largest; -1: not checked
  int intersections = -1;        // barrier steppers, over all steps; -1: not checked
  double energy = 0;             // [J] kinetic, elastic and of gravity at the end
  std::vector<Vec<float, 3>> positions = {};  // [m] per node, at the end; none if it failed
};
const char* name_of(StepRun::End end);

/// The choices of `solver` that are steppers of their own, and the contact solvers of running scenes.
std::vector<std::string> all_steppers();

/// The stepper that the parameters choose.
std::string stepper_name(const Params& params);

/// Advances `engine`, into which nothing is loaded yet, by `steps` steps with `stepper`. The engine first
/// takes the state with the parameters of `start`, then switches. Never throws for what a stepper refuses, or
/// for whatever makes a step fail, so that the other steppers of the race go on: see `end`. Throws
/// std::invalid_argument for an unknown stepper, DeviceLost.
StepRun run_stepper(Engine& engine, const StepRaceStart& start, const std::string& stepper, int steps,
                    const std::atomic<bool>* cancel);

/// Order: those that made all steps by residual, those without a residual last; then the others. Equal
/// residuals: by time.
bool ranks_before(const StepRun& a, const StepRun& b);

/// All values but the positions, by the names of the report of a step.
nlohmann::json to_json(const StepRun& run);

/// A column of the table of a race.
struct StepRaceColumn {
  const char *title, *meaning;
  std::string (*text)(const StepRun&);
};
/// For the command line and the window; stepper and end are not among them.
std::span<const StepRaceColumn> step_race_columns();

}  // namespace stickslip
