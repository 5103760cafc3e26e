// Memory that a file or scene would need, compared with what there is before anything is allocated.
#pragma once

#include <string>

namespace stickslip {

/// What can be had without swapping [bytes].
double available_memory();
/// What this process may still map under its own limit (ulimit -v) [bytes]; the largest double: no limit.
double address_space_left();
/// What this process holds [bytes]; 0 where that cannot be told.
double resident_memory();
/// Empty when `bytes` are at hand, else what to tell the user: "needs about ...".
std::string memory_shortage(double bytes);

/// What a simulated tet takes, with its share of nodes, matrix and contacts [bytes].
constexpr double kBytesPerTet = 2000;

}  // namespace stickslip
