#include "app/viewer/panels/widgets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// ImGui before 1.87 numbers keys as the window system does.
bool escape_pressed() { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)); }

}  // namespace

float em(float characters) { return 0.55f * characters * ImGui::GetFontSize(); }

void value_row(const char* label, float column, const char* format, ...) {
  // One item, so that a tooltip belongs to the label, too. Within a group columns count from its left side.
  const float left = ImGui::GetCursorPosX();
  ImGui::BeginGroup();
  ImGui::PushStyleColor(ImGuiCol_Text, theme::dim_text);
  ImGui::TextUnformatted(label);
  ImGui::PopStyleColor();
  ImGui::SameLine(column - left);
  // In a narrow panel a value takes several lines rather than being cut.
  ImGui::PushTextWrapPos();
  va_list arguments;
  va_start(arguments, format);
  ImGui::TextV(format, arguments);
  va_end(arguments);
  ImGui::PopTextWrapPos();
  ImGui::EndGroup();
}

void row_label(const char* label, float column, const std::string& meaning) {
  ImGui::AlignTextToFramePadding();
  text_colored(theme::dim_text, label);
  tooltip(meaning);
  ImGui::SameLine(column);
}

void fitted_column(const char* title, std::span<const std::string> texts, float beside,
                   ImGuiTableColumnFlags flags) {
  float width = ImGui::CalcTextSize(title).x;
  for (const std::string& text : texts) width = std::max(width, beside + ImGui::CalcTextSize(text.c_str()).x);
  ImGui::TableSetupColumn(title, flags | ImGuiTableColumnFlags_WidthFixed, std::max(width, 1.0f));
}

bool section(const char* title, bool open) {
  // ImGui leaves three paddings between the arrow and the title.
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      {0.2f * ImGui::GetFontSize(), ImGui::GetStyle().FramePadding.y});
  bool& state = open_sections().try_emplace(title, open).first->second;
  ImGui::SetNextItemOpen(state, ImGuiCond_Once);
  const bool shown = ImGui::CollapsingHeader(title);
  ImGui::PopStyleVar();
  state = shown;
  return shown;
}

void same_line_within(float width) {
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

void same_line_for_button(const char* label) {
  same_line_within(ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x);
}

void same_line_for_text(const std::string& text) { same_line_within(ImGui::CalcTextSize(text.c_str()).x); }

void same_line_for(const char* label) {
  same_line_within(ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x +
                   ImGui::CalcTextSize(label).x);
}

std::map<std::string, bool>& open_sections() {
  static std::map<std::string, bool> sections;
  return sections;
}

void filter_field(const char* id, const char* hint, std::string& text) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%s", text.c_str());
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint(id, hint, buffer, sizeof buffer)) text = buffer;
  if (ImGui::IsItemDeactivated() && escape_pressed()) text.clear();
}

bool passes_filter(std::string_view filter, std::initializer_list<std::string_view> texts) {
  const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  const auto same = [&](char a, char b) { return lower(a) == lower(b); };
  const auto contains = [&](std::string_view text) {
    return std::search(text.begin(), text.end(), filter.begin(), filter.end(), same) != text.end();
  };
  return filter.empty() || std::ranges::any_of(texts, contains);
}

bool begin_choices(const char* id, const std::string& shown) {
  // Where the text does not fit beside the arrow, it has the arrow's room.
  const float beside =
      ImGui::CalcItemWidth() - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().FramePadding.x;
  const bool fits = ImGui::CalcTextSize(shown.c_str()).x <= beside;
  if (!ImGui::BeginCombo(id, shown.c_str(), fits ? ImGuiComboFlags_None : ImGuiComboFlags_NoArrowButton))
    return false;
  if (escape_pressed()) ImGui::CloseCurrentPopup();
  return true;
}

std::array<float, 2> choice_widths(std::span<const std::string_view> first,
                                   std::span<const std::string_view> second, float button) {
  const auto needed = [](std::span<const std::string_view> names) {
    float longest = 0;
    for (const std::string_view name : names)
      longest = std::max(longest, ImGui::CalcTextSize(name.data(), name.data() + name.size()).x);
    // What begin_choices asks for, and a pixel for sizes that ImGui rounds down.
    return longest + ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x + 1;
  };
  const float a = needed(first), b = needed(second);
  const float spacing = ImGui::GetStyle().ItemSpacing.x;
  const float left = ImGui::GetContentRegionAvail().x - a - b - spacing, beside = left - button - spacing;
  const float each = 0.5f * (beside < 0 ? left : beside);
  return {a + each, b + each};
}

void tooltip(const std::string& text) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  // The tooltip of a disabled control says why: it is not dimmed with it.
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(em(56));
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

std::string counted(long count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool action_button(const char* label, const std::string& what, const std::string& key, const ImVec2& size) {
  const bool pressed = ImGui::Button(label, size);
  tooltip(what + "  [" + key + "]");
  return pressed;
}

bool filled_slider(const char* id, float& position, const std::string& text) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 end{at.x + ImGui::CalcItemWidth(), at.y + ImGui::GetFrameHeight()};
  const float rounding = ImGui::GetStyle().FrameRounding, filled = at.x + position * (end.x - at.x);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, end, ImGui::GetColorU32(ImGuiCol_FrameBg), rounding);
  if (filled > at.x + 1)
    list.AddRectFilled(at, {filled, end.y}, ImGui::GetColorU32(ImGuiCol_SliderGrab), rounding);
  for (const ImGuiCol slot : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive,
                              ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive})
    ImGui::PushStyleColor(slot, IM_COL32_BLACK_TRANS);
  const float before = position;
  // The text is passed as ImGui's number format.
  bool moved = ImGui::SliderFloat(id, &position, 0, 1, text.c_str(), ImGuiSliderFlags_NoInput);
  ImGui::PopStyleColor(5);
  if (ImGui::IsItemActive() && ImGui::GetIO().KeyAlt) {
    position = std::clamp(before + 0.1f * ImGui::GetIO().MouseDelta.x / (end.x - at.x), 0.0f, 1.0f);
    moved = position != before;
  }
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    list.AddRect(at, end, ImGui::GetColorU32(ImGuiCol_CheckMark), rounding);
  return moved;
}

void text_colored(ImU32 color, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

std::string fit_text(const std::string& text, float width) {
  if (ImGui::CalcTextSize(text.c_str()).x <= width) return text;
  std::string shortened = text;
  while (!shortened.empty() && ImGui::CalcTextSize((shortened + "...").c_str()).x > width) {
    // Whole UTF-8 characters only.
    while (!shortened.empty() && (shortened.back() & 0xC0) == 0x80) shortened.pop_back();
    if (!shortened.empty()) shortened.pop_back();
  }
  return shortened + "...";
}

std::string duration_text(double seconds) {
  char text[32];
  if (seconds < 1) std::snprintf(text, sizeof text, "%.3g ms", 1e3 * seconds);
  else std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

std::string si_text(double value, const char* unit) {
  static constexpr std::array prefixes{"f", "p", "n", "\xC2\xB5", "m", "", "k", "M", "G", "T"};
  constexpr int kNone = 5;  // the index without a prefix
  int index = kNone;
  if (value != 0 && std::isfinite(value)) {
    // Rounded as in the text, so that 999.9 m is not "1e+03 m".
    const int thousands = static_cast<int>(std::floor(std::log10(std::abs(value) / 0.9995) / 3));
    // Beyond the prefixes the exponent says more than a prefix with an exponent.
    const int prefix = kNone + thousands;
    if (prefix >= 0 && prefix < static_cast<int>(prefixes.size())) index = prefix;
    value /= std::pow(1000, index - kNone);
  }
  char text[48];
  value += 0.0;  // -0 is 0
  std::snprintf(text, sizeof text, "%.3g %s%s", value, prefixes[static_cast<std::size_t>(index)], unit);
  return text;
}

}  // namespace stickslip
