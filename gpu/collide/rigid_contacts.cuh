// RigidContacts: contacts and near contacts of a model's rigid bodies, with names that
// persist from step to step.
#pragma once

#include <cstdint>

#include "gpu/collide/contact_list.cuh"
#include "gpu/collide/narrow_phase.cuh"
#include "gpu/collide/pair_search.cuh"
#include "gpu/collide/shape_store.cuh"
#include "gpu/model/model.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Boxes of all bodies through the LBVH, then pairs, then the narrow phase, one manifold each.
/// Contacts are ordered by (a, b), half-spaces after bodies, points of a pair together: the order
/// depends on the input only.
///
/// All stages run with room for slightly more candidates than in the last step, so that the counts are read
/// once, at the end. If the room did not suffice, they run again with more.
class RigidContacts {
 public:
  struct Options {
    double margin = 0.01;     // [m] surfaces within this distance form a contact
    double dt = 0;            // [s] > 0: the margin grows by the distance that the pair closes within a step
    int manifold_points = 4;  // kept per pair, 1 to 8; for compounds and meshes, per direction of contact
  };

  /// Loads shapes, half-spaces and the pairs excluded from contact: those connected by a joint without
  /// `collide`. A model without bodies has no such contacts; its half-spaces are loaded all the same. Throws
  /// std::invalid_argument for a missing shape.
  void load(Context& ctx, const Model& model);

  /// Contacts of the bodies in the poses of `motion`. `moves` must not be set for bodies that are
  /// static in the model. One host read; one more when the number of pairs has grown by more than a
  /// quarter since the last call.
  void find(Context& ctx, const BodyMotionView& motion, const Options& options);
  /// After a jump: no contact has a predecessor, and sleeping pairs are searched again.
  void forget() { known_ = false; }

  ShapeView shapes() const { return shapes_.view(); }
  /// See PairSearch.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const { search_.append_trees(ctx, out); }

  // Of the last find(), valid until the next one; backend memory.
  const RigidContact* contacts() const { return now_.contacts.data(); }
  std::size_t count() const { return now_.count; }
  std::size_t pairs() const { return now_.pairs; }  // of bodies with contacts
  /// The contacts of pair p are [pair_start()[p], pair_start()[p + 1]).
  const std::int32_t* pair_start() const { return now_.pair_start.data(); }
  std::size_t candidates() const { return candidates_; }  // pairs with overlapping boxes
  /// [s] of wall time that boxes, trees and candidates took; on CUDA, where no host read ends them, that of
  /// their launches.
  double search_seconds() const { return search_seconds_; }

 private:
  /// The counts of a run, in the order in which the kernels write them; may exceed the room.
  struct Found {
    std::int32_t candidates, shape_pairs, part_contacts;
    Vec2i pairs_contacts;
  };
  /// The room for one run.
  struct Room {
    std::size_t candidates = 0, contacts = 0, pairs = 0;
    std::size_t shape_pairs = 0, part_contacts = 0;  // of bodies of many parts
  };
  /// All stages once, in the present room; one host read.
  Found run(Context& ctx, const BodyMotionView& motion, const Options& options);
  /// True if the room sufficed; sets the room for the next run.
  bool make_room(const Found& found);

  ShapeStore shapes_;
  PairSearch search_;
  PairKeys pair_keys_;
  bool known_ = false;  // before_ holds the last step
  std::size_t candidates_ = 0;
  double search_seconds_ = 0;
  Room room_;
  ContactList now_, before_;
  Buffer<Pose> pose_before_;  // at the time of the last find
  Buffer<std::uint64_t> keys_;
  Buffer<RigidContact> staged_;  // of each candidate, with gaps
  Buffer<Vec2i> stage_;          // per candidate: index of its first contact in staged_, and their number
  Buffer<std::uint64_t> tally_;  // per candidate: a pair << 32 | its contacts; then their sums
  Buffer<ShapePair> shape_pairs_;
  Buffer<Manifold> manifolds_;  // per shape pair
  Buffer<Found> found_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
