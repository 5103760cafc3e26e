// The solvers of the lab. Each takes a System, calls its monitor once per iteration and returns when that
// says so, or after `monitor.stop` with the reason; the monitor has the best iterate.
#pragma once

#include <string_view>
#include <vector>

#include "gpu/dfcp/system.cuh"

namespace stickslip::STICKSLIP_BACKEND {

// Sweeps [Course §3.2]
template <int D>
void solve_pgs_jacobi(System<D>& s);
template <int D>
void solve_pgs(System<D>& s);
template <int D>
void solve_nsgs(System<D>& s);
// Proximal fixed points [Course Alg.11-12]
template <int D>
void solve_prox_jacobi(System<D>& s);
template <int D>
void solve_prox_gs(System<D>& s);
// Splittings and accelerations [Course §3.2.5-3.2.7]
template <int D>
void solve_staggered(System<D>& s);
template <int D>
void solve_pgs_sm(System<D>& s);
template <int D>
void solve_nncg(System<D>& s);
// Nonsmooth Newton [Bertails11; Course §3.3]
template <int D>
void solve_newton_ac(System<D>& s);
template <int D>
void solve_newton_fb(System<D>& s);
template <int D>
void solve_newton_minmap(System<D>& s);
// Convex cone programs, with a fixed point on De Saxce's shift around them
template <int D>
void solve_spg(System<D>& s);
template <int D>
void solve_apgd(System<D>& s);
template <int D>
void solve_admm(System<D>& s);
// Pivoting [Course Alg.3-4]
template <int D>
void solve_pivot_incremental(System<D>& s);
template <int D>
void solve_pivot_block(System<D>& s);
// Combinations
template <int D>
void solve_auto(System<D>& s);

/// Runs the solver called `name`; false when there is none.
template <int D>
bool run_solver(std::string_view name, System<D>& s);

// Each solver's file instantiates it for both sizes of a block.
#define STICKSLIP_SOLVER(solve)    \
  template void solve(System<3>&); \
  template void solve(System<4>&);

}  // namespace stickslip::STICKSLIP_BACKEND
