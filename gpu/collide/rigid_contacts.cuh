// RigidContacts: where the rigid bodies of a model touch or nearly do, with names that last from step to
// step.
#pragma once

#include <cstdint>

#include "gpu/core/buffer.h"
#include "gpu/geometry/shape.h"
#include "gpu/model/model.h"

namespace stickslip {

/// One point of contact. The normal points from b to a.
struct RigidContact {
  std::int32_t a, b;      // bodies; b = -1 - k: half-space k. At least one of them moves
  Vec<double, 3> point;   // [m] world, halfway between the surfaces
  Vec<double, 3> normal;  // unit
  double gap;             // [m]; < 0: overlap
  std::uint32_t feature;  // names it among those of the same two bodies
  std::int32_t previous;  // the same contact in the list of the step before; -1: new
};

/// What moves, as the contact search reads it. Backend memory, one entry per body of the model.
struct BodyMotionView {
  const Pose* pose;
  const Vec<double, 3>* velocity;  // [m/s] of the centre
  const Vec<double, 3>* spin;      // [rad/s] world
  const std::uint8_t* moves;       // 0: static or scripted: two of these never touch
  const std::uint8_t* asleep;  // two that do not move or sleep keep the contacts that they had; null: none
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Boxes of all bodies through the LBVH, then pairs, then the narrow phase, one manifold each. Contacts come
/// ordered by (a, b), points of a pair together, so that the order depends on the input only.
class RigidContacts {
 public:
  struct Options {
    double margin = 0.01;     // [m] two surfaces this near are a contact
    double dt = 0;            // [s] > 0: the margin grows by the way that the pair closes within a step
    int manifold_points = 4;  // kept of a pair, 1 to 8
  };

  /// Takes over shapes, half-spaces and the pairs that never touch: those that a joint holds without
  /// `collide`. Throws std::invalid_argument for a model without bodies.
  void load(Context& ctx, const Model& model);

  /// Contacts of bodies where `motion` says that they are. One host read.
  void find(Context& ctx, const BodyMotionView& motion, const Options& options);
  /// After a jump: no contact has a predecessor.
  void forget();

  // Of the last find(), valid until the next one; backend memory.
  const RigidContact* contacts() const { return contacts_.data(); }
  std::size_t count() const { return count_; }
  std::size_t pairs() const { return pairs_; }  // of bodies with contacts
  /// The contacts of pair p are [pair_start()[p], pair_start()[p + 1]).
  const std::int32_t* pair_start() const { return pair_start_.data(); }
  std::size_t candidates() const { return candidates_; }  // pairs whose boxes meet

 private:
  std::size_t count_ = 0, pairs_ = 0, candidates_ = 0;
  Buffer<RigidContact> contacts_;
  Buffer<std::int32_t> pair_start_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
