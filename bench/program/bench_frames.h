// stickslip bench frames: what it takes to get a step into a picture, with shared positions and without.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/program/options.h"

namespace stickslip {

/// Draws steps of each scene without a window, once per way of handing positions over. Prints a table and
/// returns it: bench, backend, device, threads, figures (ms per picture) and rows. Throws InputError,
/// DeviceError.
nlohmann::json bench_frames(const BackendInfo& backend, const BenchOptions& options,
                            const EngineFactory& factory);

}  // namespace stickslip
