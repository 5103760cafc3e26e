#include "gpu/broadphase/broadphase.cuh"

#include <algorithm>
#include <bit>

#include "gpu/broadphase/primitive_boxes.cuh"
#include "gpu/broadphase/tree_boxes.cuh"
#include "gpu/core/index_range.h"
#include "gpu/core/scan.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

/// How many primitives of a query are remembered at least and at most, so that filling the list needs no
/// second walk in most cases: kHitShare times the mean of the last search. A query of a bundle of hair has
/// dozens.
constexpr int kLeastHits = 8, kMostHits = 64;
constexpr std::size_t kHitShare = 4;

int kept_hits(std::size_t pairs_before, std::size_t queries) {
  const std::size_t wanted = kHitShare * pairs_before / std::max<std::size_t>(queries, 1);
  return static_cast<int>(std::clamp<std::size_t>(std::bit_ceil(wanted), kLeastHits, kMostHits));
}

#if STICKSLIP_ON_CUDA

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
    if (i < surface.node_count) return surface.point_triangle(surface.nodes[i], primitive);
    return surface.edge_edge(edges.order[i - surface.node_count], primitive);
  }
};

#else

/// The same, eight neighbouring queries together.
struct PairQueries {
  SurfaceView surface;
  PairFilter filter;
  const PackTree *points, *triangles, *edges;
  const std::int32_t *point_order, *triangle_order, *edge_order;

  std::size_t packs() const { return points->leaf_packs() + edges->leaf_packs(); }
  /// Of a pack.
  IndexRange queries(std::size_t pack) const {
    const std::size_t of_points = points->leaf_packs(), n = surface.node_count;
    if (pack < of_points) return {kLanes * pack, std::min(n, kLanes * (pack + 1))};
    const std::size_t first = kLanes * (pack - of_points);
    return {n + first, n + std::min(surface.edge_count, first + kLanes)};
  }

  /// Calls emit(query, primitive) for every primitive that pairs with a query of the pack, in the same order
  /// each time.
  template <class Emit>
  void walk(std::size_t pack, const Emit& emit) const {
    const IndexRange own = queries(pack);
    if (own.begin < surface.node_count) return walk_points(pack, own, emit);
    walk_edges(pack - points->leaf_packs(), own, emit);
  }

  /// As above.
  Vec4i pair(std::size_t i, std::int32_t primitive) const {
    if (i < surface.node_count) return surface.point_triangle(surface.nodes[point_order[i]], primitive);
    return surface.edge_edge(edge_order[i - surface.node_count], primitive);
  }

 private:
  static constexpr std::size_t kLanes = BoxPack::size;

  template <class Emit>
  void walk_points(std::size_t pack, IndexRange own, const Emit& emit) const {
    Vec<std::int32_t, 1> node[kLanes];
    NodePack<1> nodes;
    for (std::size_t i = own.begin; i < own.end; ++i) {
      const std::size_t lane = i - own.begin;
      node[lane] = {surface.nodes[point_order[i]]};
      nodes.set(static_cast<int>(lane), node[lane]);
    }
    const BoxPack& boxes = points->leaf_pack(pack);
    triangles->traverse(boxes, boxes.merged(), 0, [&](std::size_t leaf, unsigned hit) {
      const std::int32_t triangle = triangle_order[leaf];
      // Most that overlap are neighbours; all at once, because no branch would foresee which.
      hit &= ~nodes.share(surface.triangles[triangle]);
      for (; hit != 0; hit &= hit - 1) {
        const int lane = std::countr_zero(hit);
        if (!never_touch(node[lane], surface.triangles[triangle], filter)) emit(own.begin + lane, triangle);
      }
    });
  }

  template <class Emit>
  void walk_edges(std::size_t pack, IndexRange own, const Emit& emit) const {
    const std::size_t first = kLanes * pack;
    Vec2i edge[kLanes];
    NodePack<2> nodes;
    for (std::size_t lane = 0; lane < own.size(); ++lane) {
      edge[lane] = surface.edges[edge_order[first + lane]];
      nodes.set(static_cast<int>(lane), edge[lane]);
    }
    const BoxPack& boxes = edges->leaf_pack(pack);
    edges->traverse(boxes, boxes.merged(), first, [&](std::size_t leaf, unsigned hit) {
      // Each pair once: with the queries before the leaf.
      if (leaf - first < kLanes) hit &= (1u << (leaf - first)) - 1;
      const std::int32_t other = edge_order[leaf];
      hit &= ~nodes.share(surface.edges[other]);
      for (; hit != 0; hit &= hit - 1) {
        const int lane = std::countr_zero(hit);
        if (!never_touch(edge[lane], surface.edges[other], filter)) emit(own.begin + lane, other);
      }
    });
  }
};

#endif

}  // namespace

void BroadPhase::find(Context& ctx, const Vec3* x, const Vec3* p, Real margin, const PairFilter& filter) {
  find_boxes(ctx, x, p, margin / 2);
  const std::size_t n = surface_.node_count + surface_.edge_count;
  const int kept = kept_hits(pairs_.size(), n);
  hits_.resize(ctx, n * static_cast<std::size_t>(kept));
  counts_.resize(ctx, n);
  offsets_.resize(ctx, n + 1);
  std::int32_t* hits = hits_.data();
  std::int32_t* counts = counts_.data();
#if STICKSLIP_ON_CUDA
  const PairQueries queries{surface_, x, p, margin / 2, filter, triangle_tree_.view(), edge_tree_.view()};
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        int found = 0;
        queries.walk(i, [&](std::int32_t primitive) {
          if (found < kept) hits[i * kept + found] = primitive;
          ++found;
        });
        counts[i] = found;
      },
      kMedium);
#else
  const PairQueries queries{surface_,
                            filter,
                            &point_tree_,
                            &triangle_tree_,
                            &edge_tree_,
                            point_order_.data(),
                            triangle_order_.data(),
                            edge_order_.data()};
  constexpr Grain kPacks{kMedium.size / BoxPack::size};
  launch(
      ctx, queries.packs(),
      [=](std::size_t pack) {
        const IndexRange own = queries.queries(pack);
        for (std::size_t i = own.begin; i < own.end; ++i) counts[i] = 0;
        queries.walk(pack, [=](std::size_t i, std::int32_t primitive) {
          if (counts[i] < kept) hits[i * kept + counts[i]] = primitive;
          ++counts[i];
        });
      },
      kPacks);
#endif
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
#if STICKSLIP_ON_CUDA
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        Vec4i* out = pairs + offsets[i];
        if (counts[i] > kept) {
          int found = 0;
          queries.walk(i, [&](std::int32_t primitive) { out[found++] = queries.pair(i, primitive); });
        } else {
          for (int k = 0; k < counts[i]; ++k) out[k] = queries.pair(i, hits[i * kept + k]);
        }
      },
      kMedium);
#else
  launch(
      ctx, queries.packs(),
      [=](std::size_t pack) {
        const IndexRange own = queries.queries(pack);
        Vec4i* out[BoxPack::size]{};  // of the queries with more pairs than were kept
        bool again = false;
        for (std::size_t i = own.begin; i < own.end; ++i)
          if (counts[i] > kept) {
            out[i - own.begin] = pairs + offsets[i];
            again = true;
          } else {
            for (int k = 0; k < counts[i]; ++k) pairs[offsets[i] + k] = queries.pair(i, hits[i * kept + k]);
          }
        if (!again) return;
        queries.walk(pack, [&](std::size_t i, std::int32_t primitive) {
          if (Vec4i*& at = out[i - own.begin]; at != nullptr) *at++ = queries.pair(i, primitive);
        });
      },
      kPacks);
#endif
  // Room for the next search, so that one like this allocates nothing.
  hits_.resize(ctx, n * static_cast<std::size_t>(kept_hits(pairs_.size(), n)));
}

/// The boxes of all primitives, grown by `reach`, and what is searched in them.
void BroadPhase::find_boxes(Context& ctx, const Vec3* x, const Vec3* p, Real reach) {
  compute_boxes(ctx, surface_.triangles, surface_.triangle_count, x, p, reach, surface_.radius,
                triangle_boxes_);
  compute_boxes(ctx, surface_.edges, surface_.edge_count, x, p, reach, surface_.radius, edge_boxes_);
#if STICKSLIP_ON_CUDA
  triangle_tree_.build(ctx, triangle_boxes_.data(), surface_.triangle_count);
  edge_tree_.build(ctx, edge_boxes_.data(), surface_.edge_count);
#else
  point_boxes_.resize(ctx, surface_.node_count);
  FloatBox* boxes = point_boxes_.data();
  launch(ctx, surface_.node_count, [=, surface = surface_](std::size_t i) {
    const Vec<std::int32_t, 1> node{surface.nodes[i]};
    boxes[i] = swept_box(node, x, p, reach + radius_of(node, surface.radius));
  });
  const auto build = [&](const Buffer<FloatBox>& of, MortonOrder& order, PackTree& tree) {
    // Sixteen bits are two passes of a sort, and enough to tell this many boxes apart.
    constexpr std::size_t kFew = 8192;
    order.compute_codes(ctx, of.data(), of.size(), of.size() < kFew ? kCodeBits - 16 : 0);
    order.sort(ctx);
    tree.build(ctx, of.data(), order.data(), of.size());
  };
  build(point_boxes_, point_order_, point_tree_);
  build(triangle_boxes_, triangle_order_, triangle_tree_);
  build(edge_boxes_, edge_order_, edge_tree_);
#endif
}

void BroadPhase::append_trees(Context& ctx, std::vector<TreeBox>& out) const {
#if STICKSLIP_ON_CUDA
  append_tree(ctx, triangle_tree_.view(), out);
#else
  Lbvh tree;
  tree.build(ctx, triangle_boxes_.data(), triangle_boxes_.size());
  append_tree(ctx, tree.view(), out);
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
