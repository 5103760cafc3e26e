// stickslip bench rigid: pyramids, piles, walls and a column of boxes with several methods, and with Bullet.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/program/options.h"

namespace stickslip {

/// Prints progress to stderr and one table to stdout, and returns the result: bench, backend, device,
/// threads, steps, figures (ms a step of each row), rows and notes. Throws InputError.
nlohmann::json bench_rigid(const BackendInfo& backend, const BenchOptions& options,
                           const EngineFactory& factory);

}  // namespace stickslip
