#include "app/viewer/contact_ages.h"

#include <cmath>
#include <limits>
#include <utility>

namespace stickslip {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void ContactAges::observe(double time, std::span<ContactRecord> contacts) {
  std::unordered_map<std::uint64_t, double> since;
  for (ContactRecord& contact : contacts) {
    contact.age = contact.name == 0 ? -1.0f : 0.0f;
    if (contact.name == 0 || contact.state == ContactState::open) continue;
    const auto before = since_.find(contact.name);
    const double first = missed_ ? kUnknown : time;
    const double start =
        since.try_emplace(contact.name, before != since_.end() ? before->second : first).first->second;
    contact.age = std::isnan(start) ? -1.0f : static_cast<float>(time - start);
  }
  since_ = std::move(since);
  missed_ = false;
}

void ContactAges::restore(double time, std::span<const ContactRecord> contacts) {
  clear();
  for (const ContactRecord& contact : contacts)
    if (contact.name != 0 && contact.state != ContactState::open)
      since_.try_emplace(contact.name, contact.age >= 0 ? time - static_cast<double>(contact.age) : kUnknown);
}

}  // namespace stickslip
