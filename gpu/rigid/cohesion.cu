#include "gpu/rigid/cohesion.cuh"

#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

void find_pulls(Context& ctx, const CohesivePulls& pulls, Vec3d* impulse) {
  const CohesivePulls of = pulls;
  launch(ctx, of.count, [=] SS_LAMBDA(std::size_t c) { impulse[c] = -of(c) * of.contact[c].normal; });
}

/// The body of each side of each contact; `none` where nothing pulls.
void find_sides(Context& ctx, const CohesivePulls& pulls, const Vec3d* impulse, std::uint32_t none,
                std::uint32_t* key) {
  const CohesivePulls of = pulls;
  launch(ctx, 2 * of.count, [=] SS_LAMBDA(std::size_t e) {
    const RigidContact& c = of.contact[e / 2];
    const std::int32_t b = e % 2 == 0 ? c.a : c.b;
    const bool pulled = b >= 0 && b < of.bodies && norm2(impulse[e / 2]) > 0;
    key[e] = pulled ? static_cast<std::uint32_t>(b) : none;
  });
}

/// What the entries of a body add to its velocity without impulses.
struct BodyPull {
  const RigidContact* contact;
  const Vec3d* impulse;
  const std::int32_t *start, *entry;
  const Pose* pose;
  const BodyInverse* inverse;
  double* free;

  SS_HD void operator()(std::size_t b) const {
    Vec<double, 6> sum = Vec<double, 6>::zero();
    for (std::int32_t k = start[b]; k < start[b + 1]; ++k) {
      const std::int32_t c = entry[k] / 2;
      const Vec3d force = (entry[k] % 2 == 0 ? 1.0 : -1.0) * impulse[c],
                  torque = cross(contact[c].point - pose[b].x, force);
      sum += rigid_detail::joined(force, torque);
    }
    const Vec<double, 6> change = inverse[b].times(sum);
    for (std::size_t i = 0; i < 6; ++i) free[6 * b + i] += change[static_cast<int>(i)];
  }
};

/// `of`: per contact of the solids.
void share_pulls(Context& ctx, std::size_t points, const PointSides& sides, const Vec3d* of,
                 Vec3d* at_point) {
  const PointSides s = sides;
  launch(ctx, points, [=] SS_LAMBDA(std::size_t k) { at_point[k] = s.sign(k) * of[s.contact(k)]; });
}

/// The part of a point's impulse on a corner of its triangle; a point has four corners, the last one unused.
struct PulledCorner {
  const SurfacePoint* at;
  const Vec3d* impulse;

  SS_HD Vec3 operator()(std::int32_t corner) const {
    const std::int32_t k = corner / 4, c = corner % 4;
    return c < 3 ? (at[k].weights[c] * impulse[k]).cast<Real>() : Vec3::zero();
  }
};

}  // namespace

void Cohesion::apply(Context& ctx, const CohesivePulls& pulls, DeviceBodies& bodies, ElasticSolids* solids,
                     const TouchedSurfaces& touching, std::size_t first) {
  const Span span(ctx, "cohesion");
  pulls_ = pulls;
  if (pulls.count == 0) return;
  impulse_.resize(ctx, pulls.count);
  find_pulls(ctx, pulls, impulse_.data());
  free_.resize(ctx, 6 * bodies.size());
  copy(ctx, free_.data(), bodies.free.data(), 6 * bodies.size());
  push_bodies(ctx, bodies);
  if (solids == nullptr || touching.point_count() == 0) return;
  at_point_.resize(ctx, touching.point_count());
  at_node_.resize(ctx, solids->size());
  share_pulls(ctx, touching.point_count(), touching.sides(), impulse_.data() + first, at_point_.data());
  fill(ctx, at_node_.data(), solids->size(), Vec3::zero());
  touching.gather().sum(ctx, PulledCorner{touching.points(), at_point_.data()}, at_node_.data());
  solids->add_load(ctx, at_node_.data());
}

void Cohesion::push_bodies(Context& ctx, DeviceBodies& bodies) {
  const std::size_t n = bodies.size();
  if (n == 0) return;
  std::uint32_t* key = gather_.keys(ctx, 2 * pulls_.count);
  find_sides(ctx, pulls_, impulse_.data(), static_cast<std::uint32_t>(n), key);
  gather_.sort(ctx, n);
  launch(ctx, n,
         BodyPull{pulls_.contact, impulse_.data(), gather_.start(), gather_.entry(), bodies.pose.data(),
                  bodies.inverse.data(), bodies.free.data()},
         kMedium);
}

void Cohesion::subtract(Context& ctx, double dt, std::vector<ContactRecord>& records) const {
  const std::size_t n = std::min(pulls_.count, records.size());
  std::vector<Vec3d> pull(n);
  if (n > 0) copy_to_host(ctx, pull.data(), impulse_.data(), n);
  for (std::size_t c = 0; c < n; ++c) records[c].normal_force -= static_cast<float>(norm(pull[c]) / dt);
}

}  // namespace stickslip::STICKSLIP_BACKEND
