// What the window shows of the place under the pointer, without a click: numbers with their names and units.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/render/contact_scale.h"
#include "app/render/frame_view.h"
#include "app/viewer/picking.h"
#include "app/viewer/surface_colors.h"

namespace stickslip {

/// What is under the pointer while no button is down. The pick is that of the nearest surface.
struct Hovered {
  Vec<float, 2> at{0, 0};  // [px]
  std::optional<ContactRecord> contact;
  std::optional<Pick> pick;
};

struct HoverText {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;  // name, value with its unit
  bool first_is_mapped = false;                           // the first row is what colours show
};

/// Names of the two sides; what `scale` shows, then forces, friction, gap and, where they are known, pressure
/// and age. An unknown number that the scale shows is "not known".
HoverText describe(const ContactRecord& contact, const Model& model, ContactScale scale,
                   float error_limit = std::numeric_limits<float>::infinity());

/// A value that the solver used at a contact (ContactRecord::step_kind).
struct StepValueText {
  const char* name;     // "r-factor"
  std::string value;    // with its unit
  const char* meaning;  // a sentence
};
/// Empty where the solver has no such value.
std::optional<StepValueText> step_value(const ContactRecord& contact);

/// The value at a place of a surface whose colours are `heat`, places on the scale from `least` to `most`
/// (see SceneLayers). Empty where the surface has the colour of its object.
std::optional<double> heat_value(const SurfaceColorsInfo& colors, std::span<const float> heat, float least,
                                 float most, const Pick& pick);
HoverText describe(const SurfaceColorsInfo& colors, double value, const std::string& object);

/// A pull by the spring of Params::drag_stiffness [N/m], `line` from the dragged point to the pointer: its
/// force (on rigid bodies without its damping), length and stiffness.
HoverText describe(const DragLine& line, double stiffness);

/// [px] a part of the window.
struct TipArea {
  float left = 0, top = 0, right = 0, bottom = 0;
};
/// The upper left corner of a box of `size` about the point `at`, `gap` away from it in both directions:
/// right and below if it fits into `area` there, else left or above. So it never covers the point. [px]
Vec<float, 2> place_tip(const Vec<float, 2>& at, const Vec<float, 2>& size, const TipArea& area, float gap);

}  // namespace stickslip
