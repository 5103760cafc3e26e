// A sweep over a parameter: copies of the running scene go on from its state, each with another value.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/viewer/background_job.h"
#include "app/viewer/simulation.h"

namespace stickslip {

/// What a sweep changes: a numeric row of one of the tables.
struct SweepKey {
  enum class Table { params, contact, materials };  // of the materials, all
  Table table = Table::params;
  const ParamInfo* row = nullptr;
};

/// All of them, by the keys of a script's `set`: "dt", "mu", "contact.omega".
std::vector<std::string> sweep_keys();
/// Throws InputError for an unknown key, and for one whose values are no numbers.
SweepKey find_sweep_key(const std::string& key);
/// The edit that gives the row this value.
Command sweep_edit(const SweepKey& key, double value);
/// The present value; none if materials differ.
std::optional<double> present_value(const SweepKey& key, const Settings& settings);

struct SweepRequest {
  static constexpr int kFewest = 3, kMost = 16, kMostSteps = 100000;
  std::string key;
  double low = 0, high = 0;  // in the unit of the row
  bool logarithmic = false;
  int count = 7;   // of values
  int steps = 30;  // of the run with the present value; all runs go on for the same simulated time
};

/// A range around the present value: a quarter to four times of it, or a part of the row's range.
SweepRequest default_sweep(const std::string& key, const Settings& settings);
/// The request of a script's words: key, low, high, count, steps, and "log" or nothing. Throws InputError.
SweepRequest sweep_request(const std::vector<std::string>& words);
/// Why it cannot run; empty: it can. Values out of the row's range are refused when their run begins.
std::string sweep_refusal(const SweepRequest& request);
/// From low to high. Of rows of whole numbers rounded, and each once.
std::vector<double> sweep_values(const SweepRequest& request);

/// The result of one value.
struct SweepRun {
  enum class End { finished, refused, failed, cancelled };

  double value = 0;  // NaN: of a run with the present settings in which materials differ
  End end = End::finished;
  std::string message = {};  // why it was refused or failed
  int steps = 0, converged = 0;
  long iterations = 0;        // of the contact solver or of Newton's method, of all steps
  double seconds = 0;         // of all steps, without checks of intersections
  double kinetic_energy = 0;  // [J] after the last step
  /// [m] largest distance of a node from its place in the run with the present value; NaN: unknown.
  double distance = 0;
  std::vector<Vec3f> positions = {};  // [m] of all nodes at the end; empty in the status of a sweep
};
const char* name_of(SweepRun::End end);

/// Loads a state, makes `edit` and goes on for `duration` [s], which the time step need not divide: positions
/// are then on a line between those of two steps. Throws DeviceLost; see `end` for all else.
SweepRun run_value(Engine& engine, const StepRaceStart& start, const std::optional<Command>& edit,
                   double duration, const std::atomic<bool>* cancel);

struct SweepStatus {
  std::shared_ptr<const CapturedState> state;  // null: no sweep yet
  SweepRequest request;
  std::vector<double> values;
  std::optional<SweepRun> present;  // the run with the present value
  std::vector<SweepRun> runs;       // of the first values, in their order
  std::filesystem::path file;       // the results; empty: not written
  std::string note;                 // reason for not writing it
  std::string error;                // reason why the sweep ended early
  bool running = false;
};

/// A number of each run, for the strip.
struct SweepMeasure {
  const char *name, *axis, *meaning;  // `axis` has the unit
  double (*value)(const SweepRun&);   // of a finished run; NaN: unknown
};
std::span<const SweepMeasure> sweep_measures();

/// Heights of points in a strip, from 0 at its lower edge to 1 at its upper edge.
struct SweepStrip {
  double low = 0, high = 1;  // values at both edges; 0 is at the lower edge of a logarithmic strip, too
  bool logarithmic = false;
  std::vector<std::optional<double>> heights;  // of the runs; none for those that did not finish
  std::optional<double> present;
};
SweepStrip sweep_strip(const SweepStatus& status, const SweepMeasure& measure);

/// One line per run, the one with the present value first.
std::string sweep_csv(const SweepStatus& status);

/// Runs sweeps in the background of simulation and window, one engine after the other.
class ParamSweep {
 public:
  using EngineFactory = std::function<std::unique_ptr<Engine>()>;

  /// `make_engine` is called on the sweep's thread, once for every run. `on_change`: see BackgroundJob. The
  /// results of a finished sweep become a file in `folder`; empty: none.
  ParamSweep(EngineFactory make_engine, std::filesystem::path folder, std::function<void()> on_change = {});

  /// Asks for the simulation's state; `follow` begins the sweep once it is there, and cancels the one before.
  /// Throws InputError if the request cannot run. Returns immediately, as all functions below.
  void ask(Simulation& simulation, const SweepRequest& request);
  void start(std::shared_ptr<const CapturedState> state, const SweepRequest& request);
  /// The current run ends with its present iteration; values that wait are left out, and no file is written.
  void cancel();
  /// True when the status is new.
  bool follow(Simulation& simulation);
  /// A sweep was asked for, or runs.
  bool busy() const { return wanted_ || status().running; }
  /// Valid and unchanged until the next `follow`.
  const SweepStatus& status() const { return job_.status(); }

 private:
  struct Job {
    std::shared_ptr<const CapturedState> state;
    SweepRequest request;
  };
  void sweep(const Job& job);
  void write(const SweepStatus& results);

  EngineFactory make_engine_;
  std::filesystem::path folder_;
  std::optional<SweepRequest> wanted_;
  BackgroundJob<Job, SweepStatus> job_;
};

}  // namespace stickslip
