#include "app/viewer/actions.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numbers>

#include "app/viewer/panels/panel_context.h"
#include "app/viewer/selection_edits.h"

namespace stickslip {
namespace {

constexpr int significant_mods = GLFW_MOD_SHIFT | GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER;

Chord typed(char character) { return {.character = character}; }

const char* unloaded(const Simulation& s) { return s.status().loaded ? "" : "no scene is loaded"; }

const char* nothing_to_freeze(const Simulation& s) {
  if (s.status().restored) return "The state was restored: make a step first";
  if (s.history().empty()) return "No step was made";
  const StepReport& last = s.history().back();
  if (!last.contact_solve)
    return "Barrier steps have no contact problem at velocity level: choose solver velocity, or look at the "
           "iterations of the next step (Ctrl+I)";
  return last.judgement ? ""
                        : "Explicit penalty forces solve no contact problem: choose another contact solver";
}

const char* no_newton_steps(const Simulation& s) {
  if (!s.status().loaded) return unloaded(s);
  return stepper_family(s.settings().params.solver) == StepperFamily::velocity
             ? "Velocity-level steps have no Newton iterations: Freeze, and look at those of a contact solver"
             : "";
}

const char* nothing_to_stop(const Simulation& s) {
  using Activity = SimulationStatus::Activity;
  const Activity now = s.status().activity;
  return now == Activity::stepping || now == Activity::switching ? "" : "Nothing is being computed";
}

const char* nothing_before(const Simulation& s) {
  const SimulationStatus& status = s.status();
  return !status.timeline.empty() && status.timeline.first < status.frame ? "" : "No earlier state is kept";
}

const char* nothing_after(const Simulation& s) {
  return s.status().timeline.last > s.status().frame ? "" : "No later state is kept";
}

const char* nothing_to_report(const Simulation& s) {
  return s.history().empty() && s.future().empty() ? "No step was made" : "";
}

const char* nothing_kept(const Simulation& s) { return s.status().kept ? "" : "No state was kept"; }

const char* nothing_to_undo(const Simulation& s) { return s.edits().can_undo() ? "" : "Nothing was edited"; }

const char* nothing_to_redo(const Simulation& s) {
  return s.edits().can_redo() ? "" : "No edit was taken back";
}

/// The frame of the last state before the fault; empty: there was none.
std::optional<int> frame_before_fault(const SimulationStatus& status) {
  // The next step takes the mark of a tripwire away.
  if (!status.tripped.empty()) return std::min(status.sound, status.frame - 1);
  return status.faulty ? std::optional(status.sound) : std::nullopt;
}

const char* nothing_to_recover(const Simulation& s) {
  const SimulationStatus& status = s.status();
  const std::optional<int> frame = frame_before_fault(status);
  if (!frame) return "No step has failed";
  return *frame >= status.timeline.first && *frame <= status.timeline.last
             ? ""
             : "No state before it is kept: reset";
}

/// Also to the present frame: a step that failed may have left another state in the engine.
void recover(Simulation& s) {
  if (nothing_to_recover(s)[0] == '\0') s.post(Rewind{*frame_before_fault(s.status())});
}

void rewind_to(Simulation& s, int frame) {
  const TimelineExtent& kept = s.status().timeline;
  if (frame >= kept.first && frame <= kept.last && frame != s.status().frame) s.post(Rewind{frame});
}

/// A mark that is kept no more is passed over.
void rewind_to_mark(ActionTarget& t, const std::optional<int>& frame) {
  if (frame) rewind_to(t.simulation(), *frame);
}

void rewind_by(Simulation& s, int frames) { rewind_to(s, s.status().frame + frames); }

void return_to_kept(Simulation& s) {
  if (s.status().kept) s.post(ReturnToKept{});
}

void play_or_pause(Simulation& s) { s.status().playing ? s.pause() : s.play(); }

void flip(bool& flag) { flag = !flag; }

void flip_panes(ViewState& view) {
  view.fork_view = view.fork_view == ForkView::panes ? ForkView::outlines : ForkView::panes;
}

void next_surface_colors(ActionTarget& t) {
  const std::shared_ptr<const Scene>& scene = t.simulation().frame().scene;
  t.view().surfaces = next_offered(t.view().surfaces, scene ? scene->model : Model{});
}

/// Also switches arrows on.
void next_force_arrows(ViewState& view) {
  const auto next = static_cast<std::size_t>(view.arrows) + 1;
  view.arrows = force_arrows_table()[next % force_arrows_table().size()].arrows;
  view.overlays.arrows = true;
}

void next_contact_scale(ViewState& view) {
  const auto next = static_cast<std::size_t>(view.scale) + 1;
  view.scale = contact_scale_table()[next % contact_scale_table().size()].scale;
}

std::vector<Action> make_table() {
  using namespace ActionTrait;
#define KEYS(...) \
  { __VA_ARGS__ }
#define STICKSLIP_ACTION(id, label, keys, meaning, traits, reason, effect)           \
  Action{ActionId::id,                                                               \
         #id,                                                                        \
         keys,                                                                       \
         label,                                                                      \
         meaning,                                                                    \
         traits,                                                                     \
         []([[maybe_unused]] const Simulation& s) -> const char* { return reason; }, \
         [](ActionTarget& t) { effect; }},
#define STICKSLIP_SWITCH(flag, label, key, meaning, condition) \
  STICKSLIP_ACTION(toggle_##flag, label, KEYS({key}), meaning, by_chance, "", flip(t.view().overlays.flag))
  return {STICKSLIP_ACTIONS(STICKSLIP_ACTION, STICKSLIP_SWITCH)};
#undef KEYS
#undef STICKSLIP_ACTION
#undef STICKSLIP_SWITCH
}

const std::vector<Action>& actions() {
  static const std::vector<Action> table = make_table();
  return table;
}

std::string key_text(int key) {
  if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9)
    return std::string(1, static_cast<char>('0' + key - GLFW_KEY_0));
  if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z)
    return std::string(1, static_cast<char>('A' + key - GLFW_KEY_A));
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F25) return "F" + std::to_string(key - GLFW_KEY_F1 + 1);
  switch (key) {
    case GLFW_KEY_ESCAPE:
      return "Esc";
    case GLFW_KEY_SPACE:
      return "Space";
    case GLFW_KEY_TAB:
      return "Tab";
    case GLFW_KEY_RIGHT:
      return "Right";
    case GLFW_KEY_LEFT:
      return "Left";
    case GLFW_KEY_HOME:
      return "Home";
    case GLFW_KEY_END:
      return "End";
    case GLFW_KEY_BACKSPACE:
      return "Backspace";
    case GLFW_KEY_DELETE:
      return "Delete";
    default:
      return "key " + std::to_string(key);
  }
}

}  // namespace

std::span<const Action> action_table() { return actions(); }

void perform(ActionId id, ActionTarget& target) { actions()[static_cast<std::size_t>(id)].effect(target); }

std::string inactive_reason(ActionId id, const Simulation& simulation) {
  return actions()[static_cast<std::size_t>(id)].reason(simulation);
}

std::span<const Gesture> gesture_table() {
  static constexpr std::array<Gesture, 6> table{{
      {"Left click", "pick an object, or a contact's mark, and show its numbers"},
      {"Left drag", "orbit"},
      {"Middle drag, Shift + left drag", "pan"},
      {"Wheel, right drag", "zoom"},
      {"Ctrl + left drag", "pull a body with a spring; the wheel makes it stiffer or softer"},
      {"Left drag of a handle", "move or turn the selected object, see `Z`; with Ctrl in steps"},
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
  return chord_text(actions()[static_cast<std::size_t>(id)].chords.front());
}

std::string key_table_markdown() {
  std::string text = "| key | what it does | in scripts |\n|---|---|---|\n";
  for (const Action& action : actions()) {
    std::string keys;
    for (const Chord& chord : action.chords) keys += (keys.empty() ? "`" : " / `") + chord_text(chord) + "`";
    text += "| " + keys + " | " + std::string(action.meaning) + " | `" + std::string(action.name) + "` |\n";
  }
  text += "\n| pointer | what it does |\n|---|---|\n";
  for (const Gesture& gesture : gesture_table())
    text += "| " + std::string(gesture.input) + " | " + std::string(gesture.meaning) + " |\n";
  return text;
}

}  // namespace stickslip
