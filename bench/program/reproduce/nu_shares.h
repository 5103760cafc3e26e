// Shares of unsolved problems, for measures over nu = 3 contacts / dofs.
#pragma once

#include <string>
#include <utility>

namespace stickslip {

/// The ends of Wilson's 95% interval of a share of n.
std::pair<double, double> wilson(double share, double n);
/// "printed: 3 of 60 problems with nu <= 1 unsolved, 95% interval 1.7% to 13.7%".
std::string share_note(const std::string& name, const char* where, double failed, double n);

}  // namespace stickslip
