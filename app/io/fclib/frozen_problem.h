// The contact problem of one step as an FCLIB file, for `stickslip race` and other programs.
#pragma once

#include <filesystem>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// Writes the problem with its guess and its solution. With compliance or cohesion FCLIB needs W: then W is
/// formed, and guess and solution are relative to the apices of the cones. Throws InputError when the path
/// cannot be written or FCLIB cannot represent the problem (torsional rows, pyramids, ellipses).
void write_frozen(const std::filesystem::path& file, const ContactProblem& problem);

}  // namespace stickslip
