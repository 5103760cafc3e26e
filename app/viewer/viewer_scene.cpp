#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/viewer/expect_curves.h"
#include "app/viewer/object_moves.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/scene_content.h"
#include "app/viewer/viewer_window.h"

namespace stickslip {
namespace {

constexpr float kContactReach = 0.02f;  // of the scene's radius: movement of a picked contact in a step

}  // namespace

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
    const std::optional<int> selected =
        view_.selection && reloaded
            ? same_object(scene_->model, frame.scene->model, view_.selection->object())
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
  memory_.scale = view_.scale;
  memory_.arrows = view_.arrows;
  memory_.surfaces = view_.surfaces;
  memory_.filter = view_.filter;
  memory_.pictures = view_.pictures;
  memory_.race = view_.race;
  memory_.stepper_race = view_.stepper_race;
  memory_.output = options_.kept_output;
  try {
    write_window_memory(options_.memory, memory_);
  } catch (const std::exception& error) {
    spdlog::warn("the window's settings are not kept: {}", error.what());
  }
}

/// What the next picture shows of the simulation and its forks.
void Viewer::ask_for_data() {
  simulation_.want_contacts(shows_contacts(view_.overlays) || view_.selection || view_.contact ||
                            view_.surfaces == SurfaceColors::islands || view_.pattern_shown);
  const bool panes = !areas_.empty();
  forks_.want(
      {.contacts = panes && (shows_contacts(view_.overlays) || view_.surfaces == SurfaceColors::islands),
       .tree = panes && view_.overlays.tree,
       .stiffness = panes && view_.surfaces == SurfaceColors::stiffness});
  const bool by_scale = view_.scale == ContactScale::pressure || view_.scale == ContactScale::age;
  simulation_.want_contact_details(view_.contact || (hovered_ && hovered_->contact) ||
                                   (by_scale && shows_contacts(view_.overlays)));
  simulation_.want_samples(!view_.tracked.empty() || view_.expect_shown);
  simulation_.want_tree(view_.overlays.tree);
  simulation_.want_stiffness(view_.surfaces == SurfaceColors::stiffness);
  simulation_.want_matrix(view_.matrix_shown);
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
    view_.contact.emplace(scene_, *click.contact, kContactReach * renderer_.bounds().radius());
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
  draws_due_ = kSettlePictures;
}

void Viewer::click(const Vec<float, 2>& pixel) {
  pointer_.move(pixel[0], pixel[1]);
  pointer_.press(Pointer::Button::left, {});
  pointer_.release(Pointer::Button::left);
  if (const auto clicked = pointer_.take_click()) select(*clicked);
  draws_due_ = kSettlePictures;
}

void Viewer::look(const Vec3f& eye, const Vec3f& target) {
  const float covered = camera_.covered;
  camera_ = Camera::look_at(eye, target, camera_.fov);
  camera_.covered = covered;
  draws_due_ = kSettlePictures;
}

void Viewer::set_quality(Quality quality) {
  renderer_.set_quality(quality);
  view_.quality = renderer_.quality();
  draws_due_ = kSettlePictures;
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

}  // namespace stickslip
