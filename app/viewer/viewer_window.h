// Viewer: the window and all its parts, for the sources of `run_viewer` alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/viewer/action_script.h"
#include "app/viewer/body_looks.h"
#include "app/viewer/camera_fit.h"
#include "app/viewer/fork_panes.h"
#include "app/viewer/gui.h"
#include "app/viewer/pointer.h"
#include "app/viewer/position_link.h"
#include "app/viewer/replay.h"
#include "app/viewer/scene_layers.h"
#include "app/viewer/scene_source.h"
#include "app/viewer/session_journal.h"
#include "app/viewer/video.h"
#include "app/viewer/viewer.h"
#include "app/viewer/window_files.h"
#include "app/viewer/window_memory.h"

namespace stickslip {

inline constexpr int kSettlePictures = 3;  // after an input: ImGui needs a second one to respond

/// The window and all its parts. Its members are in viewer.cpp (life, recording, drawing), viewer_scene.cpp
/// (scene, selection, camera) and viewer_input.cpp (keys, files).
class Viewer final : public ActionTarget {
 public:
  explicit Viewer(const ViewOptions& options);
  ~Viewer() override;
  int run();

 private:
  void act(ActionId action);
  Simulation& simulation() override { return simulation_; }
  ViewState& view() override { return view_; }
  void switch_scene(int direction) override;
  void frame_camera() override;
  void view_from(float yaw, float pitch) override {
    camera_.turn_to(yaw, pitch);
    frame_camera();
  }
  void pick_worst_contact() override;
  void shoot() override;
  void add_object() override;
  bool is_interrupted() const { return options_.interrupt != nullptr && *options_.interrupt; }
  bool remembers() const { return !options_.memory.empty(); }
  void keep_memory();
  void ask_screenshot() override { pictures_.ask_screenshot(); }
  void toggle_video() override {
    pictures_.toggle_video(name(), view_.pictures.rate, simulation_.status().error);
  }
  void save_report() override { files_.save_report(simulation_, name()); }
  void save_plots() override {
    files_.save_plots(simulation_, view_.tracked, view_.expected, forks_, name());
  }
  void save_scene() override {
    if (scene_) files_.save_scene(*scene_, simulation_.settings());
  }
  void save_bundle() override {
    bundle_due_ = scene_ != nullptr;
    draws_due_ = std::max(draws_due_, 1);
  }
  void open_outputs() override { files_.open_folder(); }
  void add_camera_key() override {
    files_.add_camera_key(camera_, simulation_.frame().snapshot.time, name());
  }
  void quit() override { quit_ = true; }
  std::string name() const { return scene_ ? scene_->name : "view"; }

  void on_key(int key, const char* name, int mods, bool repeat);
  void on_button(int button, int mods, bool down);
  void open(const std::filesystem::path& file);
  void open_bundle(const std::filesystem::path& file);
  /// `name`: in messages. `loads`: the scenes of a bundle; empty: the journal names them.
  void start_replay(const std::filesystem::path& journal, const std::string& name,
                    const std::vector<UnpackedScene>& loads = {});
  void follow_replay();
  void end_replay(const std::string& error);
  InputHandlers handlers();

  void take_over();
  void follow_tracked();
  void select(const Click& click);
  void select(const std::string& object);
  void click(const Vec<float, 2>& pixel);
  void look(const Vec3f& eye, const Vec3f& target);
  void set_quality(Quality quality);
  std::optional<ClipPlane> clip_plane() const;
  FreeArea free_area() const;
  ClearArea clear_area() const;
  double time_to_next_draw() const;
  void ask_for_data();
  void draw();
  void record(const Image& shown);
  void write_bundle_now();
  void take_news();
  void start_races();
  void ask_sweep(const SweepRequest& request) {
    view_.sweep = request;
    sweep_.ask(simulation_, request);
  }
  void choose_iterations();
  void show_iteration(const std::string& solver, long iteration);
  void show_step_iteration(int iteration);
  const Snapshot* step_iterate() const;
  /// The forks have followed the run, so that pictures show both at the same time.
  bool have_forks_followed() const {
    return std::ranges::all_of(forks_.entries(), [&](const Forks::Entry& entry) {
      const ForkStatus& fork = entry.fork->status();
      return !fork.error.empty() || fork.has_reached(simulation_.status().time);
    });
  }
  /// A race, a sweep, a replay or a solve of the lab runs, forks are behind, a picture is to be taken, or the
  /// simulation has not yet published what pictures show.
  bool is_busy() const {
    return !simulation_.shows_what_is_wanted() || !have_forks_followed() || lab_.status().running ||
           steppers_.status().running || sweep_.busy() || replay_ || iterations_.is_solving() ||
           step_.is_solving() || pictures_.is_screenshot_due() || bundle_due_;
  }
  void write_journal() {
    static const Model none;
    journal_.follow(simulation_, scene_ ? scene_->model : none, replay_.has_value());
  }
  void write_view() { journal_.follow_view(view_, simulation_.status()); }
  void show(const ViewRow& row, double value) {
    row.set(view_, value);
    draws_due_ = kSettlePictures;
  }
  void choose_contacts();
  std::span<const float> heat();
  FrameView frame_view();
  std::vector<PaneArea> fork_areas(const PaneArea& within) const;
  void arrange();
  std::vector<Pane> panes(const FrameView& run, std::span<const PaneArea> areas);
  bool draw_window(Image* shown);
  PanelContext panel_context() {
    return {simulation_,
            lab_,
            iterations_,
            steppers_,
            step_,
            forks_,
            sweep_,
            presets_,
            pointer_.gizmo(),
            hovered_,
            pointer_.drag_line(),
            layers_,
            areas_,
            view_,
            scenes_,
            thumbnails_,
            *log_,
            figures_,
            [this](ActionId action) { act(action); }};
  }
  Image scene_alone();

  const ViewOptions& options_;
  std::vector<SceneInfo> scenes_;
  Thumbnails thumbnails_{assets_folder() / "pictures"};
  std::shared_ptr<SceneSource> scene_source_;
  WindowMemory memory_ = read_window_memory(options_.memory);
  std::optional<ActionScript> script_;
  bool script_failed_ = false;  // a step of a script did
  SessionJournal journal_;
  std::shared_ptr<LogBuffer> log_ = std::make_shared<LogBuffer>();
  LogCapture log_capture_{log_};
  Window window_;
  Gui gui_;
  Renderer renderer_;
  Simulation simulation_;
  LabRace lab_;
  IterationScrub iterations_;
  StepperRace steppers_;
  StepScrub step_;
  Forks forks_;
  ParamSweep sweep_;
  Presets presets_{Presets::default_folder()};
  PositionLink positions_{renderer_, simulation_};

  std::optional<ReplayRun> replay_;  // of a journal; empty: none runs

  ViewState view_;
  WindowFigures figures_;
  Camera camera_;
  FollowingCamera following_;
  Pointer pointer_{simulation_, camera_};
  std::vector<ContactRecord> shown_contacts_;
  std::optional<Hovered> hovered_;
  SceneLayers layers_;
  ForkPanes fork_panes_;
  std::vector<PaneArea> areas_;  // of the window's panes; empty: one view
  std::shared_ptr<const Scene> scene_;
  std::string shown_name_;       // of the scene whose camera this is
  std::optional<float> ground_;  // height [m]
  BodyLooks bodies_;
  WindowPictures pictures_{options_.output};
  WindowFiles files_{options_.output};
  bool bundle_due_ = false;  // with the next picture
  bool quit_ = false;
  int draws_due_ = kSettlePictures;
  std::size_t log_seen_ = 0;
  std::chrono::steady_clock::time_point last_draw_{};
};

}  // namespace stickslip
