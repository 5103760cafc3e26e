#include "gpu/model/rigid_body.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gpu/model/convex_hull.h"
#include "gpu/model/distance_grid.h"
#include "gpu/model/finite.h"
#include "gpu/model/solid_joints.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

struct Bounds {
  Vec3d middle, half;
};

Bounds bounds_of(const std::vector<Vec3d>& points) {
  Vec3d low = points[0], high = points[0];
  for (const Vec3d& p : points) {
    low = min(low, p);
    high = max(high, p);
  }
  return {(low + high) / 2, (high - low) / 2};
}

/// A part of kind hull or mesh: `points` are moved so that their bounding box is centred at the origin.
BodyPart centred_part(ShapeKind kind, std::vector<Vec3d>& points, const Pose& pose) {
  const Bounds bounds = bounds_of(points);
  for (Vec3d& p : points) p -= bounds.middle;
  BodyPart part;
  part.shape.kind = kind;
  part.shape.size = bounds.half;
  part.shape.pose = pose * Pose{bounds.middle, Quat::identity()};
  part.nodes = points;
  return part;
}

/// Takes x to the grain, and y as near to y as that leaves it (to z, where the grain is along y).
Quat texture_turn(const Vec3d& grain) {
  const Vec3d x = normalized(grain);
  const Vec3d up = std::abs(x[1]) < 1 - 1e-9 ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
  const Vec3d z = normalized(cross(x, up));
  return quaternion_of(Mat<double, 3>::from_columns({x, cross(z, x), z}));
}

}  // namespace

BodyPart make_part(ShapeKind kind, const Vec3d& size, const Pose& pose) {
  const bool good = size[0] > 0 && (kind == ShapeKind::capsule ? size[1] >= 0 : size[1] > 0) && size[2] > 0;
  if (!is_finite(size) || !(kind == ShapeKind::sphere ? size[0] > 0 : good))
    throw std::invalid_argument("the sizes of a rigid shape must be positive");
  BodyPart part;
  part.shape.kind = kind;
  part.shape.size = size;
  part.shape.pose = pose;
  part.mass = mass_of_shape(kind, size);
  return part;
}

BodyPart make_hull_part(Model& model, const std::vector<Vec3d>& points, const Pose& pose) {
  ConvexHull hull = convex_hull(points);
  BodyPart part = centred_part(ShapeKind::hull, hull.vertices, pose);
  part.triangles = triangles_of(hull);
  part.mass = mass_of_surface(part.nodes, part.triangles);
  part.shape.data = static_cast<std::int32_t>(model.hulls.size());
  model.hulls.push_back(std::move(hull));
  return part;
}

BodyPart make_mesh_part(Model& model, const std::vector<Vec3d>& nodes, const std::vector<Vec3i>& triangles,
                        int cells, const Pose& pose, double tolerance) {
  if (nodes.empty()) throw std::invalid_argument("a mesh needs nodes");
  std::vector<Vec3d> centred = nodes;
  BodyPart part = centred_part(ShapeKind::mesh, centred, pose);
  ShapeMesh mesh = mesh_with_distance(std::move(centred), triangles, cells, tolerance);
  part.triangles = triangles;
  part.mass = mass_of_surface(part.nodes, part.triangles);
  part.shape.data = static_cast<std::int32_t>(model.shape_meshes.size());
  model.shape_meshes.push_back(std::move(mesh));
  return part;
}

BodyForm assemble(const std::vector<BodyPart>& parts) {
  if (parts.empty()) throw std::invalid_argument("a rigid body needs a shape");
  std::vector<MassProperties> masses;
  masses.reserve(parts.size());
  for (const BodyPart& part : parts) masses.push_back(moved(part.mass, part.shape.pose));
  const MassProperties all = united(masses);
  if (!(all.volume > 0) || !std::isfinite(all.volume))
    throw std::invalid_argument("a rigid body needs a positive mass");
  // The centre of a symmetric part is its origin up to rounding: keep it there.
  const PrincipalAxes principal = principal_axes(all.inertia);
  BodyForm form;
  form.volume = all.volume;
  form.unit_inertia = principal.moments / all.volume;
  form.frame = {all.center, principal.axes};
  for (const BodyPart& part : parts) {
    const Pose pose{form.frame.apply_back(part.shape.pose.x),
                    normalized(form.frame.q.conjugate() * part.shape.pose.q)};
    form.shapes.push_back(part.shape);
    form.shapes.back().pose = pose;
    const auto first = static_cast<std::int32_t>(form.nodes.size());
    for (const Vec3d& p : part.nodes) form.nodes.push_back(pose.apply(p));
    for (const Vec3i& t : part.triangles) form.triangles.push_back(t + Vec3i::filled(first));
  }
  return form;
}

Object& add_body(Model& model, std::string name, const BodyForm& form, std::int32_t material,
                 const BodyStart& start) {
  const auto refuse = [&](const char* what) {
    throw std::invalid_argument("object '" + name + "': " + what);
  };
  if (!is_finite(start.pose.x) || !is_finite(start.velocity) || !is_finite(start.spin))
    refuse("its start is not finite");
  if (!(start.mass >= 0) || !std::isfinite(start.mass)) refuse("its mass must not be negative");
  if (!(norm(start.grain) > 0)) refuse("its grain must not be zero");

  Body body;
  body.object = static_cast<std::int32_t>(model.objects.size());
  body.shape_begin = static_cast<std::int32_t>(model.shapes.size());
  model.shapes.insert(model.shapes.end(), form.shapes.begin(), form.shapes.end());
  body.shape_end = static_cast<std::int32_t>(model.shapes.size());
  body.volume = form.volume;
  body.unit_inertia = form.unit_inertia;
  body.mass = start.mass;
  body.moves = start.moves;
  body.pose = start.pose * form.frame;
  body.pose.q = normalized(body.pose.q);
  body.velocity = start.velocity;
  body.spin = start.spin;
  body.grain = normalized(form.frame.q.rotate_back(start.grain));
  body.texture_frame = {form.frame.apply_back({0, 0, 0}),
                        normalized(form.frame.q.conjugate() * texture_turn(start.grain))};
  if (!start.moves && !start.motion.is_static()) {
    body.motion = static_cast<std::int32_t>(model.body_motions.size());
    model.body_motions.push_back(start.motion);
  }

  Object object;
  object.name = std::move(name);
  object.material = material;
  object.body = static_cast<std::int32_t>(model.bodies.size());
  object.node_begin = static_cast<std::int32_t>(model.positions.size());
  object.tet_begin = object.tet_end = static_cast<std::int32_t>(model.tets.size());
  object.triangle_begin = static_cast<std::int32_t>(model.triangles.size());
  object.segment_begin = object.segment_end = static_cast<std::int32_t>(model.segments.size());
  for (const Vec3d& p : form.nodes) {
    const Vec3d x = body.pose.apply(p);
    model.rest_positions.push_back(p);
    model.positions.push_back(x);
    model.velocities.push_back(body.velocity + cross(body.spin, x - body.pose.x));
    model.node_object.push_back(body.object);
  }
  for (const Vec3i& t : form.triangles) model.triangles.push_back(t + Vec3i::filled(object.node_begin));
  object.node_end = static_cast<std::int32_t>(model.positions.size());
  object.triangle_end = static_cast<std::int32_t>(model.triangles.size());
  model.bodies.push_back(body);
  return model.objects.emplace_back(std::move(object));
}

Joint& add_joint(Model& model, Joint joint, const Pose& frame, const Pose& frame_b) {
  const auto in_body = [&](std::int32_t body, const Pose& pose) {
    if (body < 0) return pose;
    if (static_cast<std::size_t>(body) >= model.bodies.size())
      throw std::invalid_argument("joint '" + joint.name + "': there is no body " + std::to_string(body));
    const Pose& at = model.bodies[body].pose;
    return Pose{at.apply_back(pose.x), normalized(at.q.conjugate() * pose.q)};
  };
  joint.frame_a = in_body(joint.a, frame);
  joint.frame_b = in_body(joint.b, frame_b);
  joint.start_a = frame.q;
  joint.start_b = frame_b.q;
  return model.joints.emplace_back(std::move(joint));
}

Joint& add_joint_between(Model& model, Joint joint, std::int32_t object_a, std::int32_t object_b,
                         const Pose& frame, const Pose& frame_b) {
  const auto object = [&](std::int32_t o) -> const Object& {
    return model.objects[static_cast<std::size_t>(o)];
  };
  const auto body = [&](std::int32_t o) { return o < 0 ? -1 : object(o).body; };
  joint.a = body(object_a);
  joint.b = body(object_b);
  Joint& added = add_joint(model, std::move(joint), frame, frame_b);
  try {
    if (object_a >= 0 && added.a < 0) hold_by_solid(model, object(object_a), 0, frame, added);
    if (object_b >= 0 && added.b < 0) hold_by_solid(model, object(object_b), 1, frame_b, added);
  } catch (const std::invalid_argument& error) {
    const std::string name = added.name;
    model.joints.pop_back();
    throw std::invalid_argument("joint '" + name + "': " + error.what());
  }
  return added;
}

Quat turn_of_x(const Vec3d& axis) {
  const Vec3d a = normalized(axis), x{1, 0, 0};
  if (a[0] < -1 + 1e-12) return {0, {0, 1, 0}};  // half a turn about y
  return normalized(Quat{1 + a[0], cross(x, a)});
}

}  // namespace stickslip
