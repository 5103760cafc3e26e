// Objects of a running scene that are moved and turned.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/io/scene/scene.h"
#include "app/viewer/commands.h"
#include "app/viewer/scene_content.h"
#include "gpu/math/quat.h"

namespace stickslip {

class Simulation;

/// The point about which an object turns: the centre of mass of a rigid body, else the mean of its nodes.
/// `positions`: one per node [m]; `poses`: one per rigid body.
template <class Positions>
Vec<double, 3> pivot_of(const Model& model, const Object& object, const Positions& positions,
                        std::span<const Pose> poses) {
  if (object.is_rigid()) {
    const auto body = static_cast<std::size_t>(object.body);
    return body < poses.size() ? poses[body].x : model.bodies[body].pose.x;
  }
  Vec<double, 3> sum{0, 0, 0};
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
    sum += positions[static_cast<std::size_t>(i)].template cast<double>();
  return sum / std::max(1, object.node_end - object.node_begin);
}
/// x -> the place of x after a turn [degrees] about the pivot and a shift [m].
Pose rigid_move(const Vec<double, 3>& pivot, const Vec<double, 3>& shift, const Vec<double, 3>& turn);

/// Why the object cannot be moved, or turned where `turn` is true; empty: it can.
std::string move_refusal(const Scene& scene, const std::string& name, bool turn);

/// The objects that move as one with this one: those that joints other than ropes connect with it.
std::vector<int> moved_with(const Model& model, const std::string& name);

/// The scene in which the start of the object is moved as `move` says, and lifted above what it would overlap
/// there. The start of an object that joints hold, of all that moves with it, and of one that follows a
/// script moves as the state does, about the place where the object is in `now` (empty: at the start), so
/// that joints at the world and scripts fit both. Throws InputError: as with_moved_tables, pinned nodes with
/// a script that are to be turned, a box of a pin or a force that would select other nodes, what moves as one
/// would overlap others at the start.
std::shared_ptr<const Scene> with_move(const Scene& scene, const MoveObject& move, const State& now = {});
/// Moves the objects in `after`, a state of the model `to`, from their places in `before`, a state of `from`.
/// They are at rest then; scripts go on.
void put_moved(const Model& from, const State& before, const Model& to, const MoveObject& move, State& after);

/// The command that moves an object, lifted by up to half of its height where it would overlap something at
/// these `positions` and `poses`, unless joints hold it. Throws InputError: as with_move; there is no room.
MoveObject free_move(const Scene& scene, MoveObject wanted, std::span<const Vec3f> positions,
                     std::span<const Pose> poses);
/// The shot, so much earlier on its way that it overlaps nothing at these `positions` [m], nor at the start
/// of the scene. Throws InputError: there is no such place in sixteen radii.
Shot free_shot(const Scene& scene, Shot shot, std::span<const Vec3f> positions);

/// Posts it for what a simulation shows. Throws InputError: as free_move, no scene, or an earlier change of
/// the scene's content is not done yet.
void move_object(Simulation& simulation, const MoveObject& wanted);

}  // namespace stickslip
