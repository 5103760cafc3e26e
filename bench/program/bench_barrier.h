// stickslip bench barrier: solvers, preconditioners and the warm start on the same contact-rich steps.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/program/options.h"

namespace stickslip {

/// Prints progress to stderr and one table to stdout, and returns the result: bench, backend, device,
/// threads, figures (seconds a step of each row), rows and memory. Throws InputError.
nlohmann::json bench_barrier(const BackendInfo& backend, const BenchOptions& options,
                             const EngineFactory& factory);

}  // namespace stickslip
