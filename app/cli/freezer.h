// `stickslip run --freeze FRAME:FILE`: contact problems of steps, for the lab.
#pragma once

#include <filesystem>
#include <map>

#include "app/cli/cli.h"

namespace stickslip {

/// Writes the problems of the frames that were asked for as their steps are done.
class Freezer {
 public:
  /// Throws InputError for what does not parse, a frame that is not run, a file that stands there already,
  /// and a scene without rigid bodies. The places are checked with those of the other outputs.
  Freezer(const RunOptions& options, const Scene& scene, int frames);

  /// Throws InputError when FCLIB has no words for the problem.
  void step(Engine& engine, const StepReport& report);

 private:
  std::multimap<int, std::filesystem::path> files_;  // by frame
};

}  // namespace stickslip
