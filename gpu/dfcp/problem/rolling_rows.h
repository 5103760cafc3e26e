// The units of rolling rows. A problem may state them in any length: with a length L the rows are L t .
// (omega_a - omega_b), the impulses moments / L, and the coefficients mu_r / L. In SI units (L = 1 m) the
// rolling rows of small bodies have entries of W that are larger than those of friction by the inverse square
// of their radius.
#pragma once

#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// For every block of a problem with dim 5, the length that gives its rolling rows the mean W_ii of its rows
/// of friction, in units of the given one. 1 for bilateral blocks, and where one of the two means is zero. A
/// global problem counts with the diagonal of A alone.
std::vector<double> rolling_lengths(const ContactProblem& problem);

/// The same problem with rolling rows in these units. Shape: one length > 0 for each block.
ContactProblem in_rolling_lengths(const ContactProblem& problem, const std::vector<double>& lengths);

/// A problem of bodies with rolling rows in SI units (L = 1 m): moments, angular velocities and mu_r. A row
/// L t has the length L. Problems of other dims are returned as they are.
ContactProblem with_rolling_in_metres(ContactProblem problem);

/// Multiplies (`power` = 1) or divides (-1) the rolling rows of impulses or velocities by the lengths:
/// moments become impulses by -1, angular velocities velocities by 1.
void scale_rolling_rows(const std::vector<double>& lengths, int power, std::vector<double>& rows);

}  // namespace stickslip
