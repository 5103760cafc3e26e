#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {

namespace {
ImU32 color_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return theme::bad;
  return level == spdlog::level::warn ? theme::warning : theme::text;
}
}  // namespace

void draw_log_panel(PanelContext& context) {
  ImGui::PushTextWrapPos();
  context.log.visit([](const LogLine& line) {
    text_colored(theme::dim_text, line.time);
    ImGui::SameLine();
    text_colored(color_of(line.level), line.text);
  });
  ImGui::PopTextWrapPos();
  // Scroll to the end, unless the user scrolled away from it.
  if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY()) ImGui::SetScrollHereY(1);
}

}  // namespace stickslip
