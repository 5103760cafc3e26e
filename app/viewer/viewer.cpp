#include "app/viewer/viewer.h"
#include "app/viewer/object_moves.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/capture/png.h"
#include "app/io/file/output_file.h"
#include "app/viewer/action_script.h"
#include "app/viewer/body_looks.h"
#include "app/viewer/camera_fit.h"
#include "app/viewer/expect_curves.h"
#include "app/viewer/fork_panes.h"
#include "app/viewer/gui.h"
#include "app/viewer/open_file.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/pointer.h"
#include "app/viewer/position_link.h"
#include "app/viewer/scene_content.h"
#include "app/viewer/scene_layers.h"
#include "app/viewer/session_journal.h"
#include "app/viewer/video.h"
#include "app/viewer/window_files.h"
#include "app/viewer/window_memory.h"

namespace stickslip {
namespace {

using Clock = std::chrono::steady_clock;

// [s] The interval between pictures is at least `shortest_interval`. If the processor that simulates also
// draws, the interval leaves it time, but a change is shown within `longest_interval`.
constexpr double shortest_interval = 1.0 / 60, longest_interval = 1.0 / 25;
constexpr double clock_interval = 0.25;    // [s] between pictures that only update the clock
constexpr float contact_reach = 0.02f;     // of the scene's radius: movement of a picked contact in a step
constexpr double script_interval = 0.005;  // [s] between looks at a script
constexpr int kLargestPicture = 8192;      // [px] width and height of a screenshot
constexpr int settle_frames = 3;           // pictures after an input: ImGui needs a second one to respond

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Passes the first scene to the loader's first call. The scene is read before the window opens.
Simulation::SceneLoader first_scene_at_hand(const ViewOptions& options) {
  auto first = std::make_shared<std::optional<Scene>>(options.load_scene(options.scene, options.variant));
  return [first, load = options.load_scene](const std::string& name, const std::string& variant) {
    if (!*first) return load(name, variant);
    Scene scene = std::move(**first);
    first->reset();
    return scene;
  };
}

/// The window and all its parts.
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
  bool remembers() const { return !options_.memory.empty(); }
  void keep_memory();
  void ask_screenshot() override { pictures_.ask_screenshot(); }
  void toggle_video() override { pictures_.toggle_video(name(), view_.pictures.rate); }
  void save_report() override { files_.save_report(simulation_, name()); }
  void save_plots() override { files_.save_plots(simulation_, view_.tracked, name()); }
  void save_scene() override {
    if (scene_) files_.save_scene(*scene_, simulation_.settings());
  }
  void save_bundle() override {
    bundle_due_ = scene_ != nullptr;
    draws_due_ = std::max(draws_due_, 1);
  }
  void add_camera_key() override {
    files_.add_camera_key(camera_, simulation_.frame().snapshot.time, name());
  }
  void quit() override { quit_ = true; }
  std::string name() const { return scene_ ? scene_->name : "view"; }

  void on_key(int key, const char* name, int mods, bool repeat);
  void on_button(int button, int mods, bool down);
  void open(const std::filesystem::path& file);
  void open_bundle(const std::filesystem::path& file);
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
  /// The forks have followed the run, so that pictures show both at the same time.
  bool have_forks_followed() const {
    return std::ranges::all_of(forks_.entries(), [&](const Forks::Entry& entry) {
      const ForkStatus& fork = entry.fork->status();
      return !fork.error.empty() || fork.has_reached(simulation_.status().time);
    });
  }
  /// A race, a sweep or a solve of the lab runs, forks are behind, or a picture is to be taken.
  bool is_busy() const {
    return !have_forks_followed() || lab_.status().running || steppers_.status().running || sweep_.busy() ||
           iterations_.is_solving() || pictures_.is_screenshot_due() || bundle_due_;
  }
  void write_journal() {
    static const Model none;
    journal_.follow(simulation_, scene_ ? scene_->model : none);
  }
  void choose_contacts();
  FrameView frame_view();
  std::vector<PaneArea> fork_areas(const PaneArea& within) const;
  void arrange();
  std::vector<Pane> panes(const FrameView& run, std::span<const PaneArea> areas);
  bool draw_window(ImDrawData* ui, Image* shown);
  PanelContext panel_context() {
    return {simulation_,
            lab_,
            iterations_,
            steppers_,
            forks_,
            sweep_,
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
  Simulation::SceneLoader load_scene_;
  WindowMemory memory_ = read_window_memory(options_.memory);
  std::optional<ActionScript> script_;
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
  Forks forks_;
  ParamSweep sweep_;
  PositionLink positions_{renderer_, simulation_};

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
  int draws_due_ = settle_frames;
  std::size_t log_seen_ = 0;
  Clock::time_point last_draw_{};
};

Viewer::Viewer(const ViewOptions& options)
    : options_(options),
      scenes_(list_scenes()),
      load_scene_(first_scene_at_hand(options)),
      script_(options.actions.empty() ? std::nullopt : std::make_optional<ActionScript>(options.actions)),
      journal_(options.journal),
      window_(remembers() ? memory_.width : options.width, remembers() ? memory_.height : options.height,
              "stickslip"),
      gui_((window_.set_handlers(handlers()), window_)),
      renderer_({window_.handle(), options.quality == Quality::automatic ? memory_.quality : options.quality,
                 options.validation, options.interop}),
      simulation_(options.make_engine, std::move(load_scene_), &Window::wake),
      lab_(options.make_lab, &Window::wake),
      iterations_(options.make_lab, &Window::wake),
      steppers_(options.make_race_engine, &Window::wake),
      forks_(options.make_race_engine, &Window::wake),
      sweep_(options.make_race_engine, options.output, &Window::wake) {
  view_.quality = renderer_.quality();
  if (remembers()) {
    view_.panels = memory_.panels;
    view_.patterns = memory_.patterns;
    view_.overlays = memory_.overlays;
    view_.timeline_megabytes = memory_.timeline_megabytes;
    open_sections() = memory_.sections;
    simulation_.set_timeline_limit(timeline_bytes(view_));
  }
  view_.panels_in_pictures = options.panels_in_pictures;
  figures_.device = renderer_.device_name();
  simulation_.set_hashing(true);
  journal_.add([&](JournalWriter& journal) { journal.start(options.journal_start); });
  simulation_.post(LoadScene{options.scene, options.variant});
  if (!options.paused) simulation_.play();
}

Viewer::~Viewer() {
  keep_memory();
  // The simulation's thread ends after its step; the window is hidden meanwhile.
  window_.hide();
}

// ---- Input ----

InputHandlers Viewer::handlers() {
  return {
      .key = [this](int key, const char* name, int mods, bool repeat) { on_key(key, name, mods, repeat); },
      .character =
          [this](char32_t character) {
            if (gui_.wants_keys()) return;
            if (const Action* action = find_action(character)) act(action->id);
          },
      .button = [this](int button, int mods, bool down) { on_button(button, mods, down); },
      .move = [this](float x, float y) { pointer_.move(x, y); },
      .scroll =
          [this](float notches) {
            if (!gui_.wants_pointer()) pointer_.scroll(notches);
          },
      .drop = [this](const std::string& path) { open(path); },
      .any = [this] { draws_due_ = settle_frames; },
  };
}

void Viewer::act(ActionId action) {
  const std::string_view what = action_table()[static_cast<std::size_t>(action)].name;
  const SimulationStatus& status = simulation_.status();
  journal_.add([&](JournalWriter& journal) { journal.add_action(status.frame, status.time, what); });
  perform(action, *this);
}

void Viewer::on_key(int key, const char* name, int mods, bool repeat) {
  if (gui_.wants_keys() && !(mods & GLFW_MOD_CONTROL)) return;
  if (key == GLFW_KEY_ESCAPE && view_.help) return act(ActionId::toggle_help);
  const Action* action = find_action(key, name, mods);
  // A text field undoes what is typed in it.
  if (action && gui_.wants_keys() && (action->id == ActionId::undo || action->id == ActionId::redo)) return;
  if (action && (!repeat || action->has(ActionTrait::repeats))) act(action->id);
}

void Viewer::on_button(int button, int mods, bool down) {
  const auto which = button == GLFW_MOUSE_BUTTON_LEFT     ? Pointer::Button::left
                     : button == GLFW_MOUSE_BUTTON_MIDDLE ? Pointer::Button::middle
                                                          : Pointer::Button::right;
  if (!down) return pointer_.release(which);
  if (!gui_.wants_pointer())
    pointer_.press(which, {(mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_CONTROL) != 0});
}

void Viewer::open(const std::filesystem::path& file) {
  if (is_bundle_name(file)) return open_bundle(file);
  open_file(file, simulation_, [this](std::shared_ptr<const FrozenStep> problem) {
    view_.lab = true;
    view_.lab_steppers = false;
    lab_.start(std::move(problem), view_.race);
  });
}

void Viewer::open_bundle(const std::filesystem::path& file) {
  try {
    simulation_.post(files_.unpack_bundle(file));
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
  }
}

void Viewer::switch_scene(int direction) {
  if (scenes_.empty()) return;
  const auto count = static_cast<int>(scenes_.size());
  int current = direction > 0 ? -1 : count;
  for (int i = 0; i < count; ++i)
    if (scene_ && scenes_[static_cast<std::size_t>(i)].file == scene_->file) current = i;
  const auto next = static_cast<std::size_t>((current + direction + count) % count);
  simulation_.post(LoadScene{scenes_[next].file.string()});
}

// ---- Recording ----

void Viewer::record(const Image& shown) {
  const Snapshot& snapshot = simulation_.frame().snapshot;
  const std::filesystem::path file = pictures_.take(shown, snapshot, name());
  if (file.empty()) return;
  journal_.add([&](JournalWriter& journal) { journal.add_screenshot(snapshot.frame, snapshot.time, file); });
}

void Viewer::write_bundle_now() {
  BundleOrigin origin = options_.origin;
  origin.renderer = renderer_.device_name();
  files_.save_bundle(name(), origin, journal_, simulation_.opened(), scene_alone());
}

/// Takes over what the simulation has to tell. A script does so, too, and must not keep it to itself.
void Viewer::take_news() {
  if (!simulation_.update()) return;
  take_over();
  write_journal();
  start_races();
  if (const auto kept = simulation_.take_kept()) files_.write_kept(*kept);
  draws_due_ = std::max(draws_due_, 1);
}

/// Starts a race on the frozen problem, under an unused file name, or one from the captured state.
void Viewer::start_races() {
  if (const std::shared_ptr<const CapturedState> state = simulation_.take_captured()) {
    view_.lab = view_.lab_steppers = true;
    steppers_.start(state, view_.stepper_race);
  }
  const std::shared_ptr<const FrozenStep> step = simulation_.take_frozen();
  if (!step) return;
  view_.lab = true;
  view_.lab_steppers = false;
  lab_.start(step, view_.race,
             free_name(options_.output, "stickslip-" + step->scene + "-frame" + std::to_string(step->frame),
                       ".hdf5"));
}

/// Those of the solver that the lab highlights.
void Viewer::choose_iterations() {
  const bool shown = view_.lab && !view_.lab_steppers;
  iterations_.choose(lab_.status(), shown ? view_.lab_solver : "");
}

void Viewer::show_iteration(const std::string& solver, long iteration) {
  view_.lab = true;
  view_.lab_steppers = false;
  view_.lab_solver = solver;
  choose_iterations();
  if (iterations_.stops().empty())
    throw InputError("the lab has no iterations of " + solver + ": freeze a problem first");
  iterations_.show_iteration(iteration);
  draws_due_ = std::max(draws_due_, 1);
}

// ---- Scene and camera ----

/// Updates renderer and selection with the data published by the simulation.
void Viewer::take_over() {
  const SimulationFrame& frame = simulation_.frame();
  if (!frame.scene) return;
  if (frame.scene != scene_) {
    const bool reloaded = scene_ && scene_->file == frame.scene->file;
    // The nodes of a picked place are those of the scene in which it was clicked.
    const auto stays = [&](int object) {
      return reloaded && keeps_object(scene_->model, frame.scene->model, object);
    };
    const std::optional<int> selected = view_.selection && stays(view_.selection->object())
                                            ? std::optional(view_.selection->object())
                                            : std::nullopt;
    const bool same_nodes = view_.picked && stays(view_.picked->object);
    scene_ = frame.scene;
    forks_.clear();
    if (!reloaded) view_.bookmarks.clear();
    layers_.forget();
    ground_ = ground_height(scene_->model);
    pointer_.cancel();
    if (selected) view_.selection.emplace(scene_, *selected);
    else view_.selection.reset();
    if (!same_nodes) view_.picked.reset();
    view_.tied_from.reset();
    view_.contact.reset();
    if (!reloaded) view_.held.reset();
    for (TrackedProbes* probes : {&view_.tracked, &view_.expected})
      reloaded ? probes->go_on(scene_) : probes->clear();
    for (const ExpectCurve& curve : expect_curves(scene_->model, scene_->expect))
      for (const int object : curve.objects) view_.expected.track(ObjectProbe(scene_, object));
    positions_.set_scene(scene_);
    bodies_.set_scene(scene_);
    fork_panes_.set_scene(scene_);
    if (!reloaded) {
      view_.overlays = offered_overlays(view_.overlays, scene_->model);
      view_.surfaces = offered_colors(view_.surfaces, scene_->model);
      files_.end_camera_file();
      if (!shown_name_.empty()) memory_.cameras[shown_name_] = camera_;
      camera_ = camera_of(scene_->camera);
      back_off(camera_, scene_->model, frame.positions(), clear_area());
      if (const auto last = memory_.cameras.find(scene_->name); last != memory_.cameras.end())
        camera_ = last->second;
    }
    shown_name_ = scene_->name;
    window_.set_title("stickslip - " + full_name(*scene_) + " - " + options_.backend);
  }
  positions_.take(frame);
  forks_.compare(frame);
  if (view_.selection) view_.selection->observe(frame.snapshot, frame.positions());
  if (view_.selection && view_.follow)
    following_.follow(camera_, view_.selection->object(), view_.selection->center().cast<float>());
  else following_.stop();
  if (view_.contact) view_.contact->observe(frame.snapshot, simulation_.status().restored);
  follow_tracked();
}

/// Every step has a sample; of a restored state only the frame tells.
void Viewer::follow_tracked() {
  const std::vector<Material>& materials = simulation_.settings().materials;
  const SimulationFrame& frame = simulation_.frame();
  const std::vector<StepSample> samples = simulation_.take_samples();
  for (TrackedProbes* probes : {&view_.tracked, &view_.expected}) {
    if (probes->empty()) continue;
    for (const auto& [scene, snapshot] : samples)
      if (scene == scene_) probes->observe(snapshot, snapshot.positions, materials, false);
    if (simulation_.status().restored) probes->observe(frame.snapshot, frame.positions(), materials, true);
  }
}

/// A failure to write is no failure of the window.
void Viewer::keep_memory() {
  if (!remembers() || !scene_) return;
  if (!shown_name_.empty()) memory_.cameras[shown_name_] = camera_;
  const bool shipped =
      std::ranges::any_of(scenes_, [&](const SceneInfo& info) { return info.file == scene_->file; });
  memory_.scene = shipped ? scene_->name : "";
  memory_.variant = shipped ? scene_->variant : "";
  memory_.width = window_.width();
  memory_.height = window_.height();
  memory_.quality = view_.quality;
  memory_.panels = view_.panels;
  memory_.patterns = view_.patterns;
  memory_.overlays = view_.overlays;
  memory_.timeline_megabytes = view_.timeline_megabytes;
  memory_.sections = open_sections();
  try {
    write_window_memory(options_.memory, memory_);
  } catch (const std::exception& error) {
    spdlog::warn("the window's settings are not kept: {}", error.what());
  }
}

FreeArea Viewer::free_area() const {
  return stickslip::free_area(static_cast<float>(std::max(1, window_.width())),
                              static_cast<float>(std::max(1, window_.height())), view_);
}

ClearArea Viewer::clear_area() const {
  const FreeArea free = free_area();
  return {std::max(1, window_.width()), std::max(1, window_.height()), free.left, free.right,
          free.scene_bottom()};
}

/// Through the selected object, or the scene.
std::optional<ClipPlane> Viewer::clip_plane() const {
  if (!view_.clip.on || !scene_) return std::nullopt;
  const Bounds bounds = view_.selection
                            ? bounds_of(view_.selection->description(), simulation_.frame().positions())
                            : renderer_.bounds();
  return plane_of(view_.clip, bounds);
}

void Viewer::select(const Click& click) {
  view_.selection.reset();
  view_.contact.reset();
  if (!scene_) return;
  if (click.contact)
    view_.contact.emplace(scene_, *click.contact, contact_reach * renderer_.bounds().radius());
  if (click.object < 0) return;
  view_.selection.emplace(scene_, click.object);
  view_.picked = click.pick;
  view_.selection->observe(simulation_.frame().snapshot, simulation_.frame().positions());
}

/// As a click where the line of sight to its middle enters it; where something hides it, without a place.
void Viewer::select(const std::string& object) {
  if (!scene_) return;
  const int index = object_of_name(scene_->model, object);
  const std::span<const Vec3f> positions = simulation_.frame().positions();
  const Vec3f middle = bounds_of(scene_->model.objects[static_cast<std::size_t>(index)], positions).center();
  const Ray sight{camera_.eye(), normalized(middle - camera_.eye())};
  std::optional<Pick> place = pick(scene_->model, positions, sight);
  if (place && place->object != index) place.reset();
  select(Click{index, std::nullopt, place});
  draws_due_ = settle_frames;
}

void Viewer::click(const Vec<float, 2>& pixel) {
  pointer_.move(pixel[0], pixel[1]);
  pointer_.press(Pointer::Button::left, {});
  pointer_.release(Pointer::Button::left);
  if (const auto clicked = pointer_.take_click()) select(*clicked);
  draws_due_ = settle_frames;
}

void Viewer::look(const Vec3f& eye, const Vec3f& target) {
  const float covered = camera_.covered;
  camera_ = Camera::look_at(eye, target, camera_.fov);
  camera_.covered = covered;
  draws_due_ = settle_frames;
}

void Viewer::set_quality(Quality quality) {
  renderer_.set_quality(quality);
  view_.quality = renderer_.quality();
  draws_due_ = settle_frames;
}

void Viewer::frame_camera() {
  if (!scene_) return;
  const Bounds bounds = view_.selection
                            ? bounds_of(view_.selection->description(), simulation_.frame().positions())
                            : renderer_.bounds();
  camera_.frame(bounds, clear_area().aspect());
}

void Viewer::shoot() {
  if (!scene_) return;
  try {
    const Shot shot = free_shot(*scene_, shot_along(scene_->model, camera_), simulation_.frame().positions());
    simulation_.post(AddObject{shot_toml(scene_->model, shot)});
  } catch (const InputError& error) {
    spdlog::warn("{}", error.what());
  }
}

void Viewer::add_object() {
  view_.added.at = camera_.target.cast<double>();
  try {
    add_body(simulation_, view_.added);
  } catch (const InputError& error) {
    spdlog::warn("{}", error.what());
  }
}

void Viewer::pick_worst_contact() {
  const ContactRecord* worst = worst_contact(simulation_.frame().snapshot.contacts);
  if (worst == nullptr) {
    if (!view_.overlays.contacts) spdlog::info("contacts are shown now: press again for the worst one");
    view_.overlays.contacts = true;
    return;
  }
  select({-1, *worst});
  camera_.target = worst->point;
}

// ---- Drawing ----

/// Selects the contacts that pass the filter.
void Viewer::choose_contacts() {
  std::span<const ContactRecord> contacts = simulation_.frame().snapshot.contacts;
  if (iterations_.is_in_scene()) contacts = iterations_.contacts();
  shown_contacts_.clear();
  std::ranges::copy_if(contacts, std::back_inserter(shown_contacts_),
                       [&](const ContactRecord& contact) { return view_.filter.shows(contact.state); });
  pointer_.set_marks(view_.overlays.contacts ? std::span<const ContactRecord>(shown_contacts_)
                                             : std::span<const ContactRecord>());
}

FrameView Viewer::frame_view() {
  FrameView frame;
  if (ground_) camera_.keep_above(*ground_);
  frame.camera = camera_;
  frame.overlays = view_.overlays;
  frame.patterns = view_.patterns;
  frame.clip = clip_plane();
  pointer_.set_clip(frame.clip);
  if (view_.clip.x_ray) frame.x_ray = view_.clip.opacity;
  frame.scale = view_.scale;
  frame.tree = simulation_.frame().snapshot.tree;
  frame.tree_level = view_.tree_level;
  choose_contacts();
  frame.contacts = shown_contacts_;
  if (iterations_.is_in_scene()) frame.largest_force = iterations_.largest_force();
  if (view_.contact && !view_.contact->is_gone()) frame.highlighted_contact = view_.contact->contact().point;
  frame.highlighted_object = view_.selection ? view_.selection->object() : -1;
  frame.drag = pointer_.drag_line();
  if (scene_) {
    const SimulationFrame& shown = simulation_.frame();
    bodies_.paint(shown.snapshot, view_.surfaces == SurfaceColors::islands, renderer_);
    frame.ghosts = layers_.ghosts(*scene_, shown, view_.fork_view == ForkView::outlines ? &forks_ : nullptr,
                                  pointer_.gizmo(), camera_.eye());
    frame.heat = layers_.heat(*scene_, view_.surfaces, shown, simulation_.settings().materials);
    figures_.least_heat = layers_.least_heat();
    figures_.most_heat = layers_.most_heat();
  }
  if (view_.overlays.joints) frame.joints = bodies_.joints(simulation_.frame());
  if (view_.overlays.pins) frame.pins = bodies_.pins(simulation_.frame(), simulation_.settings().params.dt);
  const ClearArea area = clear_area();
  frame.left = area.left / static_cast<float>(area.width);
  frame.right = area.right / static_cast<float>(area.width);
  return frame;
}

/// Those of the run and its forks in a picture or a part of it; empty: forks are not shown so.
std::vector<PaneArea> Viewer::fork_areas(const PaneArea& within) const {
  if (view_.fork_view != ForkView::panes || forks_.empty()) return {};
  const int gap = 2 * std::max(1, within.width / 1000);  // [px]
  return pane_areas(static_cast<int>(forks_.entries().size()) + 1, within, gap);
}

/// Gives the camera and the pointer the part of the window that shows the run.
void Viewer::arrange() {
  const FreeArea free = free_area();
  const ClearArea clear = clear_area();
  const PaneArea within{static_cast<int>(clear.left), 0,
                        std::max(1, static_cast<int>(clear.right - clear.left)),
                        std::max(1, static_cast<int>(clear.bottom))};
  areas_ = fork_areas(within);
  if (areas_.empty()) {
    camera_.covered = 1 - free.scene_bottom() / std::max(1.f, free.bottom);
    camera_.widening = 1;
    return pointer_.resize(window_.width(), window_.height());
  }
  camera_.covered = 0;
  camera_.widening = pane_widening(areas_[0], within);
  pointer_.resize(areas_[0].width, areas_[0].height,
                  {static_cast<float>(areas_[0].x), static_cast<float>(areas_[0].y)});
}

std::vector<Pane> Viewer::panes(const FrameView& run, std::span<const PaneArea> areas) {
  const PaneLooks looks{view_.surfaces, [this](ContactState state) { return view_.filter.shows(state); }};
  return fork_panes_.views(run, areas, simulation_.frame(), forks_, layers_, looks);
}

bool Viewer::draw_window(ImDrawData* ui, Image* shown) {
  const FrameView frame = frame_view();
  if (areas_.empty()) return renderer_.draw_window(frame, ui, shown);
  return renderer_.draw_window(panes(frame, areas_), ui, shown);
}

/// A picture without panels. One that a video takes, too, is as the window shows the scene.
Image Viewer::scene_alone() {
  FrameView frame = frame_view();
  frame.left = 0;
  frame.right = 1;
  frame.camera.covered = 0;
  const bool still = pictures_.recording().empty();
  frame.transparent = still && view_.pictures.transparent;
  const int width = std::max(1, window_.width()), height = std::max(1, window_.height());
  const int most = std::max(1, kLargestPicture / std::max(width, height));
  const int scale = still ? std::min(view_.pictures.scale, most) : 1;
  const PaneArea all{0, 0, scale * width, scale * height};
  frame.camera.widening = 1;
  if (const std::vector<PaneArea> areas = fork_areas(all); !areas.empty()) {
    frame.camera.widening = pane_widening(areas[0], all);
    Image picture = renderer_.render_offscreen(panes(frame, areas), all.width, all.height);
    draw_pane_captions(picture, pane_captions(forks_, simulation_), areas, static_cast<float>(scale));
    return picture;
  }
  return renderer_.render_offscreen(frame, scale * width, scale * height);
}

void Viewer::draw() {
  const Clock::time_point start = Clock::now();
  const double interval = std::chrono::duration<double>(start - last_draw_).count();
  // Drawing on demand has no rate.
  if (interval > clock_interval) figures_.frames_per_second = 0;
  else
    figures_.frames_per_second =
        figures_.frames_per_second > 0 ? 0.9 * figures_.frames_per_second + 0.1 / interval : 1 / interval;
  last_draw_ = start;

  arrange();
  figures_.recording = pictures_.recording();
  figures_.positions = positions_.text();
  figures_.position_bytes = positions_.picture_bytes();
  choose_iterations();
  hovered_ =
      gui_.wants_pointer()
          ? std::nullopt
          : pointer_.hovered(surface_colors_table()[static_cast<std::size_t>(view_.surfaces)].is_scale);
  PanelContext context = panel_context();
  ImDrawData* panels = gui_.draw(context);
  if (const auto clicked = pointer_.take_click()) select(*clicked);
  if (view_.quality != renderer_.quality()) renderer_.set_quality(view_.quality);

  simulation_.want_contacts(shows_contacts(view_.overlays) || view_.selection || view_.contact ||
                            view_.surfaces == SurfaceColors::islands || view_.pattern_shown);
  forks_.want_contacts(!areas_.empty() &&
                       (shows_contacts(view_.overlays) || view_.surfaces == SurfaceColors::islands));
  const bool by_scale = view_.scale == ContactScale::pressure || view_.scale == ContactScale::age;
  simulation_.want_contact_details(view_.contact || (hovered_ && hovered_->contact) ||
                                   (by_scale && shows_contacts(view_.overlays)));
  simulation_.want_samples(!view_.tracked.empty() || view_.expect_shown);
  simulation_.want_tree(view_.overlays.tree);
  simulation_.want_stiffness(view_.surfaces == SurfaceColors::stiffness);
  const bool wanted = pictures_.wants(simulation_.frame().snapshot.time);
  Image shown;
  const bool with_panels = view_.panels_in_pictures;
  const bool drawn = draw_window(panels, wanted && with_panels ? &shown : nullptr);
  if (drawn) positions_.drawn();
  if (drawn && wanted) record(with_panels ? shown : scene_alone());
  if (drawn && std::exchange(bundle_due_, false)) write_bundle_now();
  const double cost = seconds_since(start);
  figures_.draw_seconds = figures_.draw_seconds > 0 ? 0.9 * figures_.draw_seconds + 0.1 * cost : cost;
}

/// [s]; 0 when a picture is due.
double Viewer::time_to_next_draw() const {
  const SimulationStatus& status = simulation_.status();
  const bool counting = status.activity != SimulationStatus::Activity::idle || gui_.wants_keys();
  const double interval = std::clamp(1.3 * figures_.draw_seconds, shortest_interval, longest_interval);
  const double wanted = draws_due_ > 0 ? interval : counting || status.playing ? clock_interval : 1.0;
  return std::max(0.0, wanted - seconds_since(last_draw_));
}

int Viewer::run() {
  bool scripted_end = false;
  while (!window_.closing() && !quit_ && !scripted_end) {
    window_.wait(script_ ? std::min(script_interval, time_to_next_draw()) : time_to_next_draw());
    const bool follows = forks_.update(simulation_.status().frame, simulation_.status().time);
    simulation_.set_leash(forks_.leash());
    if (follows) {
      forks_.compare(simulation_.frame());
      draws_due_ = std::max(draws_due_, 1);
    }
    take_news();
    while (auto state = simulation_.take_forked()) forks_.add(std::move(state));
    if (sweep_.follow(simulation_)) draws_due_ = std::max(draws_due_, 1);
    if (script_ &&
        !script_->advance(
            {simulation_, [this](ActionId action) { act(action); },
             [this](const std::string& file) { open(file); }, [this] { take_news(); },
             [this] { return is_busy(); }, camera_.target.cast<double>(),
             [this](const SweepRequest& request) { ask_sweep(request); },
             [this](const std::string& solver, long iteration) { show_iteration(solver, iteration); },
             [this](const Vec<float, 2>& pixel) { click(pixel); },
             [this](const std::string& object) { select(object); },
             [this](const Vec3f& eye, const Vec3f& target) { look(eye, target); },
             [this](Quality quality) { set_quality(quality); },
             [this](const ClipChoice& clip) { view_.clip = clip; }}))
      script_.reset();
    if (options_.script.drive &&
        !options_.script.drive(simulation_, [this](ActionId action) { act(action); }))
      quit_ = true;
    iterations_.follow(simulation_.status());
    if (iterations_.advance(Clock::now()) || iterations_.is_playing()) draws_due_ = std::max(draws_due_, 1);
    if (lab_.update() | steppers_.update() | iterations_.update()) draws_due_ = std::max(draws_due_, 1);
    if (std::exchange(log_seen_, log_->count()) != log_->count()) draws_due_ = std::max(draws_due_, 1);
    if (time_to_next_draw() > 0) continue;
    draw();
    draws_due_ = std::max(0, draws_due_ - 1);
    const ViewScript& script = options_.script;
    scripted_end =
        script.quit_after_frames > 0 && (simulation_.frame().snapshot.frame >= script.quit_after_frames ||
                                         !simulation_.status().error.empty());
  }
  pictures_.stop_video();
  simulation_.update();
  write_journal();
  if (!options_.script.screenshot.empty()) {
    PanelContext context = panel_context();
    Image shown;
    if (draw_window(gui_.draw(context), &shown)) write_png(options_.script.screenshot, shown);
  }
  for (const std::string& message : renderer_.validation_messages()) spdlog::error("validation: {}", message);
  const bool failed = scripted_end && !simulation_.status().error.empty();
  return failed || !renderer_.validation_messages().empty() ? 1 : 0;
}

}  // namespace

int run_viewer(const ViewOptions& options) { return Viewer(options).run(); }

}  // namespace stickslip
