// A soak test: a scene runs while RandomEdits turns its controls, and every step is checked.
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
  int steps = 0;  // after which it ends too; 0: no limit
  std::uint64_t seed = 1;
  double step_budget =
      0.5;  // [s] that a contact solver may take of a step, in place of the scene's time_budget
  Simulation::EngineFactory make_engine;
  Simulation::SceneLoader load_scene;
  const std::atomic<bool>* cancel = nullptr;  // set from elsewhere (Ctrl+C): it ends as after its time
  std::function<void(const struct SoakReport&)> progress;  // now and then; may be empty
};

struct SoakReport {
  long steps = 0, failed_steps = 0, resets = 0;
  std::map<std::string, long> edits;  // by what was edited
  std::map<std::string, long> told;   // messages of failed steps for the user, without their numbers
  std::vector<std::string> examples;  // one failed step for each, with the settings that were not the scene's
  std::vector<std::string> faults;    // what must not be; empty: all is well
  bool interrupted = false;           // by `cancel`
  double seconds = 0, slowest_step = 0;  // [s] wall
  std::string slowest_solver;
  // [byte] resident: the least in the second and in the last quarter of the time, and the most ever.
  double memory_early = 0, memory_late = 0, memory_most = 0;

  long edit_count() const;
};

/// Without a window. Throws what the first load throws.
SoakReport soak(const SoakOptions& options);

/// In the window that `view` describes, whose engine and scene are those of `options`, and with its panels,
/// overlays and cameras switched too; a complaint of the validation layers is a fault. Throws as run_viewer
/// does.
SoakReport soak_window(const SoakOptions& options, ViewOptions view);

}  // namespace stickslip
