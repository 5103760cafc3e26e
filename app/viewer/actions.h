// The actions of the window, one row each. The rows define the key bindings, the F1 overlay, the README's key
// table, labels and tooltips of buttons, and the random actions of a soak.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/render/overlays.h"

namespace stickslip {

class ActionTarget;
class Simulation;
struct ViewState;

// ACTION(id, "label of a button", KEYS(chords), "meaning", traits, reason, effect)
// `traits` are those of ActionTrait, joined by |. `reason` says of the Simulation s why the action has
// nothing to act on at present, "" when it has. `effect` is a statement on the ActionTarget t. A key of an
// overlay switches it: those rows are of overlays.h.
// clang-format off
#define STICKSLIP_ACTIONS(ACTION, OVERLAY_SWITCH)                                                                              \
  ACTION(toggle_play, "Play", KEYS({GLFW_KEY_SPACE}, {GLFW_KEY_P}), "play or pause", none, unloaded(s),                        \
         play_or_pause(t.simulation()))                                                                                        \
  ACTION(step, "Step", KEYS(typed('.'), {GLFW_KEY_RIGHT}), "one time step, then pause", repeats, unloaded(s),                  \
         t.simulation().request_step())                                                                                        \
  ACTION(stop_step, "Stop", KEYS({GLFW_KEY_ESCAPE}), "end a long step, or a long change of the solver, without its result, and pause", none, nothing_to_stop(s), \
         t.simulation().interrupt())                                                                                           \
  ACTION(step_back, "Step back", KEYS(typed(','), {GLFW_KEY_LEFT}), "the state before the last step", repeats | by_chance,      \
         nothing_before(s), rewind_by(t.simulation(), -1))                                                                     \
  ACTION(recover, "Recover", KEYS({GLFW_KEY_BACKSPACE}),                                                                       \
         "after a step that failed or tripped a tripwire: the last state before it", by_chance, nothing_to_recover(s),         \
         recover(t.simulation()))                                                                                              \
  ACTION(first_moment, "Oldest", KEYS({GLFW_KEY_HOME}), "the oldest state that is kept", by_chance, nothing_before(s),         \
         rewind_to(t.simulation(), t.simulation().status().timeline.first))                                                    \
  ACTION(last_moment, "Newest", KEYS({GLFW_KEY_END}), "the newest state that is kept", by_chance, nothing_after(s),            \
         rewind_to(t.simulation(), t.simulation().status().timeline.last))                                                     \
  ACTION(bookmark, "Mark", KEYS({GLFW_KEY_M}), "mark this frame on the timeline, or take its mark away", by_chance, unloaded(s), \
         t.view().bookmarks.toggle(t.simulation().status().frame))                                                             \
  ACTION(previous_bookmark, "Mark before", KEYS({GLFW_KEY_LEFT, GLFW_MOD_SHIFT}), "the state at the mark before", by_chance,   \
         nothing_before(s), rewind_to_mark(t, t.view().bookmarks.before(t.simulation().status().frame)))                       \
  ACTION(next_bookmark, "Mark after", KEYS({GLFW_KEY_RIGHT, GLFW_MOD_SHIFT}), "the state at the next mark", by_chance,         \
         nothing_after(s), rewind_to_mark(t, t.view().bookmarks.after(t.simulation().status().frame)))                         \
  ACTION(keep_state, "Keep", KEYS({GLFW_KEY_F5}), "keep the present state, also as a checkpoint file", none, unloaded(s),      \
         t.simulation().post(KeepState{}))                                                                                     \
  ACTION(return_to_kept, "Return", KEYS({GLFW_KEY_F9}), "back to the state that was kept", none, nothing_kept(s),              \
         return_to_kept(t.simulation()))                                                                                       \
  ACTION(fork, "Fork", KEYS({GLFW_KEY_G}),                                                                                      \
         "fork: a copy goes on with the settings of this moment, to compare changes with; drawn as outlines or in panes", none,             \
         unloaded(s), t.simulation().post(ForkState{}))                                                                         \
  ACTION(fork_panes, "Panes", KEYS({GLFW_KEY_G, GLFW_MOD_SHIFT}),                                                              \
         "show forks in panes beside the run, or as outlines", by_chance, "", flip_panes(t.view()))                             \
  ACTION(shoot, "Shoot", KEYS({GLFW_KEY_X}), "throw a ball along the view, at the camera target", none, unloaded(s), t.shoot()) \
  ACTION(add_object, "Add", KEYS({GLFW_KEY_O}), "add an object, as the section Add says, at the camera target", none,  \
         unloaded(s), t.add_object())                                                                                          \
  ACTION(remove_selected, "Remove", KEYS({GLFW_KEY_DELETE}), "take the selected object out of the scene", none, unloaded(s),   \
         remove_selected(t.simulation(), t.view()))                                                                           \
  ACTION(copy_selected, "Copy", KEYS({GLFW_KEY_D, GLFW_MOD_CONTROL}), "put a copy of the selected object above it", none,      \
         unloaded(s), copy_selected(t.simulation(), t.view()))                                                                \
  ACTION(tie_selected, "Tie", KEYS({GLFW_KEY_Y}),                                                                              \
         "tie what was clicked by a rope to what is clicked next: press it after both clicks", none, unloaded(s),              \
         tie_selected(t.simulation(), t.view()))                                                                              \
  ACTION(spring_selected, "Spring", KEYS({GLFW_KEY_E}),                                                                        \
         "join what was clicked by a spring to what is clicked next: press it after both clicks", none, unloaded(s),           \
         spring_selected(t.simulation(), t.view()))                                                                           \
  ACTION(joint_selected, "Joint", KEYS({GLFW_KEY_J, GLFW_MOD_SHIFT}),                                                          \
         "hold the rigid body that was clicked by a joint at the place that is clicked next: press it after both clicks", none, \
         unloaded(s), joint_selected(t.simulation(), t.view()))                                                               \
  ACTION(untie_selected, "Untie", KEYS({GLFW_KEY_Y, GLFW_MOD_SHIFT}), "cut the ropes, springs and joints that were tied to the selected object", none, \
         unloaded(s), untie_selected(t.simulation(), t.view()))                                                               \
  ACTION(pin_selected, "Pin", KEYS({GLFW_KEY_T}), "hold the selected object where it was clicked, from now on", none,          \
         unloaded(s), pin_selected(t.simulation(), t.view()))                                                                 \
  ACTION(unpin_selected, "Unpin", KEYS({GLFW_KEY_T, GLFW_MOD_SHIFT}), "take the pins of the selected object away", none,    \
         unloaded(s), unpin_selected(t.simulation(), t.view()))                                                               \
  ACTION(toggle_gizmo, "Gizmo", KEYS({GLFW_KEY_Z}),                                                                            \
         "show or hide handles that move and turn the selected object; while dragging, Ctrl makes steps", by_chance, "",       \
         flip(t.view().gizmo))                                                                                                 \
  ACTION(reset, "Reset", KEYS({GLFW_KEY_R}),                                                                                   \
         "back to the scene's start; parameters, materials and solver stay as edited", none, unloaded(s),                      \
         t.simulation().post(Reset{}))                                                                                         \
  ACTION(reset_all, "Reset all", KEYS({GLFW_KEY_R, GLFW_MOD_SHIFT}),                                                           \
         "back to the scene's start with the parameters, materials and solver of its file", none, unloaded(s),                 \
         t.simulation().post(ResetAll{}))                                                                                      \
  ACTION(undo, "Undo", KEYS({GLFW_KEY_Z, GLFW_MOD_CONTROL}), "take the last edit back: of a setting, an object, its place, a pin, a rope, a spring or a joint", none, nothing_to_undo(s), \
         t.simulation().undo())                                                                                                \
  ACTION(redo, "Redo", KEYS({GLFW_KEY_Y, GLFW_MOD_CONTROL}, {GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT}),                  \
         "make the edit again that was taken back", none, nothing_to_redo(s), t.simulation().redo())                           \
  ACTION(previous_scene, "Previous scene", KEYS(typed('[')), "previous scene", none, "", t.switch_scene(-1))                   \
  ACTION(next_scene, "Next scene", KEYS(typed(']')), "next scene", none, "", t.switch_scene(1))                                \
  ACTION(toggle_panels, "Panels", KEYS({GLFW_KEY_TAB}), "show or hide the panels", by_chance, "",                              \
         flip(t.view().panels))                                                                                                \
  ACTION(toggle_log, "Log", KEYS({GLFW_KEY_L}), "show or hide the log", by_chance, "", flip(t.view().log))                     \
  ACTION(frame_view, "Frame", KEYS({GLFW_KEY_F}), "frame the selected object, or everything", by_chance, "",                   \
         t.frame_camera())                                                                                                     \
  ACTION(view_front, "Front", KEYS({GLFW_KEY_1}), "view from the front, against z, and frame", by_chance, "",                  \
         t.view_from(0, 0))                                                                                                    \
  ACTION(view_side, "Side", KEYS({GLFW_KEY_2}), "view from the side, against x, and frame", by_chance, "",                     \
         t.view_from(std::numbers::pi_v<float> / 2, 0))                                                                        \
  ACTION(view_top, "Top", KEYS({GLFW_KEY_3}), "view from above, and frame", by_chance, "",                                     \
         t.view_from(0, std::numbers::pi_v<float> / 2))                                                                        \
  ACTION(toggle_follow, "Follow", KEYS({GLFW_KEY_4}), "the camera moves with the selected object, or no more", by_chance, "",  \
         flip(t.view().follow))                                                                                                \
  STICKSLIP_OVERLAYS(OVERLAY_SWITCH, OVERLAY_SWITCH, OVERLAY_SWITCH)                                                           \
  ACTION(surface_colors, "Surfaces", KEYS({GLFW_KEY_S}), "colours of surfaces: of the objects, the stress, stretch, bending or twist of what is soft, the stiffness of nodes, or islands", \
         by_chance, "", next_surface_colors(t))                                                                         \
  ACTION(toggle_clip, "Clip", KEYS({GLFW_KEY_5}), "cut bodies open by a plane, set in the panel View", by_chance, "",           \
         flip(t.view().clip.on))                                                                                               \
  ACTION(toggle_x_ray, "X-ray", KEYS({GLFW_KEY_6}), "bodies are see-through", by_chance, "", flip(t.view().clip.x_ray))        \
  ACTION(toggle_patterns, "Patterns", KEYS({GLFW_KEY_V, GLFW_MOD_SHIFT}), "patterns of cloth, rods and bodies, which move with the material", by_chance, "", \
         flip(t.view().patterns))                                                                                              \
  ACTION(contact_colors, "Contact colours", KEYS({GLFW_KEY_C, GLFW_MOD_SHIFT}), "colours of contacts: of their state, or a scale of force, gap, slip, pressure, age and others", \
         by_chance, "", next_contact_scale(t.view()))                                                                          \
  ACTION(force_arrows, "Forces of", KEYS({GLFW_KEY_A, GLFW_MOD_SHIFT}), "arrows of forces: of each contact, or sums over pairs or over bodies", by_chance, "", \
         next_force_arrows(t.view()))                                                                                          \
  ACTION(worst_contact, "Worst contact", KEYS({GLFW_KEY_W}),                                                                  \
         "pick the contact whose impulse misses the law most, or, where that is not known, the deepest one", none, unloaded(s), \
         t.pick_worst_contact())                                                                                               \
  ACTION(track_selected, "Track", KEYS({GLFW_KEY_H}), "plot the picked contact or the selected object over time, or no longer", none, \
         unloaded(s), track_selected(t.simulation(), t.view()))                                                               \
  ACTION(pause_plots, "Pause plots", KEYS({GLFW_KEY_P, GLFW_MOD_SHIFT}), "plots over steps stay as they are while the run goes on, or follow it again", none, \
         nothing_to_report(s), pause_plots(t.simulation(), t.view()))                                                         \
  ACTION(freeze, "Freeze", KEYS({GLFW_KEY_F, GLFW_MOD_CONTROL}),                                                               \
         "freeze the last step's contact problem: race all solvers on it", none, nothing_to_freeze(s),                         \
         t.simulation().post(Freeze{}))                                                                                        \
  ACTION(race_steppers, "Race steppers", KEYS({GLFW_KEY_F, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT}),                               \
         "race all steppers from the present state", none, unloaded(s), t.simulation().post(CaptureState{}))                    \
  ACTION(step_iterations, "Iterations", KEYS({GLFW_KEY_I, GLFW_MOD_CONTROL}),                                                  \
         "make the next step in the lab, and look at its Newton iterations one by one", none, no_newton_steps(s),              \
         t.simulation().post(CaptureState{CaptureUse::iterations}))                                                            \
  ACTION(toggle_lab, "Lab", KEYS({GLFW_KEY_B}), "show or hide the lab", by_chance, "", flip(t.view().lab))                     \
  ACTION(camera_key, "Camera key", KEYS({GLFW_KEY_K, GLFW_MOD_CONTROL}),                                                       \
         "add this view to the scene's camera file, for run --camera", none, unloaded(s), t.add_camera_key())                  \
  ACTION(screenshot, "Screenshot", KEYS({GLFW_KEY_F12}), "save a screenshot", none, "", t.ask_screenshot())                    \
  ACTION(toggle_video, "Video", KEYS({GLFW_KEY_R, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT}), "start or stop a video", none, "",      \
         t.toggle_video())                                                                                                     \
  ACTION(save_report, "Save report", KEYS({GLFW_KEY_S, GLFW_MOD_CONTROL}),                                                     \
         "save the reports of the last steps, one JSON line each", none, nothing_to_report(s), t.save_report())               \
  ACTION(save_plots, "Save plots", KEYS({GLFW_KEY_P, GLFW_MOD_CONTROL}),                                                       \
         "save the numbers of all plots over the last steps, a CSV line per step", none, nothing_to_report(s), t.save_plots())  \
  ACTION(save_scene, "Save scene", KEYS({GLFW_KEY_S, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT}),                                      \
         "save the scene with the present settings as a scene file", none, unloaded(s), t.save_scene())                        \
  ACTION(save_bundle, "Save bundle", KEYS({GLFW_KEY_B, GLFW_MOD_CONTROL}),                                                     \
         "save the session as one file: scene, journal and a picture, for stickslip replay", none, unloaded(s),                \
         t.save_bundle())                                                                                                      \
  ACTION(open_outputs, "Outputs", KEYS({GLFW_KEY_O, GLFW_MOD_CONTROL}), "open the folder of screenshots and other outputs", none, "", \
         t.open_outputs())                                                                                                     \
  ACTION(toggle_help, "Help", KEYS({GLFW_KEY_F1}, typed('?')), "this help", by_chance, "", flip(t.view().help))                \
  ACTION(quit, "Quit", KEYS({GLFW_KEY_Q, GLFW_MOD_CONTROL}), "quit", none, "", t.quit())
// clang-format on

enum class ActionId {
#define STICKSLIP_ACTION(id, ...) id,
#define STICKSLIP_SWITCH(flag, ...) toggle_##flag,
  STICKSLIP_ACTIONS(STICKSLIP_ACTION, STICKSLIP_SWITCH)
#undef STICKSLIP_ACTION
#undef STICKSLIP_SWITCH
};

/// Flags in Action::traits.
namespace ActionTrait {
enum : unsigned {
  none = 0,
  repeats = 1,    // acts again while its key is held
  by_chance = 2,  // `stickslip soak --window` performs it at random times
};
}  // namespace ActionTrait

/// A key with modifiers (GLFW codes). If `character` is set: any key that types it, because punctuation keys
/// differ between layouts.
struct Chord {
  int key = 0;
  int mods = 0;
  char character = 0;
  friend bool operator==(const Chord&, const Chord&) = default;
};

/// A row of the table, which is indexed by ActionId.
struct Action {
  ActionId id;
  std::string_view name;  // of its row, for scripts
  std::vector<Chord> chords;
  std::string_view label, meaning;
  unsigned traits;
  const char* (*reason)(const Simulation& s);
  void (*effect)(ActionTarget& t);

  bool has(unsigned trait) const { return (traits & trait) != 0; }
};

/// Interface through which actions change the window.
class ActionTarget {
 public:
  virtual ~ActionTarget() = default;
  virtual Simulation& simulation() = 0;
  virtual ViewState& view() = 0;
  virtual void switch_scene(int direction) = 0;
  /// Frames the selected object, or everything.
  virtual void frame_camera() = 0;
  /// Frames it from the direction of these angles of Camera [rad].
  virtual void view_from(float yaw, float pitch) = 0;
  /// Picks it, and turns the camera to it.
  virtual void pick_worst_contact() = 0;
  virtual void ask_screenshot() = 0;
  virtual void toggle_video() = 0;
  virtual void save_report() = 0;
  virtual void save_plots() = 0;
  virtual void save_scene() = 0;
  virtual void save_bundle() = 0;
  /// In the desktop's program for folders.
  virtual void open_outputs() = 0;
  virtual void shoot() = 0;
  /// Adds the body of ViewState::added above the camera's target.
  virtual void add_object() = 0;
  virtual void add_camera_key() = 0;
  virtual void quit() = 0;
};

struct Gesture {
  std::string_view input, meaning;
};

std::span<const Action> action_table();
void perform(ActionId id, ActionTarget& target);
/// Reason for greying the action's button: the action has no target at present. Empty if it has one.
std::string inactive_reason(ActionId id, const Simulation& simulation);
/// Pointer gestures in the scene, for the overlay and the README.
std::span<const Gesture> gesture_table();

/// The action of a pressed key. Letters are matched by the layout's label (`name`, from glfwGetKeyName; may
/// be null), other keys by their code.
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
