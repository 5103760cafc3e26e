#include "app/viewer/picking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "app/io/file/input_error.h"
#include "gpu/model/element_group.h"
#include "gpu/model/rod.h"

namespace stickslip {
namespace {

struct Hit {
  float distance, u, v;  // the point is (1 - u - v) a + u b + v c
};

/// Solves origin + t direction = a + u (b - a) + v (c - a) by Cramer's rule.
std::optional<Hit> hit_triangle(const Ray& ray, const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  const Vec3f ab = b - a, ac = c - a, from_a = ray.origin - a;
  const Vec3f p = cross(ray.direction, ac);
  const float determinant = dot(ab, p);
  if (determinant == 0) return std::nullopt;
  const float u = dot(from_a, p) / determinant;
  if (!(u >= 0 && u <= 1)) return std::nullopt;
  const Vec3f q = cross(from_a, ab);
  const float v = dot(ray.direction, q) / determinant;
  if (!(v >= 0 && u + v <= 1)) return std::nullopt;
  const float t = dot(ac, q) / determinant;
  if (!(t > 0)) return std::nullopt;
  return Hit{t, u, v};
}

struct SegmentHit {
  float distance, share;  // along the ray; from a to b
};

/// The point of the segment that is nearest to the ray, if that is within `radius` plus `slack` per distance.
std::optional<SegmentHit> hit_segment(const Ray& ray, const Vec3f& a, const Vec3f& b, float radius,
                                      float slack) {
  const Vec3f e = b - a, w = ray.origin - a;
  const float de = dot(ray.direction, e), ee = dot(e, e), dd = norm2(ray.direction);
  const float determinant = dd * ee - de * de;
  float share =
      determinant > 1e-12f * dd * ee ? (dd * dot(w, e) - de * dot(w, ray.direction)) / determinant : 0;
  share = std::clamp(share, 0.f, 1.f);
  const Vec3f point = a + share * e;
  const float t = dot(point - ray.origin, ray.direction) / dd;
  if (!(t > 0)) return std::nullopt;
  const float reach = radius + slack * t * std::sqrt(dd);
  if (!(norm2(ray.origin + t * ray.direction - point) <= reach * reach)) return std::nullopt;
  return SegmentHit{t, share};
}

/// Rods may be thinner than a pixel: a ray that passes at this angle [rad] hits.
constexpr float kPickSlack = 0.003f;

/// A point of a segment of rods, at this share of the way from its first node to its second.
Pick pick_of_segment(const Model& model, int object, std::int32_t segment, double share) {
  const Object& rods = model.objects[static_cast<std::size_t>(object)];
  const Vec2i& nodes = model.segments[static_cast<std::size_t>(segment)];
  // Three different nodes, as of a triangle: the segment's ghost has no weight.
  return {object, {nodes[0], nodes[1], rod_ghost(rods, segment)}, {1.0 - share, share, 0}};
}

/// The points of an object at which it can be pulled: the middles of its triangles, or of its segments if it
/// has rods. Segments that a script holds are left out, as roots of hair are.
std::vector<Pick> places_to_pull(const Model& model, int object) {
  const Object& body = model.objects[static_cast<std::size_t>(object)];
  std::vector<Pick> places;
  for (std::int32_t t = body.triangle_begin; t < body.triangle_end; ++t)
    places.push_back({object, model.triangles[static_cast<std::size_t>(t)], {1.0 / 3, 1.0 / 3, 1.0 / 3}});
  if (!body.is_rods()) return places;
  std::set<std::int32_t> held;
  for (const ScriptedNodes& script : model.scripted) held.insert(script.nodes.begin(), script.nodes.end());
  for (std::int32_t s = body.segment_begin; s < body.segment_end; ++s) {
    const Vec2i& nodes = model.segments[static_cast<std::size_t>(s)];
    if (!held.contains(nodes[0]) || !held.contains(nodes[1]))
      places.push_back(pick_of_segment(model, object, s, 0.5));
  }
  return places;
}

/// The nodes of the strand of rods that has this segment.
std::set<std::int32_t> strand_of(const Model& model, const Object& rods, std::int32_t segment) {
  const std::span<const Vec2i> segments = segments_of(model, rods);
  std::vector<std::int32_t> before(segments.size(), -1), after(segments.size(), -1);
  for (const auto& [first, second] : rod_joints(segments)) {
    before[static_cast<std::size_t>(second)] = first;
    after[static_cast<std::size_t>(first)] = second;
  }
  std::set<std::int32_t> nodes;
  const auto walk = [&](const std::vector<std::int32_t>& next) {
    std::vector<bool> seen(segments.size(), false);  // a closed rod leads back to them
    for (std::int32_t s = segment - rods.segment_begin; s >= 0 && !seen[static_cast<std::size_t>(s)];
         s = next[static_cast<std::size_t>(s)]) {
      const auto at = static_cast<std::size_t>(s);
      seen[at] = true;
      nodes.insert({segments[at][0], segments[at][1]});
    }
  };
  walk(after);
  walk(before);
  return nodes;
}

}  // namespace

std::optional<Pick> pick(const Model& model, std::span<const Vec3f> positions, const Ray& ray) {
  std::optional<Pick> nearest;
  float limit = std::numeric_limits<float>::max();
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    for (std::int32_t i = object.triangle_begin; i < object.triangle_end; ++i) {
      const Vec3i& triangle = model.triangles[static_cast<std::size_t>(i)];
      const std::optional<Hit> hit =
          hit_triangle(ray, positions[triangle[0]], positions[triangle[1]], positions[triangle[2]]);
      if (!hit || hit->distance >= limit) continue;
      limit = hit->distance;
      nearest = Pick{static_cast<int>(o),
                     triangle,
                     {1.0 - hit->u - hit->v, hit->u, hit->v},
                     ray.origin + hit->distance * ray.direction,
                     hit->distance};
    }
    for (std::int32_t s = object.segment_begin; s < object.segment_end && object.is_rods(); ++s) {
      const Vec2i& nodes = model.segments[static_cast<std::size_t>(s)];
      const std::optional<SegmentHit> hit = hit_segment(ray, positions[nodes[0]], positions[nodes[1]],
                                                        static_cast<float>(object.thickness / 2), kPickSlack);
      if (!hit || hit->distance >= limit) continue;
      limit = hit->distance;
      nearest = pick_of_segment(model, static_cast<int>(o), s, hit->share);
      nearest->point = ray.origin + hit->distance * ray.direction;
      nearest->distance = hit->distance;
    }
  }
  return nearest;
}

std::optional<Vec3f> intersect_plane(const Ray& ray, const Vec3f& point, const Vec3f& normal) {
  const float t = dot(point - ray.origin, normal) / dot(ray.direction, normal);
  if (!std::isfinite(t) || t <= 0) return std::nullopt;
  return ray.origin + t * ray.direction;
}

std::string why_fixed(const Model& model, const Object& object) {
  if (object.is_rigid()) {
    const Body& body = model.bodies[static_cast<std::size_t>(object.body)];
    if (body.moves) return {};
    return body.motion >= 0 ? "follows its script: it cannot be pulled" : "stands still: it cannot be pulled";
  }
  return object.is_collider() ? "is a collider: only bodies can be pulled" : "";
}

int object_of_name(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.objects, name, &Object::name);
  if (found == model.objects.end()) throw InputError("there is no object '" + name + "'");
  return static_cast<int>(found - model.objects.begin());
}

Pick end_towards(const Model& model, const std::string& object, std::span<const Vec3f> positions,
                 const Vec3f& direction) {
  Pick end;
  end.object = object_of_name(model, object);
  const Object& body = model.objects[static_cast<std::size_t>(end.object)];
  if (const std::string why = why_fixed(model, body); !why.empty()) throw InputError(object + " " + why);
  const std::vector<Pick> places = places_to_pull(model, end.object);
  if (places.empty())
    throw InputError(object + (body.is_rods() ? " is held everywhere" : " has no triangles to pull at"));
  float farthest = std::numeric_limits<float>::lowest();
  for (const Pick& here : places) {
    const float reached = dot(position_of(here, positions), direction);
    if (!(reached > farthest)) continue;
    farthest = reached;
    end = here;
  }
  end.point = position_of(end, positions);
  return end;
}

Vec3f position_of(const Pick& pick, std::span<const Vec3f> positions) {
  Vec3f point{0, 0, 0};
  for (int i = 0; i < 3; ++i) point += static_cast<float>(pick.weights[i]) * positions[pick.triangle[i]];
  return point;
}

std::vector<std::int32_t> nodes_near(const Model& model, const Pick& pick, std::span<const Vec3f> positions) {
  constexpr float kShare = 0.05F;  // of the diagonal of the object's box
  const Object& object = model.objects.at(static_cast<std::size_t>(pick.object));
  const Vec3f point = position_of(pick, positions);
  const float reach = kShare * 2 * bounds_of(object, positions).radius();
  const std::int32_t first = first_to_pin(object);
  std::set<std::int32_t> strand;
  if (object.is_rods())
    strand = strand_of(model, object, pick.triangle[2] - object.node_begin + object.segment_begin);
  std::vector<std::int32_t> nodes;
  for (std::int32_t i = first; i < object.node_end; ++i) {
    const bool is_corner = pick.triangle[0] == i || pick.triangle[1] == i || pick.triangle[2] == i;
    const bool is_near = norm(positions[static_cast<std::size_t>(i)] - point) <= reach;
    if (is_corner || (is_near && (!object.is_rods() || strand.contains(i)))) nodes.push_back(i - first);
  }
  return nodes;
}

int count_pinned(const Model& model, int object) {
  std::ptrdiff_t count = 0;
  if (!model.objects.at(static_cast<std::size_t>(object)).is_movable()) return 0;  // a collider's own script
  for (const ScriptedNodes& script : model.scripted)
    count += std::ranges::count_if(script.nodes, [&](std::int32_t i) {
      return model.node_object[static_cast<std::size_t>(i)] == object;
    });
  return static_cast<int>(count);
}

const ContactRecord* pick_contact(std::span<const ContactRecord> contacts, const Camera& camera, int width,
                                  int height, const Vec<float, 2>& at, float reach, float deepest) {
  constexpr float kShown = 0.996f;  // marks are drawn so much nearer to the eye, see glyph.vert
  constexpr float kOnePlace = 3;    // [px] marks that are no farther apart cover each other
  std::vector<std::pair<float, const ContactRecord*>> reached;
  float nearest = reach;
  for (const ContactRecord& contact : contacts) {
    const Vec3f mark = camera.project(contact.point, width, height);
    const float distance = std::hypot(mark[0] - at[0], mark[1] - at[1]);
    if (!(mark[2] > 0) || !(distance <= reach) || kShown * mark[2] > deepest) continue;
    nearest = std::min(nearest, distance);
    reached.emplace_back(distance, &contact);
  }
  std::ranges::stable_sort(reached, {}, &std::pair<float, const ContactRecord*>::first);
  const ContactRecord* found = nullptr;
  for (const auto& [distance, contact] : reached)
    if (!found || (distance <= nearest + kOnePlace && contact->normal_force > found->normal_force))
      found = contact;
  return found;
}

Bounds bounds_of(const Object& object, std::span<const Vec3f> positions) {
  Bounds bounds{positions[object.node_begin], positions[object.node_begin]};
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
    bounds.low = min(bounds.low, positions[i]);
    bounds.high = max(bounds.high, positions[i]);
  }
  return bounds;
}

ObjectProbe::ObjectProbe(std::shared_ptr<const Scene> scene, int object)
    : scene_(std::move(scene)), object_(object) {
  const Model& model = scene_->model;
  const Object& body = description();
  if (body.is_rigid()) {
    body_ = &model.bodies[static_cast<std::size_t>(body.body)];
    volume_ = body_->volume;
  }
  if (body.is_movable()) {
    volume_ = solid_volume(model, body);
    weights_ = node_volumes(model, body);
    for (double& weight : weights_) weight /= volume_;
  } else {
    const auto nodes = static_cast<std::size_t>(body.node_end - body.node_begin);
    weights_.assign(nodes, 1.0 / static_cast<double>(nodes));
  }
}

double ObjectProbe::mass(const std::vector<Material>& materials) const {
  const auto material = static_cast<std::size_t>(description().material);
  if (body_ && !body_->moves) return 0;
  if (body_ && body_->mass > 0) return body_->mass;
  return material < materials.size() ? volume_ * materials[material].density : 0;
}

std::optional<double> ObjectProbe::kinetic_energy(const std::vector<Material>& materials) const {
  if (!unit_kinetic_) return std::nullopt;
  return mass(materials) * *unit_kinetic_;
}

/// `nodes`: those of the object.
void ObjectProbe::observe_motion(const Snapshot& snapshot, std::span<const Vec3f> nodes) {
  const auto index = static_cast<std::size_t>(description().body);
  const Pose* pose = body_ && index < snapshot.poses.size() ? &snapshot.poses[index] : nullptr;
  Vec<double, 3> center{0, 0, 0};
  for (std::size_t i = 0; i < weights_.size(); ++i) center += weights_[i] * nodes[i].cast<double>();
  if (pose) center = pose->x;
  const double elapsed = snapshot.time - time_;
  if (time_ >= 0 && elapsed > 0) {
    velocity_ = (center - center_) / elapsed;
    unit_kinetic_ = 0.5 * dot(*velocity_, *velocity_);
    if (pose && turn_) {
      spin_ = rotation_vector(pose->q * turn_->conjugate()) / elapsed;
      const Vec<double, 3> own = pose->q.conjugate().rotate(*spin_);
      for (int k = 0; k < 3; ++k) *unit_kinetic_ += 0.5 * body_->unit_inertia[k] * own[k] * own[k];
    } else if (nodes_.size() == weights_.size()) {
      unit_kinetic_ = 0;
      for (std::size_t i = 0; i < weights_.size(); ++i) {
        const Vec<double, 3> v = (nodes[i] - nodes_[i]).cast<double>() / elapsed;
        *unit_kinetic_ += 0.5 * weights_[i] * dot(v, v);
      }
    }
  } else if (elapsed != 0) {
    velocity_.reset();
    spin_.reset();
    unit_kinetic_.reset();
  }
  center_ = center;
  if (pose) turn_ = pose->q;
  else nodes_.assign(nodes.begin(), nodes.end());
  time_ = snapshot.time;
  asleep_ = body_ && index < snapshot.asleep.size() && snapshot.asleep[index] != 0;
}

void ObjectProbe::observe(const Snapshot& snapshot, std::span<const Vec3f> positions) {
  observe_motion(snapshot,
                 positions.subspan(static_cast<std::size_t>(description().node_begin), weights_.size()));
  contacts_ = sticking_ = slipping_ = augmented_ = 0;
  normal_force_ = largest_force_ = largest_multiplier_ = 0;
  for (const ContactRecord& contact : snapshot.contacts) {
    if (contact.object_a != object_ && contact.object_b != object_) continue;
    ++contacts_;
    sticking_ += contact.state == ContactState::stick;
    slipping_ += contact.state == ContactState::slip;
    augmented_ += contact.augmented;
    normal_force_ += contact.normal_force;
    largest_force_ = std::max<double>(largest_force_, contact.normal_force);
    if (contact.augmented) largest_multiplier_ = std::max<double>(largest_multiplier_, contact.multiplier);
  }
}

const ContactRecord* worst_contact(std::span<const ContactRecord> contacts) {
  const ContactRecord* worst = nullptr;
  for (const ContactRecord& contact : contacts) {
    const bool is_worse = worst == nullptr || contact.error > worst->error ||
                          (contact.error == worst->error && contact.gap < worst->gap);
    if (is_worse) worst = &contact;
  }
  return worst;
}

void ContactProbe::observe(const Snapshot& snapshot, bool restored) {
  const auto nearest = [&](float limit, auto may_be) {
    const ContactRecord* found = nullptr;
    for (const ContactRecord& contact : snapshot.contacts) {
      if (contact.object_a != contact_.object_a || contact.object_b != contact_.object_b) continue;
      const float distance = norm(contact.point - contact_.point);
      if (distance > limit || !may_be(contact)) continue;
      limit = distance;
      found = &contact;
    }
    return found;
  };
  // The first name is also that of times before it was picked.
  const auto later = std::upper_bound(names_.begin() + 1, names_.end(), snapshot.time,
                                      [](double time, const auto& entry) { return time < entry.first; });
  const std::uint64_t name = (later - 1)->second;
  const ContactRecord* now = nearest(std::numeric_limits<float>::infinity(),
                                     [&](const ContactRecord& c) { return c.name != 0 && c.name == name; });
  if (!now && !restored) now = nearest(reach_, [](const ContactRecord&) { return true; });
  gone_ = now == nullptr;
  if (!now) return;
  contact_ = *now;
  if (restored) return;
  names_.erase(later, names_.end());
  if (now->name != name) names_.emplace_back(snapshot.time, now->name);
}

std::string ContactProbe::name_of(int object) const {
  return object < 0 ? "ground" : scene_->model.objects[static_cast<std::size_t>(object)].name;
}

}  // namespace stickslip
