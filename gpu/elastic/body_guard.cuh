// BodyGuard: the part of PenetrationGuard between triangles of solids or segments of rods and shapes of rigid
// bodies.
#pragma once

#include "gpu/elastic/body_tree.cuh"
#include "gpu/elastic/guarded_body.h"
#include "gpu/model/device_model.cuh"

namespace stickslip {

/// Least times of impact are kept as integers, rounded down: atomics on integers do not depend on the order
/// of threads.
inline constexpr std::int32_t kTicks = 1 << 30;
SS_HD inline std::int32_t ticks(Real t) {
  return t < kSafe ? static_cast<std::int32_t>(t * static_cast<Real>(kTicks)) : kTicks;
}
SS_HD inline Real time_of(std::int32_t ticks) { return static_cast<Real>(ticks) / static_cast<Real>(kTicks); }

/// A triangle of a solid, or a segment {a, b, b}, and a shape of a body whose boxes, swept along the step,
/// overlap.
struct BodyCandidate {
  std::int32_t triangle, shape, body;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The motions of bodies in a step, as far as they are not cut.
struct BodyMotions {
  const Pose* pose;
  const Vec<double, 3>*velocity, *spin;
  const double* share;  // of the step that a body may move
  double dt;

  SS_HD BodyPath path(std::int32_t b) const {
    const double moved = share[b] * dt;
    return {pose[b], moved * velocity[b], moved * spin[b]};
  }
};

/// The candidates, and what is necessary to test them.
struct BodyCandidates {
  const BodyCandidate* candidate;
  std::size_t count;
  const Vec3i* triangles;
  const Shape* shapes;
  const double* shape_radius;
  ShapeLibrary library;
  BodyMotions bodies;

  SS_HD GuardedTriangle at(const GuardedMotion& m, std::size_t i) const {
    const BodyCandidate& c = candidate[i];
    const Vec3i nodes = triangles[c.triangle];
    GuardedTriangle t;
    t.shape = shapes[c.shape];
    t.path = bodies.path(c.body);
    t.turning = elastic_detail::turning_reach(t.shape, shape_radius[c.shape]);
    t.radius = static_cast<double>(m.radius_of(nodes[0]));
    t.is_segment = nodes[1] == nodes[2];
    t.origin = t.path.start.x;
    t.path.start.x = {0, 0, 0};
    for (int k = 0; k < 3; ++k) {
      t.x[k] = m.x[nodes[k]].template cast<double>() - t.origin;
      t.p[k] = m.p[nodes[k]].template cast<double>();
    }
    return t;
  }
};

/// Whether candidate i crosses, and none of its nodes nor its body crosses or reaches another thing before.
/// `first`: of the nodes, then of the bodies.
struct IsFirstOfBody {
  const BodyCandidate* candidate;
  const Vec3i* triangles;
  const Real* time;
  const std::int32_t* first;
  std::size_t nodes;

  SS_HD bool operator()(std::size_t i) const {
    if (!(time[i] < kSafe)) return false;
    const std::int32_t t = ticks(time[i]);
    const Vec3i& q = triangles[candidate[i].triangle];
    for (int c = 0; c < 3; ++c)
      if (t <= first[q[c]]) return true;
    return t <= first[nodes + static_cast<std::size_t>(candidate[i].body)];
  }
};

class BodyGuard {
 public:
  struct Input {
    const DeviceModel* solids;
    ShapeView shapes;
    BodyMotionView motion;
    double dt;
  };

  /// `exempt`: pairs of objects and bodies that never touch, ascending.
  void load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt);
  /// Sets all shares to one, and finds the candidates along x + t p, t in [0, 1], within `reach` [m]. One
  /// host read, none without bodies.
  void find(Context& ctx, const Input& in, const Vec3* x, const Vec3* p, Real reach);
  std::size_t bodies() const { return share_.size(); }
  std::size_t candidates() const { return candidates_.size(); }
  const double* shares() const { return share_.data(); }

  /// Times of impact: `first`, of the nodes and then of the bodies, falls to them.
  void measure(Context& ctx, const Input& in, const GuardedMotion& motion, std::int32_t* first);
  IsFirstOfBody is_first(const Input& in, const std::int32_t* first) const;
  const Real* times() const { return time_.data(); }
  /// The `count` first crossings as contacts of one point each.
  void write_contacts(Context& ctx, const Input& in, const GuardedMotion& motion, const std::int32_t* first,
                      std::size_t count);
  const RigidContact* contacts() const { return contacts_.data(); }
  const SurfacePoint* points() const { return points_.data(); }

  /// Shortens each body's motion to its `first`, or all to `least` if that is not null.
  void scale(Context& ctx, const std::int32_t* first, const std::int32_t* least);

 private:
  BodyCandidates view(const Input& in) const;

  BodyTree tree_;
  Buffer<std::int32_t> start_;  // per triangle, then per candidate, and one more
  Buffer<BodyCandidate> candidates_;
  Buffer<Real> time_;     // per candidate
  Buffer<double> share_;  // per body
  Buffer<RigidContact> contacts_;
  Buffer<SurfacePoint> points_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
