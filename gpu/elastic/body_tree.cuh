// BodyTree: the rigid bodies whose boxes, swept along a step, are near a primitive of a solid.
#pragma once

#include "gpu/broadphase/lbvh.cuh"
#include "gpu/collide/rigid_contact.h"
#include "gpu/collide/shape_view.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Pairs of objects and bodies that never touch. Backend memory.
struct ExemptBodies {
  const std::int32_t *start, *body;  // start: per object and one more; null: all pairs may touch

  SS_HD bool contains(std::int32_t object, std::int32_t body_of) const {
    if (start == nullptr) return false;
    for (std::int32_t k = start[object]; k < start[object + 1]; ++k)
      if (body[k] == body_of) return true;
    return false;
  }
};

class BodyTree {
 public:
  /// `exempt`: pairs of objects and bodies that never touch, ascending.
  void load(Context& ctx, std::size_t objects, const std::vector<Vec<std::int32_t, 2>>& exempt);
  /// Over the boxes of the bodies, swept along their motion in dt.
  void build(Context& ctx, const ShapeView& shapes, const BodyMotionView& motion, double dt);
  /// Of the last build(); empty without bodies.
  LbvhView view() const { return tree_.view(); }
  ExemptBodies exempt() const { return {start_.empty() ? nullptr : start_.data(), body_.data()}; }

 private:
  Lbvh tree_;
  Buffer<FloatBox> boxes_;
  Buffer<std::int32_t> start_, body_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
