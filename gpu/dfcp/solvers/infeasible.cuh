// Problems without a solution: contacts and joints that no velocities satisfy.
//
// Farkas: either velocities q + W x with u_N >= 0 at contacts and u = 0 at joints
// exist for some x, or a z with
//   z_N >= 0 and z_T = 0 at contacts, W z = 0, q . z < 0
// exists, never both: z . u = z . q + (W' z) . x = z . q < 0, but feasible u would give z . u >= 0. W' z = 0
// where W z = 0 also for a W = H A^-1 H' that is not symmetric: z' W z = 0 makes H' z zero, as y' A^-1 y > 0.
#pragma once

#include <string>

#include "gpu/dfcp/solvers/system.cuh"

namespace stickslip::STICKSLIP_BACKEND {

struct Infeasibility {
  bool found = false;
  std::size_t block = 0;   // of the blocks of z, the one with the largest penetration under r
  double velocity = 0;     // [m/s] least violation of some block of z under any impulses, -q . z / |z|_1
  std::size_t blocks = 0;  // number of blocks in z
  std::string message;
};

/// Searches for z near the impulses r of a solve that did not converge: on an infeasible problem the iterates
/// grow along z without bound. Sweeps on the normal problem min 1/2 z' W z + q . z find the blocks of z.
/// Where W of these blocks is small enough to be factorised, a projection onto its null space makes z exact.
/// z is accepted when -q . z >= 1e10 |W z| |q|, with norms weighted by s_c so that all three are independent
/// of masses: feasible velocities would then take impulses 1e10 times those that cancel q. A feasible problem
/// below that bound is never reported; an infeasible one may be missed. `effort`: limit on block updates of
/// the sweeps. Also stops when the search has taken as long as the solve (by the monitor's clock; at least a
/// second), and when the monitor's `cancel` is set.
template <int D>
Infeasibility certify_infeasible(System<D>& s, const Vec<double, D>* r, long effort = 4000000);

}  // namespace stickslip::STICKSLIP_BACKEND
