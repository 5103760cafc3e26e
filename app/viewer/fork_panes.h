// Panes: the run and its forks beside each other, under one camera.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/render/frame_view.h"
#include "app/viewer/body_looks.h"
#include "app/viewer/fork.h"
#include "app/viewer/scene_layers.h"

namespace stickslip {

/// A part of a picture or of the window [px].
struct PaneArea {
  int x = 0, y = 0, width = 1, height = 1;
  float shorter_side() const { return static_cast<float>(std::min(width, height)); }
};

/// Equal areas, `gap` [px] apart, row by row, in as many columns as make their shorter side longest.
std::vector<PaneArea> pane_areas(int count, const PaneArea& within, int gap);

/// Camera::widening of the panes: what fills the shorter side of `within` fills that of a pane.
float pane_widening(const PaneArea& pane, const PaneArea& within);

/// The text in the corner of a pane.
struct PaneCaption {
  int number = 0;        // of the fork; 0: the run
  std::string settings;  // those that differ, with the values that it has
  std::string result;    // of the step that is shown; empty: none was made
  double distance = -1;  // [m] from the run, see ForkDistance::mean; < 0: not known
  bool is_good = true;   // the step converged, and the fork has not ended
};
/// Of the run and all forks, at the frame that is shown.
std::vector<PaneCaption> pane_captions(const Forks& forks, const Simulation& simulation);

/// Which marks and colours the panes have, those of the run's view.
struct PaneLooks {
  SurfaceColors surfaces = SurfaceColors::objects;
  std::function<bool(ShownState)> shows = [](ShownState) { return true; };
};

class ForkPanes {
 public:
  void set_scene(std::shared_ptr<const Scene> scene);

  /// The panes in these areas, that of the run first: `run` with the marks, positions and colours of each
  /// fork at the time that is shown, or where it is until it has reached it. A fork without positions has no
  /// pane. Valid until the next call. Arrows of forces have one scale.
  std::vector<Pane> views(const FrameView& run, std::span<const PaneArea> areas, const SimulationFrame& shown,
                          const Forks& forks, SceneLayers& layers, const PaneLooks& looks);

 private:
  /// What a fork's view refers to.
  struct Shown {
    SimulationFrame frame;
    std::vector<ContactRecord> contacts;
    float error_limit;  // [m/s] of them
    std::vector<Vec3f> colors;
    std::vector<JointMark> joints;
    std::vector<std::int32_t> pins;
    std::vector<float> heat;
  };
  /// Fills `out`; false if the fork has no positions for the time that is shown.
  bool find(const Fork& fork, double time, Shown& out) const;
  void add_marks(const Fork& fork, const FrameView& run, SceneLayers& layers, const PaneLooks& looks,
                 Shown& out);

  std::shared_ptr<const Scene> scene_;
  BodyLooks bodies_;
  std::vector<std::unique_ptr<Shown>> shown_;
};

}  // namespace stickslip
