// Compares the memory that a file or scene needs with the available memory, before anything is allocated.
#pragma once

#include <string>

namespace stickslip {

/// Memory available without swapping [bytes].
double available_memory();
/// Memory that this process may still map under its limit (ulimit -v) [bytes]; the largest double: no limit.
double address_space_left();
/// Resident memory of this process [bytes]; 0 if unknown.
double resident_memory();
/// Empty when `bytes` are available, else a message "needs about ...".
std::string memory_shortage(double bytes);

/// Memory of a simulated tet, with its share of nodes, matrix and contacts [bytes].
constexpr double kBytesPerTet = 2000;

}  // namespace stickslip
