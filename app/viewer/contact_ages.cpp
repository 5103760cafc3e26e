#include "app/viewer/contact_ages.h"

#include <utility>

namespace stickslip {

void ContactAges::observe(double time, std::span<ContactRecord> contacts) {
  std::unordered_map<std::uint64_t, double> since;
  for (ContactRecord& contact : contacts) {
    contact.age = contact.name == 0 ? -1.0f : 0.0f;
    if (contact.name == 0 || contact.state == ContactState::open) continue;
    const auto before = since_.find(contact.name);
    const double start =
        since.try_emplace(contact.name, before != since_.end() ? before->second : time).first->second;
    contact.age = static_cast<float>(time - start);
  }
  since_ = std::move(since);
}

void ContactAges::restore(double time, std::span<const ContactRecord> contacts) {
  since_.clear();
  for (const ContactRecord& contact : contacts)
    if (contact.name != 0 && contact.age >= 0 && contact.state != ContactState::open)
      since_.try_emplace(contact.name, time - static_cast<double>(contact.age));
}

}  // namespace stickslip
