// stickslip bench frames: the cost of drawing a step, with shared positions and without.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/program/options.h"

namespace stickslip {

/// Draws steps of each scene without a window, once for each method of handing over positions. Prints a
/// table and returns it: bench, backend, device, threads, figures (ms per picture) and rows. Throws
/// InputError, DeviceError.
nlohmann::json bench_frames(const BackendInfo& backend, const BenchOptions& options,
                            const EngineFactory& factory);

}  // namespace stickslip
