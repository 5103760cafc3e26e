// Undo and redo of edits of a running scene.
#pragma once

#include <string>
#include <vector>

#include "app/viewer/commands.h"

namespace stickslip {

/// The scene's objects, pins and joints changed, see GoToContent.
struct ContentChange {
  int before = 0, after = 0;  // numbers of contents
  std::string what;           // for labels
  bool travels = false;       // along the timeline, see Rewind
};

/// What changed the settings, or the objects, pins and joints, step by step: one edit, or the move of one
/// slider. Whatever changes them counts, also a reset or a script.
class EditHistory {
 public:
  static constexpr std::size_t kMost = 1000;  // steps; older ones are forgotten
  static constexpr double kSameEdit = 0.7;    // [s] within which edits of the same settings are one step

  /// To be called with the settings after every change, at a time [s] of any clock.
  /// `accepted`: false where the engine has refused an edit, so that the settings are those before it.
  void observe(const Settings& now, double time, bool accepted = true);
  /// The next edit is no part of the last step, however soon it comes.
  void end_step();
  /// To be called for every change that is not one of GoToContent. Travel over edits that are next to be
  /// undone, or made again, does that with them.
  void observe(const ContentChange& change, double time);
  /// The content while no command that changes it is in flight. Where it is not that which `undo` or `redo`
  /// led to, the engine has refused to go there, and this step is dropped.
  void settle(int content);
  /// Starts anew with these settings: those of another scene.
  void forget(const Settings& now);

  bool can_undo() const { return done_ > 0; }
  bool can_redo() const { return done_ < steps_.size(); }
  /// Edits that take the last step back, or make it again; none: there is no such step. The caller applies
  /// them.
  std::vector<Command> undo();
  std::vector<Command> redo();
  /// What `undo` or `redo` would change, for labels: "young of a material", or "3 settings"; empty: nothing.
  std::string next_undo() const;
  std::string next_redo() const;

 private:
  struct Change {
    Command before, after;  // edits of one setting, or of the content
  };
  struct Step {
    std::vector<Change> changes;
    double time;
    std::string what = {};  // for labels; empty: the changes say it
  };
  static std::vector<Change> difference(const Settings& from, const Settings& to);
  static bool same_settings(const Step& a, const std::vector<Change>& b);
  /// Whether the changes undo the step, as when the engine refuses an edit: then neither is kept.
  static bool takes_back(const std::vector<Change>& changes, const Step& step);
  /// Whether the step is one between these two contents.
  static bool is_between(const Step& step, int before, int after);
  static std::string text(const Step& step);
  void follow(const std::vector<Command>& edits);
  bool travel(int from, int to);

  void add(Step step);

  Settings known_;
  int known_content_ = 0;
  bool begun_ = false;
  std::vector<Step> steps_;
  std::size_t done_ = 0;  // steps that are not undone
};

}  // namespace stickslip
