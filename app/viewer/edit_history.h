// Undo and redo of edits of a running scene.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/viewer/commands.h"

namespace stickslip {

/// The objects and pins of a scene, see GoToContent.
struct Content {
  int number = 0;
  std::string change;  // what led to it, for labels
};

/// What changed the settings, or the objects and pins, step by step: one edit, or the move of one slider.
/// Whatever changes them counts, also a reset or a script.
class EditHistory {
 public:
  static constexpr std::size_t kMost = 1000;  // steps; older ones are forgotten
  static constexpr double kSameEdit = 0.7;    // [s] within which edits of the same settings are one step

  /// To be called with the settings after every change, at a time [s] of any clock.
  /// `accepted`: false where the engine has refused an edit, so that the settings are those before it.
  /// `content`: none while commands wait that may change it.
  void observe(const Settings& now, double time, bool accepted = true, std::optional<Content> content = {});
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
  /// Whether the step is one from a content to another.
  static bool is_change(const Step& step, int before, int after);
  static std::string text(const Step& step);
  void follow(const std::vector<Command>& edits);

  void observe_content(const Content& content, double time);
  void add(Step step);

  Settings known_;
  int known_content_ = 0;
  bool begun_ = false;
  std::vector<Step> steps_;
  std::size_t done_ = 0;  // steps that are not undone
};

}  // namespace stickslip
