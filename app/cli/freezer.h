// `stickslip run --freeze FRAME:FILE`: writes the contact problems of steps for the lab.
#pragma once

#include <filesystem>
#include <map>

#include "app/cli/cli.h"

namespace stickslip {

/// Writes the problem of each requested frame after its step.
class Freezer {
 public:
  /// Throws InputError for text that does not parse, a frame beyond the run, an existing file, and a barrier
  /// stepper. The paths are checked together with those of the other outputs.
  Freezer(const RunOptions& options, const Scene& scene, int frames);

  /// Throws InputError when FCLIB cannot represent the problem.
  void step(Engine& engine, const StepReport& report);

 private:
  std::multimap<int, std::filesystem::path> files_;  // by frame
};

}  // namespace stickslip
