// Problems without a solution: contacts and joints that no velocities satisfy.
//
// Velocities with u_N >= 0 at contacts and u = 0 at joints are q + W x for some x, or there is a z with
//   z_N >= 0 and z_T = 0 at contacts, W z = 0, q . z < 0                                          (Farkas)
// and never both: z . u = z . q + (W' z) . x = z . q < 0, yet z . u >= 0 if u were as wanted. W' z = 0 where
// W z = 0 also for a W = H A^-1 H' that is not symmetric: z' W z = 0 makes H' z zero, for y' A^-1 y > 0.
#pragma once

#include <string>

#include "gpu/dfcp/solvers/system.cuh"

namespace stickslip::STICKSLIP_BACKEND {

struct Infeasibility {
  bool found = false;
  std::size_t block = 0;  // of those that push against each other the one that r makes penetrate most
  double velocity = 0;  // [m/s]: whatever the impulses, a block of z is off by this at least, -q . z / |z|_1
  std::size_t blocks = 0;  // that take part in z
  std::string message;
};

/// Looks for z near the impulses r of a solve that did not converge: solvers push along it for ever. Sweeps
/// on the normal problem min 1/2 z' W z + q . z find which blocks take part, a projection onto the null space
/// of their W makes z exact where W is small enough to be factorised. z counts when -q . z >= 1e10 |W z| |q|,
/// norms weighted by s_c so that all three are free of masses: velocities as wanted would then take impulses
/// 1e10 times those that stop q. Never says so of a feasible problem short of that; may overlook an
/// infeasible one. `effort`: block updates of the sweeps at most. Gives up as well once it has taken as long
/// as the solve before it (by the monitor's clock; a second is always granted), and when the monitor's
/// `cancel` is set.
template <int D>
Infeasibility certify_infeasible(System<D>& s, const Vec<double, D>* r, long effort = 4000000);

}  // namespace stickslip::STICKSLIP_BACKEND
