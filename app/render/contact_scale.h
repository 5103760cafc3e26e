// What the colours of contact marks say: the state, or a number of each contact on a scale.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "gpu/model/interaction.h"

namespace stickslip {

enum class ContactScale { state, force, gap, slip, cone_share, error, colour };

struct ContactScaleInfo {
  ContactScale scale;
  std::string_view label, meaning, unit;
};
std::span<const ContactScaleInfo> contact_scale_table();

/// The ends of a scale over all contacts.
struct ScaleRange {
  float low = 0, high = 1;
  bool logarithmic = false;
  /// In [0, 1], also for values beyond the ends.
  float share(float value) const;
};

/// The number that the scale shows of a contact; 0 for `state`.
float scale_value(const ContactRecord& contact, ContactScale scale);
/// Forces and speeds span three decades below the largest; gaps go from the smallest to the largest, colours
/// from the first to the last, shares of cones from 0 to 1.
ScaleRange scale_range(std::span<const ContactRecord> contacts, ContactScale scale);

/// sRGB of a share in [0, 1]: from dark blue over green to yellow, rising in lightness, so that it can be
/// read without telling hues apart.
Vec<float, 3> scale_color(float share);

}  // namespace stickslip
