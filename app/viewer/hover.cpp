#include "app/viewer/hover.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/viewer/panels/widgets.h"

namespace stickslip {
namespace {

constexpr const char* kNotKnown = "not known";

std::string name_of(const Model& model, int object) {
  return object < 0 ? "ground" : model.objects[static_cast<std::size_t>(object)].name;
}

std::string percent(float share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%%", 100 * static_cast<double>(share));
  return text;
}

std::string plain(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(value));
  return text;
}

/// What a scale says of a contact; numbers below 0 of these three are unknown.
std::string scale_text(const ContactRecord& contact, ContactScale scale, float error_limit) {
  const float value = scale_value(contact, scale);
  if ((scale == ContactScale::pressure || scale == ContactScale::age) && value < 0) return kNotKnown;
  if (scale == ContactScale::error && contact.error < 0) return kNotKnown;
  if (scale == ContactScale::colour) return contact.colour < 0 ? kNotKnown : std::to_string(contact.colour);
  if (scale == ContactScale::state) return std::string(name_of(shown_state(contact, error_limit)));
  if (scale == ContactScale::cone_share) return percent(value);
  return si_text(static_cast<double>(value),
                 contact_scale_table()[static_cast<std::size_t>(scale)].unit.data());
}

}  // namespace

HoverText describe(const ContactRecord& contact, const Model& model, ContactScale scale, float error_limit) {
  HoverText text{name_of(model, contact.object_a) + " and " + name_of(model, contact.object_b), {}, true};
  const auto add = [&](std::string name, std::string value) {
    text.rows.emplace_back(std::move(name), std::move(value));
  };
  add(std::string(contact_scale_table()[static_cast<std::size_t>(scale)].label),
      scale_text(contact, scale, error_limit));
  const auto add_scale = [&](ContactScale of, const char* name) {
    if (of != scale) add(name, scale_text(contact, of, error_limit));
  };
  add_scale(ContactScale::state, "state");
  add_scale(ContactScale::force, "normal force r_N");
  add("friction r_T", si_text(static_cast<double>(norm(contact.friction)), "N"));
  add("mu", plain(contact.mu));
  add_scale(ContactScale::cone_share, "share of the cone");
  add_scale(ContactScale::gap, "gap");
  add_scale(ContactScale::slip, "slip speed");
  if (contact.area > 0) add_scale(ContactScale::pressure, "pressure");
  if (contact.age >= 0) add_scale(ContactScale::age, "age");
  return text;
}

std::optional<StepValueText> step_value(const ContactRecord& contact) {
  const std::string normal = plain(contact.step_normal), tangent = plain(contact.step_tangent);
  const std::string both = normal == tangent ? normal : "normal " + normal + ", tangent " + tangent;
  switch (contact.step_kind) {
    case StepKind::none:
      return std::nullopt;
    case StepKind::r_factor:
      return {{"r-factor", both + " kg",
               "By what the solver multiplied the contact's velocity in its last proximal step, before it "
               "projected the impulse onto the cone. Where it is a matrix, a mean of its tangential part"}};
    case StepKind::rho:
      return {{"rho", both + " kg",
               "Weight of the contact's velocity against its impulse in the function whose zero the solver "
               "searched, at the end of the last solve"}};
    case StepKind::penalty:
      return {{"rho", both + " / kg",
               "Penalty R of ADMM at the end of the last solve: weight of the difference between the impulse "
               "that obeys the dynamics and the one that lies in the cone"}};
    case StepKind::stiffness:
      return {
          {"Stiffness", normal + " N/m",
           "Weight sigma of the barrier in the last step; of a cubic barrier, its stiffness at this gap"}};
  }
  return std::nullopt;
}

std::optional<double> heat_value(const SurfaceColorsInfo& colors, std::span<const float> heat, float least,
                                 float most, const Pick& pick) {
  if (!colors.is_scale || heat.empty() || most < 0) return std::nullopt;
  double share = 0;
  for (int k = 0; k < 3; ++k) {
    const float corner = heat[static_cast<std::size_t>(pick.triangle[k])];
    if (corner < 0) return std::nullopt;
    share += pick.weights[k] * static_cast<double>(corner);
  }
  const auto low = static_cast<double>(least), high = static_cast<double>(most);
  if (!colors.is_logarithmic) return share * high;
  if (!(low > 0)) return std::nullopt;
  return low * std::pow(high / low, share);
}

HoverText describe(const SurfaceColorsInfo& colors, double value, const std::string& object) {
  return {object,
          {{std::string(colors.label),
            colors.unit == "1" ? percent(static_cast<float>(value)) : si_text(value, colors.unit.data())}},
          true};
}

HoverText describe(const DragLine& line, double stiffness) {
  const auto length = static_cast<double>(norm(line.to - line.from));
  return {"Pull",
          {{"force", si_text(stiffness * length, "N")},
           {"spring", si_text(length, "m")},
           {"stiffness", si_text(stiffness, "N/m")}}};
}

Vec<float, 2> place_tip(const Vec<float, 2>& at, const Vec<float, 2>& size, const TipArea& area, float gap) {
  const auto along = [&](int axis, float low, float high) {
    const float after = at[axis] + gap, before = at[axis] - gap - size[axis];
    return after + size[axis] <= high || before < low ? after : before;
  };
  return {along(0, area.left, area.right), along(1, area.top, area.bottom)};
}

}  // namespace stickslip
