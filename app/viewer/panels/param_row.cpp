#include "app/viewer/panels/param_row.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "app/viewer/panels/widgets.h"
#include "app/viewer/param_controls.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

std::string describe(const ParamRow& control) {
  const ParamInfo& info = control.info;
  std::string text(info.meaning);
  if (info.type == ParamType::real || info.type == ParamType::integer)
    text += "\n" + value_text(info, info.low) + " to " + value_text(info, info.high);
  text += "\nscene: " + value_text(info, control.reference) +
          ", default: " + value_text(info, info.default_value);
  if (info.type == ParamType::real || info.type == ParamType::integer)
    text += "\nCtrl + click to type a value, Alt + drag for small changes";
  if (!control.idle.empty()) text += "\nNo effect now: " + control.idle;
  return text;
}

bool number_input(TypedNumber& typed, const ParamInfo& info, double& value) {
  if (typed.fresh) ImGui::SetKeyboardFocusHere();
  const bool entered =
      ImGui::InputText("##typed", typed.text, sizeof typed.text,
                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool left = !typed.fresh && !ImGui::IsItemActive();
  typed.fresh = false;
  if (!entered && !left) return false;
  typed.id = 0;
  if (!entered) return false;
  char* end = nullptr;
  const double number = std::strtod(typed.text, &end);
  if (end == typed.text || !(number >= info.low && number <= info.high)) {
    spdlog::warn("{} must be between {} and {}", info.name, value_text(info, info.low),
                 value_text(info, info.high));
    return false;
  }
  value = info.type == ParamType::integer ? std::round(number) : number;
  return true;
}

bool number_slider(TypedNumber& typed, const ParamRow& control, double& value) {
  const ImGuiID id = ImGui::GetID("##slider");
  if (typed.id == id) return number_input(typed, control.info, value);
  const SliderScale scale = slider_scale(control.info, control.reference);
  auto position = static_cast<float>(scale.position(value));
  const bool moved =
      filled_slider("##slider", position, control.mixed ? "mixed" : value_text(control.info, value));
  if (ImGui::IsItemClicked() && ImGui::GetIO().KeyCtrl) {
    typed.id = id;
    typed.fresh = true;
    std::snprintf(typed.text, sizeof typed.text, "%.6g", value);
    return false;
  }
  if (!moved || typed.id == id) return false;
  const double next = scale.value(static_cast<double>(position));
  const bool changed = next != value;
  value = next;
  return changed;
}

bool choice_box(const ParamRow& control, double& value) {
  bool changed = false;
  if (!begin_choices("##choice", control.mixed ? "mixed" : value_text(control.info, value))) return false;
  for (std::size_t i = 0; i < control.info.choices.size(); ++i) {
    const std::string name(control.info.choices[i]);
    const ChoiceNote note = i < control.notes.size() ? control.notes[i] : ChoiceNote{};
    const bool chosen = static_cast<double>(i) == value;
    ImGui::BeginDisabled(!note.barred.empty());
    if (ImGui::Selectable(name.c_str(), chosen)) {
      value = static_cast<double>(i);
      changed = true;
    }
    ImGui::EndDisabled();
    if (chosen && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
    const std::string& more = note.barred.empty() ? note.meaning : note.barred;
    if (!more.empty()) tooltip(more);
  }
  ImGui::EndCombo();
  return changed;
}

}  // namespace

EditAction draw_param_row(TypedNumber& typed, const ParamRow& control, double& value) {
  const std::string name(control.info.name);
  const float reset_width = ImGui::GetFrameHeight();
  const float label_width = em(18);
  ImGui::PushID(name.c_str());
  ImGui::BeginDisabled(!control.idle.empty());
  ImGui::AlignTextToFramePadding();
  text_colored(theme::dim_text, fit_text(name, label_width - em(1)));
  tooltip(describe(control));
  ImGui::SameLine(label_width);
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - reset_width -
                          ImGui::GetStyle().ItemInnerSpacing.x);
  value = control.value;
  bool changed = false;
  if (control.info.type == ParamType::boolean) {
    bool on = value != 0;
    changed = ImGui::Checkbox("##box", &on);
    value = on;
  } else if (control.info.type == ParamType::choice) {
    changed = choice_box(control, value);
  } else {
    changed = number_slider(typed, control, value);
  }
  // While a slider is dragged its value stays in sight.
  if (typed.id == 0 && !ImGui::IsItemActive()) tooltip(describe(control));
  ImGui::EndDisabled();
  EditAction edit = changed ? EditAction::changed : EditAction::none;
  if (control.modified) {
    ImGui::SameLine(ImGui::GetContentRegionMax().x - reset_width);
    if (ImGui::Button("x", {reset_width, 0})) edit = EditAction::reset;
    tooltip("Back to the scene's value");
  }
  ImGui::PopID();
  return edit;
}

}  // namespace stickslip
