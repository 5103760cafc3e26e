// Sums of the forces of contacts, for arrows: over the contacts of two objects, or of one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "gpu/model/interaction.h"

namespace stickslip {

/// What an arrow of a force stands for.
enum class ForceArrows { contacts, pairs, bodies };
struct ForceArrowsInfo {
  ForceArrows arrows;
  std::string_view label, meaning;
};
/// In the order of the enum.
std::span<const ForceArrowsInfo> force_arrows_table();

/// Of all contacts of two objects, or of one object.
struct ForceSum {
  std::int32_t object = -1, other = -1;  // numbers in the model; other -1: a half-space, or all that touch it
  int contacts = 0;
  Vec<float, 3> normal{0, 0, 0};    // [N] on `object`, sum of the normal forces
  Vec<float, 3> friction{0, 0, 0};  // [N] on it, sum of the friction forces
  Vec<float, 3> point{0, 0, 0};     // [m] mean of the contacts, weighted by their forces
};

/// Per pair of objects, on the one with the smaller number (of a half-space and an object on that), or per
/// object; in ascending order of (object, other). Nothing for `contacts`. Contacts of an object with itself
/// are a pair, and add nothing to the sum of the object.
std::vector<ForceSum> force_sums(std::span<const ContactRecord> contacts, ForceArrows over);

/// [N] the largest force that has an arrow.
float largest_arrow(std::span<const ContactRecord> contacts, ForceArrows arrows);

}  // namespace stickslip
