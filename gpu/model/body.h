// Rigid bodies and joints of a model, without their dynamics. Host memory only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/geometry/shape.h"

namespace stickslip {

/// A convex polyhedron, its faces counter-clockwise from outside.
struct ConvexHull {
  std::vector<Vec<double, 3>> vertices;
  std::vector<std::int32_t> face_start{0}, face_vertices;
};

/// A closed triangle mesh of a body that is not convex, and its signed distance on a grid (< 0 inside).
struct ShapeMesh {
  std::vector<Vec<double, 3>> vertices;
  std::vector<Vec<std::int32_t, 3>> triangles;
  Vec<double, 3> grid_origin{0, 0, 0};
  double grid_spacing = 0;  // [m]
  Vec<std::int32_t, 3> grid_nodes{0, 0, 0};
  std::vector<float> distance;     // node (i, j, k) at i + n0 (j + n1 k); eight per leaf of an adaptive field
  std::int32_t levels = 0;         // adaptive: a root cell is 2^levels of the smallest cells wide
  std::vector<std::int32_t> tree;  // adaptive: see DistanceGridView
};

/// A rigid body. Its frame has its origin at the centre of mass and the principal axes of inertia, so that
/// inertia is diagonal in it; shapes and the object's rest positions are given in it.
struct Body {
  std::int32_t object = -1;  // into Model::objects: name, material, colour, the surface that is drawn
  std::int32_t shape_begin = 0, shape_end = 0;  // into Model::shapes
  double volume = 0;                            // [m^3]; mass is density times this, or `mass`
  Vec<double, 3> unit_inertia{0, 0, 0};         // [m^2] principal moments over mass
  double mass = 0;                              // [kg] when > 0, whatever the density
  bool moves = true;                            // false: stands still or follows its motion
  Pose pose = Pose::identity();                 // at t = 0
  Vec<double, 3> velocity{0, 0, 0};             // [m/s] of the centre at t = 0
  Vec<double, 3> spin{0, 0, 0};                 // [rad/s] world axes, at t = 0
  std::int32_t motion = -1;                     // into Model::body_motions; bodies that do not move only
  Vec<double, 3> grain{1, 0, 0};                // body frame: structure direction of anisotropic friction
  Pose texture_frame = Pose::identity();        // body frame: how its material's texture lies; x is the grain
};

enum class JointKind : std::uint8_t {
  ball,      // the two anchors stay together
  hinge,     // likewise, and the axes stay parallel: free to turn about x of the frames
  slider,    // free to slide along x of the frames
  fixed,     // no relative motion
  distance,  // the distance of the anchors stays within [low, high]
  gear,      // the angle of a about its axis is `ratio` times that of b about its axis
};

/// Between two bodies, or a body and the world (-1). Frames are given in the bodies' frames (in the world's
/// for -1); x is the joint's axis. In place of a body, a side may have a tet of an elastic solid.
struct Joint {
  std::string name;
  JointKind kind = JointKind::ball;
  std::int32_t a = -1, b = -1;
  /// Into Model::tets: a tet of a deformable or affine solid that holds this side; -1: none. The body of the
  /// side is -1 then, and its frame is given in the solid's rest coordinates; see tet_frame.h.
  std::int32_t tet_a = -1, tet_b = -1;
  Pose frame_a = Pose::identity(), frame_b = Pose::identity();
  /// Limits of the free coordinate: the angle [rad] of a relative to b in a hinge, the displacement [m] of a
  /// relative to b in a slider, the distance [m] of the anchors in `distance`. low > high: no limits.
  double low = 1, high = -1;
  /// A motor drives the free coordinate at this speed [rad/s, m/s] with at most this torque or force [N m,
  /// N]; 0: none.
  double motor_speed = 0, motor_limit = 0;
  double ratio = 1;
  Quat start_a = Quat::identity(),
       start_b = Quat::identity();  // gear: rotations of the frames in the world at t = 0
  bool collide = false;             // whether a and b may touch
};

}  // namespace stickslip
