// FrictionAnchors: what contacts with anchored penalty friction remember from step to step.
#pragma once

#include <vector>

#include "gpu/model/state.h"
#include "gpu/rigid/contact_blocks.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The stretch of each contact, from its anchor to where it is [Course Eq.276]. It grows with the relative
/// velocity of the two surfaces, so that bodies which roll stretch nothing, and turns into the tangent plane
/// of the present normal. Contacts find their stretch by their place in the last step's list, and after a
/// change of the state from outside by their name (a, b, feature).
class FrictionAnchors {
 public:
  /// No contact has an anchor.
  void forget();
  /// The places of contacts in the last step's list are void.
  void unlink() { linked_ = false; }
  /// Those of a state; their contacts are found by name.
  void set(Context& ctx, const std::vector<ContactAnchor>& anchors);
  /// After the last complete step; contacts of rigid bodies alone, `bodies` of them.
  std::vector<ContactAnchor> anchors(Context& ctx, std::size_t bodies) const;

  /// Finds the stretches of a step's contacts at its start.
  void begin(Context& ctx, const RigidContact* contacts, std::size_t count);
  AnchorView start() const { return {start_.data(), start_.size()}; }

  /// A solved step: normal impulses and velocities at its end. Backend memory.
  template <int D>
  struct Solved {
    ContactBlocks<D> blocks;                // at the start of the step
    const Vec<double, 3>*velocity, *spin;   // per body
    const Vec<double, D>* r = nullptr;      // per contact, by rows; null: `world`
    const Vec<double, 4>* world = nullptr;  // per contact, in world axes
    /// Per contact: the blocks of explicit forces, those at the start of the step; null: forces are those at
    /// its end, of `blocks`.
    const ConstraintBlock<D>* pushed = nullptr;
  };
  /// Moves anchors and contacts to the end of the step. `contacts`: those of `begin`.
  template <int D>
  void advance(Context& ctx, const RigidContact* contacts, const Solved<D>& solved);
  /// A step without anchored friction, in place of begin and advance.
  void drop() { next_ = Buffer<ContactAnchor>(); }
  /// The step is complete. Until then a failed step leaves the anchors of the last one.
  void keep();

 private:
  std::vector<ContactAnchor> by_name(Context& ctx) const;

  bool linked_ = false;          // end_ belongs to the list that RigidContact::previous counts in
  Buffer<ContactAnchor> end_;    // of the last complete step, or of a state
  Buffer<ContactAnchor> next_;   // of this step
  Buffer<ContactAnchor> named_;  // end_, ordered by name, while it is not linked
  Buffer<Vec<double, 4>> start_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
