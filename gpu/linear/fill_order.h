// An order of elimination with little fill.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stickslip {

/// Of a symmetric pattern (row c: column[start[c] .. start[c+1]), diagonal entries allowed): order[k] is what
/// is eliminated k-th. Approximate minimum degree where Eigen is there, else reverse Cuthill-McKee.
std::vector<std::int32_t> fill_reducing_order(std::span<const std::int32_t> start,
                                              std::span<const std::int32_t> column);

}  // namespace stickslip
