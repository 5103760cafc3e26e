// Scrubbing through the iterations of one solver of a race: its impulses after each of them, as contacts for
// the scene and as numbers for the lab.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/viewer/background_job.h"
#include "app/viewer/lab_race.h"
#include "gpu/rigid/frozen_records.h"

namespace stickslip {

/// An iteration at which the slider stops.
struct ScrubStop {
  long iteration = 0;
  double residual = 0;  // in the race
};

/// The iterations of a history, at most `most` >= 2 of them: where there are more, the first and the last,
/// and between them the spacing grows in a geometric sequence. An iteration that was judged several times has
/// the lowest residual of these.
std::vector<ScrubStop> scrub_stops(const std::vector<HistoryPoint>& history, std::size_t most);

/// [s] that each of so many stops is shown while all of them are run through.
double scrub_interval(std::size_t stops);

/// What the lab says of the impulses at a stop.
struct ScrubFigures {
  double residual = 0;
  double largest = 0;  // [N s] impulse of one contact, normal and friction
  int sticks = 0, slips = 0, open = 0;
};

/// The impulses come from one more solve with the settings of the race, in the background, which keeps the
/// iterates of the stops. Solving up to each of them would take many times as long, and would give other
/// impulses where a solver judges its best iterate at the end. It has no time budget, since it ends at the
/// race's last iteration. Solvers are deterministic: where the residuals differ, `note` says so.
class IterationScrub {
 public:
  using Clock = std::chrono::steady_clock;
  using LabFactory = LabRace::LabFactory;

  /// `on_change`: see BackgroundJob.
  explicit IterationScrub(LabFactory make_lab, std::function<void()> on_change = {});

  /// Takes the run of a solver in a race that has ended; no solver, or one without a result: nothing to
  /// scrub. Another run than before ends the solve and shows the running scene's contacts again. Cheap when
  /// nothing changed.
  void choose(const RaceStatus& race, std::string_view solver);
  /// Where the run is. When it goes on, the running scene's contacts are shown again.
  void follow(const SimulationStatus& simulation);

  /// Shows a stop; at first this starts the solve. In the scene only while the run is paused.
  void show(std::size_t stop);
  /// Shows the stop next to an iteration.
  void show_iteration(long iteration);
  /// The running scene's contacts again.
  void leave();
  /// Runs through the stops, from the first if the last one is shown.
  void play(bool on);
  /// Goes on while it plays. True: another stop is shown.
  bool advance(Clock::time_point now);
  /// Takes over what the solve has published; true when it is new.
  bool update();

  const std::string& solver() const { return solver_; }
  const std::vector<ScrubStop>& stops() const { return stops_; }
  std::size_t stop() const { return stop_; }
  bool is_playing() const { return plays_; }
  /// The solve is under way: stops become known one after the other.
  bool is_solving() const { return status_.running; }
  /// Of the shown stop; empty: not known yet.
  const std::optional<ScrubFigures>& figures() const { return figures_; }
  /// The iterate of the shown stop; null: not known yet.
  const LabIterate* iterate() const;
  /// Whether the scene shows `contacts` in place of its own.
  bool is_in_scene() const { return in_scene_ && !contacts_.empty(); }
  /// Of the shown stop; empty where it is not known yet, or the problem has no points.
  std::span<const ContactRecord> contacts() const { return contacts_; }
  /// [N] of a contact at the last stop, so that arrows of all stops have one scale; 0: not known yet.
  float largest_force() const { return largest_force_; }
  /// [m/s] Largest error of a contact within the tolerance of the race, see shown_state.
  float error_limit() const;
  /// Why the problem has nothing to show in the scene, or how this solve differs from the race; else empty.
  std::string note() const;

 private:
  struct Job {
    std::shared_ptr<const FrozenStep> step;
    RaceSettings settings;
    std::string solver;
    std::vector<ScrubStop> stops;
  };
  struct Status {
    std::vector<std::shared_ptr<const LabIterate>> iterates;  // per stop; null: not known yet
    std::shared_ptr<const FrozenRecords> records;
    std::string error;
    bool running = false;
  };
  struct Kept {
    std::shared_ptr<const SolveReport> run;
    Status status;
  };

  void solve(const Job& job);
  void ask();
  void keep();
  void refresh();
  void measure_last();
  bool is_known() const;

  LabFactory make_lab_;
  std::shared_ptr<const FrozenStep> step_;
  RaceSettings settings_;
  std::shared_ptr<const SolveReport> run_;  // in the race; names problem, solver and settings; null: none
  std::string solver_;
  std::vector<ScrubStop> stops_;
  std::size_t stop_ = 0;
  Status status_;           // of `run_`
  bool asked_ = false;      // the solve was started, or its result was at hand
  std::vector<Kept> kept_;  // results of other runs, the oldest first

  bool in_scene_ = false, plays_ = false, run_plays_ = false;
  int frame_ = 0, scenes_ = 0;
  Clock::time_point shown_since_{};
  std::shared_ptr<const LabIterate> refreshed_;  // whose figures and contacts are at hand
  std::optional<ScrubFigures> figures_;
  std::vector<ContactRecord> contacts_;
  std::shared_ptr<const LabIterate> measured_;  // whose `largest_force_` is at hand
  float largest_force_ = 0;

  BackgroundJob<Job, Status> job_;
};

}  // namespace stickslip
