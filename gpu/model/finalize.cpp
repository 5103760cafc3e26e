// finalize: what is derived from the parts of a model, and the checks of the whole.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gpu/model/affine.h"
#include "gpu/model/cloth_pattern.h"
#include "gpu/model/element_group.h"
#include "gpu/model/finite.h"
#include "gpu/model/friction_laws.h"
#include "gpu/model/joint_constraints.h"
#include "gpu/model/lattice.h"
#include "gpu/model/rigid_body.h"
#include "gpu/model/rod.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

void check_material(const std::string& name, const Material& material) {
  for (const ParamInfo& info : material_table()) {
    Material copy = material;
    try {
      set_param(&copy, info, get_param(&material, info));
    } catch (const std::invalid_argument& error) {
      refuse("material '" + name + "': " + error.what());
    }
  }
  if (const std::string fault = friction_fault(material); !fault.empty())
    refuse("material '" + name + "': " + fault);
}

void check_nodes(const Model& model) {
  const std::size_t n = model.positions.size();
  if (model.rest_positions.size() != n || model.velocities.size() != n || model.node_object.size() != n)
    refuse("the node arrays of the model differ in length");
  for (std::size_t i = 0; i < n; ++i) {
    if (model.node_object[i] < 0 || static_cast<std::size_t>(model.node_object[i]) >= model.objects.size())
      refuse("node " + std::to_string(i) + " belongs to no object");
    if (!is_finite(model.rest_positions[i]) || !is_finite(model.positions[i]) ||
        !is_finite(model.velocities[i]))
      refuse("object '" + model.objects[model.node_object[i]].name + "': node " + std::to_string(i) +
             " has a position or velocity that is not finite");
  }
}

template <int N>
void check_elements(const Object& object, const char* kind, const std::vector<Vec<std::int32_t, N>>& elements,
                    std::int32_t begin, std::int32_t end) {
  if (begin < 0 || end < begin || static_cast<std::size_t>(end) > elements.size())
    refuse("object '" + object.name + "': its " + kind + " range leaves the model");
  for (std::int32_t e = begin; e < end; ++e)
    for (int c = 0; c < N; ++c)
      if (elements[e][c] < object.node_begin || elements[e][c] >= object.node_end)
        refuse("object '" + object.name + "': " + kind + " " + std::to_string(e - begin) +
               " names a node of another object");
}

void check_ten_node_tets(const Model& model, const Object& object) {
  const auto fault = [&](const std::string& what) { refuse("object '" + object.name + "': " + what); };
  if (object.is_affine()) fault("an affine body has linear tets");
  const std::span<const Vec4i> parts = tets_of(model, object);
  if (parts.size() % kTet10Parts != 0)
    fault("it has " + std::to_string(parts.size()) + " tets, and ten-node tets have eight parts each");
  const std::vector<Tet10> elements = ten_node_tets_of(model, object);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const auto at = [&](int node) { return model.rest_positions[elements[e][node]]; };
    for (int p = 0; p < kTet10Parts; ++p)
      for (int c = 0; c < 4; ++c)
        if (parts[kTet10Parts * e + static_cast<std::size_t>(p)][c] != elements[e][tet10_part(p, c)])
          fault("the parts of ten-node tet " + std::to_string(e) + " do not fit together");
    for (int node = 4; node < kTet10Nodes; ++node) {
      const Vec3d a = at(tet10_end(node, 0)), b = at(tet10_end(node, 1));
      if (norm(at(node) - 0.5 * (a + b)) > 1e-6 * norm(b - a))
        fault("ten-node tet " + std::to_string(e) + " has a curved edge at rest");
    }
  }
}

void check_rods(const Model& model, const Object& object) {
  const auto fault = [&](const std::string& what) { refuse("object '" + object.name + "': " + what); };
  if (!(object.aspect > 0 && std::isfinite(object.aspect))) fault("its aspect must be positive");
  if (object.collides_from != object.node_begin + object.segment_end - object.segment_begin)
    fault("rods have one ghost per segment in front of their other nodes");
  for (std::int32_t s = object.segment_begin; s < object.segment_end; ++s) {
    const Vec2i& nodes = model.segments[s];
    if (std::min(nodes[0], nodes[1]) < object.collides_from)
      fault("segment " + std::to_string(s - object.segment_begin) + " names a ghost");
    const Vec3d a = model.rest_positions[nodes[0]], e = model.rest_positions[nodes[1]] - a;
    if (!(norm(cross(e, model.rest_positions[rod_ghost(object, s)] - a)) > 1e-6 * norm2(e)))
      fault("the ghost of segment " + std::to_string(s - object.segment_begin) + " is on its line");
  }
  try {
    rod_joints(segments_of(model, object));
  } catch (const std::invalid_argument& error) {
    fault(error.what());
  }
}

void check_thin(const Model& model, const Object& object) {
  const auto fault = [&](const std::string& what) { refuse("object '" + object.name + "': " + what); };
  if (!std::isfinite(object.thickness)) fault("its thickness must be finite");
  if (object.is_solid() || object.is_rigid() || object.is_affine())
    fault("a thin object has no volume mesh and no body");
  if (object.is_cloth() && object.segment_begin < object.segment_end)
    fault("a thin object has triangles or segments, not both");
  if (object.is_rods() && object.segment_begin == object.segment_end)
    fault("a thin object needs triangles or segments");
  if (object.is_rods()) check_rods(model, object);
  if (object.is_cloth() && !(is_finite(object.warp) && norm(object.warp) > 0))
    fault("its warp must be a finite direction");
  if (object.is_sewn()) check_pattern(model, object);
  for (const auto& [node, volume] : lumped_volumes(model, object))
    if (!(volume > 0))
      fault("an element at node " + std::to_string(node - object.node_begin) + " has no extent at rest");
}

void check_object(const Model& model, const Object& object) {
  if (object.material < 0 || static_cast<std::size_t>(object.material) >= model.materials.size())
    refuse("object '" + object.name + "': there is no material " + std::to_string(object.material));
  check_elements<4>(object, "tet", model.tets, object.tet_begin, object.tet_end);
  check_elements<3>(object, "triangle", model.triangles, object.triangle_begin, object.triangle_end);
  check_elements<2>(object, "segment", model.segments, object.segment_begin, object.segment_end);
  for (std::int32_t t = object.tet_begin; t < object.tet_end; ++t)
    if (!(tet_volume(model.rest_positions, model.tets[t]) > 0))
      refuse("object '" + object.name + "': tet " + std::to_string(t - object.tet_begin) +
             " has no positive rest volume");
  if (object.ten_node) check_ten_node_tets(model, object);
  if (object.is_thin()) check_thin(model, object);
  else if (object.thickness != 0) refuse("object '" + object.name + "': its thickness must not be negative");
  if (object.no_contact_group < 0 || object.no_contact_group > 7)
    refuse("object '" + object.name + "': its no_contact_group must be in [0, 7]");
  if (object.no_contact_group > 0 && !model.bodies.empty())
    refuse("object '" + object.name + "': no_contact_group is for scenes without rigid bodies");
  if (object.is_affine() && static_cast<std::size_t>(object.control_begin) + 4 > model.node_count())
    refuse("object '" + object.name + "': its control nodes leave the model");
}

void check_motion(const Motion& motion, const std::string& owner) {
  bool good = is_finite(motion.velocity) && is_finite(motion.angular_velocity) && is_finite(motion.center) &&
              motion.start >= 0 && motion.end >= motion.start;
  for (std::size_t k = 0; k < motion.keys.size(); ++k) {
    const Motion::Key& key = motion.keys[k];
    good = good && std::isfinite(key.time) && is_finite(key.translation) && is_finite(key.rotation_degrees) &&
           (k == 0 || key.time > motion.keys[k - 1].time);
  }
  if (!good)
    refuse("the motion of " + owner + ": needs finite numbers, 0 <= start <= end and keys of ascending time");
  // Three points and the origin fix a rigid pose: at t = 0 it has to be the start, or the first step would
  // jump.
  for (const Vec3d& p : {Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}})
    if (norm(motion.apply(p, 0) - p) > 1e-12 * (1 + norm(motion.center)))
      refuse("the motion of " + owner +
             ": the pose at time 0 must be the start pose (no key may have moved it before start)");
}

/// A group of nodes that acts for a while, as scripts and forces are.
template <class Group>
void check_group(const Model& model, const Group& group, const std::string& what) {
  if (group.nodes.empty()) refuse(what + " has no nodes");
  for (const std::int32_t node : group.nodes)
    if (node < 0 || static_cast<std::size_t>(node) >= model.node_count())
      refuse(what + ": there is no node " + std::to_string(node));
  if (!(group.begin >= 0 && group.end > group.begin)) refuse(what + ": needs 0 <= begin < end");
}

void check_frames(const Model& model, const ScriptedNodes& script) {
  if (script.frames.empty()) return;
  const std::string owner = "object '" + model.objects[model.node_object[script.nodes[0]]].name + "'";
  if (!model.bodies.empty()) refuse(owner + ": a sequence of positions is for scenes without rigid bodies");
  if (!script.motion.is_static()) refuse(owner + " has a motion and a sequence of positions");
  if (!(std::isfinite(script.frame_dt) && script.frame_dt > 0) || script.begin != 0 || script.end < 1e30)
    refuse("the sequence of " + owner +
           ": needs a positive time between its positions, begins at 0 and has no end");
  for (std::size_t f = 0; f < script.frames.size(); ++f) {
    if (script.frames[f].size() != script.nodes.size())
      refuse("the sequence of " + owner + ": entry " + std::to_string(f) + " has " +
             std::to_string(script.frames[f].size()) + " positions for " +
             std::to_string(script.nodes.size()) + " nodes");
    for (const Vec3d& p : script.frames[f])
      if (!is_finite(p)) refuse("the sequence of " + owner + ": a position is not finite");
  }
}

void check_scripted(const Model& model) {
  std::vector<std::vector<std::int32_t>> scripts_of(model.node_count());
  for (std::size_t s = 0; s < model.scripted.size(); ++s) {
    const ScriptedNodes& script = model.scripted[s];
    check_group(model, script, "scripted group " + std::to_string(s));
    for (const std::int32_t node : script.nodes) {
      const Object& object = model.objects[model.node_object[node]];
      if (object.is_rigid())
        refuse("object '" + object.name +
               "' is a rigid body: its nodes cannot be held or moved; make it a collider, or hold it by a "
               "joint");
      if (object.is_affine())
        refuse("object '" + object.name +
               "' is an affine body: single nodes of it cannot be held or moved; make it a collider, or "
               "deformable");
      if (object.is_embedded() && node >= object.collides_from)
        refuse(
            "object '" + object.name +
            "' is embedded in a lattice: nodes of its surface cannot be held or moved; hold lattice nodes");
      for (const std::int32_t other : scripts_of[node])
        if (script.begin < model.scripted[other].end && model.scripted[other].begin < script.end)
          refuse("object '" + object.name + "': node " + std::to_string(node) +
                 " follows two scripts at a time");
      scripts_of[node].push_back(static_cast<std::int32_t>(s));
    }
    check_frames(model, script);
    check_motion(script.motion, "object '" + model.objects[model.node_object[script.nodes[0]]].name + "'");
  }
  const auto always = [&](std::int32_t s) {
    return model.scripted[s].begin == 0 && model.scripted[s].end >= 1e30;
  };
  for (const Object& object : model.objects)
    if (object.is_collider())
      for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
        if (scripts_of[i].size() != 1 || !always(scripts_of[i][0]))
          refuse("collider '" + object.name + "': node " + std::to_string(i) +
                 " follows no script that acts all the time");
}

void check_forces(const Model& model) {
  for (std::size_t f = 0; f < model.forces.size(); ++f) {
    const std::string what = "force " + std::to_string(f);
    check_group(model, model.forces[f], what);
    if (!is_finite(model.forces[f].acceleration)) refuse(what + " is not finite");
    for (const std::int32_t node : model.forces[f].nodes)
      if (const Object& object = model.objects[model.node_object[node]]; object.is_rigid())
        refuse(what + ": object '" + object.name + "' is a rigid body, whose nodes carry no forces");
  }
}

void check_spring_point(const Model& model, const ConstraintPoint& point, const std::string& what) {
  for (int c = 0; c < 4; ++c) {
    if (point.nodes[c] < 0) continue;
    if (static_cast<std::size_t>(point.nodes[c]) >= model.node_count())
      refuse(what + ": there is no node " + std::to_string(point.nodes[c]));
    const Object& object = model.objects[model.node_object[point.nodes[c]]];
    if (!object.is_deformable() && !object.is_collider())
      refuse(what + ": object '" + object.name +
             "' is not deformable; springs hold deformable objects and colliders, joints the others");
  }
  if (!is_finite(point.fixed)) refuse(what + ": a point is not finite");
}

void check_springs(const Model& model) {
  for (const Spring& spring : model.springs) {
    const std::string what = "spring '" + spring.name + "'";
    for (const ConstraintPoint* point : {&spring.a, &spring.b}) check_spring_point(model, *point, what);
    if (!(spring.length >= 0) || !std::isfinite(spring.length))
      refuse(what + ": its length must be finite and not negative");
    if (!(spring.stiffness > 0) || !std::isfinite(spring.stiffness))
      refuse(what + ": its stiffness must be finite and positive");
    if (!(spring.damping >= 0) || !std::isfinite(spring.damping))
      refuse(what + ": its damping must be finite and not negative");
  }
}

void check_pair_friction(const Model& model) {
  for (const PairFriction& pair : model.pair_friction) {
    for (const std::int32_t m : {pair.material_a, pair.material_b})
      if (m < 0 || static_cast<std::size_t>(m) >= model.materials.size())
        refuse("pair friction: there is no material " + std::to_string(m));
    if (!(pair.mu >= 0) || !std::isfinite(pair.mu)) refuse("pair friction: mu must not be negative");
    if (!std::isfinite(pair.rolling_resistance)) refuse("pair friction: rolling_resistance must be finite");
  }
}

void check_textures(const Model& model) {
  std::vector<bool> taken(model.materials.size());
  for (const SurfaceTexture& texture : model.textures) {
    const auto m = static_cast<std::size_t>(texture.material);
    if (texture.material < 0 || m >= model.materials.size())
      refuse("texture: there is no material " + std::to_string(texture.material));
    if (taken[m]) refuse("material '" + model.material_names[m] + "' has two textures");
    taken[m] = true;
    if (const std::string fault = texture_fault(texture); !fault.empty())
      refuse("texture of material '" + model.material_names[m] + "': " + fault);
  }
  if (const std::string fault = texture_fault(model.materials, model.material_names, model.textures);
      !fault.empty())
    refuse(fault);
}

void check_half_spaces(const Model& model) {
  for (std::size_t h = 0; h < model.half_spaces.size(); ++h) {
    const HalfSpace& plane = model.half_spaces[h];
    if (!is_finite(plane.normal) || std::abs(norm(plane.normal) - 1) > 1e-9 || !std::isfinite(plane.offset))
      refuse("half-space " + std::to_string(h) + ": needs a unit normal and a finite offset");
    if (!(plane.mu >= 0) || !std::isfinite(plane.mu))
      refuse("half-space " + std::to_string(h) + ": mu must not be negative");
  }
}

}  // namespace

void finalize(Model& model) {
  if (model.material_names.size() != model.materials.size())
    refuse("the model has " + std::to_string(model.materials.size()) + " materials and " +
           std::to_string(model.material_names.size()) + " material names");
  for (std::size_t m = 0; m < model.materials.size(); ++m)
    check_material(model.material_names[m], model.materials[m]);
  check_nodes(model);
  for (const Object& object : model.objects) check_object(model, object);
  check_scripted(model);
  check_half_spaces(model);
  check_forces(model);
  check_springs(model);
  check_pair_friction(model);
  check_textures(model);
  for (std::size_t m = 0; m < model.body_motions.size(); ++m)
    check_motion(model.body_motions[m], "rigid body motion " + std::to_string(m));
  check_bodies(model);
  set_control_nodes(model);
  check_lattices(model);
  follow_lattices(model);
  constrain_solids(model);

  const auto by_nodes = [](const Vec2i& a, const Vec2i& b) {
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
  };
  model.edges.clear();
  model.surface_nodes.clear();
  // Rigid bodies touch by their shapes, not by their triangles.
  for (const Object& object : model.objects)
    for (std::int32_t t = object.triangle_begin; t < object.triangle_end && !object.is_rigid(); ++t)
      for (int c = 0; c < 3; ++c) {
        const std::int32_t a = model.triangles[t][c], b = model.triangles[t][(c + 1) % 3];
        model.edges.push_back({std::min(a, b), std::max(a, b)});
        model.surface_nodes.push_back(a);
      }
  for (const Vec2i& s : model.segments) model.edges.push_back({std::min(s[0], s[1]), std::max(s[0], s[1])});
  for (const Object& object : model.objects)
    for (std::int32_t s = object.segment_begin; s < object.segment_end && object.is_rods(); ++s)
      for (int c = 0; c < 2; ++c) model.surface_nodes.push_back(model.segments[s][c]);
  for (const Object& object : model.objects)
    if (object.is_collider())
      for (std::int32_t i = std::max(object.node_begin, object.collides_from); i < object.node_end; ++i)
        model.surface_nodes.push_back(i);
  std::sort(model.edges.begin(), model.edges.end(), by_nodes);
  model.edges.erase(std::unique(model.edges.begin(), model.edges.end()), model.edges.end());
  std::sort(model.surface_nodes.begin(), model.surface_nodes.end());
  model.surface_nodes.erase(std::unique(model.surface_nodes.begin(), model.surface_nodes.end()),
                            model.surface_nodes.end());
}

}  // namespace stickslip
