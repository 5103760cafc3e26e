// Scenes that are loaded into the engine, on the simulation's thread.
#include <spdlog/spdlog.h>

#include <utility>

#include "app/io/scene/scene_variant.h"
#include "app/viewer/simulation.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

/// "3 rigid bodies, 1 joint, 40 nodes, 12 tets, 60 triangles", without zero counts.
std::string contents_of(const Model& model) {
  std::string text;
  const auto add = [&](std::size_t count, const char* one, const std::string& many) {
    if (count > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + (count == 1 ? one : many);
  };
  const auto add_plain = [&](std::size_t count, const char* one) { add(count, one, one + std::string("s")); };
  add(model.bodies.size(), "rigid body", "rigid bodies");
  add_plain(model.joints.size(), "joint");
  add_plain(model.springs.size(), "spring");
  add_plain(model.node_count(), "node");
  add_plain(count_tets(model).linear, "tet");
  add_plain(count_tets(model).ten_node, "ten-node tet");
  std::size_t frames = 0;
  for (const Lattice& lattice : model.lattices) frames += lattice.frames.size();
  add_plain(frames, "frame");
  add_plain(model.triangles.size(), "triangle");
  add_plain(model.segments.size(), "segment");
  return text.empty() ? "empty" : text;
}

}  // namespace

void Simulation::load(const LoadScene& what) {
  begin(SimulationStatus::Activity::loading);
  if (on_change_) on_change_();
  // A file that cannot be read throws here, and the run goes on as it was, with its kept state.
  auto scene = std::make_shared<const Scene>(load_scene_(what.scene, what.variant));
  kept_state_.reset();
  {
    const std::lock_guard lock(mutex_);
    status_.kept.reset();
  }
  start(std::move(scene));
  {
    const std::lock_guard lock(mutex_);
    opened_.add(*scene_);
  }
  spdlog::info("{}: {}", full_name(*scene_), contents_of(scene_->model));
  for (const std::string& note : scene_->notes) spdlog::warn("{}", note);
  if (const std::string note = engine_->load_note(); !note.empty())
    spdlog::warn("{}: {}", scene_->name, note);
}

/// Puts the scene into the engine with the settings of its file.
void Simulation::start(std::shared_ptr<const Scene> scene) {
  scene_ = nullptr;
  slots_ = nullptr;
  drag_.reset();
  half_space_mu_.clear();
  for (const HalfSpace& plane : scene->model.half_spaces) half_space_mu_.push_back(plane.mu);
  restart();
  publish_start(scene);
  renew_engine(*scene);
  engine_->set_drag(std::nullopt);
  engine_->set_params(scene->params);
  engine_->set_contact_params(scene->contact_params);
  engine_->load(scene->model);
  if (scene->resumed) {
    engine_->set_state(*scene->resumed);
    frame_ = scene->resumed->frame;
    time_ = scene->resumed->time;
  }
  scene_ = scene;
  timeline_.begin(scene->model, contents_.present());
  unpublished_ = true;
  remember(false);
  const std::lock_guard lock(mutex_);
  status_.loaded = true;
  status_.error.clear();
  status_.faulty = false;
}

/// Parameters must fit the model at all times, and a stepper of one family cannot move the model of another.
/// So a change of family creates a new engine for the scene.
void Simulation::renew_engine(const Scene& scene) {
  const SolverKind kind = scene.params.solver;
  if (loaded_with_ && stepper_family(*loaded_with_) != stepper_family(kind))
    engine_ = new_engine(), engine_traces_ = false;
  loaded_with_ = kind;
}

}  // namespace stickslip
