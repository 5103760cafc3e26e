// IntersectionCheck: counts where the edges of a surface pass through its triangles.
#pragma once

#include <vector>

#include "gpu/broadphase/candidates.h"
#include "gpu/broadphase/lbvh.cuh"
#include "gpu/broadphase/primitive_pairs.h"

namespace stickslip {

/// Edge-triangle pairs that intersect. The first is the one with the smallest edge, then triangle; -1 when
/// none.
struct Intersections {
  std::int64_t count = 0;
  std::int32_t first_edge = -1, first_triangle = -1;  // indices into SurfaceView
};

/// The sum of the counts with the smaller first pair.
SS_HD inline Intersections combine(const Intersections& a, const Intersections& b) {
  const bool a_first =
      b.count == 0 ||
      (a.count != 0 && (a.first_edge < b.first_edge ||
                        (a.first_edge == b.first_edge && a.first_triangle < b.first_triangle)));
  const Intersections& first = a_first ? a : b;
  return {a.count + b.count, first.first_edge, first.first_triangle};
}

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class IntersectionCheck {
 public:
  /// All edges of `surface` against all its triangles at positions x [m]. Skips pairs that share a node and
  /// those that the filter drops. One host read.
  Intersections run(Context& ctx, const SurfaceView& surface, const Vec3* x, const PairFilter& filter);
  /// (edge, triangle) of the last run: for each edge that intersects triangles, the first of them.
  std::vector<Vec2i> one_per_edge(Context& ctx) const;

 private:
  Lbvh triangle_tree_;
  Buffer<FloatBox> boxes_;
  Buffer<Intersections> per_edge_, total_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
