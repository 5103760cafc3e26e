#include "gpu/barrier/contact_set.cuh"

#include "gpu/barrier/augmented_set.cuh"
#include "gpu/ccd/pair_pack.cuh"
#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/select.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {

Proximity make_proximity(const DeviceModel& device, const CandidateView& pairs) {
  return {pairs,
          device.surface_nodes.data(),
          device.surface_nodes.size(),
          device.planes.data(),
          device.planes.size(),
          device.scripted.data(),
          device.rest.data(),
          device.friction(),
          device.radius.data(),
          device.plane_radius.data(),
          {device.inverse_mass.data(), device.compliance.data()}};
}

SurfaceView surface_view(const DeviceModel& device) {
  return {device.triangles.data(),     device.triangles.size(),     device.edges.data(), device.edges.size(),
          device.surface_nodes.data(), device.surface_nodes.size(), device.radius.data()};
}

SurfaceView contact_surface(const DeviceModel& device) {
  SurfaceView surface = surface_view(device);
  surface.triangles = device.contact_faces().data();
  surface.triangle_count = device.contact_faces().size();
  return surface;
}

namespace {

/// Most candidates are farther apart than `reach`, which a pack of them shows at once; then gap[i] is
/// `reach`.
template <class Pair>
void find_pair_gaps(Context& ctx, const Proximity& near, ContactPair::Kind kind, const Vec4i* pairs,
                    std::size_t count, const Vec3* x, Real reach, Real* gap) {
  launch_pair_packs(ctx, pairs, count, 1, [=] SS_LAMBDA(const PairPack& pack, std::size_t first) {
    Vec<PairLanes, 3> corners[4], origin;
    pack.relative(x, corners, origin);
    const auto far = clearance::least_distance<Pair>(corners) >
                     pack.template thickness<Pair>(near.radius) + PairLanes(reach);
    for (std::size_t lane = 0; lane < pack.count(); ++lane)
      gap[first + lane] = lane_of(far, lane) ? reach : pair_gap(near, {kind, -1, pack.nodes(lane)}, x);
  });
}

}  // namespace

const Real* ContactSet::find_gaps(Context& ctx, const Proximity& near, const Vec3* x, Real d_hat) {
  gap_.resize(ctx, near.size());
  Real* gap = gap_.data();
  const CandidateView& pairs = near.pairs;
  find_pair_gaps<PointTriangle<Real>>(ctx, near, ContactPair::point_triangle, pairs.point_triangle,
                                      pairs.point_triangle_count, x, d_hat, gap);
  find_pair_gaps<EdgeEdge<Real>>(ctx, near, ContactPair::edge_edge, pairs.edge_edge, pairs.edge_edge_count, x,
                                 d_hat, gap + pairs.point_triangle_count);
  const std::size_t first = pairs.point_triangle_count + pairs.edge_edge_count;
  launch(
      ctx, near.size() - first,
      [=] SS_LAMBDA(std::size_t i) { gap[first + i] = pair_gap(near, near[first + i], x); }, kMedium);
  return gap;
}

void ContactSet::build(Context& ctx, const Proximity& near, const Vec3* x, Real d_hat, bool has_gaps,
                       bool mollify) {
  const std::size_t n = near.size();
  clear();
  min_gap_ = d_hat;
  if (n == 0) return;
  const Real* gap = has_gaps ? gap_.data() : find_gaps(ctx, near, x, d_hat);
  selected_.resize(ctx, n);
  resize_cleared(ctx, device_found_, 1);
  Found* found = device_found_.data();
  std::int32_t* selected = selected_.data();
  select_indices(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return gap[i] < d_hat; }, selected, &found->count);
  reduce_min(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return gap[i]; }, d_hat, &found->min_gap);
  found_ = read_back(ctx, found);
  min_gap_ = found_.min_gap;
  if (found_.count == 0) return;

  const std::size_t active = size_ = active_count();
  types_.resize(ctx, active);
  contacts_.resize(ctx, active);
  nodes_.resize(ctx, active);
  std::uint32_t* type = types_.data();
  launch(ctx, active, [=] SS_LAMBDA(std::size_t i) {
    type[i] = static_cast<std::uint32_t>(
        contact_at(near, near[static_cast<std::size_t>(selected[i])], x, mollify).type);
  });
  constexpr int type_bits = 3;
  sort_pairs(ctx, active, type, selected, type_bits);
  Contact* contact = contacts_.data();
  Vec4i* nodes = nodes_.data();
  launch(ctx, active, [=] SS_LAMBDA(std::size_t i) {
    contact[i] = contact_at(near, near[static_cast<std::size_t>(selected[i])], x, mollify);
    nodes[i] = contact[i].nodes;
  });
}

void ContactSet::append(Context& ctx, const Proximity& near, const AugmentedSet& augmented, const Vec3* x,
                        bool mollify) {
  const std::size_t active = active_count(), count = augmented.size();
  size_ = active + count;
  if (count == 0) return;
  contacts_.extend(ctx, size_);
  nodes_.extend(ctx, size_);
  const AugmentedPair* pairs = augmented.pairs();
  Contact* contact = contacts_.data() + active;
  Vec4i* nodes = nodes_.data() + active;
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        Contact c = contact_at(near, pairs[i].pair, x, mollify);
        c.multiplier = pairs[i].multiplier;
        contact[i] = c;
        nodes[i] = c.nodes;
      },
      kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
