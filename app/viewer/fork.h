// Forks: runs that go on beside the simulation from one of its states, each with the settings of the moment
// when it was forked, so that the simulation can be changed and compared with them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/viewer/simulation.h"

namespace stickslip {

/// The end of a step of a fork, or its start.
struct ForkStep {
  int frame = 0;
  double time = 0;        // [s]
  double energy = 0;      // [J] kinetic, elastic and of gravity; NaN at the start
  bool converged = true;  // true at the start
  std::string result;     // one line, see result_text; empty at the start
  float error_limit = std::numeric_limits<float>::infinity();  // [m/s] see step_text.h; infinite at the start
  /// Positions of all nodes, poses and which bodies sleep, and the marks that are wanted; null if it was
  /// dropped.
  std::shared_ptr<const Snapshot> snapshot = {};
};

struct ForkStatus {
  std::string error;           // why it ended; empty: it did not
  std::deque<ForkStep> steps;  // without gaps
  /// Null before the first.
  const ForkStep* newest() const { return steps.empty() ? nullptr : &steps.back(); }
  /// The last step that ends at this time [s] or before it, null where there is none.
  const ForkStep* before(double time) const;
  /// [m] of all nodes at this time, on a line between two steps; empty where they are not kept.
  std::vector<Vec3f> positions_at(double time) const;
  /// Whether a step ends at this time or later.
  bool has_reached(double time) const;
};

/// What snapshots of forks have besides positions, poses and which bodies sleep.
struct ForkMarks {
  bool contacts = false, tree = false, stiffness = false;
  /// Whether these have all of the others.
  bool cover(const ForkMarks& others) const {
    return contacts >= others.contacts && tree >= others.tree && stiffness >= others.stiffness;
  }
  bool operator==(const ForkMarks&) const = default;
};

/// One run, on a thread of the lowest priority.
class Fork {
 public:
  using EngineFactory = std::function<std::unique_ptr<Engine>()>;
  static constexpr std::size_t kDefaultLimit = std::size_t{64} << 20;  // [byte] of snapshots

  /// `make_engine` is called on the thread; `on_change` there, too, whenever `update` has new data.
  Fork(EngineFactory make_engine, std::shared_ptr<const CapturedState> from, std::function<void()> on_change,
       std::size_t limit = kDefaultLimit);
  /// Ends with the current step.
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  /// It goes on up to this time [s], which its own time step need not divide. Returns at once, as all
  /// functions below.
  void follow(double time);
  /// What snapshots have; the newest one gets what it lacks at once. No tree and no stiffness before the
  /// first step.
  void want(const ForkMarks& marks);
  bool update();
  const ForkStatus& status() const { return seen_; }
  const CapturedState& from() const { return *from_; }
  int start() const { return from_->start.state.frame; }  // its frame

 private:
  void run();
  void go_on(Engine& engine);
  /// Waits for what is to be done next, which is a step if true, else a new snapshot; none: it ends.
  std::optional<bool> wait_for_step(double time);
  /// `stepped`: the engine has made a step.
  std::shared_ptr<const Snapshot> snapshot_of(Engine& engine, bool stepped);
  void add(ForkStep step);
  /// In place of the newest.
  void replace_snapshot(std::shared_ptr<const Snapshot> snapshot);

  EngineFactory make_engine_;
  std::shared_ptr<const CapturedState> from_;
  std::function<void()> on_change_;
  std::size_t limit_;
  std::atomic<bool> cancel_ = false;

  std::mutex mutex_;  // guards the following members; held only briefly
  std::condition_variable wake_;
  ForkStatus status_;
  std::size_t bytes_ = 0;
  double wanted_;                   // [s]
  ForkMarks wanted_marks_, marks_;  // the latter: of the newest snapshot
  bool news_ = false, quit_ = false;

  ForkStatus seen_;  // used only by the caller's thread
  std::thread thread_;
};

/// How far a fork and the simulation are apart at one time.
struct ForkDistance {
  double time = 0;     // [s]
  double mean = 0;     // [m] root mean square over the nodes that can move
  double largest = 0;  // [m]
};

/// The distance of two sets of positions of all nodes [m]; `time` is 0. None where they cannot be compared:
/// other numbers of nodes, or no node that can move.
std::optional<ForkDistance> node_distance(const Model& model, std::span<const Vec3f> a,
                                          std::span<const Vec3f> b);

class Forks {
 public:
  static constexpr std::size_t kMost = 3;

  struct Entry {
    int number = 0;  // 1, 2, 3: its colour; of those at hand no two are equal
    std::unique_ptr<Fork> fork;
    std::map<int, ForkDistance> distances;  // by frame of the simulation
  };

  Forks(Fork::EngineFactory make_engine, std::function<void()> on_change)
      : make_engine_(std::move(make_engine)), on_change_(std::move(on_change)) {}

  /// Adds a fork; with kMost at hand, in place of the oldest.
  void add(std::shared_ptr<const CapturedState> from);
  void remove(int number);
  void clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }

  /// Lets all go on up to this frame of the simulation, at this time; true if any has news.
  bool update(int frame, double time);
  /// The last frame that the simulation may reach before all forks have followed it; INT_MAX without forks.
  int leash() const;
  /// What their snapshots have.
  void want(const ForkMarks& marks);
  /// Measures the distances at the time of the frame that is shown.
  void compare(const SimulationFrame& frame);

 private:
  Fork::EngineFactory make_engine_;
  std::function<void()> on_change_;
  std::vector<Entry> entries_;  // from the oldest to the newest
  int frame_ = 0;               // of the simulation
  double time_ = 0;
};

/// A setting that differs between a fork and the run, as text.
struct SettingDifference {
  std::string name;  // "mu", or "steel.mu" where materials differ by themselves
  std::string fork, run;
};
std::vector<SettingDifference> setting_differences(const CapturedState& from, const Settings& now);
/// "seed 3, 0.001 m/s", or empty.
std::string seed_text(const CapturedState& from);

/// The settings that differ between two sets, "mu 0.3 / 0.5" each: `from`, then `now`; first of all the seed
/// of changed velocities. At most `most`, then "...".
std::string differing_settings(const CapturedState& from, const Settings& now, std::size_t most = 4);

/// What a fork draws: the outlines of what can move. Host only, found once per scene.
class GhostMesh {
 public:
  explicit GhostMesh(const Model& model);
  /// Of one object only, which may be a collider.
  GhostMesh(const Model& model, int object);

  struct Line {
    Vec3f a, b;          // [m]
    bool sharp = false;  // an edge of the shape, else of its outline from here
  };
  /// Outlines seen from `eye`, sharp edges and strands, for these positions of all nodes. Those that lie
  /// where the nodes are `here` cannot be told from the bodies, and are left out; none are if `here` is
  /// empty.
  std::vector<Line> lines(std::span<const Vec3f> positions, std::span<const Vec3f> here,
                          const Vec3f& eye) const;

 private:
  struct Edge {
    std::int32_t a, b;
    Vec3i faces[2];  // of the triangles at it, turned alike; the second may be {-1, -1, -1}
  };
  template <class Drawn>
  void add(const Model& model, const Drawn& drawn);
  std::vector<Edge> edges_;
  std::vector<Vec2i> segments_;
};

}  // namespace stickslip
