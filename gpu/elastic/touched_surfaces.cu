#include "gpu/elastic/touched_surfaces.cuh"

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The nodes of each point as a stencil.
void write_stencils(Context& ctx, const SurfacePoint* at, std::size_t n, Vec4i* stencil) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t k) {
    stencil[k] = {at[k].nodes[0], at[k].nodes[1], at[k].nodes[2], -1};
  });
}

/// Contact k has the points from `first` + `each` k on as its sides a and, if `each` is 2, b.
void number_sides(Context& ctx, std::size_t n, std::int32_t first, int each, RigidContact* contact) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t k) {
    contact[k].a = first + each * static_cast<std::int32_t>(k);
    if (each == 2) contact[k].b = contact[k].a + 1;
  });
}

/// The sides of n points of the contacts from `contact` on, which have `each` points.
void set_sides(Context& ctx, std::size_t n, std::size_t contact, std::size_t each, PointSide* side) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t k) {
    side[k] = {static_cast<std::int32_t>(contact + k / each), k % each == 0 ? 1.0f : -1.0f};
  });
}

void follow_scripts_at(Context& ctx, std::size_t n, const std::uint8_t* scripted, SurfacePoint* point) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t k) { follow_scripts(scripted, point[k]); });
}

}  // namespace

void TouchedSurfaces::load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt) {
  shapes_.load(ctx, solids, exempt);
  meshes_.load(ctx, solids);
  forget();
}

void TouchedSurfaces::forget() {
  shapes_.forget();
  meshes_.forget();
  single_before_ = 0;
}

void TouchedSurfaces::find(Context& ctx, const Input& in, const Options& options) {
  shapes_.find(ctx, in, options);
  const std::size_t single = shapes_.count();
  meshes_.find(ctx,
               {in.solids, in.x, in.v, in.first + static_cast<std::int32_t>(single),
                in.previous + static_cast<std::int32_t>(single_before_)},
               {options.margin, options.dt});
  single_before_ = single;
  contacts_.resize(ctx, single + meshes_.count());
  copy(ctx, contacts_.data(), shapes_.contacts(), single);
  copy(ctx, contacts_.data() + single, meshes_.contacts(), meshes_.count());
  const std::size_t points = single + 2 * meshes_.count();
  points_.resize(ctx, points);
  copy(ctx, points_.data(), shapes_.points(), single);
  copy(ctx, points_.data() + single, meshes_.points(), 2 * meshes_.count());
  sides_.resize(ctx, points);
  set_sides(ctx, single, 0, 1, sides_.data());
  set_sides(ctx, 2 * meshes_.count(), single, 2, sides_.data() + single);
  gather_points(ctx, in.solids->node_count);
}

void TouchedSurfaces::gather_points(Context& ctx, std::size_t nodes) {
  const std::size_t points = points_.size();
  stencils_.resize(ctx, points);
  write_stencils(ctx, points_.data(), points, stencils_.data());
  gather_.build(ctx, stencils_.data(), points, nodes);
}

void TouchedSurfaces::swap_aside() {
  contacts_.swap(contacts_aside_);
  points_.swap(points_aside_);
  sides_.swap(sides_aside_);
}

void TouchedSurfaces::set_aside(Context& ctx, std::size_t nodes) {
  swap_aside();
  contacts_.resize(ctx, 0);
  points_.resize(ctx, 0);
  sides_.resize(ctx, 0);
  gather_points(ctx, nodes);
}

void TouchedSurfaces::bring_back(Context& ctx, std::size_t nodes) {
  swap_aside();
  gather_points(ctx, nodes);
}

void TouchedSurfaces::add(Context& ctx, std::size_t count, const RigidContact* contacts,
                          const SurfacePoint* points, int points_each, std::int32_t first,
                          const DeviceModel& solids) {
  if (count == 0) return;
  const auto each = static_cast<std::size_t>(points_each);
  const std::size_t before = contacts_.size(), points_before = points_.size();
  contacts_.extend(ctx, before + count);
  points_.extend(ctx, points_before + each * count);
  sides_.extend(ctx, points_before + each * count);
  copy(ctx, contacts_.data() + before, contacts, count);
  copy(ctx, points_.data() + points_before, points, each * count);
  set_sides(ctx, each * count, before, each, sides_.data() + points_before);
  number_sides(ctx, count, first + static_cast<std::int32_t>(points_before), points_each,
               contacts_.data() + before);
  follow_scripts_at(ctx, each * count, solids.scripted.data(), points_.data() + points_before);
  gather_points(ctx, solids.node_count);
}

}  // namespace stickslip::STICKSLIP_BACKEND
