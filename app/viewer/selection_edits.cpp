#include "app/viewer/selection_edits.h"

#include <spdlog/spdlog.h>

#include "app/io/file/input_error.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/picking.h"
#include "app/viewer/scene_content.h"

namespace stickslip {
namespace {

bool has_selection(const ViewState& view) {
  if (!view.selection) spdlog::info("no object is selected: click on one first");
  return view.selection.has_value();
}

/// Whether it is known where on the selected object the click was.
bool has_place(const ViewState& view) {
  const bool known = view.selection && view.picked && view.picked->object == view.selection->object();
  if (!known) spdlog::info("no place on an object is selected: click on one first");
  return known;
}

const std::string& name_of_selected(const ViewState& view) { return view.selection->description().name; }

/// The first call takes one end, the second calls add(from, to).
template <class Add>
void tie_places(ViewState& view, const char* what, Add add) {
  if (!has_place(view)) return;
  if (!view.tied_from) {
    view.tied_from = view.picked;
    spdlog::info("{} begins at {}: click on its other end and press the key again", what,
                 name_of_selected(view));
    return;
  }
  try {
    add(*view.tied_from, *view.picked);
    view.overlays.joints = true;
  } catch (const InputError& error) {
    spdlog::warn("{}", error.what());
  }
  view.tied_from.reset();
}

}  // namespace

void remove_selected(Simulation& simulation, ViewState& view) {
  if (!has_selection(view)) return;
  simulation.post(RemoveObject{name_of_selected(view)});
  view.selection.reset();
}

void copy_selected(Simulation& simulation, ViewState& view) {
  if (!has_selection(view)) return;
  if (simulation.is_changing_content()) return spdlog::info("the last change is not done yet");
  try {
    const SimulationFrame& frame = simulation.frame();
    simulation.post(AddObject{copy_toml(*frame.scene, name_of_selected(view), frame.positions())});
  } catch (const InputError& error) {
    spdlog::warn("{}", error.what());
  }
}

void tie_selected(Simulation& simulation, ViewState& view) {
  tie_places(view, "a rope", [&](const Pick& from, const Pick& to) {
    const SimulationFrame& frame = simulation.frame();
    simulation.post(AddJoint{tie_toml(frame.scene->model, from, to, frame.positions())});
  });
}

void spring_selected(Simulation& simulation, ViewState& view) {
  tie_places(view, "a spring", [&](const Pick& from, const Pick& to) {
    const SimulationFrame& frame = simulation.frame();
    simulation.post(AddSpring{spring_toml(frame.scene->model, from, to, frame.positions())});
  });
}

void joint_selected(Simulation& simulation, ViewState& view) {
  tie_places(view, "a joint", [&](const Pick& from, const Pick& to) {
    const SimulationFrame& frame = simulation.frame();
    simulation.post(AddJoint{
        joint_toml(frame.scene->model, view.joint, from, to, frame.positions(), frame.snapshot.poses)});
  });
}

void untie_selected(Simulation& simulation, ViewState& view) {
  if (has_selection(view)) simulation.post(RemoveTies{name_of_selected(view)});
}

void pin_selected(Simulation& simulation, ViewState& view) {
  if (!has_place(view)) return;
  const SimulationFrame& frame = simulation.frame();
  view.overlays.pins = true;
  simulation.post(
      AddPin{name_of_selected(view), nodes_near(frame.scene->model, *view.picked, frame.positions())});
}

void unpin_selected(Simulation& simulation, ViewState& view) {
  if (has_selection(view)) simulation.post(RemovePins{name_of_selected(view)});
}

void track_selected(Simulation& simulation, ViewState& view) {
  TrackedProbes& tracked = view.tracked;
  const auto toggle = [&](const auto& probe) {
    if (const auto index = tracked.find(probe)) return tracked.untrack(*index);
    if (!tracked.track(probe))
      return spdlog::info("{} contacts and objects are tracked: take one of them away first",
                          TrackedProbes::kMost);
    simulation.want_samples(true);
    const SimulationFrame& frame = simulation.frame();
    tracked.observe(frame.snapshot, frame.positions(), simulation.settings().materials,
                    simulation.status().restored);
    open_sections()["Tracked"] = true;
  };
  if (view.contact) toggle(*view.contact);
  else if (has_selection(view)) toggle(*view.selection);
}

void pause_plots(const Simulation& simulation, ViewState& view) {
  if (view.held) return view.held.reset();
  view.held = HeldPlots{simulation.history(), view.tracked, view.expected};
}

}  // namespace stickslip
