// `--sweep solver.param=a:b:n`: runs one solver n times with one parameter changed.
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

/// n values from a to b. The ratio is constant if both are positive and at least a factor of 10 apart; else
/// the step is constant. For an integer parameter the values are whole numbers without repeats. Throws
/// InputError for text that does not parse, unknown names, a parameter that is not a number or that the
/// solver does not read, and values out of range.
std::vector<RaceEntry> expand_sweep(const std::string& sweep, const std::vector<ContactSolverInfo>& solvers,
                                    const LabParams& base);

}  // namespace stickslip
