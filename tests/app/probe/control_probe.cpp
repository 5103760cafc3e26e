// Linked around the calls that draw controls (ld --wrap): after each picture it writes all of the window's
// controls to the file $STICKSLIP_CONTROLS, so that a test can move each by mouse. The program is unchanged.
#include <imgui.h>
#include <imgui_internal.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::ostringstream controls;
std::vector<std::string> ids;  // that were pushed

std::string path_of(const char* label) {
  std::string path;
  for (const std::string& id : ids) path += id + "/";
  return path + label;
}

/// One field of a line, of which tabs separate the fields.
std::string field_of(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == '\n') c = ' ';
  return text;
}

std::string text_of(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

/// `on`: where it can be pressed. `value`: as it was passed, thus as the program has it.
void add(const char* kind, const char* label, const ImRect& on, const std::string& value) {
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  const ImGuiWindow& window = *context.CurrentWindow;
  if (window.SkipItems) return;
  const ImRect& clip = window.ClipRect;
  const bool enabled = (context.CurrentItemFlags & ImGuiItemFlags_Disabled) == 0;
  controls << kind << '\t' << field_of(window.Name) << '\t' << field_of(path_of(label)) << '\t'
           << field_of(value) << '\t' << enabled;
  for (const ImVec2& corner : {on.Min, on.Max, clip.Min, clip.Max})
    controls << '\t' << corner.x << '\t' << corner.y;
  controls << '\n';
}

/// The last item, or the frame of a check box, which may have a wide label.
void add_last(const char* kind, const char* label, const std::string& value, bool frame_only = false) {
  ImRect on{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  if (frame_only) on.Max.x = on.Min.x + ImGui::GetFrameHeight();
  add(kind, label, on, value);
}

}  // namespace

// The symbols are those of the compiler for Linux; ld refers `real` to the functions of ImGui.
#define SEEN(result, name, symbol, ...)                      \
  result real_##name(__VA_ARGS__) __asm__("__real_" symbol); \
  result seen_##name(__VA_ARGS__) __asm__("__wrap_" symbol); \
  result seen_##name(__VA_ARGS__)

SEEN(bool, checkbox, "_ZN5ImGui8CheckboxEPKcPb", const char* label, bool* on) {
  const char* const value = *on ? "on" : "off";
  const bool result = real_checkbox(label, on);
  add_last("check", label, value, true);
  return result;
}
SEEN(bool, radio, "_ZN5ImGui11RadioButtonEPKcb", const char* label, bool active) {
  const bool result = real_radio(label, active);
  add_last("radio", label, active ? "on" : "off", true);
  return result;
}
SEEN(bool, button, "_ZN5ImGui6ButtonEPKcRK6ImVec2", const char* label, const ImVec2& size) {
  const bool result = real_button(label, size);
  add_last("button", label, "");
  return result;
}
SEEN(bool, small_button, "_ZN5ImGui11SmallButtonEPKc", const char* label) {
  const bool result = real_small_button(label);
  add_last("button", label, "");
  return result;
}
SEEN(bool, arrow, "_ZN5ImGui11ArrowButtonEPKci", const char* label, ImGuiDir direction) {
  const bool result = real_arrow(label, direction);
  add_last("button", label, "");
  return result;
}
SEEN(bool, slider, "_ZN5ImGui11SliderFloatEPKcPfffS1_i", const char* label, float* value, float low,
     float high, const char* format, int flags) {
  // The program's sliders of parameters pass the value as text instead of a format.
  const std::string text = text_of(static_cast<double>(*value)) + " " + format;
  const bool result = real_slider(label, value, low, high, format, flags);
  add_last("slider", label, text);
  return result;
}
SEEN(bool, int_slider, "_ZN5ImGui9SliderIntEPKcPiiiS1_i", const char* label, int* value, int low, int high,
     const char* format, int flags) {
  const std::string text = text_of(*value);
  const bool result = real_int_slider(label, value, low, high, format, flags);
  add_last("slider", label, text);
  return result;
}
SEEN(bool, drag, "_ZN5ImGui10DragScalarEPKciPvfPKvS4_S1_i", const char* label, int type, void* value,
     float speed, const void* low, const void* high, const char* format, int flags) {
  const std::string text = type == ImGuiDataType_Double ? text_of(*static_cast<double*>(value)) : "";
  const bool result = real_drag(label, type, value, speed, low, high, format, flags);
  add_last("drag", label, text);
  return result;
}
SEEN(bool, int_field, "_ZN5ImGui8InputIntEPKcPiiii", const char* label, int* value, int step, int fast,
     int flags) {
  const bool result = real_int_field(label, value, step, fast, flags);
  add_last("field", label, text_of(*value));
  return result;
}
SEEN(bool, field, "_ZN5ImGui11InputDoubleEPKcPdddS1_i", const char* label, double* value, double step,
     double fast, const char* format, int flags) {
  const bool result = real_field(label, value, step, fast, format, flags);
  add_last("field", label, text_of(*value));
  return result;
}
SEEN(bool, text, "_ZN5ImGui17InputTextWithHintEPKcS1_PcmiPFiP26ImGuiInputTextCallbackDataEPv",
     const char* label, const char* hint, char* buffer, std::size_t size, int flags,
     ImGuiInputTextCallback callback, void* data) {
  const bool result = real_text(label, hint, buffer, size, flags, callback, data);
  add_last("text", label, buffer);
  return result;
}
/// An open one draws its choices in a window of its own.
SEEN(bool, combo, "_ZN5ImGui10BeginComboEPKcS1_i", const char* label, const char* shown, int flags) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  add("combo", label, {at, {at.x + ImGui::CalcItemWidth(), at.y + ImGui::GetFrameHeight()}}, shown);
  return real_combo(label, shown, flags);
}
SEEN(bool, choice, "_ZN5ImGui10SelectableEPKcbiRK6ImVec2", const char* label, bool selected, int flags,
     const ImVec2& size) {
  const bool result = real_choice(label, selected, flags, size);
  add_last("choice", label, selected ? "on" : "off");
  return result;
}
SEEN(bool, header, "_ZN5ImGui16CollapsingHeaderEPKci", const char* label, int flags) {
  const bool open = real_header(label, flags);
  add_last("section", label, open ? "on" : "off");
  return open;
}
SEEN(bool, tree, "_ZN5ImGui10TreeNodeExEPKci", const char* label, int flags) {
  const bool open = real_tree(label, flags);
  add_last("section", label, open ? "on" : "off");
  return open;
}

SEEN(void, push_text, "_ZN5ImGui6PushIDEPKc", const char* id) {
  ids.emplace_back(id);
  real_push_text(id);
}
SEEN(void, push_range, "_ZN5ImGui6PushIDEPKcS1_", const char* begin, const char* end) {
  ids.emplace_back(begin, end);
  real_push_range(begin, end);
}
SEEN(void, push_place, "_ZN5ImGui6PushIDEPKv", const void* id) {
  ids.emplace_back("*");
  real_push_place(id);
}
SEEN(void, push_number, "_ZN5ImGui6PushIDEi", int id) {
  ids.push_back(std::to_string(id));
  real_push_number(id);
}
SEEN(void, pop, "_ZN5ImGui5PopIDEv", void) {
  if (!ids.empty()) ids.pop_back();
  real_pop();
}

/// The first line has the numbers of pictures, and of clicks and of notches of the wheel so far.
SEEN(void, render, "_ZN5ImGui6RenderEv", void) {
  static long pictures = 0, clicks = 0;
  static float notches = 0;
  const ImGuiIO& io = ImGui::GetIO();
  clicks += io.MouseReleased[0];
  notches += io.MouseWheel < 0 ? -io.MouseWheel : io.MouseWheel;
  real_render();
  const std::string all = controls.str();
  controls.str({});
  ids.clear();
  const char* const file = std::getenv("STICKSLIP_CONTROLS");
  if (file == nullptr) return;
  const std::string part = std::string(file) + ".part";
  std::ofstream(part) << ++pictures << '\t' << clicks << '\t' << notches << '\n' << all;
  std::rename(part.c_str(), file);
}
