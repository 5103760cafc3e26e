// `stickslip view --script FILE`: what a user would do, one action a line.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "app/render/renderer.h"
#include "app/viewer/actions.h"
#include "app/viewer/clip_choice.h"
#include "app/viewer/presets.h"
#include "app/viewer/simulation.h"
#include "app/viewer/sweep.h"
#include "app/viewer/view_rows.h"

namespace stickslip {

/// Lines of the file, after # a comment:
///   an action's name (`stickslip view --keys` lists them)    as its key
///   scene NAME [VARIANT]       loads a scene
///   open FILE                  as when the file is dropped on the window
///   add KIND SHAPE [SIZE]      a body at the camera target, see spawn_request
///   move OBJECT X Y Z          by so many metres, see MoveObject
///   turn OBJECT X Y Z DEGREES  about its middle and this axis
///   select X Y                 as a click there [px]
///   select OBJECT              as a click on it
///   drag OBJECT X Y Z          pulls by the mouse's spring: the end farthest in this direction, by so many
///                              metres from where it is, until drag_end
///   drag_end
///   camera EX EY EZ TX TY TZ   the eye and the target [m]
///   quality NAME               as --quality
///   clip HEADING TILT POSITION a clipping plane, see ClipChoice; action toggle_clip takes it away
///   view KEY=VALUE             a check box, choice or number of the view, see view_table
///   fork_seed SEED [SIZE]      a fork with other velocities, by up to SIZE [m/s], see perturbed
///   sweep KEY LOW HIGH COUNT STEPS [log]    as the section Forks, see sweep_request
///   lab_iteration SOLVER K     the impulses of a solver of the lab's race after K iterations
///   step_iteration K           after step_iterations: the iterate K of that step
///   preset_save NAME           keeps the parameters, see Presets
///   preset_apply NAME
///   preset_delete NAME
///   preset_list                to the log
///   set KEY=VALUE              a parameter; a material key for all materials; contact.KEY; tripwire.KEY;
///                              solver as --solver
///   steps N                    N steps, then a pause
///   play SECONDS               plays for so long on the clock, then pauses
///   rewind FRAME
///   wait SECONDS               on the clock
/// A line begins when the one before is done: when the simulation is idle, and a race or a sweep has ended.
/// The first one begins when the scene is loaded with which the program was started.
class ActionScript {
 public:
  /// Throws InputError with the line for what is none of these.
  explicit ActionScript(const std::filesystem::path& file);

  /// What a script does to a window.
  struct Hands {
    Simulation& simulation;
    std::function<void(ActionId)> act;
    std::function<void(const std::string&)> open;
    /// Takes over what the simulation has to tell, see Simulation::update.
    std::function<void()> update;
    std::function<bool()> busy;      // a race or a sweep runs, or a picture is to be taken
    Vec<double, 3> target{0, 0, 0};  // [m] of the camera
    std::function<void(const SweepRequest&)> sweep = {};  // asks for it
    /// Throws InputError where the lab has no such iterations.
    std::function<void(const std::string& solver, long iteration)> show_iteration = {};
    /// Throws InputError where no step was taken apart.
    std::function<void(int iteration)> show_step_iteration = {};
    std::function<void(const Vec<float, 2>& pixel)> click = {};
    /// Throws InputError where there is no such object.
    std::function<void(const std::string& object)> select = {};
    std::function<void(const Vec3f& eye, const Vec3f& target)> look = {};
    std::function<void(Quality)> set_quality = {};
    std::function<void(const ClipChoice&)> clip = {};
    Presets* presets = nullptr;
    std::function<void(const ViewRow&, double value)> show = {};
  };
  /// Goes on as far as possible without waiting. False when all lines are done. A step that fails is an error
  /// in the log, with the line, and the lines after it are done as if it had paused the run. Throws
  /// std::runtime_error with the line when the simulation refuses a command.
  bool advance(const Hands& hands);
  /// Whether a step has failed.
  bool has_failed() const { return has_failed_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Line {
    int number = 0;
    std::string text;
    std::function<void(const Hands&)> begin;
    std::function<bool(const Hands&, double seconds)> is_done;
  };
  static Line idle_line(int number, const std::string& text);
  Line parse(int number, const std::string& text) const;
  /// `words`: those after the first one of the line.
  void parse_add(Line& line, const std::vector<std::string>& words) const;
  /// `verb`: move or turn.
  void parse_move(Line& line, const std::string& verb, const std::vector<std::string>& words) const;
  /// `verb`: select, drag, camera, quality, clip or view.
  void parse_view(Line& line, const std::string& verb, const std::vector<std::string>& words) const;
  void parse_row(Line& line, const std::vector<std::string>& words) const;
  void parse_drag(Line& line, const std::vector<std::string>& words) const;
  /// The words from this one on, which are finite numbers.
  std::vector<double> numbers_of(const Line& line, const std::vector<std::string>& words,
                                 std::size_t first) const;
  /// `verb`: preset_save, preset_apply, preset_delete or preset_list.
  void parse_preset(Line& line, const std::string& verb, const std::vector<std::string>& words) const;
  void parse_fork_seed(Line& line, const std::vector<std::string>& words) const;
  void parse_sweep(Line& line, const std::vector<std::string>& words) const;
  /// The result of `act`; its InputError becomes one with the line.
  template <class Act>
  auto located(int number, const Act& act) const {
    try {
      return act();
    } catch (const InputError& error) {
      fail(number, error.what());
    }
  }
  void parse_iteration(Line& line, const std::string& solver, const std::string& iteration) const;
  [[noreturn]] void fail(int number, const std::string& what) const;
  void watch_faults(const SimulationStatus& status, int number);

  std::filesystem::path file_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
  bool begun_ = false, has_failed_ = false;
  std::optional<int> faults_;  // of the simulation, up to now; none: no line was begun
  int refusals_ = 0;           // likewise, those of the scene's load included
  Clock::time_point since_{};
};

}  // namespace stickslip
