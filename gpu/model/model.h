// Model: the parts of a scene that do not change while it runs. Host memory only, no file formats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/math/vec.h"
#include "gpu/model/body.h"
#include "gpu/model/surface_texture.h"
#include "gpu/params/params.h"

namespace stickslip {

/// A scripted rigid motion as a function of time, applied to start positions: x(t) = c + R(t) (X - c) + p(t).
/// Before `start` it rests at the pose of `start`, after `end` at that of `end`.
struct Motion {
  struct Key {
    double time = 0;                           // [s]
    Vec<double, 3> translation{0, 0, 0};       // [m]
    Vec<double, 3> rotation_degrees{0, 0, 0};  // rotation vector: axis times angle
  };
  Vec<double, 3> velocity{0, 0, 0};          // [m/s]
  Vec<double, 3> angular_velocity{0, 0, 0};  // [rad/s], about `center`
  Vec<double, 3> center{0, 0, 0};            // [m]
  double start = 0, end = 1e30;              // [s]
  std::vector<Key> keys;                     // when not empty: piecewise linear, added to the rates above

  bool is_static() const;
  Vec<double, 3> apply(const Vec<double, 3>& start_position, double time) const;
};

/// Nodes that follow a script instead of the equations of motion. A held node has a static motion.
struct ScriptedNodes {
  std::vector<std::int32_t> nodes;
  Motion motion;
  /// [s] In steps whose middle lies outside [begin, end) the nodes are free. A script that begins after 0
  /// moves them from their positions at that time: x(t) = M(t) M(begin)^-1 x(begin). If a state is set from
  /// outside while the script acts, that state and its time replace x(begin) and begin.
  double begin = 0, end = 1e30;
  /// If not empty, replaces the motion: positions [m] of the nodes, in their order, at frame_dt, 2 frame_dt,
  /// ... Nodes move along straight lines from the start to the first positions and from each to the next, and
  /// stay at the last ones.
  std::vector<std::vector<Vec<double, 3>>> frames = {};
  double frame_dt = 0;  // [s]

  bool is_static() const { return motion.is_static() && frames.empty(); }
  bool acts(double time, double dt) const { return begin <= time + dt / 2 && time + dt / 2 < end; }
};

/// An acceleration on top of gravity, e.g. of a load spread over nodes by their mass.
struct NodeForce {
  std::vector<std::int32_t> nodes;
  Vec<double, 3> acceleration{0, 0, 0};  // [m/s^2]
  double begin = 0, end = 1e30;          // [s] acts in steps whose middle lies in [begin, end)

  bool acts(double time, double dt) const { return begin <= time + dt / 2 && time + dt / 2 < end; }
};

/// Friction coefficient of a pair of materials; replaces the geometric mean of their own.
struct PairFriction {
  std::int32_t material_a = 0, material_b = 0;
  double mu = 0;
  double rolling_resistance = -1;  // [m] in place of the larger of their own; < 0: that one
};

/// An immovable plane with outward normal: the admissible side is dot(normal, x) > offset.
struct HalfSpace {
  Vec<double, 3> normal{0, 1, 0};  // unit
  double offset = 0;               // [m]
  double mu = 0.3;
  /// Friction of a body on the plane: the geometric mean of both coefficients (no flag), the plane's own
  /// (mu_of_pair), or the body's own (mu_of_body). At most one flag is set.
  bool mu_of_pair = false, mu_of_body = false;
};

/// A contiguous range of nodes with one material and one colour.
struct Object {
  std::string name;
  std::int32_t material = 0;
  std::int32_t node_begin = 0, node_end = 0;
  std::int32_t tet_begin = 0, tet_end = 0;  // into Model::tets: the volume of a solid
  /// Each eight of its tets are the parts of one ten-node tet, see tet10.h.
  bool ten_node = false;
  /// Its lattice consists of frames, see frames.h; its tets are spanned by the points of a frame each.
  bool has_frames = false;
  /// Of rods: their twist has next to no inertia, so it is in equilibrium at the end of each step; see rod.h.
  bool quasistatic_twist = false;
  std::int32_t triangle_begin = 0, triangle_end = 0;  // into Model::triangles
  std::int32_t segment_begin = 0, segment_end = 0;    // into Model::segments
  std::int32_t control_begin = -1;  // the first of an affine body's four control nodes, see affine.h
  std::int32_t lattice = -1;        // into Model::lattices, see lattice.h
  std::int32_t body = -1;           // into Model::bodies: its nodes follow that body's pose
  /// Nodes before this one do not collide; -1: all do. See barrier_model.h.
  std::int32_t collides_from = -1;
  /// [m^3], [kg] of an affine body without tets, which stands for a rigid one; its control nodes carry its
  /// mass: density times volume, or `mass` if positive.
  double volume = 0, mass = 0;
  /// [m] of a thin object, whose triangles (cloth) or segments (rods) are elastic: the thickness of the
  /// cloth, the diameter of the rods. 0: not thin.
  double thickness = 0;
  /// Of rods: their sections are ellipses with the area of a circle of the diameter, and this is one
  /// semi-axis divided by the other, see rod.h. Nodes of rods begin with one ghost per segment.
  double aspect = 1;
  /// Of cloth at rest: projected on each triangle, the direction of its warp threads. Of cloth with a
  /// pattern: unused, since its warp runs along u.
  Vec<double, 3> warp{1, 0, 0};
  /// Of cloth: into Model::cloth_patterns, see cloth_pattern.h; -1: its rest positions are its rest shape.
  std::int32_t cloth_pattern = -1;
  /// 1 to 7: objects of one group collide neither with each other nor with themselves; 0: none.
  std::int32_t no_contact_group = 0;
  Vec<float, 3> color{0.7f, 0.7f, 0.7f};

  bool is_rigid() const { return body >= 0; }
  bool is_affine() const { return control_begin >= 0; }
  /// Its tets are a lattice that the nodes of its surface follow.
  bool is_embedded() const { return lattice >= 0; }
  /// Feels the air: cloth and rods, and the skin of bodies of frames.
  bool feels_air() const { return is_thin() || has_frames; }
  /// Has a volume mesh: deformable or affine.
  bool is_solid() const { return tet_begin < tet_end; }
  bool is_thin() const { return thickness > 0; }
  bool is_cloth() const { return is_thin() && triangle_begin < triangle_end; }
  bool is_rods() const { return is_thin() && !is_cloth(); }
  /// Cloth whose rest shape is a pattern.
  bool is_sewn() const { return cloth_pattern >= 0; }
  bool is_deformable() const { return (is_solid() && !is_affine()) || is_thin(); }
  /// A surface, or points and segments, that follow a script.
  bool is_collider() const { return !is_solid() && !is_rigid() && !is_affine() && !is_thin(); }
  /// An affine body that stands for a rigid one.
  bool is_stiff() const { return is_affine() && volume > 0; }
  /// Has a mass, or is made of nodes that have one.
  bool is_movable() const { return is_solid() || is_stiff() || is_thin(); }
};

/// A point that follows up to four nodes: x = fixed + sum weights_k x_k.
struct ConstraintPoint {
  Vec4i nodes{-1, -1, -1, -1};  // -1: none; behind the others
  Vec<double, 4> weights{0, 0, 0, 0};
  Vec<double, 3> fixed{0, 0, 0};  // [m]
};

/// An energy stiffness / 2 (distance - length)^2 of the distance of two points. With length 0 it holds them
/// together. Points follow nodes of deformable objects or colliders, or stand still.
struct Spring {
  std::string name;
  ConstraintPoint a, b;
  double length = 0;     // [m] without force
  double stiffness = 0;  // [N/m]
  double damping = 0;    // [s] of the stiffness, as that of materials
};

/// A constraint on a scalar c of up to four points, or on the difference of two points: bounds, or a motor. c
/// is in metres for all kinds, so that violations of different joints can be compared. See barrier_model.h.
struct NodeConstraint {
  enum class Kind : std::uint8_t {
    coincide,  // x_0 - x_1 = 0, three equations
    product,   // c = (sum first_i x_i) . (sum second_i x_i) / arm
    distance,  // c = |x_0 - x_1|
    angle,     // c = arm times the angle of x_0 - x_1, from x_2 - x_1 towards x_3 - x_1
    gear       // c = arm (turn of x_1 - x_0 minus `ratio` times that of x_3 - x_2) / max(1, |ratio|)
  };
  Kind kind = Kind::coincide;
  std::int32_t joint = -1;       // of the scene
  Vec4i points{-1, -1, -1, -1};  // into Model::constraint_points
  Vec<double, 4> first{0, 0, 0, 0}, second{0, 0, 0, 0};
  double arm = 1;            // [m]
  double low = 0, high = 0;  // [m] low <= c <= high
  /// A motor in place of the bounds: drives c at this speed [m/s] with a force of at most this [N]; 0: none.
  double motor_speed = 0, motor_limit = 0;
  /// Of a gear: the axis of a side is y x z of its frame at the start of the step. y is among `points`, and
  /// `tips` are the z of both sides. Turns of all steps add up.
  double ratio = 1;
  Vec2i tips{-1, -1};
  double mass = 1;  // [kg] of the lighter body, or of what resists a gear; scales the stiffness
  /// [kg] of the nodes of the tet that holds a side, and [N/m] its Young's modulus times its size: the
  /// stiffness needs to exceed only what these resist. Without a tet: 0.
  double tet_mass = 0, tet_stiffness = 0;
};

/// The nodes that one node follows: the corners of a tet, or the points of one or two frames. -1: none,
/// behind the others.
inline constexpr int kMostLeaders = 8;
using Leaders = Vec<std::int32_t, kMostLeaders>;
using LeaderWeights = Vec<double, kMostLeaders>;  // 0 for none

/// A sample of the volume of a body of frames, see frames.h.
struct FramePoint {
  std::int32_t bone = 0;                        // into Lattice::bones
  double volume = 0;                            // [m^3]
  Vec<double, 3> gradients[kMostLeaders] = {};  // [1/m] at rest, of the shape functions of the bone's points
};

/// How the surface of an object follows the tets of its lattice, see lattice.h, or its frames, see frames.h.
struct Lattice {
  std::vector<double> node_volumes;  // [m^3] per lattice node: of the solid, for its mass
  std::vector<double> tet_shares;  // per tet: the part of its volume that is elastic; may exceed 1 of frames
  std::vector<Leaders> controls;   // per surface node: lattice nodes, counted in the object
  std::vector<LeaderWeights> weights;  // per surface node: of these
  // Of frames only. Lattice node 4 f + k is point k of frame f.
  std::vector<Vec<double, 3>> frames = {};  // [m] their places at rest
  std::vector<Vec2i> bones = {};            // pairs of frames
  std::vector<FramePoint> points = {};      // by bone
};

/// A triangle of cloth as it was cut: its corners in the plane of (u, v), in which warp runs along u and weft
/// along v. Those of a mirrored panel go around it clockwise.
struct PatternTriangle {
  Vec<double, 2> corners[3];  // [m]
};

/// The flat panels that a cloth is sewn from, see cloth_pattern.h.
struct ClothPattern {
  std::vector<PatternTriangle> triangles;  // in the order of those of the object
  bool seams_as_positioned = false;        // rest angles across seams: of Model::rest_positions, else zero
};

struct Model {
  std::vector<std::string> material_names;
  std::vector<Material> materials;
  std::vector<Object> objects;

  std::vector<Vec<double, 3>> rest_positions;  // [m] per node: the stress-free shape, except of sewn cloth
  std::vector<Vec<double, 3>> positions;       // [m] per node at t = 0
  std::vector<Vec<double, 3>> velocities;      // [m/s] per node at t = 0
  std::vector<std::int32_t> node_object;       // per node

  std::vector<Vec4i> tets;                  // positive rest volume
  std::vector<Vec3i> triangles;             // surface, outward by the right-hand rule
  std::vector<Vec2i> segments;              // of rods and colliders: edges that bound no triangle
  std::vector<Vec2i> edges;                 // of `triangles` and `segments`, each once, smaller index first
  std::vector<std::int32_t> surface_nodes;  // of triangles and rods, and all of colliders; ascending

  std::vector<ScriptedNodes> scripted;  // every collider node is in exactly one, which always acts
  std::vector<NodeForce> forces;
  std::vector<HalfSpace> half_spaces;
  std::vector<PairFriction> pair_friction;
  std::vector<SurfaceTexture> textures;  // one per material at most; of rigid bodies

  std::vector<Body> bodies;  // rigid; their nodes' rest positions are in the bodies' frames
  std::vector<Shape> shapes;
  std::vector<ConvexHull> hulls;
  std::vector<ShapeMesh> shape_meshes;
  std::vector<Motion> body_motions;
  std::vector<Joint> joints;
  std::vector<Spring> springs;
  std::vector<NodeConstraint> constraints;  // of joints; of scenes without rigid bodies, set by finalize
  std::vector<ConstraintPoint> constraint_points;
  std::vector<Lattice> lattices;  // of objects with embedded surfaces
  std::vector<ClothPattern> cloth_patterns;
  std::vector<Vec2i> exempt_objects;  // pairs of objects that never touch; see barrier_model.h

  std::size_t node_count() const { return positions.size(); }
};

/// Appends a tetrahedral solid: nodes, tets, its surface triangles. `tets` index into `nodes`; a tet with
/// negative volume is flipped. Throws std::invalid_argument naming the tet when one is degenerate or an index
/// is bad.
Object& add_solid(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                  const std::vector<Vec4i>& tets, std::int32_t material);

/// The same of ten-node tets: each edge gets a node in its middle, behind `nodes`, and each tet becomes the
/// eight parts of a ten-node one. The surface is that of the parts.
Object& add_ten_node_solid(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                           const std::vector<Vec4i>& tets, std::int32_t material);

/// Appends a sheet of elastic triangles, at rest where `nodes` are. Neighbours that share an edge have one
/// orientation. Throws std::invalid_argument naming the triangle or the edge when a triangle has no area, an
/// index is bad, a node belongs to no triangle, or an edge to more than two triangles or to two of opposite
/// orientations; and when `thickness` [m] is not positive.
Object& add_cloth(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                  const std::vector<Vec3i>& triangles, std::int32_t material, double thickness);

/// Appends elastic rods, at rest where `nodes` are: chains of `segments`, which may be closed. One ghost per
/// segment, in front of the nodes, carries the material frame (see rod.h), which has no twist at rest. Throws
/// std::invalid_argument when a node belongs to no segment, a segment has no length, two segments begin or
/// end at one node, one turns back on another, or `diameter` [m] or `aspect` is not positive.
Object& add_rods(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                 const std::vector<Vec2i>& segments, std::int32_t material, double diameter,
                 double aspect = 1);

/// Appends a kinematic triangle surface that follows `motion`. Throws std::invalid_argument on bad indices or
/// a node of no triangle.
Object& add_collider(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                     const std::vector<Vec3i>& triangles, std::int32_t material, const Motion& motion);

/// Appends kinematic points, joined by `segments`; a point of no segment collides by itself. Throws as
/// add_collider does.
Object& add_point_collider(Model& model, std::string name, const std::vector<Vec<double, 3>>& nodes,
                           const std::vector<Vec2i>& segments, std::int32_t material, const Motion& motion);

/// Derives edges and surface_nodes from triangles, and checks the whole model: index ranges, finite numbers,
/// material ranges, positive volumes. Throws std::invalid_argument with the object and element at fault.
/// Call once after the last object was added.
void finalize(Model& model);

}  // namespace stickslip
