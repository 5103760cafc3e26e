#include "app/render/contact_scale.h"

#include <algorithm>
#include <cmath>

#include "shaders/shared/frame_data.h"

namespace stickslip {

std::string_view name_of(ShownState state) {
  static constexpr std::array<std::string_view, kShownStates> names{"open", "stick", "slip", "unconverged"};
  return names[static_cast<std::size_t>(state)];
}

ShownState shown_state(const ContactRecord& contact, float error_limit) {
  if (!(contact.error <= error_limit)) return ShownState::unconverged;  // NaN, too
  switch (contact.state) {
    case ContactState::stick:
      return ShownState::stick;
    case ContactState::slip:
      return ShownState::slip;
    case ContactState::open:
      break;
  }
  return ShownState::open;
}

std::span<const ContactScaleInfo> contact_scale_table() {
  static constexpr std::array<ContactScaleInfo, 9> table{{
      {ContactScale::state, "state", "stick, slip, open, or beyond the tolerance", ""},
      {ContactScale::force, "normal force", "on a logarithmic scale of three decades", "N"},
      {ContactScale::gap, "gap", "negative where bodies overlap", "m"},
      {ContactScale::slip, "slip speed", "on a logarithmic scale of three decades", "m/s"},
      {ContactScale::cone_share, "share of the cone", "friction over the largest that the law allows", "1"},
      {ContactScale::error, "error",
       "by how much the impulse misses Coulomb's law; barriers act at a distance, which counts; on a "
       "logarithmic scale of three decades",
       "m/s"},
      {ContactScale::colour, "colour in sweeps",
       "contacts of one colour share no body that moves, and are solved at once; of solvers that sweep by "
       "colours",
       ""},
      {ContactScale::pressure, "pressure",
       "normal force over the contact's share of the touching surface, on a logarithmic scale of three "
       "decades; "
       "grey where contacts are points or lines, which have no area",
       "Pa"},
      {ContactScale::age, "age",
       "for how long the contact pushes without a break; grey where that is not known: it has no name, or "
       "began "
       "while contacts were not shown",
       "s"},
  }};
  return table;
}

float ScaleRange::share(float value) const {
  if (!(high > low)) return 0;
  if (!logarithmic) return std::clamp((value - low) / (high - low), 0.f, 1.f);
  return value > low ? std::min(1.f, std::log(value / low) / std::log(high / low)) : 0.f;
}

float scale_value(const ContactRecord& contact, ContactScale scale) {
  switch (scale) {
    case ContactScale::state:
      return 0;
    case ContactScale::force:
      return contact.normal_force;
    case ContactScale::gap:
      return contact.gap;
    case ContactScale::slip:
      return contact.slip_speed;
    case ContactScale::cone_share:
      return contact.cone_share;
    case ContactScale::error:
      return std::max(0.f, contact.error);
    case ContactScale::colour:
      return static_cast<float>(std::max(0, contact.colour));
    case ContactScale::pressure:
      return contact.pressure();
    case ContactScale::age:
      return contact.age;
  }
  return 0;
}

ScaleRange scale_range(std::span<const ContactRecord> contacts, ContactScale scale) {
  constexpr float kDecades = 1e-3f;
  if (scale == ContactScale::cone_share || scale == ContactScale::state || contacts.empty()) return {};
  float low = scale_value(contacts[0], scale), high = low;
  for (const ContactRecord& contact : contacts) {
    low = std::min(low, scale_value(contact, scale));
    high = std::max(high, scale_value(contact, scale));
  }
  if (scale == ContactScale::age) return {0, std::max(0.f, high), false};
  if (scale == ContactScale::gap || scale == ContactScale::colour) return {low, high, false};
  high = std::max(0.f, high);
  return {kDecades * high, high, true};
}

Vec<float, 3> scale_color(float share) {
#define COLOR(r, g, b) Vec<float, 3>{r##f, g##f, b##f},
  static constexpr std::array<Vec<float, 3>, shared::kScaleColors> stops{STICKSLIP_SCALE_COLORS(COLOR)};
#undef COLOR
  const float at = std::clamp(share, 0.f, 1.f) * static_cast<float>(stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const float part = at - static_cast<float>(below);
  return (1 - part) * stops[below] + part * stops[below + 1];
}

Vec<float, 3> color_on_scale(const ContactRecord& contact, ContactScale scale, const ScaleRange& range) {
  constexpr Vec<float, 3> kUnknown{0.55f, 0.55f, 0.55f};
  const float value = scale_value(contact, scale);
  const bool may_be_unknown = scale == ContactScale::pressure || scale == ContactScale::age;
  return may_be_unknown && value < 0 ? kUnknown : scale_color(range.share(value));
}

}  // namespace stickslip
