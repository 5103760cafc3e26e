#include "gpu/rigid/solid_check.cuh"

#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

/// The number of scripted nodes of each group of objects, and of objects in it that springs tie to the world.
void count_held(Context& ctx, std::size_t count, std::size_t objects, const NodeMotion& motion,
                std::int32_t* held) {
  const NodeMotion nodes = motion;
  launch(ctx, count, [=] SS_LAMBDA(std::size_t i) {
    if (nodes.held[i] != 0) atomic_add(held + nodes.group[nodes.object[i]], 1);
  });
  launch(ctx, objects, [=] SS_LAMBDA(std::size_t o) {
    if (nodes.tied[o] != 0) atomic_add(held + nodes.group[o], 1);
  });
}

/// The terms of the nodes, of the touched points, of the joints, then of the drag of the air.
struct MomentumTerm {
  NodeMotion nodes;
  std::size_t node_count;
  const std::int32_t* held;  // of each group
  const SurfacePoint* points;
  PointSides sides;
  const Vec<double, 4>* impulse;  // of the contacts
  std::size_t point_count;
  JointedSides joints;
  CohesivePulls pulls;
  std::size_t first;  // contact of the solids among those of `pulls`

  SS_HD SolidMomentum operator()(std::size_t i) const {
    if (i < node_count) return of_node(i);
    if (i < node_count + point_count) return of_point(i - node_count);
    const std::size_t further = i - node_count - point_count;
    return further < joints.count ? of_joint(further) : of_drag(further - joints.count);
  }
  SS_HD SolidMomentum of_drag(std::size_t k) const {
    const std::int32_t object = nodes.group[nodes.drag.face(k).object];
    if (held[object] > 0 || nodes.drag.node(k) < 0) return {};
    const Vec3d given = nodes.dt * nodes.drag.force(k);
    SolidMomentum sum = term(-given, object);
    sum.moved = norm(given);
    return sum;
  }
  SS_HD SolidMomentum of_joint(std::size_t f) const {
    const std::int32_t object = nodes.group[joints.sides[f].object];
    if (held[object] > 0) return {};
    const Wrench& r = joints.impulse[f];
    const Vec3d on_side{r[0], r[1], r[2]};
    SolidMomentum sum = term(-on_side, object);
    sum.moved = norm(on_side);
    return sum;
  }
  /// m (v - v_t - dt (g + a)), less the mouse's impulse.
  SS_HD SolidMomentum of_node(std::size_t i) const {
    const std::int32_t object = nodes.group[nodes.object[i]];
    if (held[object] > 0) return {};
    const double m = static_cast<double>(nodes.mass[i]);
    const Vec3d before = nodes.before[i].template cast<double>(),
                after = nodes.after[i].template cast<double>(),
                falls = nodes.acceleration[i].template cast<double>() + Vec3d{0, nodes.gravity, 0};
    const Vec3d gained = m * (after - before), given = m * nodes.dt * falls + pulled(i);
    SolidMomentum sum = term(gained - given, object);
    sum.moved = norm(gained) + norm(given);
    sum.rounding = nodes.rounding(i);
    return sum;
  }
  /// The spring acts on the node's position at the end of the step.
  SS_HD Vec3d pulled(std::size_t i) const {
    Vec3d sum{0, 0, 0};
    for (int c = 0; c < 3; ++c)
      if (nodes.pull.nodes[c] == static_cast<std::int32_t>(i))
        sum += nodes.dt * nodes.pull.weights[c] * nodes.pull.stiffness *
               (nodes.pull.targets[c] - nodes.at[i].template cast<double>() -
                nodes.dt * nodes.after[i].template cast<double>());
    return sum;
  }
  SS_HD SolidMomentum of_point(std::size_t k) const {
    const std::int32_t object = nodes.group[nodes.object[points[k].nodes[0]]];
    if (held[object] > 0) return {};
    const Vec<double, 4>& r = impulse[sides.contact(k)];
    const std::size_t c = first + sides.contact(k);
    Vec3d on_a{r[0], r[1], r[2]};
    if (c < pulls.count) on_a -= pulls(c) * pulls.contact[c].normal;
    const Vec3d on_point = sides.sign(k) * on_a;
    SolidMomentum sum = term(-on_point, object);
    sum.moved = norm(on_point);
    return sum;
  }
  SS_HD static SolidMomentum term(const Vec3d& missing, std::int32_t object) {
    SolidMomentum sum;
    sum.missing = momentum_sums(missing, {0, 0, 0}, 1, momentum_sign(object));
    return sum;
  }
};

}  // namespace

void SolidChecker::check(Context& ctx, const ElasticSolids& solids, const TouchedSurfaces& touching,
                         const Vec<double, 4>* impulse, const JointedSides& joints,
                         const CohesivePulls& pulls, std::size_t first, SolidMomentum* out) {
  const Span span(ctx, "solids check");
  const NodeMotion nodes = solids.motion();
  held_.resize(ctx, solids.model().objects.size());
  fill(ctx, held_.data(), held_.size(), std::int32_t{0});
  count_held(ctx, solids.size(), held_.size(), nodes, held_.data());
  reduce(ctx, solids.size() + touching.point_count() + joints.count + nodes.drag.corners(),
         MomentumTerm{nodes, solids.size(), held_.data(), touching.points(), touching.sides(), impulse,
                      touching.point_count(), joints, pulls, first},
         AddSolidMomentum{}, SolidMomentum{}, out, kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
