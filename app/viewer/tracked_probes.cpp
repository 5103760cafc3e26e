#include "app/viewer/tracked_probes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stickslip {
namespace {

using Values = TrackedProbes::Values;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Values unknown() {
  Values values;
  values.fill(kUnknown);
  return values;
}

/// A contact that ended pushes no more; its gap and slip speed are not known.
Values values_of(const ContactProbe& probe) {
  Values values = unknown();
  const ContactRecord& contact = probe.contact();
  values[0] = probe.is_gone() ? 0 : static_cast<double>(contact.normal_force);
  values[1] = probe.is_gone() ? 0 : static_cast<double>(norm(contact.friction));
  values[2] = probe.is_gone() ? kUnknown : static_cast<double>(contact.gap);
  values[3] = probe.is_gone() ? kUnknown : static_cast<double>(contact.slip_speed);
  return values;
}

Values values_of(const ObjectProbe& probe, const std::vector<Material>& materials) {
  Values values = unknown();
  for (std::size_t k = 0; k < 3; ++k) values[4 + k] = probe.center()[static_cast<int>(k)];
  if (const auto velocity = probe.velocity()) values[7] = norm(*velocity);
  values[8] = probe.kinetic_energy(materials).value_or(kUnknown);
  return values;
}

/// The place of this object in another model; -2: it has none.
int place_in(const Model& to, const Model& from, int object) {
  if (object < 0) return -1;
  const std::string& name = from.objects[static_cast<std::size_t>(object)].name;
  const auto found = std::ranges::find(to.objects, name, &Object::name);
  return found == to.objects.end() ? -2 : static_cast<int>(found - to.objects.begin());
}

}  // namespace

TrackedProbes::Kind TrackedProbes::kind(std::size_t index) const {
  return std::holds_alternative<ContactProbe>(tracked_[index].probe) ? Kind::contact : Kind::object;
}

std::optional<std::size_t> TrackedProbes::find(const ContactProbe& contact) const {
  for (std::size_t i = 0; i < tracked_.size(); ++i)
    if (const auto* probe = std::get_if<ContactProbe>(&tracked_[i].probe);
        probe != nullptr && probe->contact().name == contact.contact().name &&
        norm(probe->contact().point - contact.contact().point) == 0)
      return i;
  return std::nullopt;
}

std::optional<std::size_t> TrackedProbes::find_object(int object) const {
  for (std::size_t i = 0; i < tracked_.size(); ++i)
    if (const auto* probe = std::get_if<ObjectProbe>(&tracked_[i].probe);
        probe != nullptr && probe->object() == object)
      return i;
  return std::nullopt;
}

bool TrackedProbes::track(const ContactProbe& contact) {
  if (tracked_.size() == kMost || find(contact)) return false;
  add({contact, contact.name_a() + " and " + contact.name_b()});
  return true;
}

bool TrackedProbes::track(const ObjectProbe& object) {
  if (tracked_.size() == kMost || find(object)) return false;
  add({object, object.description().name});
  return true;
}

void TrackedProbes::add(Tracked item) {
  const std::string name = item.name;
  const auto is_taken = [&] { return std::ranges::count(tracked_, item.name, &Tracked::name) > 0; };
  for (int number = 2; is_taken(); ++number) item.name = name + " " + std::to_string(number);
  tracked_.push_back(std::move(item));
  for (Row& row : rows_) row.values.push_back(unknown());
}

void TrackedProbes::untrack(std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  tracked_.erase(tracked_.begin() + at);
  for (Row& row : rows_) row.values.erase(row.values.begin() + at);
  if (tracked_.empty()) rows_.clear();
}

void TrackedProbes::clear() {
  tracked_.clear();
  rows_.clear();
}

void TrackedProbes::go_on(const std::shared_ptr<const Scene>& scene) {
  for (std::size_t i = tracked_.size(); i-- > 0;) {
    if (const auto* object = std::get_if<ObjectProbe>(&tracked_[i].probe)) {
      const int place = place_in(scene->model, object->scene()->model, object->object());
      if (place >= 0) tracked_[i].probe.emplace<ObjectProbe>(scene, place);
      else untrack(i);
      continue;
    }
    const auto& contact = std::get<ContactProbe>(tracked_[i].probe);
    const Model& from = contact.scene().model;
    // Names of contacts are numbers of bodies and nodes: it is found again by its place.
    ContactRecord record = contact.contact();
    record.name = 0;
    record.object_a = place_in(scene->model, from, record.object_a);
    record.object_b = place_in(scene->model, from, record.object_b);
    const float reach = contact.reach();
    if (record.object_a >= -1 && record.object_b >= -1)
      tracked_[i].probe.emplace<ContactProbe>(scene, record, reach);
    else untrack(i);
  }
}

void TrackedProbes::observe(const Snapshot& snapshot, std::span<const Vec3f> positions,
                            const std::vector<Material>& materials, bool restored) {
  if (tracked_.empty()) return;
  Row row{snapshot.frame, snapshot.time, {}};
  for (Tracked& item : tracked_) {
    if (auto* contact = std::get_if<ContactProbe>(&item.probe)) {
      contact->observe(snapshot, restored);
      row.values.push_back(values_of(*contact));
    } else {
      auto& object = std::get<ObjectProbe>(item.probe);
      object.observe(snapshot, positions);
      row.values.push_back(values_of(object, materials));
    }
  }
  if (restored) return;
  while (!rows_.empty() && rows_.back().frame >= snapshot.frame) rows_.pop_back();
  rows_.push_back(std::move(row));
  if (rows_.size() > kMostRows) rows_.pop_front();
}

const TrackedProbes::Row* TrackedProbes::at(int frame) const {
  const auto found = std::ranges::lower_bound(rows_, frame, {}, &Row::frame);
  return found != rows_.end() && found->frame == frame ? &*found : nullptr;
}

}  // namespace stickslip
