// The speeds that residuals of a step are relative to, and the settings of a cold start and of a substitute.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Lower bound on |q| per block, the norm that residuals are relative to [m/s]: a thousandth of the
/// velocity that gravity adds in the step, or a micrometre a second. Where resting bodies fall
/// together, q is rounding.
inline double least_speed(const Params& params) {
  constexpr double kShareOfFall = 1e-3, kLeast = 1e-6;
  return std::max(kShareOfFall * std::fabs(params.gravity) * params.dt, kLeast);
}

/// Cap on a block's part of |q| [m/s]: thirty times the velocity that gravity adds in the step. A fast body,
/// or a gap that could not close in a thousand steps, would otherwise hide the errors of all resting bodies.
inline double most_speed(const Params& params) {
  constexpr double kFalls = 30;
  const double fall = std::fabs(params.gravity) * params.dt;
  return fall > 0 ? kFalls * fall : std::numeric_limits<double>::infinity();
}

/// The defaults, except the user's tolerance and time budget.
inline LabParams cold_start_params(const Params& params, const LabParams& lab) {
  constexpr double kColdTolerance = 1e-6;
  LabParams cold = stepping_lab_params();
  cold.tolerance = std::min(lab.tolerance, kColdTolerance);
  cold.max_iterations = params.cold_start_iterations;
  cold.time_budget = lab.time_budget;
  return cold;
}

/// Settings of the solver that takes the place of one that failed after `seconds`: the time budget is that of
/// both. At least a fifth of it is left, since impulses after one sweep let stacks sink.
inline LabParams substitute_params(LabParams lab, double seconds) {
  constexpr double kLeastShare = 0.2;
  if (lab.time_budget > 0)
    lab.time_budget = std::max(lab.time_budget - seconds, kLeastShare * lab.time_budget);
  return lab;
}

}  // namespace stickslip
