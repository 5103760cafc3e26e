#include "app/viewer/selection_edits.h"

#include <spdlog/spdlog.h>

#include "app/io/file/input_error.h"
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

}  // namespace stickslip
