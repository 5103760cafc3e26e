// Builds rigid bodies from parts with shapes and masses, and adds them to a model.
#pragma once

#include <string>
#include <vector>

#include "gpu/model/mass_properties.h"
#include "gpu/model/model.h"

namespace stickslip {

/// A piece of a rigid body.
struct BodyPart {
  Shape shape;          // with its pose in the common frame of the parts
  MassProperties mass;  // in the shape's own frame, relative to the density of the body's material
  std::vector<Vec<double, 3>> nodes;  // of the surface that is drawn, in the shape's own frame
  std::vector<Vec3i> triangles;
};

/// A sphere, capsule, box or cylinder; its drawn surface is left to the caller. Throws std::invalid_argument
/// for a size that is not positive (half of a capsule's straight length may be 0).
BodyPart make_part(ShapeKind kind, const Vec<double, 3>& size, const Pose& pose = Pose::identity());
/// The convex hull of points, which becomes one of the model's hulls. Throws as `convex_hull` does.
BodyPart make_hull_part(Model& model, const std::vector<Vec<double, 3>>& points,
                        const Pose& pose = Pose::identity());
/// A closed mesh with its distance field (see distance_grid.h), which becomes one of the model's. Throws as
/// `mesh_with_distance` does. With a tolerance [m] > 0 the field is adaptive.
BodyPart make_mesh_part(Model& model, const std::vector<Vec<double, 3>>& nodes,
                        const std::vector<Vec3i>& triangles, int cells, const Pose& pose = Pose::identity(),
                        double tolerance = 0);

/// Parts joined to one body. Its frame has the origin at the centre of mass and the principal axes of
/// inertia.
struct BodyForm {
  Pose frame = Pose::identity();  // the body's frame in that of the parts
  std::vector<Shape> shapes;
  double volume = 0;                     // [m^3]
  Vec<double, 3> unit_inertia{0, 0, 0};  // [m^2]
  std::vector<Vec<double, 3>> nodes;     // of the surface that is drawn
  std::vector<Vec3i> triangles;
};

/// Throws std::invalid_argument when there is no part, or no mass.
BodyForm assemble(const std::vector<BodyPart>& parts);

/// The initial state of a body.
struct BodyStart {
  Pose pose = Pose::identity();      // of the frame of the parts
  Vec<double, 3> velocity{0, 0, 0};  // [m/s] of the centre of mass
  Vec<double, 3> spin{0, 0, 0};      // [rad/s] world axes
  double mass = 0;                   // [kg]; 0: density times volume
  bool moves = true;
  Motion motion = {};             // of a scripted body (moves = false); static: it stands still
  Vec<double, 3> grain{1, 0, 0};  // in the frame of the parts
};

/// Appends a rigid body: its object with nodes and triangles, shapes, body. Throws std::invalid_argument for
/// numbers that are not finite and a mass that is negative; `finalize` checks the rest.
Object& add_body(Model& model, std::string name, const BodyForm& form, std::int32_t material,
                 const BodyStart& start);

/// Adds a joint between two bodies (-1: the world) from its frames in the world at the start: frame.x is the
/// anchor, and frame.q rotates x onto the axis. `frame_b` is the frame of the second body, if it differs.
Joint& add_joint(Model& model, Joint joint, const Pose& frame, const Pose& frame_b);
/// As add_joint, between two objects (-1: the world), rigid bodies or solids. A solid holds the joint by the
/// tet at the anchor: throws std::invalid_argument where none is near. See solid_joints.h.
Joint& add_joint_between(Model& model, Joint joint, std::int32_t object_a, std::int32_t object_b,
                         const Pose& frame, const Pose& frame_b);
inline Joint& add_joint(Model& model, Joint joint, const Pose& frame) {
  return add_joint(model, std::move(joint), frame, frame);
}

/// The smallest rotation that takes x onto `axis`; for `axis` = -x, a fixed one.
Quat turn_of_x(const Vec<double, 3>& axis);

/// Checks bodies, shapes and joints. Throws std::invalid_argument naming what is at fault. A stage of
/// `finalize`.
void check_bodies(const Model& model);

}  // namespace stickslip
