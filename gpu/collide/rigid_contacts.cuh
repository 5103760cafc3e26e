// RigidContacts: where the rigid bodies of a model touch or nearly do, with names that last from step to
// step.
#pragma once

#include <cstdint>

#include "gpu/collide/contact_list.cuh"
#include "gpu/collide/narrow_phase.cuh"
#include "gpu/collide/pair_search.cuh"
#include "gpu/collide/shape_store.cuh"
#include "gpu/model/model.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Boxes of all bodies through the LBVH, then pairs, then the narrow phase, one manifold each. Contacts come
/// ordered by (a, b), half-spaces behind bodies, points of a pair together, so that the order depends on the
/// input only.
///
/// All of it runs with room for a few more candidates than there were in the last step, so that the counts
/// are read once, at the end; where the room did not suffice, it runs again with more.
class RigidContacts {
 public:
  struct Options {
    double margin = 0.01;     // [m] two surfaces this near are a contact
    double dt = 0;            // [s] > 0: the margin grows by the way that the pair closes within a step
    int manifold_points = 4;  // kept of a pair, 1 to 8; of compounds and meshes, of each direction of contact
  };

  /// Takes over shapes, half-spaces and the pairs that never touch: those that a joint holds without
  /// `collide`. Throws std::invalid_argument for a model without bodies, or a shape that is not there.
  void load(Context& ctx, const Model& model);

  /// Contacts of bodies where `motion` says that they are. `moves` may not be set for bodies that stand still
  /// in the model. One host read; one more when there are a quarter more pairs than the last time.
  void find(Context& ctx, const BodyMotionView& motion, const Options& options);
  /// After a jump: no contact has a predecessor, and who sleeps is looked at anew.
  void forget() { known_ = false; }

  ShapeView shapes() const { return shapes_.view(); }

  // Of the last find(), valid until the next one; backend memory.
  const RigidContact* contacts() const { return now_.contacts.data(); }
  std::size_t count() const { return now_.count; }
  std::size_t pairs() const { return now_.pairs; }  // of bodies with contacts
  /// The contacts of pair p are [pair_start()[p], pair_start()[p + 1]).
  const std::int32_t* pair_start() const { return now_.pair_start.data(); }
  std::size_t candidates() const { return candidates_; }  // pairs whose boxes meet

  /// What a run found, in the order in which the kernels write it; may be more than there was room for.
  struct Found {
    std::int32_t candidates, shape_pairs, part_contacts;
    Vec2i pairs_contacts;
  };
  // A stage of find; public because nvcc allows no device lambda in a private member.
  Found run(Context& ctx, const BodyMotionView& motion, const Options& options);

 private:
  /// What one run has room for.
  struct Room {
    std::size_t candidates = 0, contacts = 0, pairs = 0;
    std::size_t shape_pairs = 0, part_contacts = 0;  // of bodies of many parts
  };
  /// Whether that was all; and how much room the next run shall have.
  bool make_room(const Found& found);

  ShapeStore shapes_;
  PairSearch search_;
  PairKeys pair_keys_;
  bool known_ = false;  // before_ is the step before
  std::size_t candidates_ = 0;
  Room room_;
  ContactList now_, before_;
  Buffer<Pose> pose_before_;  // at the time of the last find
  Buffer<std::uint64_t> keys_;
  Buffer<RigidContact> staged_;  // of each candidate, with gaps
  Buffer<Vec2i> stage_;          // per candidate: where it begins in staged_, how many
  Buffer<std::uint64_t> tally_;  // per candidate: a pair << 32 | its contacts; then their sums
  Buffer<ShapePair> shape_pairs_;
  Buffer<Manifold> manifolds_;  // per shape pair
  Buffer<Found> found_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
