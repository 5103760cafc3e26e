// coupled_problem: the contact problem of rigid bodies and elastic solids, on the host.
#pragma once

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/elastic/solid_system.h"

namespace stickslip {

/// The global form of a problem between bodies, where the bodies from `first` on are particles for the points
/// of `solids`, then frames of joints on them. Its dofs: six of each movable body, then those of the free
/// nodes.
ContactProblem coupled_problem(const ContactProblem& between_bodies, std::size_t first,
                               const SolidSystem& solids);

}  // namespace stickslip
