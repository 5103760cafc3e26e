// A race of steppers from the state of the running scene, in the background of simulation and window.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/io/report/step_race.h"
#include "app/viewer/background_job.h"
#include "app/viewer/simulation.h"

namespace stickslip {

struct StepperRaceStatus {
  std::shared_ptr<const CapturedState> state;  // null: no race yet
  std::vector<StepRun> runs;                   // those that ended, by rank; without positions
  std::vector<std::string> waiting;            // in their order; the first one runs
  std::string error;                           // reason why there is no race
  bool running = false;
  int steps = 0;
};

struct StepperRaceSettings {
  int steps = 10;  // of each stepper
};

class StepperRace {
 public:
  using EngineFactory = std::function<std::unique_ptr<Engine>()>;

  /// `make_engine` is called on the race's thread, once for every stepper. `on_change`: see BackgroundJob.
  explicit StepperRace(EngineFactory make_engine, std::function<void()> on_change = {});

  /// Cancels the current race and starts another, of all steppers; those that refuse the scene end at once,
  /// with their reasons. Returns immediately, as all functions below.
  void start(std::shared_ptr<const CapturedState> state, const StepperRaceSettings& settings);
  /// The running stepper ends with its current step; waiting ones are left out.
  void cancel() { job_.cancel(); }

  bool update() { return job_.update(); }
  const StepperRaceStatus& status() const { return job_.status(); }

 private:
  struct Job {
    std::shared_ptr<const CapturedState> state;
    int steps;
  };
  void race(const Job& job);

  EngineFactory make_engine_;
  BackgroundJob<Job, StepperRaceStatus> job_;
};

}  // namespace stickslip
