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
  contacts_.resize(ctx, count());
  copy(ctx, contacts_.data(), shapes_.contacts(), single);
  copy(ctx, contacts_.data() + single, meshes_.contacts(), meshes_.count());
  const std::size_t points = single + 2 * meshes_.count();
  points_.resize(ctx, points);
  copy(ctx, points_.data(), shapes_.points(), single);
  copy(ctx, points_.data() + single, meshes_.points(), 2 * meshes_.count());
  stencils_.resize(ctx, points);
  write_stencils(ctx, points_.data(), points, stencils_.data());
  gather_.build(ctx, stencils_.data(), points, in.solids->node_count);
}

}  // namespace stickslip::STICKSLIP_BACKEND
