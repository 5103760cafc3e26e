// A race of the lab's solvers on the contact problem of one step, beside the simulation and the window.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/viewer/simulation.h"
#include "gpu/contact_lab.h"

namespace stickslip {

/// One solver's run.
struct RaceRun {
  enum class State { waiting, running, done };
  std::string solver;
  std::size_t color = 0;  // stays when the ranking changes
  State state = State::waiting;
  std::shared_ptr<const SolveReport> report;  // once done, without r, u and the blocks' errors
};

struct RaceStatus {
  std::shared_ptr<const FrozenStep> step;  // null: no race yet
  std::filesystem::path file;              // the problem as FCLIB; empty: not written
  std::string note;                        // why not
  std::string error;                       // why there is no race
  std::vector<RaceRun> runs;               // those done by rank, then who runs, then who waits
  bool running = false;
  double tolerance = 0;
};

struct RaceSettings {
  double tolerance = 1e-6;
  double time_budget = 2;  // [s] for each solver
  bool warm = false;       // from what the step started from, instead of zero
};

class LabRace {
 public:
  using LabFactory = std::function<std::unique_ptr<ContactLab>()>;

  /// `on_change` is called on the race's thread whenever `update` has something new.
  explicit LabRace(LabFactory make_lab, std::function<void()> on_change = {});
  /// Waits for the solver that runs to see that it is over.
  ~LabRace();
  LabRace(const LabRace&) = delete;
  LabRace& operator=(const LabRace&) = delete;

  /// Ends the race that runs and starts another, of all solvers. `file`: where the problem is written first;
  /// empty: nowhere. Never waits, as all of the below.
  void start(std::shared_ptr<const FrozenStep> step, const RaceSettings& settings,
             std::filesystem::path file = {});
  /// The solver that runs ends with its best iterate, those that wait are left out.
  void cancel();

  /// Takes over what the thread has published; true when anything is new.
  bool update();
  /// Valid and constant until the next `update`.
  const RaceStatus& status() const { return seen_; }

 private:
  struct Job {
    std::shared_ptr<const FrozenStep> step;
    RaceSettings settings;
    std::filesystem::path file;
  };

  void run();
  void race(const Job& job);
  void write(const Job& job);
  /// Changes the status under the lock and tells of it.
  void publish(const std::function<void(RaceStatus&)>& change);

  LabFactory make_lab_;
  std::function<void()> on_change_;
  std::atomic<bool> cancel_ = false;

  std::mutex mutex_;  // guards what follows, always for a moment only
  std::condition_variable wake_;
  std::optional<Job> next_;
  RaceStatus status_;
  bool news_ = false, quit_ = false;

  RaceStatus seen_;  // owned by the caller's side
  std::thread thread_;
};

}  // namespace stickslip
