#include "app/viewer/actions.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace stickslip {
namespace {

constexpr int significant_mods = GLFW_MOD_SHIFT | GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER;

Chord typed(char character) { return {.character = character}; }

const std::vector<Action>& actions() {
  static const std::vector<Action> table{
      {ActionId::toggle_play, {{GLFW_KEY_SPACE}, {GLFW_KEY_P}}, "play or pause"},
      {ActionId::step, {typed('.'), {GLFW_KEY_RIGHT}}, "one time step, then pause", true},
      {ActionId::reset, {{GLFW_KEY_R}}, "back to the scene's start"},
      {ActionId::previous_scene, {typed('[')}, "previous scene"},
      {ActionId::next_scene, {typed(']')}, "next scene"},
      {ActionId::toggle_panels, {{GLFW_KEY_TAB}}, "show or hide the panels"},
      {ActionId::toggle_log, {{GLFW_KEY_L}}, "show or hide the log"},
      {ActionId::frame_view, {{GLFW_KEY_F}}, "frame the selected object, or everything"},
      {ActionId::toggle_contacts, {{GLFW_KEY_C}}, "contact points, coloured by state"},
      {ActionId::toggle_normals, {{GLFW_KEY_N}}, "contact normals"},
      {ActionId::toggle_wireframe, {{GLFW_KEY_V}}, "mesh edges"},
      {ActionId::toggle_joints, {{GLFW_KEY_J}}, "joints: anchors and axes"},
      {ActionId::freeze,
       {{GLFW_KEY_F, GLFW_MOD_CONTROL}},
       "freeze the last step's contact problem: race all solvers on it"},
      {ActionId::toggle_lab, {{GLFW_KEY_B}}, "show or hide the lab"},
      {ActionId::screenshot, {{GLFW_KEY_F12}}, "save a screenshot"},
      {ActionId::toggle_video, {{GLFW_KEY_R, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT}}, "start or stop a video"},
      {ActionId::toggle_help, {{GLFW_KEY_F1}, typed('?')}, "this help"},
      {ActionId::quit, {{GLFW_KEY_Q, GLFW_MOD_CONTROL}}, "quit"},
  };
  return table;
}

std::string key_text(int key) {
  if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z)
    return std::string(1, static_cast<char>('A' + key - GLFW_KEY_A));
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F25) return "F" + std::to_string(key - GLFW_KEY_F1 + 1);
  switch (key) {
    case GLFW_KEY_SPACE:
      return "Space";
    case GLFW_KEY_TAB:
      return "Tab";
    case GLFW_KEY_RIGHT:
      return "Right";
    default:
      return "key " + std::to_string(key);
  }
}

}  // namespace

std::span<const Action> action_table() { return actions(); }

std::span<const Gesture> gesture_table() {
  static constexpr std::array<Gesture, 5> table{{
      {"Left click", "pick an object, or a contact's mark, and show its numbers"},
      {"Left drag", "orbit"},
      {"Middle drag, Shift + left drag", "pan"},
      {"Wheel, right drag", "zoom"},
      {"Ctrl + left drag", "pull a body with a spring"},
  }};
  return table;
}

const Action* find_action(int key, const char* name, int mods) {
  if (name && name[0] != '\0' && name[1] == '\0' && std::isalpha(static_cast<unsigned char>(name[0])))
    key = GLFW_KEY_A + std::toupper(static_cast<unsigned char>(name[0])) - 'A';
  const Chord pressed{key, mods & significant_mods};
  for (const Action& action : actions())
    if (std::ranges::count(action.chords, pressed) > 0) return &action;
  return nullptr;
}

const Action* find_action(char32_t character) {
  for (const Action& action : actions())
    for (const Chord& chord : action.chords)
      if (chord.character != 0 && static_cast<char32_t>(chord.character) == character) return &action;
  return nullptr;
}

std::string chord_text(const Chord& chord) {
  if (chord.character != 0) return std::string(1, chord.character);
  std::string text;
  if (chord.mods & GLFW_MOD_CONTROL) text += "Ctrl+";
  if (chord.mods & GLFW_MOD_SHIFT) text += "Shift+";
  if (chord.mods & GLFW_MOD_ALT) text += "Alt+";
  return text + key_text(chord.key);
}

std::string chords_text(const Action& action) {
  std::string text;
  for (const Chord& chord : action.chords) text += (text.empty() ? "" : " / ") + chord_text(chord);
  return text;
}

std::string shortcut(ActionId id) {
  for (const Action& action : actions())
    if (action.id == id) return chord_text(action.chords.front());
  return "";
}

std::string key_table_markdown() {
  std::string text = "| key | what it does |\n|---|---|\n";
  for (const Action& action : actions()) {
    std::string keys;
    for (const Chord& chord : action.chords) keys += (keys.empty() ? "`" : " / `") + chord_text(chord) + "`";
    text += "| " + keys + " | " + std::string(action.meaning) + " |\n";
  }
  text += "\n| pointer | what it does |\n|---|---|\n";
  for (const Gesture& gesture : gesture_table())
    text += "| " + std::string(gesture.input) + " | " + std::string(gesture.meaning) + " |\n";
  return text;
}

}  // namespace stickslip
