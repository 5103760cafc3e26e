// stickslip bench steps: whole steps of shipped scenes, at the sizes that others published.
#pragma once

#include "app/cli/cli.h"
#include "gpu/bench/bench.h"

namespace stickslip {

/// Prints progress to stderr. Figures of each scene: ms a step and by stage, iterations, contacts, what the
/// backend did for a step, memory; beside Guo24's time where the scene is as large as theirs. Throws
/// InputError.
BenchResult bench_sized_steps(const BackendInfo& backend, const BenchOptions& options,
                              const EngineFactory& factory);

/// `text` of a scene with `times` as many bodies in each array along y, and all that grows growing finer
/// meshes.
std::string with_more_bodies(const std::string& text, int times);

}  // namespace stickslip
