#include "gpu/barrier/contact_set.cuh"

#include "gpu/barrier/augmented_set.cuh"
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

void ContactSet::build(Context& ctx, const Proximity& near, const Vec3* x, Real d_hat, bool has_gaps,
                       bool mollify) {
  const std::size_t n = near.size();
  clear();
  min_gap_ = d_hat;
  if (n == 0) return;
  Real* gap = gaps(ctx, n);
  selected_.resize(ctx, n);
  resize_cleared(ctx, device_found_, 1);
  if (!has_gaps)
    launch(
        ctx, n, [=] SS_LAMBDA(std::size_t i) { gap[i] = pair_gap_below(near, near[i], x, d_hat); }, kMedium);
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
