// The one table of what keys do: the window's dispatch, the F1 overlay and the README's key table all read
// it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

enum class ActionId {
  toggle_play,
  step,
  reset,
  previous_scene,
  next_scene,
  toggle_panels,
  toggle_log,
  frame_view,
  toggle_contacts,
  toggle_normals,
  toggle_wireframe,
  toggle_joints,
  freeze,
  toggle_lab,
  screenshot,
  toggle_video,
  toggle_help,
  quit,
};

/// A key with modifiers (GLFW codes), or, where `character` is set, whatever key types it: punctuation sits
/// elsewhere on every layout.
struct Chord {
  int key = 0;
  int mods = 0;
  char character = 0;
  friend bool operator==(const Chord&, const Chord&) = default;
};

struct Action {
  ActionId id;
  std::vector<Chord> chords;
  std::string_view meaning;
  bool repeats = false;  // acts again while its key is held
};

struct Gesture {
  std::string_view input, meaning;
};

std::span<const Action> action_table();
/// What the pointer does in the scene; for the overlay and the README.
std::span<const Gesture> gesture_table();

/// The action of a pressed key. Letters are looked up by what the layout prints on the key (`name`, from
/// glfwGetKeyName; may be null), everything else by its code.
const Action* find_action(int key, const char* name, int mods);
/// The action of a typed character.
const Action* find_action(char32_t character);

/// "Ctrl+Shift+R"
std::string chord_text(const Chord& chord);
/// "Space / P"
std::string chords_text(const Action& action);
/// "Space" for tooltips: the first chord of an action.
std::string shortcut(ActionId id);
/// Keys and gestures as two Markdown tables.
std::string key_table_markdown();

}  // namespace stickslip
