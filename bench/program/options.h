// The command line of the benches: `stickslip bench ...` starts `stickslip-bench ...`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/cli.h"

namespace stickslip {

struct BenchOptions {
  std::vector<std::string> names;
  std::string backend = "all", json;
  int threads = 0;
  bool full = false;                 // include long benches, see add_bench
  std::vector<std::string> scenes;   // of `step`, empty: all shipped scenes; of `steps`, `barrier`, `rigid`
  std::optional<double> scale;       // of `step`, `barrier` and `frames`, overrides the scenes' own
  std::optional<int> frames;         // of `step`, `steps`, `barrier`, `rigid`, `thin` and `frames`
  std::optional<int> warm;           // of `steps` and `thin`: steps before the measured ones
  std::vector<double> scales;        // of `barrier`
  std::optional<int> at;             // of `barrier`: the frame to start from
  std::vector<std::string> sets;     // of `thin` and `barrier`: "key=value"; of `barrier` also
                                     // "SOLVER:key=value" for its methods alone
  double tolerance = 1e-4;           // of `barrier`: newton_tolerance, on the gradient
  std::vector<std::string> solvers;  // of `rigid` and `thin`; empty: the bench's choice
  std::vector<int> iterations;       // of `rigid`: each solver with each of these
};

int command_bench(const BenchOptions& options, const EngineFactory& factory);

/// Parses and runs `stickslip bench ...`. Messages for the user go to stderr; never throws.
int run_bench_cli(int argc, const char* const* argv, const EngineFactory& factory = make_engine);

}  // namespace stickslip
