// A race of the lab's solvers on the contact problem of one step, in the background of simulation and window.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/viewer/background_job.h"
#include "app/viewer/simulation.h"
#include "gpu/contact_lab.h"

namespace stickslip {

struct RaceSettings {
  double tolerance = 1e-6;
  double time_budget = 2;  // [s] for each solver
  bool warm = false;       // start from the step's initial guess instead of zero
};

/// One solver's run.
struct RaceRun {
  enum class State { waiting, running, done };
  std::string solver;
  std::size_t color = 0;  // stays the same when the ranking changes
  State state = State::waiting;
  std::shared_ptr<const SolveReport> report;  // set when done; without r, u and the blocks' errors
};

struct RaceStatus {
  std::shared_ptr<const FrozenStep> step;  // null: no race yet
  std::filesystem::path file;              // the problem as FCLIB; empty: not written
  std::string note;                        // reason for not writing it
  std::string error;                       // reason why there is no race
  std::vector<RaceRun> runs;               // finished ones by rank, then running, then waiting
  bool running = false;
  RaceSettings settings;  // of this race
};

/// The settings of a solve in the race.
LabParams race_params(const FrozenStep& step, const RaceSettings& settings);

class LabRace {
 public:
  using LabFactory = std::function<std::unique_ptr<ContactLab>()>;

  /// `on_change` is called on the race's thread whenever `update` has new data.
  explicit LabRace(LabFactory make_lab, std::function<void()> on_change = {});

  /// Cancels the current race and starts another with all solvers. The problem is written to `file` first;
  /// empty: not written. Returns immediately, as all functions below.
  void start(std::shared_ptr<const FrozenStep> step, const RaceSettings& settings,
             std::filesystem::path file = {});
  /// The running solver ends with its best iterate; waiting ones are skipped.
  void cancel() { job_.cancel(); }

  /// Takes over the status published by the thread; true when it is new.
  bool update() { return job_.update(); }
  /// Valid and unchanged until the next `update`.
  const RaceStatus& status() const { return job_.status(); }

 private:
  struct Job {
    std::shared_ptr<const FrozenStep> step;
    RaceSettings settings;
    std::filesystem::path file;
  };

  void race(const Job& job);
  void write(const Job& job);

  LabFactory make_lab_;
  BackgroundJob<Job, RaceStatus> job_;
};

}  // namespace stickslip
