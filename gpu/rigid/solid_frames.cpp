#include "gpu/rigid/solid_frames.h"

#include <algorithm>
#include <cmath>

#include "gpu/model/element_group.h"
#include "gpu/model/solid_joints.h"
#include "gpu/rigid/joint_rows.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Mass properties of a solid at rest.
struct RestMoments {
  double mass = 0;
  Vec3d centre{0, 0, 0};
  Mat<double, 3> inertia = Mat<double, 3>::zero();  // about the centre
};

RestMoments rest_moments(const Model& model, const Object& object) {
  const double density = model.materials[static_cast<std::size_t>(object.material)].density;
  const std::vector<double> volumes = node_volumes(model, object);
  const auto rest = [&](std::size_t i) {
    return model.rest_positions[static_cast<std::size_t>(object.node_begin) + i];
  };
  RestMoments sum;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    sum.mass += density * volumes[i];
    sum.centre += density * volumes[i] * rest(i);
  }
  sum.centre = (1 / sum.mass) * sum.centre;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Vec3d r = rest(i) - sum.centre;
    sum.inertia += density * volumes[i] * (norm2(r) * Mat<double, 3>::identity() - outer(r, r));
  }
  return sum;
}

bool is_scripted(const Model& model, std::int32_t object) {
  for (const ScriptedNodes& script : model.scripted)
    for (const std::int32_t node : script.nodes)
      if (model.node_object[static_cast<std::size_t>(node)] == object) return true;
  return false;
}

/// Without `joint` and blocks.
SolidSide side_of(const Model& model, std::int32_t tet, const Vec3d& at,
                  const std::vector<std::int32_t>& node) {
  SolidSide side;
  side.object = object_of_tet(model, tet);
  side.point = tet_point(model, tet, at);
  for (int k = 0; k < 4; ++k) side.point.nodes[k] = node[static_cast<std::size_t>(side.point.nodes[k])];
  const RestMoments moments = rest_moments(model, model.objects[static_cast<std::size_t>(side.object)]);
  side.arm = at - moments.centre;
  if (is_scripted(model, side.object)) return side;
  const Mat<double, 3> inertia = inverse(moments.inertia);
  side.rigid = {1 / moments.mass,
                {inertia(0, 0), inertia(1, 1), inertia(2, 2), inertia(0, 1), inertia(0, 2), inertia(1, 2)}};
  return side;
}

}  // namespace

std::vector<SolidSide> solid_sides(const Model& model, const std::vector<std::int32_t>& node,
                                   const std::vector<std::int32_t>& object) {
  std::vector<SolidSide> sides;
  std::int32_t block = 0;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const std::int32_t blocks = joint_block_count(device_joint(joint));
    for (int side = 0; side < 2; ++side) {
      const std::int32_t tet = side == 0 ? joint.tet_a : joint.tet_b;
      if (tet < 0) continue;
      SolidSide& held =
          sides.emplace_back(side_of(model, tet, side == 0 ? joint.frame_a.x : joint.frame_b.x, node));
      held.object = object[static_cast<std::size_t>(held.object)];
      held.joint = static_cast<std::int32_t>(j);
      held.side = side;
      held.first_block = block;
      held.block_count = blocks;
    }
    block += blocks;
  }
  return sides;
}

double solid_joint_length(const Model& model, const Joint& joint) {
  double length = 1e300;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t body = side == 0 ? joint.a : joint.b, tet = side == 0 ? joint.tet_a : joint.tet_b;
    if (tet >= 0) {
      const RestMoments moments =
          rest_moments(model, model.objects[static_cast<std::size_t>(object_of_tet(model, tet))]);
      length = std::min(length, std::sqrt(trace(moments.inertia) / (2 * moments.mass)));
    } else if (body >= 0 && model.bodies[static_cast<std::size_t>(body)].moves) {
      const Vec3d& i = model.bodies[static_cast<std::size_t>(body)].unit_inertia;
      length = std::min(length, std::sqrt((i[0] + i[1] + i[2]) / 2));
    }
  }
  return length;
}

}  // namespace stickslip
