// The journal of a window: in memory, for bundles, and as a file if one is wanted.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/viewer/journal_file.h"
#include "app/viewer/simulation.h"

namespace stickslip {

class SessionJournal {
 public:
  /// An empty `file`: none. Throws InputError when it is not writable.
  explicit SessionJournal(const std::filesystem::path& file);

  /// Adds an event to both. A failed write ends the file, not the window.
  void add(const std::function<void(JournalWriter&)>& event);
  /// Adds what the simulation did since the last call. `model`: of the scene that is shown. Hashes of states
  /// end when nothing records them any more, unless a replay compares them.
  void follow(Simulation& simulation, const Model& model, bool replays = false);
  /// Adds what has changed of the view since the last call; at the first call all rows, so that a replay
  /// begins with this view.
  void follow_view(const ViewState& view, const SimulationStatus& status);
  /// All of it. Throws OutputError: it is too long.
  const std::string& text() const { return text_.text(); }

 private:
  JournalText text_;
  std::optional<JournalFile> file_;
  std::size_t written_ = 0;    // entries of the simulation's journal
  std::vector<double> shown_;  // values of the rows of the view; empty: none were written
  bool plays_ = false;         // what the last of its play and pause says
};

}  // namespace stickslip
