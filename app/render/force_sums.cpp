#include "app/render/force_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace stickslip {
namespace {

/// In double precision, so that opposite forces cancel.
struct SumOfForces {
  int contacts = 0;
  Vec<double, 3> normal{0, 0, 0}, friction{0, 0, 0}, moment{0, 0, 0}, middle{0, 0, 0};
  double weight = 0;

  /// `sign`: 1 for the contact's side a, -1 for b, 0 where both sides are the object.
  void add(const ContactRecord& contact, double sign) {
    const Vec<double, 3> along = double(contact.normal_force) * contact.normal.cast<double>();
    const Vec<double, 3> across = contact.friction.cast<double>();
    normal += sign * along;
    friction += sign * across;
    const double size = norm(along + across);
    moment += size * contact.point.cast<double>();
    middle += contact.point.cast<double>();
    weight += size;
    ++contacts;
  }
  ForceSum result(std::int32_t object, std::int32_t other) const {
    const Vec<double, 3> point = weight > 0 ? (1 / weight) * moment : (1.0 / contacts) * middle;
    return {object, other, contacts, normal.cast<float>(), friction.cast<float>(), point.cast<float>()};
  }
};

using ObjectPair = std::pair<std::int32_t, std::int32_t>;

}  // namespace

std::span<const ForceArrowsInfo> force_arrows_table() {
  static constexpr std::array<ForceArrowsInfo, 3> table{{
      {ForceArrows::contacts, "contacts", "the forces of each contact, on one of its sides"},
      {ForceArrows::pairs, "pairs", "the sums over the contacts of two objects, on one of them"},
      {ForceArrows::bodies, "bodies", "the sums over all contacts of an object, on it"},
  }};
  return table;
}

std::vector<ForceSum> force_sums(std::span<const ContactRecord> contacts, ForceArrows over) {
  std::map<ObjectPair, SumOfForces> sums;
  const auto add = [&](std::int32_t object, std::int32_t other, const ContactRecord& contact, double sign) {
    if (object >= 0) sums[{object, over == ForceArrows::pairs ? other : -1}].add(contact, sign);
  };
  for (const ContactRecord& contact : contacts) {
    const std::int32_t a = contact.object_a, b = contact.object_b;
    if (over == ForceArrows::bodies) {
      add(a, b, contact, a == b ? 0 : 1);
      if (a != b) add(b, a, contact, -1);
    } else if (over == ForceArrows::pairs) {
      const bool is_on_a = b < 0 || (a >= 0 && a <= b);
      if (is_on_a) add(a, b, contact, 1);
      else add(b, a, contact, -1);
    }
  }
  std::vector<ForceSum> out;
  out.reserve(sums.size());
  for (const auto& entry : sums) out.push_back(entry.second.result(entry.first.first, entry.first.second));
  return out;
}

float largest_arrow(std::span<const ContactRecord> contacts, ForceArrows arrows) {
  float largest = 0;
  if (arrows == ForceArrows::contacts)
    for (const ContactRecord& contact : contacts)
      largest = std::max({largest, contact.normal_force, norm(contact.friction)});
  for (const ForceSum& sum : force_sums(contacts, arrows))
    largest = std::max({largest, norm(sum.normal), norm(sum.friction)});
  return largest;
}

}  // namespace stickslip
