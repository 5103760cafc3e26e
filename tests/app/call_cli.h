// Runs a command line in this process, including commands handed to the benchmark program.
#pragma once

#include <string_view>

#include "app/cli/cli.h"
#include "bench/program/options.h"

namespace stickslip {

inline int call_cli(int argc, const char* const* argv, const EngineFactory& factory = make_engine) {
  const bool bench = argc > 1 && std::string_view(argv[1]) == "bench";
  return bench ? run_bench_cli(argc, argv, factory) : run_cli(argc, argv, factory);
}

}  // namespace stickslip
