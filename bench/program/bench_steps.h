// stickslip bench steps: whole steps of shipped scenes, at the sizes that others published.
#pragma once

#include <functional>
#include <optional>

#include "app/io/scene/scene.h"
#include "bench/bench.h"

namespace stickslip {

struct StepBenchOptions {
  std::vector<std::string> scenes;  // empty: all that it knows
  int threads = 0;
  bool full = false;               // the published sizes
  std::optional<int> warm, steps;  // steps before those that are measured, and those; otherwise 8 and 4
};

/// Prints progress to stderr. Figures of each scene: ms a step and by stage, iterations, contacts, what the
/// backend did for a step, memory; beside Guo24's time where the scene is as large as theirs. Throws
/// InputError.
BenchResult bench_sized_steps(const BackendInfo& backend, const StepBenchOptions& options,
                              const std::function<std::unique_ptr<Engine>(Backend, int threads)>& factory);

/// What others state of their steps, all on the same hardware.
struct PublishedStep {
  double ms = 0;  // 0: nothing was published
  double tets = 0;
  double contacts = 0;  // on average
  const char* name = "";

  /// Whether a step of so many tets and contacts is as large a one: within a tenth, and with at least half as
  /// many contacts.
  bool is_like(double tets, double contacts) const;
};

/// `text` of a scene with `times` as many bodies in each array along y, and all that grows growing finer
/// meshes.
std::string with_more_bodies(const std::string& text, int times);

}  // namespace stickslip
