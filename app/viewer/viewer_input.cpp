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
      .move =
          [this](float x, float y) {
            gui_.move_pointer(x, y);
            pointer_.move(x, y);
          },
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
  draws_due_ = kSettlePictures;
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
  const auto race = [this](std::shared_ptr<const FrozenStep> problem) {
    view_.lab = true;
    view_.lab_view = LabView::contact_solvers;
    lab_.start(std::move(problem), view_.race);
  };
  open_file(file, simulation_, race,
            [this](const std::filesystem::path& journal) { start_replay(journal, journal.string()); });
}

/// Takes the place of a replay that runs.
void Viewer::start_replay(const std::filesystem::path& journal, const std::string& name,
                          const std::vector<UnpackedScene>& loads) {
  try {
    const JournalStart start = start_of_journal(journal, name);
    if (replay_) {
      view_.replay.stopped = true;
      end_replay("");
    }
    replay_.emplace(
        journal, name, simulation_, [this] { take_news(); },
        [this](const ViewRow& row, double value) { show(row, value); });
    // The window's own loader has the options of the journal with which it was opened.
    if (!loads.empty()) scene_source_->replace(options_.load_bundled(start, loads));
    else if (journal != options_.replay) scene_source_->replace(options_.load_replayed(start));
    simulation_.set_timeline_limit(kReplayMemory);
    view_.replay = {.text = "Replay of " + std::filesystem::path(name).filename().string(), .running = true};
    draws_due_ = kSettlePictures;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
  }
}

/// One event of the journal, if the one before is done.
void Viewer::follow_replay() {
  if (!replay_) return;
  if (view_.replay.stopped) return end_replay("");
  try {
    if (!replay_->advance()) return end_replay(replay_->report().error);
  } catch (const std::exception& error) {
    return end_replay(error.what());
  }
  const ReplayReport& report = replay_->report();
  view_.replay.faulty = report.differing > 0;
  view_.replay.text = "Replay of " + std::filesystem::path(replay_->name()).filename().string() + ": " +
                      std::to_string(report.steps) + " states, " + std::to_string(report.differing) +
                      " differ";
}

void Viewer::end_replay(const std::string& error) {
  const ReplayReport report = replay_->report();
  std::string text = verdict_text(report, replay_->name(), options_.backend);
  const bool ended_early = report.interrupted || view_.replay.stopped;
  if (ended_early) text += "; the replay ended early, since the run was changed or stopped";
  if (!error.empty()) text += "; " + error;
  const bool faulty = report.differing > 0 || ended_early || !error.empty();
  if (!error.empty()) spdlog::error("{}", text);
  else if (faulty) spdlog::warn("{}", text);
  else spdlog::info("{}", text);
  view_.replay = {.text = text, .faulty = faulty};
  replay_.reset();
  scene_source_->replace(nullptr);
  simulation_.set_timeline_limit(timeline_bytes(view_));
  draws_due_ = kSettlePictures;
}

void Viewer::open_bundle(const std::filesystem::path& file) {
  try {
    const UnpackedSession session = files_.unpack_bundle(file);
    start_replay(session.journal, file.string(), session.loads);
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
