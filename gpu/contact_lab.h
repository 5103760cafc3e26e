// The host-only interface of the contact problem lab: load one problem, solve it by any
// method, judge any impulses.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/dfcp/problem/solve_report.h"
#include "gpu/engine.h"
#include "gpu/params/contact_solvers.h"
#include "gpu/params/lab_params.h"

namespace stickslip {

/// The impulses after some iterations of a solve, with their velocities u = W r + q; as in SolveReport.
struct LabIterate {
  long iteration = 0;
  double residual = 0;
  std::vector<double> r, u;
};

/// Receives iterates that a solve judges: with `Options::history` at least one of each iteration, in their
/// order. Some solvers judge several of one iteration.
struct IterateSink {
  std::function<bool(long iteration)> wants;  // others are not copied from the backend
  std::function<void(LabIterate)> take;
};

/// Not thread safe: one thread drives a lab.
class ContactLab {
 public:
  virtual ~ContactLab() = default;

  /// Checks and copies a problem. Throws std::invalid_argument (see `check` in contact_problem.h).
  virtual void load(const ContactProblem& problem) = 0;

  struct Options {
    const std::atomic<bool>* cancel = nullptr;  // set by a thread or signal: solve returns the best iterate
    bool history = false;                       // judge every iteration, off the clock
    const IterateSink* iterates = nullptr;      // called on the thread of the solve; nullptr: none
  };
  /// Solves the loaded problem. Does not throw when the solve fails: the report states how it ended. Throws
  /// std::invalid_argument for an unknown solver, with the nearest name.
  virtual SolveReport solve(std::string_view solver, const LabParams& params, const Options& options) = 0;
  SolveReport solve(std::string_view solver, const LabParams& params) {
    return solve(solver, params, Options{});
  }

  /// Judges impulses r (dim * blocks).
  virtual Judgement judge(const std::vector<double>& r) = 0;
};

/// `threads`: 0 for all cores. Throws std::runtime_error when the backend is not available.
std::unique_ptr<ContactLab> make_contact_lab(Backend backend, int threads = 0);

}  // namespace stickslip
