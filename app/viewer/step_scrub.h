// Scrubbing through the Newton iterations of one barrier step: where the bodies are after each of them, and
// what touches there.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/viewer/background_job.h"
#include "app/viewer/simulation.h"

namespace stickslip {

/// A Newton iteration at which the slider stops.
struct StepIterate {
  int iteration = 0;
  NewtonRecord record;                       // of this iteration in the whole step
  std::shared_ptr<const Snapshot> snapshot;  // after it, with contacts; null: not known yet
};

struct StepScrubStatus {
  std::shared_ptr<const CapturedState> state;  // before the step; null: none was asked for
  std::vector<StepIterate> iterates;           // empty: the step is not made yet
  std::string end;                             // why the whole step ended, see StepReport::stop_reason
  bool converged = false;
  bool complete = false;  // all iterates that can be known are
  std::string note;       // why the iterates end before the step; empty: they do not
  std::string error;
  bool running = false;
};

/// The step after a captured state, made in the background by an engine of its own. An iterate is the end of
/// the same step with Params::newton_iterations as its limit. A state without memory leads to the same bits
/// each time, so these are the iterates of the whole step, which is checked by their records. Rigid bodies
/// can repeat a step with stiffer bodies (Params::strain_bound): there the iterates are those of the first
/// attempt.
class StepScrub {
 public:
  using Clock = std::chrono::steady_clock;
  using EngineFactory = std::function<std::unique_ptr<Engine>()>;

  /// `make_engine` is called on the job's thread. `on_change`: see BackgroundJob.
  explicit StepScrub(EngineFactory make_engine, std::function<void()> on_change = {});

  /// Begins with the step after this state, and shows its first iterate as soon as that is known.
  void start(std::shared_ptr<const CapturedState> state);
  void cancel() { job_.cancel(); }
  /// Where the run is. When it goes on or changes, the scene shows itself alone again.
  void follow(const SimulationStatus& simulation);

  void show(std::size_t stop);
  /// Shows the stop next to an iteration.
  void show_iteration(int iteration);
  void leave();
  /// Runs through the stops, from the first if the last one is shown.
  void play(bool on);
  /// Goes on while it plays. True: another stop is shown.
  bool advance(Clock::time_point now);
  bool update();

  const StepScrubStatus& status() const { return job_.status(); }
  const std::vector<StepIterate>& stops() const { return status().iterates; }
  std::size_t stop() const { return stop_; }
  bool is_playing() const { return plays_; }
  bool is_solving() const { return status().running; }
  /// Whether the scene shows the iterate. Only while the run is paused.
  bool is_in_scene() const { return in_scene_ && shown() != nullptr; }
  /// The iterate of the stop; null: not known yet.
  const Snapshot* shown() const { return stop_ < stops().size() ? stops()[stop_].snapshot.get() : nullptr; }
  /// [m] The largest distance of a node at the stop from where it is at the end of the step; -1: not known.
  float distance_to_end() const;

 private:
  struct Job {
    std::shared_ptr<const CapturedState> state;
  };
  void make(const Job& job);

  EngineFactory make_engine_;
  std::size_t stop_ = 0;
  bool fresh_ = false;  // the first iterate is still to be shown
  bool in_scene_ = false, plays_ = false, run_plays_ = false;
  int frame_ = 0, scenes_ = 0, content_ = 0;
  Clock::time_point shown_since_{};

  BackgroundJob<Job, StepScrubStatus> job_;
};

}  // namespace stickslip
