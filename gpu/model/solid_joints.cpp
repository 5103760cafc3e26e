#include "gpu/model/solid_joints.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gpu/model/element_group.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

struct TetCorners {
  Vec3d x[4];
};

TetCorners corners_of(const Vec4i& tet, std::span<const Vec3d> all) {
  TetCorners out;
  for (int k = 0; k < 4; ++k) out.x[k] = all[static_cast<std::size_t>(tet[k])];
  return out;
}

/// [m] how far p is beyond the face that it is farthest beyond; <= 0: inside.
double distance_outside(const TetPoint& point) {
  double most = -1e300;
  for (int k = 0; k < 4; ++k) most = std::max(most, -point.weights[k] / norm(point.gradients[k]));
  return most;
}

double longest_edge(const TetCorners& c) {
  double most = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) most = std::max(most, norm(c.x[i] - c.x[j]));
  return most;
}

}  // namespace

std::int32_t object_of_tet(const Model& model, std::int32_t tet) {
  return model.node_object[static_cast<std::size_t>(model.tets[static_cast<std::size_t>(tet)][0])];
}

std::int32_t joint_object(const Model& model, const Joint& joint, int side) {
  const std::int32_t body = side == 0 ? joint.a : joint.b, tet = side == 0 ? joint.tet_a : joint.tet_b;
  if (tet >= 0) return object_of_tet(model, tet);
  return body < 0 ? -1 : model.bodies[static_cast<std::size_t>(body)].object;
}

double tet_size(const Model& model, std::int32_t tet) {
  const double volume = tet_volume(model.rest_positions, model.tets[static_cast<std::size_t>(tet)]);
  return std::cbrt(6 * std::sqrt(2.0) * volume);
}

double tet_neighbourhood_volume(const Model& model, std::int32_t tet) {
  const Vec4i& own = model.tets[static_cast<std::size_t>(tet)];
  const Object& object = model.objects[static_cast<std::size_t>(object_of_tet(model, tet))];
  const std::vector<double> volumes = node_volumes(model, object);
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += volumes[static_cast<std::size_t>(own[k] - object.node_begin)];
  return 4 * sum;
}

std::int32_t tet_near(const Model& model, const Object& solid, const Vec3d& p) {
  std::int32_t nearest = -1;
  double least = 1e300;
  for (std::int32_t t = solid.tet_begin; t < solid.tet_end; ++t) {
    const Vec4i& tet = model.tets[static_cast<std::size_t>(t)];
    if (!(tet_volume(model.positions, tet) > 0)) continue;
    const double distance = distance_outside(TetPoint::at(tet, corners_of(tet, model.positions).x, p));
    if (!(distance < least)) continue;
    least = distance;
    nearest = t;
  }
  if (nearest < 0) throw std::invalid_argument("'" + solid.name + "' is inside out at the start");
  const double edge =
      longest_edge(corners_of(model.tets[static_cast<std::size_t>(nearest)], model.positions));
  if (least > edge)
    throw std::invalid_argument("its anchor is " + std::to_string(least) + " m outside of '" + solid.name +
                                "': " + (solid.is_affine() ? "an affine body" : "an elastic solid") +
                                " holds joints inside, or as near as its elements are long (" +
                                std::to_string(edge) + " m)");
  return nearest;
}

TetPoint tet_point(const Model& model, std::int32_t tet, const Vec3d& rest) {
  const Vec4i& nodes = model.tets[static_cast<std::size_t>(tet)];
  return TetPoint::at(nodes, corners_of(nodes, model.rest_positions).x, rest);
}

void hold_by_solid(const Model& model, const Object& solid, int side, const Pose& frame, Joint& joint) {
  if (!solid.is_solid())
    throw std::invalid_argument("'" + solid.name + "' is a collider without a volume, which holds no joint");
  const std::int32_t tet = tet_near(model, solid, frame.x);
  const Vec4i& nodes = model.tets[static_cast<std::size_t>(tet)];
  const TetCorners x = corners_of(nodes, model.positions), rest = corners_of(nodes, model.rest_positions);
  // The point of the tet at frame.x now, in rest coordinates.
  const Vec<double, 4> weights = TetPoint::at(nodes, x.x, frame.x).weights;
  Pose held{Vec3d::zero(), Quat::identity()};
  for (int k = 0; k < 4; ++k) held.x += weights[k] * rest.x[k];
  const Quat turned = TetFrame::at(tet_point(model, tet, held.x), x.x).pose.q;
  held.q = normalized(turned.conjugate() * frame.q);
  (side == 0 ? joint.tet_a : joint.tet_b) = tet;
  (side == 0 ? joint.a : joint.b) = -1;
  (side == 0 ? joint.frame_a : joint.frame_b) = held;
}

JointSides::JointSides(const Model& model, const Joint& of) : joint(of) {
  if (joint.tet_a >= 0) points[0] = tet_point(model, joint.tet_a, joint.frame_a.x);
  if (joint.tet_b >= 0) points[1] = tet_point(model, joint.tet_b, joint.frame_b.x);
}

}  // namespace stickslip
