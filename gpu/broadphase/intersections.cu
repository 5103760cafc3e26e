#include "gpu/broadphase/intersections.cuh"

#include "gpu/broadphase/primitive_boxes.cuh"
#include "gpu/core/reduce.h"
#include "gpu/geometry/segment_triangle.h"

namespace stickslip::STICKSLIP_BACKEND {

Intersections IntersectionCheck::run(Context& ctx, const SurfaceView& surface, const Vec3* x,
                                     const PairFilter& filter) {
  compute_boxes(ctx, surface.triangles, surface.triangle_count, x, nullptr, Real(0), nullptr, boxes_);
  triangle_tree_.build(ctx, boxes_.data(), surface.triangle_count);
  per_edge_.resize(ctx, surface.edge_count);
  total_.resize(ctx, 1);

  Intersections* per_edge = per_edge_.data();
  const LbvhView tree = triangle_tree_.view();
  launch(
      ctx, surface.edge_count,
      [=] SS_LAMBDA(std::size_t i) {
        const Vec2i e = surface.edges[i];
        Intersections found;
        traverse(tree, swept_box(e, x, nullptr, Real(0)), [&](std::int32_t triangle) {
          const Vec3i t = surface.triangles[triangle];
          if (never_touch(e, t, filter)) return;
          if (!segment_intersects_triangle(x[e[0]], x[e[1]], x[t[0]], x[t[1]], x[t[2]])) return;
          found = combine(found, {1, static_cast<std::int32_t>(i), triangle});
        });
        per_edge[i] = found;
      },
      kMedium);
  reduce(
      ctx, surface.edge_count, [=] SS_LAMBDA(std::size_t i) { return per_edge[i]; },
      [] SS_LAMBDA(const Intersections& a, const Intersections& b) { return combine(a, b); }, Intersections{},
      total_.data());
  return read_back(ctx, total_.data());
}

std::vector<Vec2i> IntersectionCheck::one_per_edge(Context& ctx) const {
  std::vector<Vec2i> pairs;
  for (const Intersections& edge : per_edge_.download(ctx))
    if (edge.count > 0) pairs.push_back({edge.first_edge, edge.first_triangle});
  return pairs;
}

}  // namespace stickslip::STICKSLIP_BACKEND
