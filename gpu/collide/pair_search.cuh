// PairSearch: the pairs of bodies, and of bodies and half-spaces, whose boxes show that they may touch.
#pragma once

#include "gpu/broadphase/lbvh.cuh"
#include "gpu/collide/rigid_contact.h"
#include "gpu/collide/shape_view.h"
#include "gpu/model/model.h"
#include "gpu/model/tree_box.h"

namespace stickslip {

/// Bounds on a body's motion within a step.
struct BodyReach {
  FloatBox box;  // at its pose, grown by half the margin
  Vec3f shift;   // [m] of its centre within dt
  float turn;    // [m] upper bound on the displacement of its surface by rotation
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Two trees: of movable bodies, and of static or scripted ones. Only movable bodies walk the trees, so a
/// floor does not query anything.
class PairSearch {
 public:
  struct Input {
    ShapeView shapes;
    BodyMotionView motion;  // `asleep` null: all are awake
    PairKeys pair_keys;
    double margin, dt;
    ContactListView before;  // the source of sleeping pairs
  };
  /// The arrays must be long enough for `room` pairs.
  struct Output {
    std::uint64_t* keys;  // ascending, padded with PairKeys::none()
    std::size_t room;
    std::int32_t* found;  // one value: the number of pairs, also if it exceeds the room
  };

  void load(Context& ctx, const Model& model);
  /// Finds pairs of which at least one body is movable, at least one may have moved since the last
  /// step, no joint forbids contact, and whose boxes overlap during the motion in dt. Sleeping pairs
  /// are copied from `before`.
  void find(Context& ctx, const Input& in, const Output& out);
  /// Appends both trees of the last find(), see append_tree. Two host reads.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const;
  /// kMoves and kLive, per body, of the last find().
  const std::uint8_t* state() const { return state_.data(); }

 private:
  // Stages of `find`.
  void place_boxes(Context& ctx, const Input& in);
  void walk_trees(Context& ctx, const Input& in, const Output& out);

  std::size_t moving_ = 0;
  Buffer<std::int32_t> bodies_;          // movable ones first
  Buffer<std::int32_t> excluded_start_;  // per body and one more, into excluded_; empty when there are none
  Buffer<std::int32_t> excluded_;        // larger bodies excluded from contact with the body, ascending
  Buffer<FloatBox> boxes_;               // in the order of bodies_
  Buffer<BodyReach> reach_;              // per body
  Buffer<std::uint8_t> state_;           // per body
  Lbvh moving_tree_, still_tree_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
