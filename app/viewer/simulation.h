// Simulation: an Engine on its own thread. The caller's side never waits for a step or a load.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/io/bundle/opened_scene.h"
#include "app/io/checkpoint/checkpoint.h"
#include "app/io/report/step_race.h"
#include "app/io/scene/scene.h"
#include "app/render/position_offer.h"
#include "app/viewer/commands.h"
#include "app/viewer/contact_ages.h"
#include "app/viewer/content_history.h"
#include "app/viewer/edit_history.h"
#include "app/viewer/timeline.h"
#include "app/viewer/triple_buffer.h"
#include "app/viewer/tripwires.h"
#include "gpu/engine.h"

namespace stickslip {

/// What a frame has besides positions, where its state has it.
struct FrameParts {
  bool contacts = false, details = false, tree = false, stiffness = false, matrix = false;
};

/// State at one time, with its scene.
struct SimulationFrame {
  std::shared_ptr<const Scene> scene;  // none before the first load
  Snapshot snapshot;                   // without positions if these are shared
  SlotHold shared = {};                // else empty
  FrameParts parts = {};

  /// Positions on the host; may copy them from the device. For the thread that calls `Simulation::update`.
  std::span<const Vec3f> positions() const {
    return shared ? shared.positions() : std::span<const Vec3f>(snapshot.positions);
  }
};

/// The state at the end of a step, whether or not a frame shows it.
struct StepSample {
  std::shared_ptr<const Scene> scene;
  Snapshot snapshot;  // with positions and contacts
};

struct SimulationStatus {
  enum class Activity { idle, stepping, switching, loading };  // switching: to another solver
  Activity activity = Activity::idle;
  std::chrono::steady_clock::time_point since;  // of the activity
  bool playing = false;
  bool loaded = false;          // a scene is in the engine
  int scenes = 0;               // so many were loaded
  int content = 0;              // number of the scene's objects, pins and joints, see GoToContent
  int refusals = 0;             // so many commands were refused
  int faults = 0;               // so many steps failed, or states could not be read
  bool faulty = false;          // one did since the present state was made or gone to
  double steps_per_second = 0;  // over the last steps, including waits
  double step_seconds = 0;      // wall time of the last step
  std::string error;            // of the last load or step; empty if it succeeded
  std::string tripped;          // what the last step did that a tripwire watches; empty: nothing
  int sound = -1;               // the newest frame whose state has finite numbers only; -1: not known
  int frame = 0;                // of the engine
  double time = 0;              // [s] of it
  bool restored = false;        // the state was kept, and no step was made from it since
  TimelineExtent timeline;      // the frames to which it can be rewound
  std::optional<int> kept;      // frame of the state that KeepState copied
  Sharing sharing;              // the way of the positions out of the engine
};

/// The contact problem of a step, copied from the run.
struct FrozenStep {
  std::string scene;  // its name, or that of the problem's file
  int frame = 0;
  double time = 0;     // [s]
  std::string solver;  // empty: of no step, but of a file
  LabParams params;    // parameters of the step's solve
  ContactProblem problem;
  /// The step's contacts, in the order of the problem's last blocks; empty: their points are not known.
  std::vector<ContactRecord> contacts = {};
  double dt = 1;  // [s] of the step; 1 where it is not known, so that forces stand for impulses

  bool is_of_file() const { return solver.empty(); }
};

/// The scene and its state, copied from the run.
struct CapturedState {
  std::string scene;   // its name
  std::string solver;  // that made the state
  StepRaceStart start;
  std::uint64_t seed = 0;   // of the velocities' changes; 0: they are those of the run
  double perturbation = 0;  // [m/s] size of the changes
};

/// Timing of steps during playback.
struct Pacing {
  bool real_time = true;  // at most the speed of the clock; false: as fast as possible
  double speed = 1;       // simulated seconds per second of the clock
};

class Simulation {
 public:
  using Clock = std::chrono::steady_clock;
  using EngineFactory = std::function<std::unique_ptr<Engine>()>;
  using SceneLoader = std::function<Scene(const std::string& name_or_path, const std::string& variant)>;

  static constexpr std::size_t history_length = 600;

  /// Starts the thread, creates the engine on it and waits for that; passes on the exceptions of
  /// `make_engine`. `on_change` is called on the thread whenever `update` has new data.
  Simulation(EngineFactory make_engine, SceneLoader load_scene, std::function<void()> on_change = {});
  /// Waits for a step in progress, which ends early where the engine can.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Queues a command. Edits appear in `settings()` at once.
  void post(const Command& command);
  /// Edits of settings that are one step of the history.
  void post_all(const std::vector<Command>& edits);
  void play();
  void pause();
  /// One more step, then a pause.
  void step_once();
  /// Likewise, for a key that may be held: at most one step waits behind the one in progress.
  void request_step();
  /// Pauses, and ends the step or the change of solver in progress as soon as the engine looks: nothing of it
  /// remains. Without one, a pause.
  void interrupt();
  void set_pacing(const Pacing& pacing);
  /// Whether the newest report of `history()` contains a trace.
  void set_tracing(bool on);
  /// [byte] of the states kept for Rewind; 0 keeps none.
  void set_timeline_limit(std::size_t bytes);
  /// Steps that trip one pause the run. Posts a TripwireEdit for each that differs.
  void set_tripwires(const Tripwires& wires);
  /// The last frame that steps may reach, so that others can follow; INT_MAX: none.
  void set_leash(int frame);
  /// Whether the journal has a Stepped entry for every step; initially false.
  void set_hashing(bool on);

  /// True when all that was asked for is done: commands, and steps outside of playback.
  bool is_caught_up() const;

  /// Device of the engine; empty: the CPU.
  const std::optional<DeviceUuid>& engine_device() const { return engine_device_; }
  /// From now on positions of this scene are published in these slots if the engine supports it. Otherwise,
  /// and for other scenes, the snapshots contain them. Status has the result.
  void share(std::shared_ptr<const Scene> scene, PositionOffer offer);
  /// Whether frames include contacts; initially true. When switched on again, a frame with contacts follows.
  void want_contacts(bool wanted);
  /// Whether contacts have areas, and ages that count every step, not only those that frames show; initially
  /// false. When switched on, a frame with areas follows.
  void want_contact_details(bool wanted);

  /// Whether every step has a sample, for `take_samples`; initially false.
  void want_samples(bool wanted);
  /// Those since the last call, in order; at most the newest kMostSamples.
  std::vector<StepSample> take_samples();
  static constexpr std::size_t kMostSamples = 200;

  /// Whether frames include the trees of the last step; initially false. When switched on, a frame with them
  /// follows.
  void want_tree(bool wanted);
  /// Whether frames have the stiffness of nodes; of a step that has just been computed alone.
  void want_stiffness(bool wanted);
  /// Whether frames have the pattern of the matrix; likewise.
  void want_matrix(bool wanted);
  static constexpr int kMatrixCells = 128;  // of a side of it, at most
  /// Whether the frame is of the engine's state, if the run does not play, and has what is wanted; also where
  /// no such frame will follow, since the state cannot be read.
  bool shows_what_is_wanted() const;

  /// Takes over the data published by the thread; true when any is new. The references below are valid and
  /// unchanged until the next call. All of these functions are for one thread.
  bool update();
  const SimulationFrame& frame() const { return frames_.front(); }
  /// Of the last steps up to the engine's frame.
  const std::deque<StepReport>& history() const { return history_; }
  /// After a Rewind: of the steps that follow in the timeline.
  const std::deque<StepReport>& future() const { return future_; }
  /// [m/s] Largest error of a contact of the shown frame within the tolerance of its step (step_text.h);
  /// infinite where no report tells.
  float error_limit() const;
  const SimulationStatus& status() const { return seen_status_; }
  const Settings& settings() const { return seen_settings_; }
  /// The edits of the scene's settings, objects, pins and joints.
  const EditHistory& edits() const { return edits_; }
  /// Posts the edits that take the last edit back, or make it again: once the objects, pins and joints are as
  /// all commands before have left them. Without such an edit they do nothing, and the log says so.
  void undo();
  void redo();
  /// Whether commands were posted that change objects, pins or joints, and their end was not seen yet.
  bool is_changing_content() const { return changing_content_; }
  /// Whether a drag was posted and no command since then ends it: DragEnd, a restart, or a change of the
  /// content, whose objects have other nodes.
  bool is_dragging() const { return dragging_; }
  const Pacing& pacing() const { return seen_pacing_; }
  bool tracing() const { return seen_tracing_; }
  const Tripwires& tripwires() const { return seen_tripwires_; }

  /// The problem that `Freeze` copied since the last call, or null.
  std::shared_ptr<const FrozenStep> take_frozen();

  /// The state that `CaptureState` copied for this use since the last call, or null.
  std::shared_ptr<const CapturedState> take_captured(CaptureUse use = CaptureUse::race);

  /// The oldest state that `ForkState` copied and that was not taken yet, or null.
  std::shared_ptr<const CapturedState> take_forked();

  /// What `KeepState` copied since the last call, with the settings of then; or null.
  std::shared_ptr<const Checkpoint> take_kept();

  /// The commands applied so far, without the first `skip` entries.
  std::vector<JournalEntry> journal(std::size_t skip = 0) const;
  /// The scenes of the journal's LoadScene entries, and perhaps one that is still to come there.
  std::vector<SceneLoad> opened() const;

 private:
  struct Queued {
    Command command;
    Clock::time_point given;
  };

  void run();
  /// Waits for work; false when the thread must end. Fills `commands`, or leaves it empty for a step.
  bool wait_for_work(std::vector<Queued>& commands);
  void apply_all(const std::vector<Queued>& commands);
  void apply(const Command& command);
  void load(const LoadScene& what);
  void start(std::shared_ptr<const Scene> scene);
  std::unique_ptr<Engine> new_engine();
  void renew_engine(const Scene& scene);
  void freeze();
  std::shared_ptr<CapturedState> capture() const;
  void deliver(CaptureUse use);
  void fork(const ForkState& how);
  void keep();
  /// `what`: for labels of a new content; empty: an object was added. `content`: an old one to go to.
  /// `adjust`: changes the state of the new model, after the present state and model.
  using AdjustState = std::function<void(const Model&, const State&, const Model&, State&)>;
  /// The state to go on from, after the new model and its start.
  using StateOf = std::function<State(const Model&, const State&)>;
  void put_in(std::shared_ptr<const Scene> scene, std::optional<int> content, const StateOf& state_of);
  void go_on_with(const std::function<std::shared_ptr<const Scene>()>& change, std::string what,
                  std::optional<int> content = {}, const AdjustState& adjust = {});
  void travel(int content, const State& state);
  void rewind(int frame);
  void return_to_kept();
  void go_to(const State& state);
  void step();
  void end_step(StepReport report, Clock::time_point start, Clock::time_point end);
  void remember(bool hashed);
  void show_timeline();
  void restart();
  void pace(double simulated_seconds);
  void follow_tracing();
  bool publish_frame();
  void finish_contacts(Snapshot& snapshot);
  bool watch_contacts();
  bool take_sample();
  SlotHold publish_positions();
  void accept(std::shared_ptr<const Scene> scene, PositionOffer offer);
  void set_sharing(const Sharing& sharing);
  void publish_start(const std::shared_ptr<const Scene>& scene);
  void begin(SimulationStatus::Activity activity);
  /// `refused`: a command did it, and left the state as it was; else a step, or reading a state.
  void fail(const std::string& message, bool refused = false);
  void end_interrupted(const std::string& what);
  void changed();
  bool take_news();
  void follow_frame();
  void follow_edits(bool accepted);
  void follow_content(const std::vector<ContentChange>& changes);
  void queue(const Command& command);
  /// `back`: undo, else redo. The first waits for changes of the content, the second does it now.
  void ask(bool back);
  void go_back_or_on(bool back);

  /// Arguments of `share`.
  struct Offered {
    std::shared_ptr<const Scene> scene;
    PositionOffer offer;
  };

  EngineFactory make_engine_;
  SceneLoader load_scene_;
  std::function<void()> on_change_;
  std::optional<DeviceUuid> engine_device_;  // constant once the engine is made

  std::atomic<bool> interrupted_ = false;  // set by any thread, under mutex_; read by the engine

  // Used by the simulation's thread only.
  std::unique_ptr<Engine> engine_;
  std::optional<SolverKind> loaded_with_;  // solver kind of the last scene loaded into the engine
  std::shared_ptr<const Scene> scene_, published_scene_;
  std::optional<Drag> drag_;
  std::vector<double> half_space_mu_;
  std::shared_ptr<PositionSlots> slots_;  // the engine writes into them; empty: it does not
  ContactAges ages_;
  Snapshot watched_;                  // contacts of steps that no frame shows
  bool contacts_published_ = true;    // with the last frame
  bool details_published_ = false;    // the same
  bool tree_published_ = false;       // the same
  bool stiffness_published_ = false;  // the same
  bool matrix_published_ = false;     // the same
  int frame_ = 0;
  double time_ = 0;
  int sound_ = -1;          // see SimulationStatus
  std::string not_finite_;  // what of the present state is no number; empty: nothing, or not known
  Timeline timeline_;
  bool at_moment_ = false;  // the state comes from the timeline, with the contacts that were shown then
  std::optional<State> kept_state_;
  int kept_content_ = 0;
  ContentHistory contents_;
  std::optional<StepReport> last_report_;  // without its trace; for tripwires
  bool unpublished_ = false, engine_traces_ = false;
  Clock::time_point started_, published_, last_step_end_;
  Clock::time_point next_step_;  // under mutex_

  TripleBuffer<SimulationFrame> frames_;

  mutable std::mutex mutex_;  // guards the following members; held only briefly
  std::condition_variable wake_;
  std::vector<Queued> queue_;
  std::optional<Offered> offered_;
  bool contacts_wanted_ = true, details_wanted_ = false, tree_wanted_ = false, stiffness_wanted_ = false,
       matrix_wanted_ = false;
  SimulationStatus status_;
  Settings settings_;
  Pacing pacing_;
  std::vector<StepReport> new_reports_;
  bool samples_wanted_ = false;
  std::deque<StepSample> samples_;
  std::vector<ContentChange> new_contents_;  // since the last update
  int contents_in_flight_ = 0;               // commands that change the content and are not applied yet
  std::vector<JournalEntry> journal_;
  OpenedScenes opened_;  // as the loader gave them
  std::shared_ptr<const FrozenStep> frozen_;
  std::array<std::shared_ptr<const CapturedState>, 3> captured_;  // by CaptureUse
  std::deque<std::shared_ptr<const CapturedState>> forked_;       // those that were not taken yet
  std::shared_ptr<const Checkpoint> kept_;
  int steps_wanted_ = 0;
  int leash_ = INT_MAX;
  bool applying_ = false;  // commands that have left the queue
  bool tracing_ = false, hashing_ = false;
  std::size_t timeline_limit_ = Timeline::kDefaultLimit;
  Tripwires tripwires_;
  bool history_cleared_ = false;
  bool news_ = false;
  bool quit_ = false;

  // Used by the caller's side only.
  std::deque<StepReport> history_, future_;
  SimulationStatus seen_status_;
  Settings seen_settings_;
  EditHistory edits_;
  bool changing_content_ = false, dragging_ = false;
  std::deque<bool> asked_;  // for undo (true) and redo, until no content is in flight
  Pacing seen_pacing_;
  Tripwires seen_tripwires_;
  bool seen_tracing_ = false, asked_for_contacts_ = true, asked_for_details_ = false, asked_for_tree_ = false,
       asked_for_stiffness_ = false, asked_for_matrix_ = false;

  std::thread thread_;
};

}  // namespace stickslip
