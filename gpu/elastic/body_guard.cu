#include "gpu/elastic/body_guard.cuh"

#include "gpu/broadphase/primitive_pairs.h"
#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "gpu/core/scan.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// What the search for candidates reads.
struct CandidateSearch {
  const Vec3i* triangles;
  const Vec3 *x, *p;
  Real reach;
  LbvhView tree;
  ExemptBodies exempt;
  const std::int32_t* object;  // of each node
  const Real* radius;          // as in GuardedMotion
  const Vec<std::int32_t, 2>* shapes;

  /// Calls visit(candidate) for those of triangle i.
  template <class Visit>
  SS_HD void each(std::size_t i, Visit&& visit) const {
    const Vec3i t = triangles[i];
    traverse(tree, swept_box(t, x, p, reach + radius_of(t, radius)), [&](std::int32_t b) {
      if (exempt.contains(object[t[0]], b)) return;
      for (std::int32_t k = shapes[b][0]; k < shapes[b][1]; ++k)
        visit(BodyCandidate{static_cast<std::int32_t>(i), k, b});
    });
  }
};

void count_candidates(Context& ctx, std::size_t triangles, const CandidateSearch& search,
                      std::int32_t* count) {
  launch(
      ctx, triangles,
      [=] SS_LAMBDA(std::size_t i) {
        std::int32_t n = 0;
        search.each(i, [&](const BodyCandidate&) { ++n; });
        count[i] = n;
      },
      kMedium);
}

void write_candidates(Context& ctx, std::size_t triangles, const CandidateSearch& search,
                      const std::int32_t* start, BodyCandidate* out) {
  launch(
      ctx, triangles,
      [=] SS_LAMBDA(std::size_t i) {
        std::int32_t k = start[i];
        if (k == start[i + 1]) return;
        search.each(i, [&](const BodyCandidate& c) { out[k++] = c; });
      },
      kMedium);
}

void stop_at_bodies(Context& ctx, const BodyCandidates& candidates, const GuardedMotion& motion,
                    std::size_t nodes, Real* time, std::int32_t* first) {
  launch(
      ctx, candidates.count,
      [=] SS_LAMBDA(std::size_t i) {
        time[i] = time_of_impact(motion, candidates.at(motion, i), candidates.library);
        if (!(time[i] < kSafe)) return;
        const BodyCandidate& c = candidates.candidate[i];
        const Vec3i& q = candidates.triangles[c.triangle];
        for (int k = 0; k < 3; ++k) atomic_min(first + q[k], ticks(time[i]));
        atomic_min(first + nodes + c.body, ticks(time[i]));
      },
      kHeavy);
}

void set_flags(Context& ctx, std::size_t n, const IsFirstOfBody& is_first, std::int32_t* flag) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { flag[i] = is_first(i) ? 1 : 0; });
}

void write_crossings(Context& ctx, const BodyCandidates& candidates, const GuardedMotion& motion,
                     const Real* time, const std::int32_t* start, RigidContact* contact,
                     SurfacePoint* point) {
  launch(
      ctx, candidates.count,
      [=] SS_LAMBDA(std::size_t i) {
        const std::int32_t k = start[i];
        if (k == start[i + 1]) return;
        const BodyCandidate& c = candidates.candidate[i];
        contact[k] = crossing_contact(motion, candidates.at(motion, i), candidates.triangles[c.triangle],
                                      time[i], candidates.library, point[k]);
        contact[k].b = c.body;
      },
      kMedium);
}

void scale_shares(Context& ctx, std::size_t n, const std::int32_t* first, const std::int32_t* least,
                  double* share) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t b) {
    const std::int32_t t = least != nullptr ? *least : first[b];
    if (t < kTicks) share[b] *= static_cast<double>(time_of(t));
  });
}

}  // namespace

void BodyGuard::load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt) {
  tree_.load(ctx, solids.objects.size(), exempt);
}

BodyCandidates BodyGuard::view(const Input& in) const {
  return {candidates_.data(),
          candidates_.size(),
          in.solids->contact_faces().data(),
          in.shapes.shapes,
          in.shapes.shape_radius,
          in.shapes.library,
          {in.motion.pose, in.motion.velocity, in.motion.spin, share_.data(), in.dt}};
}

void BodyGuard::find(Context& ctx, const Input& in, const Vec3* x, const Vec3* p, Real reach) {
  const auto bodies = static_cast<std::size_t>(in.shapes.bodies);
  share_.resize(ctx, bodies);
  candidates_.resize(ctx, 0);
  if (bodies == 0) return;
  fill(ctx, share_.data(), bodies, 1.0);
  tree_.build(ctx, in.shapes, in.motion, in.dt);
  const Buffer<Vec3i>& faces = in.solids->contact_faces();
  const std::size_t triangles = faces.size();
  const CandidateSearch search{faces.data(),
                               x,
                               p,
                               reach,
                               tree_.view(),
                               tree_.exempt(),
                               in.solids->node_object.data(),
                               in.solids->radius.data(),
                               in.shapes.range};
  start_.resize(ctx, triangles + 1);
  count_candidates(ctx, triangles, search, start_.data());
  exclusive_scan(ctx, triangles, start_.data(), start_.data());
  candidates_.resize(ctx, static_cast<std::size_t>(read_back(ctx, start_.data() + triangles)));
  write_candidates(ctx, triangles, search, start_.data(), candidates_.data());
}

void BodyGuard::measure(Context& ctx, const Input& in, const GuardedMotion& motion, std::int32_t* first) {
  time_.resize(ctx, candidates());
  stop_at_bodies(ctx, view(in), motion, in.solids->node_count, time_.data(), first);
}

IsFirstOfBody BodyGuard::is_first(const Input& in, const std::int32_t* first) const {
  return {candidates_.data(), in.solids->contact_faces().data(), time_.data(), first, in.solids->node_count};
}

void BodyGuard::write_contacts(Context& ctx, const Input& in, const GuardedMotion& motion,
                               const std::int32_t* first, std::size_t count) {
  contacts_.resize(ctx, count);
  points_.resize(ctx, count);
  if (count == 0) return;
  const std::size_t n = candidates();
  start_.resize(ctx, n + 1);
  set_flags(ctx, n, is_first(in, first), start_.data());
  exclusive_scan(ctx, n, start_.data(), start_.data());
  write_crossings(ctx, view(in), motion, time_.data(), start_.data(), contacts_.data(), points_.data());
}

void BodyGuard::scale(Context& ctx, const std::int32_t* first, const std::int32_t* least) {
  scale_shares(ctx, bodies(), first, least, share_.data());
}

}  // namespace stickslip::STICKSLIP_BACKEND
