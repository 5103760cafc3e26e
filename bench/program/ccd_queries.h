// Files of continuous collision queries with exact coordinates and ground truth.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ccd_truth.h"

namespace stickslip {

struct CcdQueryFile {
  PairKind kind;
  std::vector<CcdQuery> queries;
};

/// The kind is given by the name of the file, or else of its folder: "edge-edge" or
/// "vertex-face". Throws InputError.
CcdQueryFile load_ccd_queries(const std::filesystem::path& file);

/// Eight rows a query: the corners at t = 0, then at t = 1; each row "n,d,n,d,n,d,truth" with coordinates n/d
/// in decimal integers, d a power of two, and the same truth (0 or 1) in all rows of a query. Throws
/// InputError with `name` and the line, also for a coordinate that is not exactly a double.
std::vector<CcdQuery> parse_ccd_queries(std::string_view bytes, const std::string& name);

}  // namespace stickslip
