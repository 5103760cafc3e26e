#include "gpu/model/joint_constraints.h"

#include <algorithm>
#include <cmath>

#include "gpu/model/element_group.h"
#include "gpu/model/solid_joints.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// o, x, y or z of a frame.
Vec3d frame_point(const Pose& frame, int point, double arm) {
  if (point == 0) return frame.x;
  Vec3d along = Vec3d::zero();
  along[point - 1] = arm;
  return frame.apply(along);
}

/// (x_point - x_origin) . (x_tip - x_origin) / arm: how far a point is along an axis.
NodeConstraint along(NodeConstraint c, std::int32_t point, std::int32_t origin, std::int32_t tip) {
  c.kind = NodeConstraint::Kind::product;
  c.points = {point, origin, tip, -1};
  c.first = {1, -1, 0, 0};
  c.second = {0, -1, 1, 0};
  return c;
}

/// [kg] Of a body that moves.
double body_mass(const Model& scene, const Body& body) {
  const Object& object = scene.objects[static_cast<std::size_t>(body.object)];
  return body.mass > 0 ? body.mass
                       : scene.materials[static_cast<std::size_t>(object.material)].density * body.volume;
}

/// [kg] What resists the c of a gear between bodies, with their mean moments of inertia; 0: neither moves.
double gear_mass(const Model& scene, const Joint& joint, double arm) {
  const double size = std::max(1.0, std::abs(joint.ratio));
  double inverse = 0;
  for (const std::int32_t b : {joint.a, joint.b}) {
    if (b < 0 || !scene.bodies[static_cast<std::size_t>(b)].moves) continue;
    const Body& body = scene.bodies[static_cast<std::size_t>(b)];
    const Vec3d& i = body.unit_inertia;
    const double factor = arm / size * (b == joint.a ? 1 : joint.ratio);
    inverse += factor * factor / (body_mass(scene, body) * (i[0] + i[1] + i[2]) / 3);
  }
  return inverse > 0 ? 1 / inverse : 0;
}

}  // namespace

void add_joint_constraints(const Joint& joint, std::int32_t a, std::int32_t b, const NodeConstraint& base,
                           std::vector<NodeConstraint>& all) {
  const int points = joint.kind == JointKind::fixed   ? 3
                     : joint.kind == JointKind::hinge ? 2
                     : joint.kind == JointKind::ball  ? 1
                                                      : 0;
  for (int p = 0; p < points; ++p) {
    NodeConstraint c = base;
    c.points = {a + p, b + p, -1, -1};
    all.push_back(c);
  }
  NodeConstraint free = base;
  if (joint.kind == JointKind::slider) {
    for (const int of_a : {0, 1})
      for (const int of_b : {2, 3}) all.push_back(along(base, a + of_a, b, b + of_b));
    NodeConstraint turn = base;
    turn.kind = NodeConstraint::Kind::product;
    turn.points = {a, a + 2, b, b + 3};
    turn.first = {-1, 1, 0, 0};
    turn.second = {0, 0, -1, 1};
    all.push_back(turn);
    free = along(base, a, b, b + 1);
  } else if (joint.kind == JointKind::hinge) {
    free.kind = NodeConstraint::Kind::angle;
    free.points = {a + 2, b, b + 2, b + 3};
  } else if (joint.kind == JointKind::distance) {
    free.kind = NodeConstraint::Kind::distance;
    free.points = {a, b, -1, -1};
  } else if (joint.kind == JointKind::gear) {
    free.kind = NodeConstraint::Kind::gear;
    free.points = {a, a + 2, b, b + 2};
    free.tips = {a + 3, b + 3};
    free.ratio = joint.ratio;
    all.push_back(free);
    return;
  } else {
    return;
  }
  const double scale = joint.kind == JointKind::hinge ? base.arm : 1;
  if (joint.low <= joint.high) {
    free.low = scale * joint.low;
    free.high = scale * joint.high;
    all.push_back(free);
  }
  if (joint.motor_limit > 0) {
    free.motor_speed = scale * joint.motor_speed;
    free.motor_limit = joint.motor_limit / scale;
    all.push_back(free);
  }
}

NodeConstraint joint_base(const Model& scene, std::size_t index) {
  const Joint& joint = scene.joints[index];
  NodeConstraint base;
  base.joint = static_cast<std::int32_t>(index);
  base.arm = base.mass = 1e300;
  for (const std::int32_t b : {joint.a, joint.b}) {
    if (b < 0 || !scene.bodies[static_cast<std::size_t>(b)].moves) continue;
    const Body& body = scene.bodies[static_cast<std::size_t>(b)];
    const Vec3d& i = body.unit_inertia;
    base.arm = std::min(base.arm, std::sqrt((i[0] + i[1] + i[2]) / 2));
    base.mass = std::min(base.mass, body_mass(scene, body));
  }
  for (const std::int32_t tet : {joint.tet_a, joint.tet_b}) {
    if (tet < 0) continue;
    const Object& object = scene.objects[static_cast<std::size_t>(object_of_tet(scene, tet))];
    const Material& material = scene.materials[static_cast<std::size_t>(object.material)];
    const double size = tet_size(scene, tet);
    const double stiffness = material.young * size;
    const double mass = material.density * tet_neighbourhood_volume(scene, tet) / 4;
    base.tet_mass = base.tet_mass > 0 ? std::min(base.tet_mass, mass) : mass;
    base.tet_stiffness = base.tet_stiffness > 0 ? std::min(base.tet_stiffness, stiffness) : stiffness;
    base.arm = std::min(base.arm, size);
    base.mass = std::min(base.mass, material.density * solid_volume(scene, object));
  }
  if (joint.kind == JointKind::gear) base.mass = std::max(base.mass, gear_mass(scene, joint, base.arm));
  return base;
}

std::int32_t add_node_points(Model& to, std::int32_t first_node) {
  const auto first = static_cast<std::int32_t>(to.constraint_points.size());
  for (int p = 0; p < 4; ++p)
    to.constraint_points.push_back({{first_node + p, -1, -1, -1}, {1, 0, 0, 0}, {}});
  return first;
}

std::int32_t add_world_points(Model& to, const Pose& frame, double arm) {
  const auto first = static_cast<std::int32_t>(to.constraint_points.size());
  for (int p = 0; p < 4; ++p) {
    ConstraintPoint point;
    point.fixed = frame_point(frame, p, arm);
    to.constraint_points.push_back(point);
  }
  return first;
}

std::int32_t add_tet_points(Model& to, const Vec4i& nodes, const Model& scene, std::int32_t tet,
                            const Pose& frame, double arm) {
  const auto first = static_cast<std::int32_t>(to.constraint_points.size());
  for (int p = 0; p < 4; ++p)
    to.constraint_points.push_back({nodes, tet_point(scene, tet, frame_point(frame, p, arm)).weights, {}});
  return first;
}

void add_exempt_objects(const Model& scene, std::vector<Vec2i>& exempt) {
  for (const Joint& joint : scene.joints) {
    const std::int32_t a = joint_object(scene, joint, 0), b = joint_object(scene, joint, 1);
    if (joint.collide || a < 0 || b < 0) continue;
    exempt.push_back({std::min(a, b), std::max(a, b)});
  }
  std::ranges::sort(exempt,
                    [](const Vec2i& p, const Vec2i& q) { return p[0] != q[0] ? p[0] < q[0] : p[1] < q[1]; });
}

void constrain_solids(Model& model) {
  if (model.joints.empty() || !model.bodies.empty()) return;
  model.constraints.clear();
  model.constraint_points.clear();
  model.exempt_objects.clear();
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const NodeConstraint base = joint_base(model, j);
    const auto points = [&](std::int32_t tet, const Pose& frame) {
      return tet < 0 ? add_world_points(model, frame, base.arm)
                     : add_tet_points(model, model.tets[static_cast<std::size_t>(tet)], model, tet, frame,
                                      base.arm);
    };
    const std::int32_t a = points(joint.tet_a, joint.frame_a), b = points(joint.tet_b, joint.frame_b);
    add_joint_constraints(joint, a, b, base, model.constraints);
  }
  add_exempt_objects(model, model.exempt_objects);
}

}  // namespace stickslip
