// coupled_problem: the contact problem of rigid bodies and elastic solids, on the host.
#pragma once

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/elastic/solid_system.h"

namespace stickslip {

/// The global form of a problem between bodies whose bodies from `first` on are particles that stand for the
/// points of `solids`. Its dofs are those of the bodies that move, six each, then of the free nodes.
ContactProblem coupled_problem(const ContactProblem& between_bodies, std::size_t first,
                               const SolidSystem& solids);

}  // namespace stickslip
