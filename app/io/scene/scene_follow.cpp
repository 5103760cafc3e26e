// Rods whose held ends follow a collider, or a rigid body that a script moves.
#include <algorithm>
#include <span>

#include "app/io/scene/scene_build.h"
#include "gpu/model/surface_followers.h"

namespace stickslip {
namespace {

const Object& owner_of(const ScriptedNodes& script, const Model& model) {
  return model.objects[model.node_object[script.nodes[0]]];
}

/// The script of the collider `name`, or nullptr.
const ScriptedNodes* find_script(const std::string& name, const Model& model) {
  const auto found = std::ranges::find_if(model.scripted, [&](const ScriptedNodes& script) {
    const Object& object = owner_of(script, model);
    return object.is_collider() && object.name == name;
  });
  return found == model.scripted.end() ? nullptr : &*found;
}

/// The rigid body `name`, or nullptr.
const Body* find_body(const std::string& name, const Model& model) {
  const auto found = std::ranges::find_if(
      model.bodies, [&](const Body& body) { return model.objects[body.object].name == name; });
  return found == model.bodies.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_leader(const FollowingRods& rods, const Model& model) {
  std::vector<std::string> names;
  for (const ScriptedNodes& script : model.scripted)
    if (owner_of(script, model).is_collider()) names.push_back(owner_of(script, model).name);
  for (const Body& body : model.bodies)
    if (!body.moves) names.push_back(model.objects[body.object].name);
  if (names.empty())
    rods.table.fail("follow", "no solid has this name, and there is no collider of this scene to follow");
  check_known(rods.table, "follow", "collider", rods.leader, names);
  rods.table.fail("follow", "'" + rods.leader + "' is no collider");
}

/// The positions of what is held, for the sequence of `leader`.
ScriptedNodes carried_by_triangles(const FollowingRods& rods, const ScriptedNodes& leader,
                                   const Model& model) {
  const Object& collider = owner_of(leader, model);
  std::vector<Vec3i> triangles(model.triangles.begin() + collider.triangle_begin,
                               model.triangles.begin() + collider.triangle_end);
  for (Vec3i& t : triangles)
    for (int a = 0; a < 3; ++a) t[a] -= collider.node_begin;
  const std::span start(model.positions.data() + collider.node_begin, leader.nodes.size());

  ScriptedNodes script;
  script.nodes = rods.nodes;
  std::vector<Follower> followers;
  followers.reserve(script.nodes.size());
  for (std::size_t k = 0; k < script.nodes.size(); ++k)
    followers.push_back({model.positions[script.nodes[k]], rods.roots[k]});
  script.frame_dt = leader.frame_dt;
  script.frames = located(rods.table, [&] {
    return carried_points({start, triangles, leader.frames}, followers);
  });
  return script;
}

}  // namespace

void follow_collider(const FollowingRods& rods, Model& model) {
  ScriptedNodes script;
  if (const ScriptedNodes* leader = find_script(rods.leader, model)) {
    if (!leader->frames.empty()) script = carried_by_triangles(rods, *leader, model);
    else script.motion = leader->motion;
  } else if (const Body* body = find_body(rods.leader, model)) {
    if (body->moves)
      rods.table.fail("follow", "'" + rods.leader +
                                    "' is a rigid body that forces move: strands follow a collider, a rigid "
                                    "body that stands still or has a motion, or a deformable solid");
    if (body->motion >= 0) script.motion = model.body_motions[static_cast<std::size_t>(body->motion)];
  } else {
    refuse_leader(rods, model);
  }
  script.nodes = rods.nodes;
  model.scripted.push_back(std::move(script));
}

}  // namespace stickslip
