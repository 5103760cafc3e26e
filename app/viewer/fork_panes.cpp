#include "app/viewer/fork_panes.h"

#include <algorithm>
#include <utility>

#include "app/viewer/step_text.h"

namespace stickslip {
namespace {

constexpr std::size_t kMostSettings = 3;  // in a caption

/// [N] the largest force that an arrow of the view or its cones can show.
float largest_force(const FrameView& view, std::span<const ContactRecord> contacts) {
  const float of_cones = view.overlays.cones ? largest_arrow(contacts, ForceArrows::contacts) : 0;
  return std::max(of_cones, largest_arrow(contacts, view.arrows));
}

/// The time at which a fork is shown: that of the run, or its own until it has reached it.
double shown_time(const ForkStatus& status, double time) { return std::min(time, status.newest()->time); }

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (std::size_t i = 0; i < std::min(kMostSettings, texts.size()); ++i)
    all += (i > 0 ? ", " : "") + texts[i];
  return texts.size() > kMostSettings ? all + ", ..." : all;
}

std::string named_value(const std::string& name, const std::string& value) {
  return std::string(name).append(" ").append(value);
}

PaneCaption caption_of(const Forks::Entry& entry, const Settings& now, const SimulationFrame& shown) {
  const ForkStatus& status = entry.fork->status();
  PaneCaption caption;
  caption.number = entry.number;
  std::vector<std::string> settings;
  if (const std::string seed = seed_text(entry.fork->from()); !seed.empty()) settings.push_back(seed);
  for (const SettingDifference& one : setting_differences(entry.fork->from(), now))
    settings.push_back(named_value(one.name, one.fork));
  caption.settings = settings.empty() ? "the same settings" : joined(settings);
  if (const auto found = entry.distances.find(shown.snapshot.frame); found != entry.distances.end())
    caption.distance = found->second.mean;
  if (!status.error.empty()) {
    caption.result = "ended: " + status.error;
    caption.is_good = false;
  } else if (status.newest()) {
    const ForkStep* step = status.before(shown_time(status, shown.snapshot.time));
    if (step == nullptr) {
      caption.result = "begins at frame " + std::to_string(entry.fork->start());
      return caption;
    }
    caption.result = step->snapshot ? step->result : "this moment is not kept";
    caption.is_good = step->converged;
  }
  return caption;
}

}  // namespace

std::vector<PaneArea> pane_areas(int count, const PaneArea& within, int gap) {
  std::vector<PaneArea> best;
  for (int columns = 1; columns <= count; ++columns) {
    const int rows = (count + columns - 1) / columns;
    const int width = std::max(1, (within.width - (columns - 1) * gap) / columns);
    const int height = std::max(1, (within.height - (rows - 1) * gap) / rows);
    if (!best.empty() && static_cast<float>(std::min(width, height)) <= best[0].shorter_side()) continue;
    best.clear();
    for (int i = 0; i < count; ++i)
      best.push_back(
          {within.x + i % columns * (width + gap), within.y + i / columns * (height + gap), width, height});
  }
  return best;
}

float pane_widening(const PaneArea& pane, const PaneArea& within) {
  const auto share = [](const PaneArea& area) {
    return area.shorter_side() / static_cast<float>(std::max(1, area.height));
  };
  return share(within) / share(pane);
}

std::vector<PaneCaption> pane_captions(const Forks& forks, const Simulation& simulation) {
  const Settings& now = simulation.settings();
  const SimulationFrame& shown = simulation.frame();
  std::vector<PaneCaption> captions(1);
  std::vector<std::string> settings;
  for (const Forks::Entry& entry : forks.entries()) {
    captions.push_back(caption_of(entry, now, shown));
    for (const SettingDifference& one : setting_differences(entry.fork->from(), now))
      if (const std::string text = named_value(one.name, one.run); std::ranges::count(settings, text) == 0)
        settings.push_back(text);
  }
  captions[0].settings = joined(settings);
  for (const StepReport& report : simulation.history()) {
    if (report.frame != shown.snapshot.frame) continue;
    captions[0].result = result_text(report);
    captions[0].is_good = report.converged && !missed_tolerance(report);
  }
  return captions;
}

void ForkPanes::set_scene(std::shared_ptr<const Scene> scene) {
  shown_.clear();
  scene_ = std::move(scene);
  bodies_.set_scene(scene_);
}

bool ForkPanes::find(const Fork& fork, double time, Shown& out) const {
  const ForkStatus& status = fork.status();
  if (!status.newest()) return false;
  const double at = shown_time(status, time);
  const ForkStep* step = status.before(at);
  if (step == nullptr || !step->snapshot) return false;
  out.frame = {scene_, *step->snapshot};
  out.frame.snapshot.positions = status.positions_at(at);
  out.frame.snapshot.time = step->time;
  out.error_limit = step->error_limit;
  return out.frame.snapshot.positions.size() == scene_->model.node_count();
}

void ForkPanes::add_marks(const Fork& fork, const FrameView& run, SceneLayers& layers, const PaneLooks& looks,
                          Shown& out) {
  const Snapshot& snapshot = out.frame.snapshot;
  const StepRaceStart& start = fork.from().start;
  std::ranges::copy_if(
      snapshot.contacts, std::back_inserter(out.contacts),
      [&](const ContactRecord& contact) { return looks.shows(shown_state(contact, out.error_limit)); });
  out.colors = bodies_.colors(snapshot, looks.surfaces == SurfaceColors::islands);
  out.heat = layers.heat_of(looks.surfaces, snapshot, start.model.materials);
  if (run.overlays.joints) {
    const std::span<const JointMark> joints = bodies_.joints(out.frame);
    out.joints.assign(joints.begin(), joints.end());
  }
  if (run.overlays.pins) {
    const std::span<const std::int32_t> pins = bodies_.pins(out.frame, start.params.dt);
    out.pins.assign(pins.begin(), pins.end());
  }
}

std::vector<Pane> ForkPanes::views(const FrameView& run, std::span<const PaneArea> areas,
                                   const SimulationFrame& shown, const Forks& forks, SceneLayers& layers,
                                   const PaneLooks& looks) {
  std::vector<Pane> panes;
  shown_.clear();
  if (areas.empty() || !scene_) return panes;
  const auto add = [&](const FrameView& view, const PaneArea& at) -> Pane& {
    return panes.emplace_back(Pane{view, at.x, at.y, at.width, at.height});
  };
  add(run, areas[0]);
  float largest = std::max(run.largest_force, largest_force(run, run.contacts));
  const std::vector<Forks::Entry>& entries = forks.entries();
  for (std::size_t i = 0; i < std::min(entries.size(), areas.size() - 1); ++i) {
    auto own = std::make_unique<Shown>();
    if (!find(*entries[i].fork, shown.snapshot.time, *own)) continue;
    add_marks(*entries[i].fork, run, layers, looks, *own);
    Pane& pane = add(run, areas[i + 1]);
    pane.positions = own->frame.snapshot.positions;
    pane.colors = own->colors;
    pane.view.contacts = own->contacts;
    pane.view.error_limit = own->error_limit;
    pane.view.joints = own->joints;
    pane.view.pins = own->pins;
    pane.view.heat = own->heat;
    pane.view.ghosts = {};
    pane.view.tree = own->frame.snapshot.tree;
    pane.view.highlighted_contact = std::nullopt;
    pane.view.drag = std::nullopt;
    largest = std::max(largest, largest_force(run, own->contacts));
    shown_.push_back(std::move(own));
  }
  for (Pane& pane : panes) {
    pane.view.left = 0;
    pane.view.right = 1;
    pane.view.largest_force = largest;
  }
  return panes;
}

}  // namespace stickslip
