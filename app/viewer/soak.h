// A soak test: runs a scene under RandomEdits and checks every step.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/viewer/simulation.h"
#include "app/viewer/viewer.h"

namespace stickslip {

struct SoakOptions {
  std::string scene;
  double minutes = 1;
  int steps = 0;  // ends after so many steps; 0: no limit
  std::uint64_t seed = 1;
  double step_budget = 0.5;  // [s] time budget of contact solvers in a step; replaces the scene's time_budget
  Simulation::EngineFactory make_engine;
  Simulation::SceneLoader load_scene;
  const std::atomic<bool>* cancel = nullptr;  // set from outside (Ctrl+C): ends the soak regularly
  std::function<void(const struct SoakReport&)> progress;  // called at intervals; may be empty
};

struct SoakReport {
  long steps = 0, failed_steps = 0, refused_edits = 0, resets = 0;
  std::map<std::string, long> edits;     // number of edits by edited control
  std::map<std::string, long> told;      // messages of failed steps and refused edits, without numbers
  std::vector<std::string> examples;     // one case for each message, with the changed settings
  std::vector<std::string> faults;       // violations; empty: all checks passed
  bool interrupted = false;              // by `cancel`
  double seconds = 0, slowest_step = 0;  // [s] wall
  std::string slowest_solver;
  // [byte] resident memory: the minimum in the second and in the last quarter of the time, and the maximum.
  double memory_early = 0, memory_late = 0, memory_most = 0;

  long edit_count() const;
};

/// Runs without a window. Passes on the exceptions of the first load.
SoakReport soak(const SoakOptions& options);

/// Runs in a window as described by `view`, with the engine and scene of `options`; also switches panels,
/// overlays and cameras. Messages of the validation layers are faults. Throws as run_viewer does.
SoakReport soak_window(const SoakOptions& options, ViewOptions view);

}  // namespace stickslip
