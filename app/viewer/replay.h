// `stickslip replay JOURNAL`: does again what a journal of the window says.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
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
  bool interrupted = false;
  std::string error;  // a step or command that failed here and did not in the journal
};

/// Throws InputError for a journal that is none or has no start, and passes on the exceptions of the loader
/// and of make_engine.
ReplayReport replay(const ReplayOptions& options);

}  // namespace stickslip
