#include "gpu/model/joint_constraints.h"

namespace stickslip {
namespace {

/// (x_point - x_origin) . (x_tip - x_origin) / arm: how far a point is along an axis.
NodeConstraint along(NodeConstraint c, std::int32_t point, std::int32_t origin, std::int32_t tip) {
  c.kind = NodeConstraint::Kind::product;
  c.nodes = {point, origin, tip, -1};
  c.first = {1, -1, 0, 0};
  c.second = {0, -1, 1, 0};
  return c;
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
    c.nodes = {a + p, b + p, -1, -1};
    all.push_back(c);
  }
  NodeConstraint free = base;
  if (joint.kind == JointKind::slider) {
    for (const int of_a : {0, 1})
      for (const int of_b : {2, 3}) all.push_back(along(base, a + of_a, b, b + of_b));
    NodeConstraint turn = base;
    turn.kind = NodeConstraint::Kind::product;
    turn.nodes = {a, a + 2, b, b + 3};
    turn.first = {-1, 1, 0, 0};
    turn.second = {0, 0, -1, 1};
    all.push_back(turn);
    free = along(base, a, b, b + 1);
  } else if (joint.kind == JointKind::hinge) {
    free.kind = NodeConstraint::Kind::angle;
    free.nodes = {a + 2, b, b + 2, b + 3};
  } else if (joint.kind == JointKind::distance) {
    free.kind = NodeConstraint::Kind::distance;
    free.nodes = {a, b, -1, -1};
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

}  // namespace stickslip
