// stickslip bench steps: whole steps of shipped scenes, at published sizes.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "app/io/scene/scene.h"
#include "bench/bench.h"

namespace stickslip {

struct StepBenchOptions {
  std::vector<std::string> scenes;  // empty: all known scenes
  int threads = 0;
  bool full = false;               // the published sizes
  std::optional<int> warm, steps;  // unmeasured steps before, and measured steps; defaults 8 and 4
};

/// Prints progress to stderr. Figures of each scene: ms a step and by stage, iterations, contacts, the
/// backend's work for a step, memory; with Guo24's figures, beside ours where the scene has their size.
/// Throws InputError.
BenchResult bench_sized_steps(const BackendInfo& backend, const StepBenchOptions& options,
                              const std::function<std::unique_ptr<Engine>(Backend, int threads)>& factory);

/// Published figures of steps, all on the same hardware.
struct PublishedStep {
  double ms = 0;  // 0: not published
  double tets = 0;
  double contacts = 0;  // on average
  double newton = 0;    // iterations a step
  const char* name = "";

  /// True if a step with `tets` and `contacts` has comparable size: tets within a tenth, and at
  /// least half as many contacts.
  bool is_like(double tets, double contacts) const;
};

/// Tets of the row `name` at its full size, and of the published scene (0: none). Throws InputError.
std::pair<double, double> full_and_published_tets(const std::string& name);

/// The scene `text` with `times` as many bodies along y in each array. Items that grow by count grow
/// by finer meshes instead.
std::string with_more_bodies(const std::string& text, int times);

}  // namespace stickslip
