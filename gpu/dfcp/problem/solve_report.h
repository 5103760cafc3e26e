// The judge's measures of impulses, and the report of a solve.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stickslip {

/// The measure common to all solvers. With s_c = trace(W_cc) / dim and u~ = u + sigma(u_T) n:
///   e_c = s_c |r_c - P_K(r_c - u~_c / s_c)|  [m/s],   residual = |e|_2 / |q|_2,
/// independent of the scale of masses. It is relative to the problem alone: |u|_2 and |r|_2 grow with the
/// errors of an iterate, and dividing by them would reward errors. A running scene raises |q|_2 to a
/// thousandth of the velocity that gravity adds in a step.
struct Judgement {
  double residual = 0;         // the judge's
  double largest_error = 0;    // max e_c [m/s]
  double residual_fclib = 0;   // |r - P_K(r - u~)|_2 / max(|q|_2, |r|_2, |u|_2), step 1, as Siconos measures
  double penetration = 0;      // max of -u_N over contacts [m/s], >= 0
  double cone_violation = 0;   // max distance of r_c from K, relative to max |r|
  double cone_distance = 0;    // the same [N s]
  double complementarity = 0;  // max |r . u~| [J]
  double dissipation = 0;      // -sum r_T . u_T [J]: the energy that friction dissipates
  double norm_q = 0, norm_u = 0;
};

/// State and error of one block, for heat maps.
struct BlockError {
  double error;  // e_c [m/s]
  int state;     // 0 open, 1 sticks, 2 slides, 3 bilateral
  int unused = 0;
};

enum class SolveEnd { converged, iterations, time, cancelled, stalled, infeasible, refused };
const char* name_of(SolveEnd end);

/// One check of the residual during a solve.
struct HistoryPoint {
  long iteration;
  double seconds;  // of solving, without judging time
  double residual, residual_fclib;
};

struct ColouringReport {
  int colours = 0;
  std::size_t smallest = 0, largest = 0;  // blocks in the smallest and the largest colour
  double seconds = 0;
};

struct SolveReport {
  std::string solver;
  SolveEnd end = SolveEnd::iterations;
  std::string message;    // why it stopped, where this needs an explanation
  std::vector<double> r;  // the best iterate [N s], dim per block
  std::vector<double> u;  // its velocities [m/s]
  Judgement judgement;    // of r, always computed afresh
  /// |A v - H' r - f| / |f| with A as given and v from r; negative: the problem is not global.
  double equation_residual = -1;
  bool converged = false;
  std::size_t contacts = 0, blocks = 0, dofs = 0;
  double nu = 0;  // 3 contacts / dofs; beyond 1 W is singular [Bertails11]. 0 when dofs are unknown
  double lambda_max = 0, lambda_min = 0;  // estimates of W's extreme eigenvalues (Lanczos)
  long iterations = 0;
  double seconds = 0;        // of solving: from the loaded problem to r
  double setup_seconds = 0;  // time to form W when the problem was first solved, not part of `seconds`
  ColouringReport colouring;
  std::vector<HistoryPoint> history;
  std::vector<BlockError> errors;  // per block
};

}  // namespace stickslip
