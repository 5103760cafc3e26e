// Data that panels read, and requests that they can make.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/render/renderer.h"
#include "app/viewer/actions.h"
#include "app/viewer/bookmarks.h"
#include "app/viewer/clip_choice.h"
#include "app/viewer/fork.h"
#include "app/viewer/fork_panes.h"
#include "app/viewer/gizmo_tool.h"
#include "app/viewer/hover.h"
#include "app/viewer/iteration_scrub.h"
#include "app/viewer/joint_choice.h"
#include "app/viewer/lab_race.h"
#include "app/viewer/log_buffer.h"
#include "app/viewer/picking.h"
#include "app/viewer/presets.h"
#include "app/viewer/scene_layers.h"
#include "app/viewer/simulation.h"
#include "app/viewer/spawn.h"
#include "app/viewer/step_scrub.h"
#include "app/viewer/stepper_race.h"
#include "app/viewer/surface_colors.h"
#include "app/viewer/sweep.h"
#include "app/viewer/thumbnails.h"
#include "app/viewer/tracked_probes.h"
#include "app/viewer/view_choices.h"

namespace stickslip {

/// A number typed in place of a slider. At most one in the window.
struct TypedNumber {
  unsigned id = 0;  // of the slider; 0: none
  bool fresh = false;
  char text[64] = "";
};

/// What plots show while they are paused.
struct HeldPlots {
  std::deque<StepReport> history;
  TrackedProbes tracked, expected;
};

/// What the lab shows: a race of contact solvers or of steppers, or the iterations of one step.
enum class LabView { contact_solvers, steppers, step };

/// How forks are shown: as outlines over the run, or beside it.
enum class ForkView { hidden, outlines, panes };

/// State of the view; changed by actions, panels and the pointer.
/// A journal that is replayed in the window, or was.
struct ReplayShown {
  std::string text;  // how far it is, or its verdict; empty: there is none
  bool running = false;
  bool faulty = false;   // states differ, or it could not go on
  bool stopped = false;  // asked for by its button
};

struct ViewState {
  Overlays overlays;
  ContactFilter filter;
  int tree_level = 5;                          // that `overlays.tree` shows
  ContactScale scale = ContactScale::state;    // of the marks of contacts
  ForceArrows arrows = ForceArrows::contacts;  // what the arrows of forces stand for
  SurfaceColors surfaces = SurfaceColors::objects;
  bool patterns = true;  // of cloth, rods and bodies
  ClipChoice clip;
  bool panels = true, log = false, lab = false, help = false;
  bool gizmo = false;   // handles at the selected object
  bool follow = false;  // the camera moves with the selected object
  Quality quality = Quality::light;
  std::optional<ObjectProbe> selection;
  std::optional<Pick> picked;           // where the selected object was clicked
  std::optional<Pick> tied_from;        // where the next rope, spring or joint begins
  JointChoice joint;                    // the next one
  std::optional<ContactProbe> contact;  // picked; at most one of the two
  TrackedProbes tracked;                // whose numbers are plotted
  TrackedProbes expected;               // objects of which the scene expects something
  std::optional<HeldPlots> held;        // plots are paused
  SpawnRequest added;                   // what the next object is that is added; its place is the camera's
  TypedNumber typed;
  std::optional<SceneKind> scene_kind;     // of the scenes that are listed; empty: all
  std::string scene_filter, param_filter;  // what is typed to find scenes and parameters
  std::string preset_name;                 // what is typed for the next preset
  bool expect_shown = false;               // the plots of what the scene expects, in the last picture
  bool pattern_shown = false;              // the pattern of W, in the last picture
  bool matrix_shown = false;               // the pattern of D, L and C, in the last picture
  bool pattern_swept = false;              // it has the order of the sweeps
  ForkView fork_view = ForkView::outlines;
  ForkState seeded{.seed = 1};      // the next fork with other velocities
  SweepRequest sweep;               // the next one; without a key: none was chosen
  std::size_t sweep_measure = 0;    // the strip's, an index of sweep_measures
  std::string sweep_filter;         // what is typed to find a parameter for it
  bool panels_in_pictures = false;  // screenshots and videos show the panels, too
  PictureSettings pictures;
  RaceSettings race;
  StepperRaceSettings stepper_race;
  LabView lab_view = LabView::contact_solvers;
  bool lab_curves = false;  // what a narrow lab shows of the first one: curves, or the table
  std::string lab_solver;   // whose curve the lab highlights; empty: none
  float lab_height = 0;     // of the lab, in pixels; 0: not dragged yet
  ReplayShown replay;
  Bookmarks bookmarks;             // of the scene's timeline
  std::optional<int> scrubbed;     // frame that was asked for on the timeline and is not shown yet
  float timeline_megabytes = 256;  // limit of the timeline's memory [MiB]
};

/// [byte] limit of the timeline.
inline std::size_t timeline_bytes(const ViewState& view) {
  return static_cast<std::size_t>(1024.0 * 1024.0 * static_cast<double>(view.timeline_megabytes));
}

/// Statistics of the window itself.
struct WindowFigures {
  double frames_per_second = 0;  // 0: draws only on demand at present
  double draw_seconds = 0;       // average time of a picture
  std::string device;
  std::string recording;             // file of the video in progress, else empty
  std::string positions;             // the way of the positions into pictures
  std::uint64_t position_bytes = 0;  // bytes of positions copied by the host for the last picture
  float least_heat = 0;              // start of that scale
  /// [m/s] of the contacts that are shown, see shown_state.
  float error_limit = std::numeric_limits<float>::infinity();
  float most_heat = -1;  // end of the scale of the surfaces' colours; < 0: they have none
};

struct PanelContext {
  Simulation& simulation;
  LabRace& lab;
  IterationScrub& iterations;
  StepperRace& steppers;
  StepScrub& step;
  Forks& forks;
  ParamSweep& sweep;
  Presets& presets;
  GizmoTool& gizmo;
  const std::optional<Hovered>& hovered;  // empty over panels and while a button is down
  std::optional<DragLine> drag;           // the spring of a pull
  const SceneLayers& layers;
  std::span<const PaneArea> panes;  // of the run and its forks, see ForkPanes; empty: one view of the run
  ViewState& view;
  const std::vector<SceneInfo>& scenes;
  Thumbnails& thumbnails;
  LogBuffer& log;
  const WindowFigures& window;
  std::function<void(ActionId)> act;
};

}  // namespace stickslip
