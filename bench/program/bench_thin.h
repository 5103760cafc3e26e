// stickslip bench thin: steps of hair and cloth at velocity level, by Gauss-Seidel in rounds and by nodal
// ADMM.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/io/scene/scene.h"
#include "bench/program/options.h"

namespace stickslip {

/// Prints one table, row by row, and returns the result: bench, backend, device,
/// threads, figures (seconds a frame of each row) and rows. Throws InputError.
nlohmann::json bench_thin(const BackendInfo& backend, const BenchOptions& options,
                          const EngineFactory& factory);

/// The rows of that table alone; prints nothing.
nlohmann::json thin_rows(Backend backend, const BenchOptions& options, const EngineFactory& factory);

/// The scene `hairy-ball`, given as `text`, with `strands`: they are as much thinner as their roots are
/// closer to each other, and of a material so much stiffer that they stand out more. Otherwise they would all
/// lie in one bundle, with ten times as many contacts each.
std::string with_strands(const std::string& text, int strands);
/// The same scene, loaded.
Scene load_with_strands(int strands);

}  // namespace stickslip
