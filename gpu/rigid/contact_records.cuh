// Records of a velocity-level step's contacts, for a viewer.
#pragma once

#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "gpu/core/context.h"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/model/interaction.h"

namespace stickslip {

/// Contacts with the solution of their problem, in backend memory. `gap` and positions are those
/// at the start of the step.
template <int D>
struct SolvedContacts {
  const RigidContact* contacts;
  std::size_t count;
  const ContactLaw<D>* law;
  const double* scale;         // of the problem's blocks, see Delassus::scale
  const Vec<double, D>*r, *u;  // [N s], [m/s]
  const std::int32_t* colour;  // null: of no coloured sweep
  StepKind step_kind;          // none: no `step`
  const Vec<float, 2>* step;   // see BlockSteps
};

/// Contacts with penalty forces.
template <int D>
struct PushedContacts {
  const RigidContact* contacts;
  std::size_t count;
  const ConstraintBlock<D>* block;
  const Vec<double, D>* r;  // [N s] of the step
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// `dt` [s] converts impulses to forces. One host read.
/// `rows`: those of the problem's blocks, the first contact's at `first_block`.
template <int D>
void contact_records(Context& ctx, const SolvedContacts<D>& solved, const BodyRows<D>& rows,
                     std::size_t first_block, double dt, std::vector<ContactRecord>& out);
template <int D>
void contact_records(Context& ctx, const PushedContacts<D>& pushed, double dt,
                     std::vector<ContactRecord>& out);

}  // namespace stickslip::STICKSLIP_BACKEND
