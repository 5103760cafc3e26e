// Presets of parameters: a name to save them under, and the list.
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/preset_edits.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// An error goes to the log, and the window goes on.
template <class Act>
void attempt(const Act& act) {
  try {
    act();
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());
  }
}

}  // namespace

void draw_presets_section(PanelContext& context) {
  const bool was_open = open_sections()["Presets"];
  if (!section("Presets", false)) return;
  Presets& presets = context.presets;
  if (!was_open) presets.refresh();
  std::string& name = context.view.preset_name;
  char typed[64];
  std::snprintf(typed, sizeof typed, "%s", name.c_str());
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - em(10));
  if (ImGui::InputTextWithHint("##preset", "Name", typed, sizeof typed)) name = typed;
  ImGui::SameLine();
  ImGui::BeginDisabled(!is_preset_name(name));
  if (ImGui::Button("Save##preset", {-1, 0}))
    attempt([&] { save_preset(context.simulation, presets, name); });
  ImGui::EndDisabled();
  tooltip(
      "Keep all parameters of the run and of its contact solver under this name, of letters, digits, - and "
      "_: for any scene, also after a restart. Materials belong to the scene");
  if (presets.names().empty()) text_colored(theme::dim_text, "No presets.");
  std::string applied, deleted;
  for (const std::string& preset : presets.names()) {
    ImGui::PushID(preset.c_str());
    if (ImGui::SmallButton("Apply")) applied = preset;
    tooltip("Set the parameters to those of the preset; Undo takes all of them back");
    ImGui::SameLine();
    if (ImGui::SmallButton("x")) deleted = preset;
    tooltip("Delete " + presets.file_of(preset).string());
    ImGui::SameLine();
    ImGui::TextUnformatted(fit_text(preset, ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopID();
  }
  if (!applied.empty()) attempt([&] { apply_preset(context.simulation, presets, applied); });
  if (!deleted.empty()) attempt([&] { delete_preset(presets, deleted); });
}

}  // namespace stickslip
