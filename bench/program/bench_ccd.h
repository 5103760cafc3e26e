// stickslip bench ccd FILE...: the time-of-impact methods against ground truth.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stickslip {

/// Prints a table and returns it: bench, backend, device, threads, figures (mean time of each method) and
/// rows (one per file and method, then one per method over all files). Throws InputError.
nlohmann::json bench_ccd(const std::vector<std::string>& files);

}  // namespace stickslip
