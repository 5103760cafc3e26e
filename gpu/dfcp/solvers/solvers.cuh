// The solvers of the lab. Each takes a System, calls its monitor once per iteration and returns when the
// monitor says stop, or after `monitor.stop` with the reason; the monitor holds the best iterate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/dfcp/solvers/system.cuh"
#include "gpu/params/contact_solvers.h"

namespace stickslip::STICKSLIP_BACKEND {

// Declares `solve_<name>` for each row of contact_solvers.h that is a solver of problems.
#define STICKSLIP_DECLARE(kind, name, ...) \
  template <int D>                         \
  void solve_##name(System<D>& s);
#define STICKSLIP_NONE(...)
STICKSLIP_CONTACT_SOLVERS(STICKSLIP_DECLARE, STICKSLIP_NONE, STICKSLIP_NONE)
#undef STICKSLIP_DECLARE
#undef STICKSLIP_NONE

/// Runs the solver with this name; false when there is none. Refuses blocks of five rows for solvers that do
/// not take them.
template <int D>
bool run_solver(std::string_view name, System<D>& s);

/// Why solvers without the trait `rolling` refuse blocks of five rows: names those that take them.
std::string rolling_refusal();

// Each solver's file instantiates it for blocks of three and four rows, and of five if its traits say
// `rolling`.
#define STICKSLIP_SOLVER(solve)    \
  template void solve(System<3>&); \
  template void solve(System<4>&);
#define STICKSLIP_ROLLING_SOLVER(solve) \
  STICKSLIP_SOLVER(solve)               \
  template void solve(System<5>&);

}  // namespace stickslip::STICKSLIP_BACKEND
