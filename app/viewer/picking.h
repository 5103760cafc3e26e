// Picking: the triangle under the pointer, and the properties of its object.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/render/camera.h"
#include "app/viewer/simulation.h"

namespace stickslip {

struct Pick {
  int object = -1;
  Vec3i triangle{0, 0, 0};          // nodes; of rods: of a segment, and its ghost
  Vec<double, 3> weights{1, 0, 0};  // barycentric, sum 1
  Vec3f point{0, 0, 0};             // [m]
  float distance = 0;               // [m] along the ray
};

/// The nearest triangle or segment of rods along the ray, from either side. `positions`: one per node [m].
std::optional<Pick> pick(const Model& model, std::span<const Vec3f> positions, const Ray& ray);

/// Intersection of the ray with the plane through `point` with this normal; empty if the ray points away from
/// it or is parallel.
std::optional<Vec3f> intersect_plane(const Ray& ray, const Vec3f& point, const Vec3f& normal);

/// Reason for which an object cannot be pulled: "is a collider: ...", or empty.
std::string why_fixed(const Model& model, const Object& object);

/// The middle of the triangle of an object that is farthest in this direction; of rods, that of the segment
/// that no script holds. Throws InputError: there is no such object, it has neither, or it cannot be pulled.
Pick end_towards(const Model& model, const std::string& object, std::span<const Vec3f> positions,
                 const Vec3f& direction);
/// The object of this name. Throws InputError: there is none.
int object_of_name(const Model& model, const std::string& name);

/// Interpolated position of a pick at another time.
Vec3f position_of(const Pick& pick, std::span<const Vec3f> positions);

/// The node of an object that a [[pin]] counts as 0.
inline std::int32_t first_to_pin(const Object& object) {
  return std::max(object.node_begin, object.collides_from);
}
/// The nodes of an object (of rods: of the picked strand), counted as those of a [[pin]], within a twentieth
/// of its size of a picked point, and the corners of the picked triangle. `positions`: one per node [m].
std::vector<std::int32_t> nodes_near(const Model& model, const Pick& pick, std::span<const Vec3f> positions);

/// How many nodes of an object are held or moved by pins.
int count_pinned(const Model& model, int object);

/// The contact with the mark nearest to a point of the picture [px], at most `reach` pixels away, among those
/// that are in front of what is seen there, at the depth `deepest` along the view direction [m]. Of marks
/// that cover each other it is the one with the largest force.
const ContactRecord* pick_contact(std::span<const ContactRecord> contacts, const Camera& camera, int width,
                                  int height, const Vec<float, 2>& at, float reach,
                                  float deepest = std::numeric_limits<float>::infinity());

Bounds bounds_of(const Object& object, std::span<const Vec3f> positions);

/// Properties of one object over time. Volumes are those of the rest shape; a collider has none. A rigid
/// body's centre is that of its pose.
class ObjectProbe {
 public:
  ObjectProbe(std::shared_ptr<const Scene> scene, int object);

  int object() const { return object_; }
  const std::shared_ptr<const Scene>& scene() const { return scene_; }
  const Object& description() const { return scene_->model.objects[static_cast<std::size_t>(object_)]; }

  /// Updates the properties; the velocity is that between the last two different times.
  void observe(const Snapshot& snapshot, std::span<const Vec3f> positions);
  void observe(const Snapshot& snapshot) { observe(snapshot, snapshot.positions); }

  const Body* body() const { return body_; }  // of a rigid object, else null
  /// [kg] with these materials; 0 for scripted and fixed objects.
  double mass(const std::vector<Material>& materials) const;
  double volume() const { return volume_; }          // [m^3]
  Vec<double, 3> center() const { return center_; }  // [m] of mass; of the nodes for a collider
  std::optional<Vec<double, 3>> velocity() const {
    return velocity_;
  }  // [m/s] of the center; empty before a second time
  /// [J] with these materials, of the motion between the last two different times: of the centre and the spin
  /// of a rigid body, else of all nodes. Empty before a second time; 0 for scripted and fixed objects.
  std::optional<double> kinetic_energy(const std::vector<Material>& materials) const;
  /// [rad/s] of a rigid body, world axes, between the last two different times.
  std::optional<Vec<double, 3>> spin() const { return spin_; }
  bool asleep() const { return asleep_; }
  int contacts() const { return contacts_; }
  int sticking() const { return sticking_; }
  int slipping() const { return slipping_; }
  int augmented() const { return augmented_; }                       // contacts with a multiplier
  double normal_force() const { return normal_force_; }              // [N] sum of the magnitudes
  double largest_force() const { return largest_force_; }            // [N] of one contact
  double largest_multiplier() const { return largest_multiplier_; }  // [N]

 private:
  std::shared_ptr<const Scene> scene_;
  int object_;
  const Body* body_ = nullptr;
  std::optional<Quat> turn_;
  std::optional<Vec<double, 3>> spin_;
  std::vector<Vec3f> nodes_;            // [m] of the last time, unless it is rigid
  std::optional<double> unit_kinetic_;  // [J/kg]
  bool asleep_ = false;
  std::vector<double> weights_;  // per node of the object, sum 1
  double volume_ = 0;
  double time_ = -1;
  Vec<double, 3> center_{0, 0, 0};
  std::optional<Vec<double, 3>> velocity_;
  int contacts_ = 0, sticking_ = 0, slipping_ = 0, augmented_ = 0;
  double normal_force_ = 0, largest_force_ = 0, largest_multiplier_ = 0;

  void observe_motion(const Snapshot& snapshot, std::span<const Vec3f> nodes);
};

/// The contact with the largest error; without known errors, that with the smallest gap. Null: there is none.
const ContactRecord* worst_contact(std::span<const ContactRecord> contacts);

/// One contact over time, identified by its name. If no contact has that name any more, for example after a
/// point slid onto another triangle, tracking continues with the nearest contact between the same two objects
/// within reach, and with its name. In a frame that the timeline shows again it has the name that it had
/// then.
class ContactProbe {
 public:
  /// `reach`: largest movement from one time to the next [m].
  ContactProbe(std::shared_ptr<const Scene> scene, const ContactRecord& contact, float reach)
      : scene_(std::move(scene)), contact_(contact), names_{{0, contact.name}}, reach_(reach) {}

  /// `restored`: the frame was observed before, perhaps, and no step led to it.
  void observe(const Snapshot& snapshot, bool restored = false);

  /// Current record, or the last one observed.
  const ContactRecord& contact() const { return contact_; }
  bool is_gone() const { return gone_; }
  float reach() const { return reach_; }
  const Scene& scene() const { return *scene_; }
  std::string name_a() const { return name_of(contact_.object_a); }
  std::string name_b() const { return name_of(contact_.object_b); }

 private:
  std::string name_of(int object) const;

  std::shared_ptr<const Scene> scene_;
  ContactRecord contact_;
  std::vector<std::pair<double, std::uint64_t>> names_;  // from this time on [s], ascending
  float reach_;
  bool gone_ = false;
};

}  // namespace stickslip
