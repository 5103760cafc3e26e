#include "gpu/model/barrier_model.h"

#include <algorithm>
#include <cmath>

#include "gpu/geometry/distance.h"
#include "gpu/model/element_group.h"
#include "gpu/model/joint_constraints.h"
#include "gpu/model/shape_surface.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

// Shares of a body's smallest thickness that a skin may take from each side: at the start, and at most.
constexpr double kThinSkin = 0.1, kMostSkin = 0.2;

std::vector<double> skins(const Model& scene, double skin, double share) {
  std::vector<double> out;
  out.reserve(scene.bodies.size());
  for (const Body& body : scene.bodies) {
    double thinnest = 1e300;
    for (std::int32_t s = body.shape_begin; s < body.shape_end; ++s) {
      const Shape& shape = scene.shapes[static_cast<std::size_t>(s)];
      const bool round = shape.kind == ShapeKind::sphere || shape.kind == ShapeKind::capsule;
      const Vec3d& h = shape.size;
      thinnest = std::min(thinnest, 2 * (round ? h[0] : std::min({h[0], h[1], h[2]})));
    }
    out.push_back(std::min(skin, share * thinnest));
  }
  return out;
}

/// Appends the objects of a scene one by one.
class Converter {
 public:
  Converter(const Model& scene, const std::vector<double>& skin, double tolerance)
      : scene_(scene), skin_(skin), tolerance_(tolerance) {
    out_.node.assign(scene.node_count(), -1);
    out_.control.assign(scene.bodies.size(), -1);
  }

  BarrierModel run() {
    for (std::size_t j = 0; j < scene_.joints.size(); ++j) add_anchors(j);
    to_.material_names = scene_.material_names;
    to_.materials = scene_.materials;
    to_.half_spaces = scene_.half_spaces;
    to_.pair_friction = scene_.pair_friction;
    to_.lattices = scene_.lattices;  // nodes are counted in their object
    to_.cloth_patterns = scene_.cloth_patterns;
    for (const Object& object : scene_.objects) {
      if (object.is_rigid()) add_body(object);
      else add_other(object);
    }
    add_world();
    add_groups();
    add_joints();
    finalize(to_);
    return std::move(out_);
  }

 private:
  std::int32_t add_node(const Vec3d& rest, const Vec3d& position, const Vec3d& velocity) {
    to_.rest_positions.push_back(rest);
    to_.positions.push_back(position);
    to_.velocities.push_back(velocity);
    to_.node_object.push_back(static_cast<std::int32_t>(to_.objects.size()));
    return static_cast<std::int32_t>(to_.node_count() - 1);
  }

  std::int32_t copy_node(std::int32_t node) {
    const auto n = static_cast<std::size_t>(node);
    return out_.node[n] = add_node(scene_.rest_positions[n], scene_.positions[n], scene_.velocities[n]);
  }

  static std::int32_t size_of(const auto& list) { return static_cast<std::int32_t>(list.size()); }

  /// An object of the scene with empty ranges, whose nodes begin here.
  Object begin(const Object& object) const {
    Object copy = object;
    copy.body = copy.control_begin = -1;
    copy.node_begin = size_of(to_.positions);
    copy.tet_begin = copy.tet_end = size_of(to_.tets);
    copy.triangle_begin = copy.triangle_end = size_of(to_.triangles);
    copy.segment_begin = copy.segment_end = size_of(to_.segments);
    return copy;
  }

  void finish(Object object) {
    object.tet_end = size_of(to_.tets);
    object.triangle_end = size_of(to_.triangles);
    object.segment_end = size_of(to_.segments);
    to_.objects.push_back(std::move(object));
  }

  template <int N>
  void copy_elements(const std::vector<Vec<std::int32_t, N>>& from, std::int32_t first, std::int32_t last,
                     std::int32_t shift, std::vector<Vec<std::int32_t, N>>& to) const {
    for (std::int32_t e = first; e < last; ++e)
      to.push_back(from[static_cast<std::size_t>(e)] + Vec<std::int32_t, N>::filled(shift));
  }

  void add_other(const Object& object) {
    Object copy = begin(object);
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) copy_node(i);
    copy.node_end = size_of(to_.positions);
    if (object.is_affine()) {
      copy.control_begin = copy.node_end;
      for (int k = 0; k < 4; ++k) copy_node(object.control_begin + k);
    }
    const std::int32_t shift = copy.node_begin - object.node_begin;
    if (object.collides_from >= 0) copy.collides_from = object.collides_from + shift;
    copy_elements<4>(scene_.tets, object.tet_begin, object.tet_end, shift, to_.tets);
    copy_elements<3>(scene_.triangles, object.triangle_begin, object.triangle_end, shift, to_.triangles);
    copy_elements<2>(scene_.segments, object.segment_begin, object.segment_end, shift, to_.segments);
    finish(std::move(copy));
  }

  void add_body(const Object& object) {
    const Body& body = scene_.bodies[static_cast<std::size_t>(object.body)];
    const auto first = static_cast<std::size_t>(object.node_begin);
    const auto last = static_cast<std::size_t>(object.node_end);
    const ShapeSurface outside = shape_surface(scene_, body, tolerance_);
    const std::vector<Vec3d> surface =
        shrunk_surface(outside.nodes, outside.triangles, skin_[static_cast<std::size_t>(object.body)]);

    Object copy = begin(object);
    const auto stand = [&](const Vec3d& p) {
      const Vec3d x = body.pose.apply(p);
      // A collider's script moves its start.
      return add_node(body.moves ? p : x, x,
                      body.moves ? body.velocity + cross(body.spin, x - body.pose.x) : Vec3d::zero());
    };
    if (!body.moves)
      for (std::size_t i = first; i < last; ++i) out_.node[i] = stand(scene_.rest_positions[i]);
    Anchors& anchors = anchors_[static_cast<std::size_t>(object.body)];
    anchors.first_node = size_of(to_.positions);
    for (const Vec3d& p : anchors.points) stand(p);
    copy.collides_from = size_of(to_.positions);
    for (const Vec3d& p : surface) stand(p);
    copy.node_end = size_of(to_.positions);
    copy_elements<3>(outside.triangles, 0, size_of(outside.triangles), copy.collides_from, to_.triangles);
    if (body.moves) {
      copy.control_begin = copy.node_end;
      copy.volume = body.volume;
      copy.mass = body.mass;
      out_.control[static_cast<std::size_t>(object.body)] = copy.control_begin;
      const Vec3d s = equimomental_axes(body.unit_inertia);
      for (int k = 0; k < 4; ++k) {
        const Vec3d t = equimomental_corner(k);
        stand({s[0] * t[0], s[1] * t[1], s[2] * t[2]});
      }
    } else {
      ScriptedNodes script;
      if (body.motion >= 0) script.motion = scene_.body_motions[static_cast<std::size_t>(body.motion)];
      for (std::int32_t i = copy.node_begin; i < copy.node_end; ++i) script.nodes.push_back(i);
      to_.scripted.push_back(std::move(script));
    }
    finish(std::move(copy));
  }

  /// Scripts, forces and springs of nodes that are no rigid body's.
  void add_groups() {
    for (ScriptedNodes script : scene_.scripted) {
      rename(script.nodes);
      to_.scripted.push_back(std::move(script));
    }
    for (NodeForce force : scene_.forces) {
      rename(force.nodes);
      to_.forces.push_back(std::move(force));
    }
    for (Spring spring : scene_.springs) {
      for (ConstraintPoint* point : {&spring.a, &spring.b})
        for (int c = 0; c < 4; ++c)
          if (point->nodes[c] >= 0) point->nodes[c] = out_.node[static_cast<std::size_t>(point->nodes[c])];
      to_.springs.push_back(std::move(spring));
    }
  }

  void rename(std::vector<std::int32_t>& nodes) const {
    for (std::int32_t& node : nodes) node = out_.node[static_cast<std::size_t>(node)];
  }

  /// Points of one body or the world, and where their nodes begin.
  struct Anchors {
    std::vector<Vec3d> points;  // in the body's frame
    std::int32_t first_node = -1;
  };
  /// Of one joint: what its constraints share, and the index of its first point among those of either side's
  /// body or of the world.
  struct Place {
    NodeConstraint base;
    std::int32_t first[2];
  };

  Anchors& anchors_of(std::int32_t body) {
    return body < 0 ? world_ : anchors_[static_cast<std::size_t>(body)];
  }

  void add_anchors(std::size_t index) {
    const Joint& joint = scene_.joints[index];
    Place place{joint_base(scene_, index), {0, 0}};
    for (int side = 0; side < 2; ++side) {
      if ((side == 0 ? joint.tet_a : joint.tet_b) >= 0) continue;
      Anchors& anchors = anchors_of(side == 0 ? joint.a : joint.b);
      const Pose& frame = side == 0 ? joint.frame_a : joint.frame_b;
      place.first[side] = size_of(anchors.points);
      anchors.points.push_back(frame.x);
      for (int c = 0; c < 3; ++c) {
        Vec3d arm = Vec3d::zero();
        arm[c] = place.base.arm;
        anchors.points.push_back(frame.apply(arm));
      }
    }
    places_.push_back(place);
  }

  /// The anchors that do not move: a collider that nothing touches.
  void add_world() {
    if (world_.points.empty()) return;
    Object object = begin(Object{});
    object.name = "world";
    world_.first_node = object.node_begin;
    ScriptedNodes script;
    for (const Vec3d& p : world_.points) script.nodes.push_back(add_node(p, p, Vec3d::zero()));
    object.node_end = object.collides_from = size_of(to_.positions);
    to_.scripted.push_back(std::move(script));
    finish(std::move(object));
  }

  void add_joints() {
    for (std::size_t j = 0; j < scene_.joints.size(); ++j) {
      const Joint& joint = scene_.joints[j];
      const std::int32_t a = add_points(joint, 0, places_[j]), b = add_points(joint, 1, places_[j]);
      add_joint_constraints(joint, a, b, places_[j].base, to_.constraints);
    }
    add_exempt_objects(scene_, to_.exempt_objects);
  }

  /// The points of one side of a joint.
  std::int32_t add_points(const Joint& joint, int side, const Place& place) {
    const std::int32_t tet = side == 0 ? joint.tet_a : joint.tet_b;
    if (tet < 0)
      return add_node_points(to_, anchors_of(side == 0 ? joint.a : joint.b).first_node + place.first[side]);
    std::vector<std::int32_t> nodes;
    nodes.reserve(4);
    for (int k = 0; k < 4; ++k) nodes.push_back(scene_.tets[static_cast<std::size_t>(tet)][k]);
    rename(nodes);
    return add_tet_points(to_, {nodes[0], nodes[1], nodes[2], nodes[3]}, scene_, tet,
                          side == 0 ? joint.frame_a : joint.frame_b, place.base.arm);
  }

  const Model& scene_;
  const std::vector<double>& skin_;
  const double tolerance_;
  std::vector<Anchors> anchors_ = std::vector<Anchors>(scene_.bodies.size());
  Anchors world_;
  std::vector<Place> places_;  // per joint
  BarrierModel out_;
  Model& to_ = out_.model;
};

}  // namespace

std::vector<double> body_skins(const Model& scene, double skin) { return skins(scene, skin, kThinSkin); }
std::vector<double> most_skins(const Model& scene) { return skins(scene, 1e300, kMostSkin); }

BarrierModel make_barrier_model(const Model& scene, const std::vector<double>& skin, double tolerance) {
  return Converter(scene, skin, tolerance).run();
}

Vec3d equimomental_axes(const Vec3d& unit_inertia) {
  const double half = (unit_inertia[0] + unit_inertia[1] + unit_inertia[2]) / 2;
  // One axis of a flat body is zero up to rounding; the control tet needs a volume.
  const double least = 1e-12 * half;
  Vec3d s{};
  for (int i = 0; i < 3; ++i) s[i] = std::sqrt(std::max(half - unit_inertia[i], least));
  return s;
}

double object_mass(const Model& model, const Object& object) {
  return object.mass > 0 ? object.mass
                         : object.volume * model.materials[static_cast<std::size_t>(object.material)].density;
}

double body_stiffness(const Model& model, const Object& object) {
  double r2 = 0;  // rest positions of such an object are relative to its centre
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
    r2 = std::max(r2, norm2(model.rest_positions[static_cast<std::size_t>(i)]));
  return object_mass(model, object) * std::sqrt(r2) * kReferenceAcceleration;
}

BodyState scripted_state(const Model& scene, const Body& body, double time, double dt) {
  if (body.motion < 0) return {body.pose, {}, {}};
  const Motion& motion = scene.body_motions[static_cast<std::size_t>(body.motion)];
  const auto pose_at = [&](double t) {
    const Vec3d x = motion.apply(body.pose.x, t);
    Vec3d columns[3];
    for (int i = 0; i < 3; ++i) {
      Vec3d axis = Vec3d::zero();
      axis[i] = 1;
      columns[i] = motion.apply(body.pose.apply(axis), t) - x;
    }
    return Pose{x, quaternion_of(Mat3d::from_columns(columns))};
  };
  const Pose now = pose_at(time), before = pose_at(std::max(0.0, time - dt));
  return {now, (now.x - before.x) / dt, rotation_vector(now.q * before.q.conjugate()) / dt};
}

Drag barrier_drag(const Model& scene, const BarrierModel& barrier, const Drag& drag,
                  const std::vector<Pose>& poses) {
  const auto object = static_cast<std::size_t>(scene.node_object[static_cast<std::size_t>(drag.triangle[0])]);
  const Object& body = barrier.model.objects[object];
  Drag on = drag;
  if (!body.is_stiff()) {
    for (int c = 0; c < 3; ++c) on.triangle[c] = barrier.node[static_cast<std::size_t>(drag.triangle[c])];
    return on;
  }
  Vec3d p = Vec3d::zero();
  for (int c = 0; c < 3; ++c)
    p += drag.weights[c] * scene.rest_positions[static_cast<std::size_t>(drag.triangle[c])];
  const auto rest = [&](std::int32_t node) {
    return barrier.model.rest_positions[static_cast<std::size_t>(node)];
  };
  double nearest = 1e300;
  for (const Vec3i& t : triangles_of(barrier.model, body)) {
    const double d2 = point_triangle_d2(p, rest(t[0]), rest(t[1]), rest(t[2]));
    if (!(d2 < nearest)) continue;
    nearest = d2;
    on.triangle = t;
  }
  const Vec3i& t = on.triangle;
  const Vec<double, 4> w = point_triangle_weights(p, rest(t[0]), rest(t[1]), rest(t[2]));
  // Those of the triangle's corners are negative: the vector from the point of the triangle to p is sum w x.
  Vec3d taken = Vec3d::zero();
  for (int c = 0; c < 3; ++c) {
    on.weights[c] = std::clamp(-w[c + 1], 0.0, 1.0);
    taken += on.weights[c] * rest(t[c]);
  }
  const auto body_index = static_cast<std::size_t>(scene.objects[object].body);
  on.target -= poses[body_index].q.rotate(p - taken);
  return on;
}

std::vector<std::int32_t> scripted_body_nodes(const Model& scene, const BarrierModel& barrier) {
  std::vector<std::int32_t> nodes;
  for (const Body& body : scene.bodies) {
    const Object& object = barrier.model.objects[static_cast<std::size_t>(body.object)];
    if (body.moves || body.motion < 0) continue;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) nodes.push_back(i);
  }
  std::ranges::sort(nodes);
  return nodes;
}

bool fits(const Model& scene, const BarrierModel& barrier, const BarrierMemory& memory) {
  const auto is_finite = [](const Vec3d& x) { return std::isfinite(x[0] + x[1] + x[2]); };
  const std::size_t nodes = scripted_body_nodes(scene, barrier).size();
  return memory.bodies.size() == scene.bodies.size() && memory.colliders.size() == nodes &&
         memory.collider_velocities.size() == nodes && std::ranges::all_of(memory.colliders, is_finite) &&
         std::ranges::all_of(memory.collider_velocities, is_finite);
}

State barrier_state(const Model& scene, const BarrierModel& barrier, const State& state, double dt) {
  State out;
  out.frame = state.frame;
  out.time = state.time;
  out.positions = barrier.model.positions;
  out.velocities = barrier.model.velocities;
  for (std::size_t i = 0; i < scene.node_count(); ++i) {
    if (barrier.node[i] < 0) continue;
    const auto to = static_cast<std::size_t>(barrier.node[i]);
    out.positions[to] = state.positions[i];
    out.velocities[to] = state.velocities[i];
  }
  const bool remembered = !state.barrier.bodies.empty() && fits(scene, barrier, state.barrier);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const Body& body = scene.bodies[b];
    const Object& object = barrier.model.objects[static_cast<std::size_t>(body.object)];
    const BodyState at = body.moves ? state.bodies[b] : scripted_state(scene, body, state.time, dt);
    const std::int32_t end = body.moves ? object.control_begin + 4 : object.node_end;
    for (std::int32_t i = object.node_begin; i < end; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const Vec3d& rest = barrier.model.rest_positions[n];
      const Vec3d x = at.pose.apply(body.moves ? rest : body.pose.apply_back(rest));
      out.positions[n] = x;
      out.velocities[n] = at.velocity + cross(at.spin, x - at.pose.x);
    }
    if (!body.moves || !remembered) continue;
    const StandIn& stand_in = state.barrier.bodies[b];
    for (std::size_t k = 0; k < 4; ++k) {
      const auto n = static_cast<std::size_t>(object.control_begin) + k;
      out.positions[n] = stand_in.positions[k];
      out.velocities[n] = stand_in.velocities[k];
    }
  }
  if (!remembered) return out;
  const std::vector<std::int32_t> scripted = scripted_body_nodes(scene, barrier);
  for (std::size_t i = 0; i < scripted.size(); ++i) {
    out.positions[static_cast<std::size_t>(scripted[i])] = state.barrier.colliders[i];
    out.velocities[static_cast<std::size_t>(scripted[i])] = state.barrier.collider_velocities[i];
  }
  return out;
}

}  // namespace stickslip
