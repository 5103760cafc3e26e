// What the colours of contact marks say: the state, or a number of each contact on a scale.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "gpu/model/interaction.h"

namespace stickslip {

/// What the mark of a contact shows: its state by the law, or that it misses the law.
enum class ShownState { open, stick, slip, unconverged };
inline constexpr std::size_t kShownStates = 4;
std::string_view name_of(ShownState state);
/// `error_limit` [m/s]: largest e_c (ContactRecord::error) within the tolerance of the step. A contact whose
/// error is not known is as its state says.
ShownState shown_state(const ContactRecord& contact, float error_limit);

enum class ContactScale { state, force, gap, slip, cone_share, error, colour, pressure, age };

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

/// The number that the scale shows of a contact; 0 for `state`, < 0 for a pressure or an age that is not
/// known.
float scale_value(const ContactRecord& contact, ContactScale scale);
/// Forces, pressures and speeds span three decades below the largest; gaps go from the smallest to the
/// largest, colours from the first to the last, ages from 0 to the largest, shares of cones from 0 to 1.
ScaleRange scale_range(std::span<const ContactRecord> contacts, ContactScale scale);

/// sRGB of a share in [0, 1]: from dark blue over green to yellow, rising in lightness, so that it can be
/// read without telling hues apart.
Vec<float, 3> scale_color(float share);
/// That of a contact; grey where the scale's number is not known. Not for `state`.
Vec<float, 3> color_on_scale(const ContactRecord& contact, ContactScale scale, const ScaleRange& range);

}  // namespace stickslip
