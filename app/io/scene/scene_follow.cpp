// Rods whose held ends follow a collider that a sequence of meshes moves.
#include <algorithm>
#include <span>

#include "app/io/scene/scene_build.h"
#include "gpu/model/surface_followers.h"

namespace stickslip {
namespace {

const Object& owner_of(const ScriptedNodes& script, const Model& model) {
  return model.objects[model.node_object[script.nodes[0]]];
}

/// The script of the collider that `rods` follow.
const ScriptedNodes& find_leader(const FollowingRods& rods, const Model& model) {
  std::vector<std::string> names;
  const auto leads = [&](const ScriptedNodes& script) {
    const Object& object = owner_of(script, model);
    return !script.frames.empty() && object.triangle_begin < object.triangle_end;
  };
  for (const ScriptedNodes& script : model.scripted)
    if (leads(script)) names.push_back(owner_of(script, model).name);
  if (names.empty())
    rods.table.fail("follow",
                    "no solid has this name, and no collider of this scene has triangles and a sequence");
  check_known(rods.table, "follow", "collider with a sequence", rods.leader, names);
  return *std::ranges::find_if(model.scripted, [&](const ScriptedNodes& script) {
    return leads(script) && owner_of(script, model).name == rods.leader;
  });
}

}  // namespace

void follow_collider(const FollowingRods& rods, Model& model) {
  const ScriptedNodes& leader = find_leader(rods, model);
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
  model.scripted.push_back(std::move(script));
}

}  // namespace stickslip
