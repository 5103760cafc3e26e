#include "app/viewer/viewer.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "app/capture/png.h"
#include "app/io/file/output_file.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/viewer_window.h"

namespace stickslip {
namespace {

using Clock = std::chrono::steady_clock;

// [s] The interval between pictures is at least `shortest_interval`. If the processor that simulates also
// draws, the interval leaves it time, but a change is shown within `longest_interval`.
constexpr double shortest_interval = 1.0 / 60, longest_interval = 1.0 / 25;
constexpr double clock_interval = 0.25;    // [s] between pictures that only update the clock
constexpr double script_interval = 0.005;  // [s] between looks at a script
constexpr int kLargestPicture = 8192;      // [px] width and height of a screenshot

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Passes the first scene to the loader's first call. The scene is read before the window opens.
Simulation::SceneLoader first_scene_at_hand(const ViewOptions& options) {
  auto first = std::make_shared<std::optional<Scene>>(options.load_scene(options.scene, options.variant));
  return [first, scene = options.scene, load = options.load_scene](const std::string& name,
                                                                   const std::string& variant) {
    if (!*first || name != scene) return load(name, variant);
    Scene at_hand = std::move(**first);
    first->reset();
    return at_hand;
  };
}

}  // namespace

Viewer::Viewer(const ViewOptions& options)
    : options_(options),
      scenes_(list_scenes()),
      scene_source_(std::make_shared<SceneSource>(first_scene_at_hand(options))),
      script_(options.actions.empty() ? std::nullopt : std::make_optional<ActionScript>(options.actions)),
      journal_(options.journal),
      window_(remembers() ? memory_.width : options.width, remembers() ? memory_.height : options.height,
              "stickslip"),
      gui_((window_.set_handlers(handlers()), window_)),
      renderer_({window_.handle(), options.quality == Quality::automatic ? memory_.quality : options.quality,
                 options.validation, options.interop}),
      simulation_(
          options.make_engine,
          [source = scene_source_](const std::string& name, const std::string& variant) {
            return source->load(name, variant);
          },
          &Window::wake),
      lab_(options.make_lab, &Window::wake),
      iterations_(options.make_lab, &Window::wake),
      steppers_(options.make_race_engine, &Window::wake),
      step_(options.make_race_engine, &Window::wake),
      forks_(options.make_race_engine, &Window::wake),
      sweep_(options.make_race_engine, options.output, &Window::wake) {
  const ImVec4& background = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
  renderer_.set_window_color({background.x, background.y, background.z});
  view_.quality = renderer_.quality();
  if (remembers()) {
    view_.panels = memory_.panels;
    view_.patterns = memory_.patterns;
    view_.overlays = memory_.overlays;
    view_.timeline_megabytes = memory_.timeline_megabytes;
    view_.scale = memory_.scale;
    view_.arrows = memory_.arrows;
    view_.surfaces = memory_.surfaces;
    view_.filter = memory_.filter;
    view_.pictures = memory_.pictures;
    view_.race = memory_.race;
    view_.stepper_race = memory_.stepper_race;
    open_sections() = memory_.sections;
    simulation_.set_timeline_limit(timeline_bytes(view_));
  }
  view_.panels_in_pictures = options.panels_in_pictures;
  figures_.device = renderer_.device_name();
  simulation_.set_hashing(true);
  journal_.add([&](JournalWriter& journal) { journal.start(options.journal_start); });
  if (options.replay.empty()) {
    simulation_.post(LoadScene{options.scene, options.variant});
    if (!options.paused) simulation_.play();
  } else {
    start_replay(options.replay, options.replay_name, options.replay_loads);
  }
}

Viewer::~Viewer() {
  keep_memory();
  // The simulation's thread ends after its step; the window is hidden meanwhile.
  window_.hide();
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
    view_.lab = true;
    view_.lab_view = LabView::steppers;
    steppers_.start(state, view_.stepper_race);
  }
  if (std::shared_ptr<const CapturedState> state = simulation_.take_captured(CaptureUse::iterations)) {
    view_.lab = true;
    view_.lab_view = LabView::step;
    step_.follow(simulation_.status());
    step_.start(std::move(state));
  }
  const std::shared_ptr<const FrozenStep> step = simulation_.take_frozen();
  if (!step) return;
  view_.lab = true;
  view_.lab_view = LabView::contact_solvers;
  lab_.start(step, view_.race,
             free_name(options_.output, "stickslip-" + step->scene + "-frame" + std::to_string(step->frame),
                       ".hdf5"));
}

/// Those of the solver that the lab highlights.
void Viewer::choose_iterations() {
  const bool shown = view_.lab && view_.lab_view == LabView::contact_solvers;
  iterations_.choose(lab_.status(), shown ? view_.lab_solver : "");
}

void Viewer::show_iteration(const std::string& solver, long iteration) {
  view_.lab = true;
  view_.lab_view = LabView::contact_solvers;
  view_.lab_solver = solver;
  choose_iterations();
  if (iterations_.stops().empty())
    throw InputError("the lab has no iterations of " + solver + ": freeze a problem first");
  iterations_.show_iteration(iteration);
  draws_due_ = std::max(draws_due_, 1);
}

void Viewer::show_step_iteration(int iteration) {
  if (step_.stops().empty())
    throw InputError("there are no iterations of a step: step_iterations comes first");
  view_.lab = true;
  view_.lab_view = LabView::step;
  step_.show_iteration(iteration);
  draws_due_ = std::max(draws_due_, 1);
}

/// The iterate of a step that the scene shows, or null.
const Snapshot* Viewer::step_iterate() const {
  return view_.lab && view_.lab_view == LabView::step && step_.is_in_scene() ? step_.shown() : nullptr;
}

// ---- Drawing ----

/// Selects the contacts that pass the filter.
void Viewer::choose_contacts() {
  std::span<const ContactRecord> contacts = simulation_.frame().snapshot.contacts;
  if (iterations_.is_in_scene()) contacts = iterations_.contacts();
  if (const Snapshot* iterate = step_iterate()) contacts = iterate->contacts;
  figures_.error_limit = iterations_.is_in_scene() ? iterations_.error_limit() : simulation_.error_limit();
  shown_contacts_.clear();
  std::ranges::copy_if(contacts, std::back_inserter(shown_contacts_), [&](const ContactRecord& contact) {
    return view_.filter.shows(shown_state(contact, figures_.error_limit));
  });
  pointer_.set_marks(view_.overlays.contacts ? std::span<const ContactRecord>(shown_contacts_)
                                             : std::span<const ContactRecord>());
}

/// The colours of surfaces, and what their legend says.
std::span<const float> Viewer::heat() {
  const std::span<const float> places =
      layers_.heat(*scene_, view_.surfaces, simulation_.frame(), simulation_.settings().materials);
  figures_.least_heat = layers_.least_heat();
  figures_.most_heat = layers_.most_heat();
  return places;
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
  frame.arrows = view_.arrows;
  frame.tree = simulation_.frame().snapshot.tree;
  frame.tree_level = view_.tree_level;
  choose_contacts();
  frame.contacts = shown_contacts_;
  frame.error_limit = figures_.error_limit;
  if (iterations_.is_in_scene()) frame.largest_force = iterations_.largest_force();
  if (view_.contact && !view_.contact->is_gone()) frame.highlighted_contact = view_.contact->contact().point;
  frame.highlighted_object = view_.selection ? view_.selection->object() : -1;
  frame.drag = pointer_.drag_line();
  if (scene_) {
    const SimulationFrame& shown = simulation_.frame();
    bodies_.paint(shown.snapshot, view_.surfaces == SurfaceColors::islands, renderer_);
    frame.ghosts = layers_.ghosts(*scene_, shown, view_.fork_view == ForkView::outlines ? &forks_ : nullptr,
                                  pointer_.gizmo(), step_iterate(), camera_.eye());
    frame.heat = heat();
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
  const PaneLooks looks{view_.surfaces, [this](ShownState state) { return view_.filter.shows(state); }};
  return fork_panes_.views(run, areas, simulation_.frame(), forks_, layers_, looks);
}

bool Viewer::draw_window(Image* shown) {
  const FrameView frame = frame_view();
  if (areas_.empty()) return renderer_.draw_window(frame, gui_.panels(), shown, gui_.marks());
  return renderer_.draw_window(panes(frame, areas_), gui_.panels(), shown, gui_.marks());
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
  if (scene_) heat();  // of what actions have chosen since the last picture
  PanelContext context = panel_context();
  gui_.draw(context);
  write_view();  // before a picture of it is
  if (const auto clicked = pointer_.take_click()) select(*clicked);
  if (view_.quality != renderer_.quality()) renderer_.set_quality(view_.quality);

  ask_for_data();
  const bool wanted = pictures_.wants(simulation_.frame().snapshot.time);
  Image shown;
  const bool with_panels = view_.panels_in_pictures;
  const bool drawn = draw_window(wanted && with_panels ? &shown : nullptr);
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
  while (!window_.closing() && !quit_ && !scripted_end && !is_interrupted()) {
    window_.wait(script_ || replay_ ? std::min(script_interval, time_to_next_draw()) : time_to_next_draw());
    const bool follows = forks_.update(simulation_.status().frame, simulation_.status().time);
    simulation_.set_leash(forks_.leash());
    if (follows) {
      forks_.compare(simulation_.frame());
      draws_due_ = std::max(draws_due_, 1);
    }
    take_news();
    while (auto state = simulation_.take_forked()) forks_.add(std::move(state));
    files_.watch_folder();
    follow_replay();
    if (sweep_.follow(simulation_)) draws_due_ = std::max(draws_due_, 1);
    if (script_) ask_for_data();  // of what its last line has chosen
    if (script_ &&
        !script_->advance(
            {simulation_, [this](ActionId action) { act(action); },
             [this](const std::string& file) { open(file); }, [this] { take_news(); },
             [this] { return is_busy(); }, camera_.target.cast<double>(),
             [this](const SweepRequest& request) { ask_sweep(request); },
             [this](const std::string& solver, long iteration) { show_iteration(solver, iteration); },
             [this](int iteration) { show_step_iteration(iteration); },
             [this](const Vec<float, 2>& pixel) { click(pixel); },
             [this](const std::string& object) { select(object); },
             [this](const Vec3f& eye, const Vec3f& target) { look(eye, target); },
             [this](Quality quality) { set_quality(quality); },
             [this](const ClipChoice& clip) { view_.clip = clip; }, &presets_,
             [this](const ViewRow& row, double value) { show(row, value); }})) {
      script_failed_ |= script_->has_failed();
      script_.reset();
    }
    if (options_.script.drive &&
        !options_.script.drive(simulation_, [this](ActionId action) { act(action); }))
      quit_ = true;
    iterations_.follow(simulation_.status());
    step_.follow(simulation_.status());
    if (iterations_.advance(Clock::now()) | step_.advance(Clock::now()) | iterations_.is_playing() |
        step_.is_playing())
      draws_due_ = std::max(draws_due_, 1);
    if (lab_.update() | steppers_.update() | iterations_.update() | step_.update())
      draws_due_ = std::max(draws_due_, 1);
    if (std::exchange(log_seen_, log_->count()) != log_->count()) draws_due_ = std::max(draws_due_, 1);
    write_view();
    if (time_to_next_draw() > 0) continue;
    draw();
    draws_due_ = std::max(0, draws_due_ - 1);
    const ViewScript& script = options_.script;
    scripted_end =
        script.quit_after_frames > 0 && (simulation_.frame().snapshot.frame >= script.quit_after_frames ||
                                         !simulation_.status().error.empty());
  }
  pictures_.stop_video(simulation_.status().error);
  simulation_.update();
  write_journal();
  if (!options_.script.screenshot.empty()) {
    PanelContext context = panel_context();
    Image shown;
    gui_.draw(context);
    if (draw_window(&shown)) write_png(options_.script.screenshot, shown);
  }
  for (const std::string& message : renderer_.validation_messages()) spdlog::error("validation: {}", message);
  if (script_) script_failed_ |= script_->has_failed();
  const bool failed = script_failed_ || (scripted_end && !simulation_.status().error.empty());
  return failed || !renderer_.validation_messages().empty() ? 1 : 0;
}

int run_viewer(const ViewOptions& options) { return Viewer(options).run(); }

}  // namespace stickslip
