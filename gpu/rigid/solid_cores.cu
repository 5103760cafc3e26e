#include "gpu/rigid/solid_cores.cuh"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

constexpr std::int32_t kChunk = 256;

SS_HD NodeMoments plus(NodeMoments a, const NodeMoments& b) {
  a.mass += b.mass;
  a.first += b.first;
  a.second += b.second;
  a.held += b.held;
  return a;
}

void sum_chunks(Context& ctx, std::size_t chunks, const Vec2i* chunk, const Vec3* x, const Real* mass,
                const std::uint8_t* held, NodeMoments* out) {
  launch(
      ctx, chunks,
      [=] SS_LAMBDA(std::size_t c) {
        NodeMoments sum;
        for (std::int32_t i = chunk[c][0]; i < chunk[c][1]; ++i) {
          const Vec3d p = x[i].template cast<double>();
          const double m = static_cast<double>(mass[i]);
          sum.mass += m;
          sum.first += m * p;
          sum.second += m * Vec<double, 6>{p[0] * p[0], p[1] * p[1], p[2] * p[2],
                                           p[0] * p[1], p[0] * p[2], p[1] * p[2]};
          sum.held += held[i] != 0 ? 1 : 0;
        }
        out[c] = sum;
      },
      kHeavy);
}

/// Centre and inverse of a body with these moments; no inverse where a node is held.
SS_HD void set_core(const NodeMoments& sum, Pose& pose, BodyInverse& inverse) {
  pose = Pose::identity();
  inverse = BodyInverse{};
  if (!(sum.mass > 0)) return;
  const Vec3d c = (1 / sum.mass) * sum.first;
  pose.x = c;
  if (sum.held > 0) return;
  const double xx = sum.second[0] - sum.mass * c[0] * c[0], yy = sum.second[1] - sum.mass * c[1] * c[1],
               zz = sum.second[2] - sum.mass * c[2] * c[2];
  Mat<double, 3> inertia{};
  inertia(0, 0) = yy + zz;
  inertia(1, 1) = xx + zz;
  inertia(2, 2) = xx + yy;
  inertia(0, 1) = inertia(1, 0) = -(sum.second[3] - sum.mass * c[0] * c[1]);
  inertia(0, 2) = inertia(2, 0) = -(sum.second[4] - sum.mass * c[0] * c[2]);
  inertia(1, 2) = inertia(2, 1) = -(sum.second[5] - sum.mass * c[1] * c[2]);
  const Mat<double, 3> turn = stickslip::inverse(inertia);
  inverse.mass = 1 / sum.mass;
  inverse.inertia = {turn(0, 0), turn(1, 1), turn(2, 2), turn(0, 1), turn(0, 2), turn(1, 2)};
}

void set_cores(Context& ctx, std::size_t objects, const std::int32_t* start, const NodeMoments* partial,
               Pose* pose, BodyInverse* inverse) {
  launch(
      ctx, objects,
      [=] SS_LAMBDA(std::size_t o) {
        NodeMoments sum;
        for (std::int32_t c = start[o]; c < start[o + 1]; ++c) sum = plus(sum, partial[c]);
        set_core(sum, pose[o], inverse[o]);
      },
      kMedium);
}

void find_objects(Context& ctx, std::size_t points, const SurfacePoint* at, const std::int32_t* node_object,
                  std::int32_t* core, Vec4i* stencil) {
  launch(ctx, points, [=] SS_LAMBDA(std::size_t k) {
    core[k] = node_object[at[k].nodes[0]];
    stencil[k] = {core[k], -1, -1, -1};
  });
}

/// The wrench of a point's impulse.
struct PointWrench {
  const Vec3d* impulse;
  const Pose *position, *pose;
  const std::int32_t* core;

  SS_HD Wrench operator()(std::int32_t k) const {
    const Vec3d turn = cross(position[k].x - pose[core[k]].x, impulse[k]);
    return {impulse[k][0], impulse[k][1], impulse[k][2], turn[0], turn[1], turn[2]};
  }
};

}  // namespace

void SolidCores::load(Context& ctx, const Model& solids) {
  std::vector<Vec2i> chunks;
  std::vector<std::int32_t> start{0};
  for (const Object& object : solids.objects) {
    for (std::int32_t i = object.node_begin; i < object.node_end; i += kChunk)
      chunks.push_back({i, std::min(i + kChunk, object.node_end)});
    start.push_back(static_cast<std::int32_t>(chunks.size()));
  }
  objects_ = solids.objects.size();
  chunk_.upload(ctx, chunks);
  chunk_start_.upload(ctx, start);
  partial_.resize(ctx, chunks.size());
  wrench_.resize(ctx, objects_);
}

void SolidCores::stage(Context& ctx, const ElasticSolids& solids, Pose* pose, BodyInverse* inverse) {
  const DeviceModel& device = solids.device();
  sum_chunks(ctx, chunk_.size(), chunk_.data(), solids.x.data(), device.mass.data(), device.scripted.data(),
             partial_.data());
  set_cores(ctx, objects_, chunk_start_.data(), partial_.data(), pose, inverse);
}

void SolidCores::stage_points(Context& ctx, const ElasticSolids& solids, const TouchedSurfaces& touching) {
  const std::size_t points = touching.point_count();
  core_of_point_.resize(ctx, points);
  stencils_.resize(ctx, points);
  find_objects(ctx, points, touching.points(), solids.device().node_object.data(), core_of_point_.data(),
               stencils_.data());
  gather_.build(ctx, stencils_.data(), points, objects_);
}

const Wrench* SolidCores::wrenches(Context& ctx, const Vec3d* impulse, const Pose* position,
                                   const Pose* pose) {
  fill(ctx, wrench_.data(), objects_, Wrench::zero());
  sum_by_object(ctx, PointWrench{impulse, position, pose, core_of_point_.data()}, wrench_.data());
  return wrench_.data();
}

}  // namespace stickslip::STICKSLIP_BACKEND
