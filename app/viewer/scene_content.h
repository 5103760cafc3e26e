// Objects that come into a running scene or leave it, pins that hold them and ropes that tie them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/io/scene/scene.h"
#include "app/render/camera.h"
#include "app/viewer/joint_choice.h"
#include "gpu/model/state.h"

namespace stickslip {

struct Pick;

/// The stem with the first number, from 1, that makes a name that no object, joint or spring has.
std::string free_object_name(const Model& model, const std::string& stem);
/// Whether an object was thrown or added (see spawn_toml), by its name.
bool came_later(const Object& object);
/// [m] Half the diagonal of the box around all bodies at the start but those that came later.
double scene_radius(const Model& model);

/// The scene with one more [[object]], of which `toml` is the table; without a name in it "shot-N". Throws
/// InputError: bad keys, a name that is taken, materials or half-spaces, or a scene that has no TOML text.
std::shared_ptr<const Scene> with_object(const Scene& scene, const std::string& toml);
/// The scene without an object, a collider or one body of an array. Throws InputError: there is none, it is
/// the last one that can move, joints connect all of its array, or something else in the scene names it.
std::shared_ptr<const Scene> without_object(const Scene& scene, const std::string& name);

/// The table of a copy of an object as the scene's file defines it, a little above the place where the object
/// is now and above all that it would overlap there, now or at the scene's start. Throws InputError: as
/// without_object.
std::string copy_toml(const Scene& scene, const std::string& name, std::span<const Vec3f> positions);

/// The scene in which these nodes of an object, counted as those of a [[pin]], are held from `time` [s] on,
/// where they then are; those that a script holds already are left out. Throws InputError: a rigid or affine
/// body, a node that there is not, none left, no TOML text.
std::shared_ptr<const Scene> with_pin(const Scene& scene, const std::string& object,
                                      std::span<const std::int32_t> nodes, double time);
/// The scene without the pins of an object. Throws InputError: it has none of its own.
std::shared_ptr<const Scene> without_pins(const Scene& scene, const std::string& object);
/// The scene with one more [[joint]], of which `toml` is the table; without a name in it "tie-N". Throws
/// InputError: bad keys, a name that is taken, no TOML text.
std::shared_ptr<const Scene> with_joint(const Scene& scene, const std::string& toml);
/// The table of a rope between two picked places: a distance joint that is at most as long as they are apart
/// now. A collider's place is one of the world. Throws InputError: places of one object, or of colliders
/// only.
std::string tie_toml(const Model& model, const Pick& from, const Pick& to, std::span<const Vec3f> positions);
/// The table of a joint that holds a rigid body, the one of `from`, at the place `to` of another one, where
/// both are now, although the file states it at the start of the scene. A place of a collider that stands
/// still is one of the world, and so is one of the same body, which is then held where it is. Throws
/// InputError: what is no rigid body, colliders that move, a body that cannot move with another that cannot.
std::string joint_toml(const Model& model, const JointChoice& joint, const Pick& from, const Pick& to,
                       std::span<const Vec3f> positions, std::span<const Pose> poses);
/// For the history: what a [[joint]] table adds, "a rope added" or "a joint added".
std::string label_of_joint(const std::string& toml);
/// The same for a [[spring]].
std::shared_ptr<const Scene> with_spring(const Scene& scene, const std::string& toml);
/// The table of a spring between two picked places of deformable objects or colliders: without force at the
/// distance that they have now, and so stiff that the weight of the lighter object would stretch it by a
/// tenth. Throws InputError: places of other objects, of colliders only, or at one point.
std::string spring_toml(const Model& model, const Pick& from, const Pick& to,
                        std::span<const Vec3f> positions);
/// The scene without the ropes, springs and joints at an object that are named "tie-...". Throws InputError:
/// it has none.
std::shared_ptr<const Scene> without_ties(const Scene& scene, const std::string& object);

/// The scene with this text, which has the same materials and half-spaces. `changed`: Scene::changed. Throws
/// InputError as parse_scene.
std::shared_ptr<Scene> with_text(const Scene& scene, const std::string& text, bool changed);

/// The state of one object.
struct ObjectState {
  std::vector<Vec<double, 3>> positions, velocities;  // [m], [m/s] of its nodes, control nodes last
  BodyState body;                                     // of a rigid one
  double thickness = 1;                               // see State::thickness
};
/// `object` is one of the model's.
ObjectState take_object(const Model& model, const Object& object, const State& state);
/// Nothing if the object has another number of nodes than `kept`, unless it is rigid.
void put_object(const Model& model, const Object& object, const ObjectState& kept, State& state);

/// Names of the objects that both models have, but with other places at the start.
std::set<std::string> moved_starts(const Model& from, const Model& to);
/// `state` of the model `from` in the model `to`: objects of the same name, size and start keep theirs,
/// others have that of `start`, a state of `to`. Frame and time are those of `state`.
State carried_over(const Model& from, const State& state, const Model& to, State start);

/// The object of `to` that has the name of this one; nothing: it went.
std::optional<int> same_object(const Model& from, const Model& to, int object);
/// Whether the object of this number has the same name and nodes in both models.
bool keeps_object(const Model& from, const Model& to, int object);

/// What is thrown into a scene.
struct Shot {
  Vec<double, 3> position, velocity;  // [m], [m/s]
  double radius;                      // [m]
};
/// A ball of a twelfth of the size of the model's start, which comes from the camera and would reach its
/// target after half a second without gravity.
Shot shot_along(const Model& model, const Camera& camera);
/// The table of a ball, without its name: rigid in scenes with rigid bodies, else affine.
std::string shot_toml(const Model& model, const Shot& shot);

}  // namespace stickslip
