// `stickslip replay JOURNAL`, and a journal that is opened in the window: does again what a journal says.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "app/viewer/journal_file.h"
#include "app/viewer/simulation.h"

namespace stickslip {

struct ReplayOptions {
  std::filesystem::path journal;
  std::string journal_name = {};  // in messages; empty: its path
  Simulation::EngineFactory make_engine;
  /// The first scene is loaded with the options of the journal's start.
  std::function<Scene(const std::string& name, const std::string& variant, const JournalStart& start)>
      load_scene;
  const std::atomic<bool>* cancel = nullptr;  // set from outside (Ctrl+C): ends the replay
  std::function<void(int frame)> progress;    // after each step; may be empty
};

struct ReplayReport {
  JournalStart start;
  std::string scene;              // the last one
  long steps = 0, commands = 0;   // done again
  long equal = 0, differing = 0;  // states of steps, compared by their hashes
  int first_difference = -1;      // frame; -1: none
  int first_difference_line = 0;  // of the journal
  bool budgets = false;           // a solver had a limit of wall time, which differs from run to run
  bool interrupted = false;       // from outside, or by another command or step
  std::string error;              // a step or command that failed here and did not in the journal
};

/// [byte] of states to rewind to: at least what a window keeps.
inline constexpr std::size_t kReplayMemory = std::size_t{4} << 30;

/// The start of a journal. `name`: in messages. Throws InputError for a file that is none.
JournalStart start_of_journal(const std::filesystem::path& journal, const std::string& name);

/// Drives a simulation by a journal, entry by entry: each is asked for when the one before is done. For the
/// thread that calls `Simulation::update`.
class ReplayRun {
 public:
  /// `name`: of the journal in messages. `update`: takes over what the simulation publishes. `show`: changes
  /// the view; may be empty. Throws InputError for a journal that is none or has no start.
  ReplayRun(const std::filesystem::path& journal, const std::string& name, Simulation& simulation,
            std::function<void()> update, std::function<void(const ViewRow&, double value)> show = {});

  /// Goes on as far as it can without waiting. False at the end: of the journal, at an error, or when another
  /// command or step came between. Throws InputError for a line that is no event.
  bool advance();
  /// Up to now.
  const ReplayReport& report() const { return report_; }
  const std::string& name() const { return name_; }

 private:
  bool ask_next();
  bool take_answer();

  std::string name_;
  JournalReader reader_;
  Simulation& simulation_;
  std::function<void()> update_;
  ReplayReport report_;
  std::optional<JournalEntry> asked_;
  int refusals_ = 0;        // of the simulation, before what was asked
  bool has_scene_ = false;  // the journal has loaded one
  std::size_t seen_ = 0;    // entries of the simulation's journal
};

/// How many states were equal, or where the first one differs and why it may. `backend`: of the replay.
std::string verdict_text(const ReplayReport& report, const std::string& name, const std::string& backend);

/// Throws InputError for a journal that is none or has no start, and passes on the exceptions of the loader
/// and of make_engine.
ReplayReport replay(const ReplayOptions& options);

}  // namespace stickslip
