// PairSearch: the pairs of bodies, and of bodies and half-spaces, that may touch, by boxes.
#pragma once

#include "gpu/broadphase/lbvh.cuh"
#include "gpu/collide/rigid_contact.h"
#include "gpu/collide/shape_view.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Where a body may be within a step.
struct BodyReach {
  FloatBox box;  // at its pose, grown by half the margin
  Vec3f shift;   // [m] of its centre within dt
  float turn;    // [m] at most what its surface moves by spinning
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Two trees, of bodies that move and of those that stand still or are scripted; the former walk both. So a
/// floor asks for nobody.
class PairSearch {
 public:
  struct Input {
    ShapeView shapes;
    BodyMotionView motion;  // `asleep` null: all are awake
    PairKeys pair_keys;
    double margin, dt;
    ContactListView before;  // pairs that sleep are taken from here
  };
  /// The arrays are long enough for `room` pairs.
  struct Output {
    std::uint64_t* keys;  // ascending, filled up with PairKeys::none()
    std::size_t room;
    std::int32_t* found;  // one: how many pairs there are, or would be
  };

  void load(Context& ctx, const Model& model);
  /// Pairs of which at least one body moves, at least one may be elsewhere than in the step before, no joint
  /// forbids contact, and whose boxes meet on the way of dt. Pairs that sleep come as they are in `before`.
  void find(Context& ctx, const Input& in, const Output& out);
  /// kMoves and kLive, per body, of the last find().
  const std::uint8_t* state() const { return state_.data(); }

  // Stages of find; public because nvcc allows no device lambda in a private member.
  void place_boxes(Context& ctx, const Input& in);
  void walk_trees(Context& ctx, const Input& in, const Output& out);
  void keep_asleep(Context& ctx, const Input& in, const Output& out);

 private:
  std::size_t moving_ = 0;
  Buffer<std::int32_t> bodies_;          // those that move first
  Buffer<std::int32_t> excluded_start_;  // per body and one more, into excluded_; empty when there are none
  Buffer<std::int32_t> excluded_;        // larger bodies that the body never touches, ascending
  Buffer<FloatBox> boxes_;               // in the order of bodies_
  Buffer<BodyReach> reach_;              // per body
  Buffer<std::uint8_t> state_;           // per body
  Lbvh moving_tree_, still_tree_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
