// `--sweep solver.param=a:b:n`: one solver, several times, with one parameter changed.
#pragma once

#include <string>
#include <vector>

#include "gpu/contact_lab.h"

namespace stickslip {

/// One run of a race.
struct RaceEntry {
  std::string solver;
  std::string setting;  // "r_scale=0.1", or empty
  LabParams params;

  std::string name() const { return setting.empty() ? solver : solver + " " + setting; }
};

/// n values from a to b: in equal ratios where both are above zero and ten times apart or more, else in equal
/// steps; whole numbers for a parameter that counts, each once. Throws InputError for what does not parse,
/// for unknown names, for a parameter that is no number or that the solver does not read, and for values out
/// of its range.
std::vector<RaceEntry> expand_sweep(const std::string& sweep, const std::vector<ContactSolverInfo>& solvers,
                                    const LabParams& base);

}  // namespace stickslip
