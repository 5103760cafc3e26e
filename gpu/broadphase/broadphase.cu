#include "gpu/broadphase/broadphase.cuh"

#include "gpu/broadphase/primitive_boxes.cuh"
#include "gpu/broadphase/tree_boxes.cuh"
#include "gpu/core/reduce.h"
#include "gpu/core/scan.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

/// How many primitives of a query are remembered, so that filling the list needs no second walk in most
/// cases.
constexpr int kKeptHits = 8;

/// All queries of one find(): one per surface node, against the triangles, then one per leaf of the edge
/// tree, against the edges behind it.
struct PairQueries {
  SurfaceView surface;
  const Vec3* x;
  const Vec3* p;
  Real reach;
  PairFilter filter;
  LbvhView triangles, edges;

  /// Calls emit(primitive) for every primitive that pairs with query i, in the same order each time.
  template <class Emit>
  SS_HD void walk(std::size_t i, Emit&& emit) const {
    if (i < surface.node_count) {
      const Vec<std::int32_t, 1> node{surface.nodes[i]};
      traverse(triangles, swept_box(node, x, p, reach + radius_of(node, surface.radius)),
               [&](std::int32_t triangle) {
                 if (!never_touch(node, surface.triangles[triangle], filter)) emit(triangle);
               });
    } else {
      const auto leaf = static_cast<std::int32_t>(i - surface.node_count);
      const std::int32_t edge = edges.order[leaf];
      const Vec2i nodes = surface.edges[edge];
      traverse(
          edges, edges.leaf_boxes[leaf],
          [&](std::int32_t other) {
            if (!never_touch(nodes, surface.edges[other], filter)) emit(other);
          },
          leaf);
    }
  }

  /// The node quadruple of query i and the primitive that it overlaps.
  SS_HD Vec4i pair(std::size_t i, std::int32_t primitive) const {
    if (i < surface.node_count) {
      const Vec3i t = surface.triangles[primitive];
      return {surface.nodes[i], t[0], t[1], t[2]};
    }
    const std::int32_t edge = edges.order[i - surface.node_count];
    const Vec2i a = surface.edges[edge < primitive ? edge : primitive];
    const Vec2i b = surface.edges[edge < primitive ? primitive : edge];
    return {a[0], a[1], b[0], b[1]};
  }
};

/// Whether every surface node and the end of its path are inside its box.
bool stay_inside(Context& ctx, const SurfaceView& surface, const Aabb* boxes, const Vec3* x, const Vec3* p,
                 Buffer<std::int32_t>& leaves) {
  leaves.resize(ctx, 1);
  reduce_max(
      ctx, surface.node_count,
      [=] SS_LAMBDA(std::size_t i) {
        const std::int32_t node = surface.nodes[i];
        const Vec3 from = x[node], to = p != nullptr ? from + p[node] : from;
        return contains(boxes[i], from) && contains(boxes[i], to) ? 0 : 1;
      },
      0, leaves.data());
  return read_back(ctx, leaves.data()) == 0;
}

}  // namespace

void BroadPhase::find_nearby(Context& ctx, const Vec3* x, const Vec3* p, Real margin, Real spare,
                             const PairFilter& filter) {
  if (margin == covered_margin_ && stay_inside(ctx, surface_, covered_.data(), x, p, leaves_)) return;
  find(ctx, x, p, margin + 2 * spare, filter);
  covered_.resize(ctx, surface_.node_count);
  Aabb* covered = covered_.data();
  const SurfaceView surface = surface_;
  launch(ctx, surface.node_count, [=] SS_LAMBDA(std::size_t i) {
    const std::int32_t node = surface.nodes[i];
    const Aabb path = merge(Aabb::of(x[node]), p != nullptr ? x[node] + p[node] : x[node]);
    covered[i] = inflate(path, spare);
  });
  covered_margin_ = margin;
}

void BroadPhase::find(Context& ctx, const Vec3* x, const Vec3* p, Real margin, const PairFilter& filter) {
  forget();
  const Real reach = margin / 2;
  compute_boxes(ctx, surface_.triangles, surface_.triangle_count, x, p, reach, surface_.radius,
                triangle_boxes_);
  compute_boxes(ctx, surface_.edges, surface_.edge_count, x, p, reach, surface_.radius, edge_boxes_);
  triangle_tree_.build(ctx, triangle_boxes_.data(), surface_.triangle_count);
  edge_tree_.build(ctx, edge_boxes_.data(), surface_.edge_count);

  const PairQueries queries{surface_, x, p, reach, filter, triangle_tree_.view(), edge_tree_.view()};
  const std::size_t n = surface_.node_count + surface_.edge_count;
  hits_.resize(ctx, n * kKeptHits);
  counts_.resize(ctx, n);
  offsets_.resize(ctx, n + 1);
  std::int32_t* hits = hits_.data();
  std::int32_t* counts = counts_.data();
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        int found = 0;
        queries.walk(i, [&](std::int32_t primitive) {
          if (found < kKeptHits) hits[i * kKeptHits + found] = primitive;
          ++found;
        });
        counts[i] = found;
      },
      kMedium);
  exclusive_scan(ctx, n, counts, offsets_.data());

  const std::int32_t* offsets = offsets_.data();
  totals_.resize(ctx, 1);
  Vec2i* totals = totals_.data();
  const std::size_t point_count = surface_.node_count;
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    *totals = {offsets[point_count], offsets[n] - offsets[point_count]};
  });
  found_ = read_back(ctx, totals);

  pairs_.resize(ctx, static_cast<std::size_t>(found_[0]) + found_[1]);
  Vec4i* pairs = pairs_.data();
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        Vec4i* out = pairs + offsets[i];
        if (counts[i] > kKeptHits) {
          int found = 0;
          queries.walk(i, [&](std::int32_t primitive) { out[found++] = queries.pair(i, primitive); });
        } else {
          for (int k = 0; k < counts[i]; ++k) out[k] = queries.pair(i, hits[i * kKeptHits + k]);
        }
      },
      kMedium);
}

void BroadPhase::append_trees(Context& ctx, std::vector<TreeBox>& out) const {
  append_tree(ctx, triangle_tree_.view(), out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
