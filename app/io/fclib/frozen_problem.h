// The contact problem of one step as an FCLIB file, for `stickslip race` and other programs.
#pragma once

#include <filesystem>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// Writes the problem with its guess and its solution. Where FCLIB wants W for it (compliance, cohesion), W
/// is formed, and guess and solution are measured from the cones' apices. Throws InputError when the path
/// cannot be written or FCLIB has no words for the problem (torsional rows, pyramids, ellipses).
void write_frozen(const std::filesystem::path& file, const ContactProblem& problem);

}  // namespace stickslip
