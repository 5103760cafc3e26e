#include "gpu/ccd/near_pairs.cuh"

#include "gpu/ccd/pair_pack.cuh"
#include "gpu/ccd/swept_pair.h"
#include "gpu/core/reduce.h"
#include "gpu/core/select.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

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

/// What a search covers.
struct Covered {
  const Vec3* x;
  const Vec3* p;  // may be null
  Real margin, spare;
  const Real* radius;
};

/// The ways of a pack's pairs, relative to where corner 0 starts.
SS_HD clearance::Way<PairLanes> way_of(const PairPack& pack, const Covered& covered) {
  clearance::Way<PairLanes> way;
  Vec<PairLanes, 3> origin, moved = Vec<PairLanes, 3>::zero();
  pack.relative(covered.x, way.start, origin);
  if (covered.p != nullptr) pack.relative(covered.p, way.end, moved);
  for (int i = 0; i < 4; ++i)
    way.end[i] = covered.p != nullptr ? way.start[i] + (way.end[i] + moved) : way.start[i];
  way.origin = clearance::larger_size(origin, PairLanes(0)) + clearance::larger_size(moved, PairLanes(0));
  return way;
}

/// near[i] = whether pair i may come within the margin.
template <class Pair>
void find_near(Context& ctx, const Vec4i* pairs, std::size_t count, const Covered& covered,
               std::uint8_t* near) {
  launch_pair_packs(ctx, pairs, count, 1, [=] SS_LAMBDA(const PairPack& pack, std::size_t first) {
    const PairLanes least = pack.template thickness<Pair>(covered.radius) + PairLanes(covered.margin);
    const auto away = clearance::keeps_away<Pair>(way_of(pack, covered), least, PairLanes(covered.spare));
    for (std::size_t lane = 0; lane < pack.count(); ++lane) near[first + lane] = lane_of(away, lane) ? 0 : 1;
  });
}

/// The near ones of pairs [first, end), ascending from selected[first] on, and their number.
void select_near(Context& ctx, std::size_t first, std::size_t end, const std::uint8_t* near,
                 std::int32_t* selected, std::int32_t* count) {
  select_indices(
      ctx, end - first, [=] SS_LAMBDA(std::size_t i) { return near[first + i] != 0; }, selected + first,
      count);
}

/// The first `points` selected pairs of a point and a triangle, then `edges` of two edges.
void copy_pairs(Context& ctx, const CandidateView& all, const std::int32_t* selected, std::size_t points,
                std::size_t edges, Vec4i* pairs) {
  const std::size_t of_points = all.point_triangle_count;
  const CandidateView from = all;
  launch(ctx, points + edges, [=] SS_LAMBDA(std::size_t i) {
    pairs[i] =
        i < points ? from.point_triangle[selected[i]] : from.edge_edge[selected[of_points + (i - points)]];
  });
}

}  // namespace

void NearPairs::find(Context& ctx, const Vec3* x, const Vec3* p, Real margin, Real spare,
                     const PairFilter& filter) {
  const SurfaceView surface = broad_phase_.surface();
  if (margin == covered_margin_ && stay_inside(ctx, surface, covered_.data(), x, p, leaves_)) return;
  broad_phase_.find(ctx, x, p, margin + 2 * spare, filter);
  keep_near(ctx, x, p, margin, spare);
  covered_.resize(ctx, surface.node_count);
  Aabb* covered = covered_.data();
  launch(ctx, surface.node_count, [=] SS_LAMBDA(std::size_t i) {
    const std::int32_t node = surface.nodes[i];
    const Aabb path = merge(Aabb::of(x[node]), p != nullptr ? x[node] + p[node] : x[node]);
    covered[i] = inflate(path, spare);
  });
  covered_margin_ = margin;
}

void NearPairs::keep_near(Context& ctx, const Vec3* x, const Vec3* p, Real margin, Real spare) {
  const CandidateView all = broad_phase_.view();
  const std::size_t of_points = all.point_triangle_count, n = of_points + all.edge_edge_count;
  const Covered covered{x, p, margin, spare, broad_phase_.surface().radius};
  near_.resize(ctx, n);
  selected_.resize(ctx, n);
  counts_.resize(ctx, 1);
  std::uint8_t* near = near_.data();
  std::int32_t* selected = selected_.data();
  Vec2i* counts = counts_.data();
  find_near<PointTriangle<Real>>(ctx, all.point_triangle, of_points, covered, near);
  find_near<EdgeEdge<Real>>(ctx, all.edge_edge, n - of_points, covered, near + of_points);
  select_near(ctx, 0, of_points, near, selected, &counts->v[0]);
  select_near(ctx, of_points, n, near, selected, &counts->v[1]);
  found_ = read_back(ctx, counts);

  const auto points = static_cast<std::size_t>(found_[0]), edges = static_cast<std::size_t>(found_[1]);
  pairs_.resize(ctx, points + edges);
  copy_pairs(ctx, all, selected, points, edges, pairs_.data());
}

}  // namespace stickslip::STICKSLIP_BACKEND
