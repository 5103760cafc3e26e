#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/viewer/open_file.h"
#include "app/viewer/viewer_window.h"

namespace stickslip {

InputHandlers Viewer::handlers() {
  return {
      .key = [this](int key, const char* name, int mods, bool repeat) { on_key(key, name, mods, repeat); },
      .character =
          [this](char32_t character) {
            if (gui_.wants_keys()) return;
            if (const Action* action = find_action(character)) act(action->id);
          },
      .button = [this](int button, int mods, bool down) { on_button(button, mods, down); },
      .move = [this](float x, float y) { pointer_.move(x, y); },
      .scroll =
          [this](float notches) {
            if (!gui_.wants_pointer()) pointer_.scroll(notches);
          },
      .drop = [this](const std::string& path) { open(path); },
      .any = [this] { draws_due_ = kSettlePictures; },
  };
}

void Viewer::act(ActionId action) {
  const std::string_view what = action_table()[static_cast<std::size_t>(action)].name;
  const SimulationStatus& status = simulation_.status();
  journal_.add([&](JournalWriter& journal) { journal.add_action(status.frame, status.time, what); });
  perform(action, *this);
}

void Viewer::on_key(int key, const char* name, int mods, bool repeat) {
  if (gui_.wants_keys() && !(mods & GLFW_MOD_CONTROL)) return;
  if (key == GLFW_KEY_ESCAPE && view_.help) return act(ActionId::toggle_help);
  const Action* action = find_action(key, name, mods);
  // A text field undoes what is typed in it.
  if (action && gui_.wants_keys() && (action->id == ActionId::undo || action->id == ActionId::redo)) return;
  if (action && (!repeat || action->has(ActionTrait::repeats))) act(action->id);
}

void Viewer::on_button(int button, int mods, bool down) {
  const auto which = button == GLFW_MOUSE_BUTTON_LEFT     ? Pointer::Button::left
                     : button == GLFW_MOUSE_BUTTON_MIDDLE ? Pointer::Button::middle
                                                          : Pointer::Button::right;
  if (!down) return pointer_.release(which);
  if (!gui_.wants_pointer())
    pointer_.press(which, {(mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_CONTROL) != 0});
}

void Viewer::open(const std::filesystem::path& file) {
  if (is_bundle_name(file)) return open_bundle(file);
  open_file(file, simulation_, [this](std::shared_ptr<const FrozenStep> problem) {
    view_.lab = true;
    view_.lab_steppers = false;
    lab_.start(std::move(problem), view_.race);
  });
}

void Viewer::open_bundle(const std::filesystem::path& file) {
  try {
    simulation_.post(files_.unpack_bundle(file));
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
  }
}

void Viewer::switch_scene(int direction) {
  if (scenes_.empty()) return;
  const auto count = static_cast<int>(scenes_.size());
  int current = direction > 0 ? -1 : count;
  for (int i = 0; i < count; ++i)
    if (scene_ && scenes_[static_cast<std::size_t>(i)].file == scene_->file) current = i;
  const auto next = static_cast<std::size_t>((current + direction + count) % count);
  simulation_.post(LoadScene{scenes_[next].file.string()});
}

}  // namespace stickslip
