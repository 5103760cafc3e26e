// Copies of a running scene and its state, and the return to them, on the simulation's thread.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "app/viewer/scene_content.h"
#include "app/viewer/simulation.h"
#include "gpu/core/device_lost.h"

namespace stickslip {
namespace {

double time_since(Simulation::Clock::time_point start) {
  return std::chrono::duration<double>(Simulation::Clock::now() - start).count();
}

/// Of the object that `after` has and `before` lacks.
std::string added_name(const Model& before, const Model& after) {
  for (const Object& object : after.objects)
    if (std::ranges::find(before.objects, object.name, &Object::name) == before.objects.end())
      return object.name;
  return "object";
}

}  // namespace

std::shared_ptr<CapturedState> Simulation::capture() const {
  auto captured = std::make_shared<CapturedState>();
  captured->scene = scene_->name;
  captured->solver = stepper_name(engine_->params());
  StepRaceStart& start = captured->start;
  start.model = scene_->model;
  start.model.materials = engine_->materials();
  for (std::size_t i = 0; i < half_space_mu_.size(); ++i) start.model.half_spaces[i].mu = half_space_mu_[i];
  start.params = engine_->params();
  start.contact = engine_->contact_params();
  start.state = engine_->state();
  return captured;
}

void Simulation::deliver(CaptureUse use) {
  std::shared_ptr<const CapturedState> state = capture();
  const std::lock_guard lock(mutex_);
  captured_[static_cast<std::size_t>(use)] = std::move(state);
}

void Simulation::fork(const ForkState& how) {
  if (how.seed != 0 && !(how.size > 0 && std::isfinite(how.size)))
    throw std::invalid_argument("a fork's velocities change by more than 0 m/s");
  std::shared_ptr<CapturedState> state = capture();
  go_to(state->start.state);
  if (how.seed != 0) {
    state->start.state = perturbed(std::move(state->start.state), how.seed, how.size);
    state->seed = how.seed;
    state->perturbation = how.size;
  }
  const std::lock_guard lock(mutex_);
  forked_.push_back(std::move(state));
}

void Simulation::keep() {
  kept_state_ = engine_->state();
  kept_content_ = contents_.present();
  Scene scene;
  scene.name = scene_->name;
  scene.file = scene_->file;
  scene.variant = scene_->variant;
  scene.scale = scene_->scale;
  scene.density = scene_->density;
  scene.params = engine_->params();
  scene.contact_params = engine_->contact_params();
  scene.model.materials = engine_->materials();
  for (const double mu : half_space_mu_) scene.model.half_spaces.push_back({.mu = mu});
  scene.changed = scene_->changed;
  scene.source = scene_->source;
  auto kept = std::make_shared<const Checkpoint>(make_checkpoint(scene, *kept_state_));
  const std::lock_guard lock(mutex_);
  kept_ = std::move(kept);
  status_.kept = frame_;
}

/// The scene takes the place of the present one, in an engine of its own: if that refuses it, as a barrier
/// step does where objects overlap, nothing has changed.
void Simulation::put_in(std::shared_ptr<const Scene> scene, std::optional<int> content,
                        const StateOf& state_of) {
  Model model = scene->model;
  model.materials = engine_->materials();
  for (std::size_t i = 0; i < half_space_mu_.size(); ++i) model.half_spaces.at(i).mu = half_space_mu_[i];
  std::unique_ptr<Engine> next = new_engine();
  next->set_params(engine_->params());
  next->set_contact_params(engine_->contact_params());
  try {
    next->load(model);
    next->set_state(state_of(model, next->state()));
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the scene goes on as it was, since the change does not fit: ") +
                             error.what());
  }
  contents_.go_on(content, scene_->model, engine_->state(), *scene);
  engine_ = std::move(next);
  engine_traces_ = false;
  scene_ = published_scene_ = std::move(scene);
  slots_ = nullptr;
  drag_.reset();
  timeline_.go_on(scene_->model, contents_.present());
  ages_.clear();  // names of contacts are numbers of bodies and nodes
  last_report_.reset();
  at_moment_ = true;
  const std::lock_guard lock(mutex_);
  status_.content = contents_.present();
  status_.sharing = {};
  status_.error.clear();
  status_.faulty = false;
}

void Simulation::go_on_with(const std::function<std::shared_ptr<const Scene>()>& change, std::string what,
                            std::optional<int> content, const AdjustState& adjust) {
  begin(SimulationStatus::Activity::loading);
  std::shared_ptr<const Scene> scene = change();
  const State before = engine_->state();
  const int left = contents_.present();
  if (what.empty()) what = added_name(scene_->model, scene->model) + " added";  // where content is not given
  put_in(std::move(scene), content, [&](const Model& model, const State& start) {
    State state = carried_over(scene_->model, before, model, start);
    if (content) contents_.put_back(*content, scene_->model, model, state);
    if (adjust) adjust(scene_->model, before, model, state);
    return state;
  });
  if (!content) {
    const std::lock_guard lock(mutex_);
    new_contents_.push_back({left, contents_.present(), std::move(what)});
  }
  publish_frame();
  remember(false);
}

/// To a state of another content.
void Simulation::travel(int content, const State& state) {
  const int left = contents_.present();
  if (content == left) return;
  begin(SimulationStatus::Activity::loading);
  put_in(contents_.at(content, *scene_), content, [&](const Model&, const State&) { return state; });
  const std::lock_guard lock(mutex_);
  new_contents_.push_back({left, content, "going to another time", true});
}

void Simulation::rewind(int frame) {
  const Moment* moment = timeline_.at(frame);
  if (moment == nullptr)
    throw std::invalid_argument("the state of frame " + std::to_string(frame) + " is not kept");
  const State state = moment->whole();
  travel(moment->content, state);
  go_to(state);
  ages_.restore(time_, moment->contacts);
}

void Simulation::return_to_kept() {
  if (!kept_state_) throw std::invalid_argument("no state was kept");
  travel(kept_content_, *kept_state_);
  go_to(*kept_state_);
  ages_.clear();
  // From another run of the scene, or older than the timeline: later states do not follow from it.
  const Moment* moment = timeline_.at(frame_);
  if (moment == nullptr || moment->content != kept_content_ ||
      state_hash(moment->state) != state_hash(timeline_.compact(*kept_state_)))
    remember(false);
}

void Simulation::go_to(const State& state) {
  drag_.reset();
  engine_->set_drag(std::nullopt);
  engine_->set_state(state);
  frame_ = state.frame;
  time_ = state.time;
  at_moment_ = true;
  not_finite_ = first_not_finite(scene_->model, state);
  if (not_finite_.empty()) sound_ = frame_;
  last_report_.reset();
  unpublished_ = true;
  show_timeline();
  const std::lock_guard lock(mutex_);
  status_.error.clear();
  status_.faulty = false;
  status_.tripped.clear();
  next_step_ = {};
}

/// Appends the present state to the timeline, and its hash to the journal if both are wanted.
void Simulation::remember(bool hashed) {
  std::size_t limit = 0;
  bool watched = false;
  {
    const std::lock_guard lock(mutex_);
    limit = timeline_limit_;
    hashed = hashed && hashing_;
    watched = tripwires_.not_finite;
  }
  timeline_.set_limit(limit);
  not_finite_.clear();
  if (limit == 0 && !hashed && !watched) return show_timeline();
  State state = engine_->state();
  not_finite_ = first_not_finite(scene_->model, state);
  if (not_finite_.empty()) sound_ = frame_;
  const std::uint64_t hash = hashed ? state_hash(state) : 0;
  if (limit > 0) timeline_.add(std::move(state));
  show_timeline();
  if (!hashed) return;
  const std::lock_guard lock(mutex_);
  journal_.push_back({frame_, time_, time_since(started_), Stepped{hash}});
}

void Simulation::show_timeline() {
  const std::lock_guard lock(mutex_);
  status_.frame = frame_;
  status_.time = time_;
  status_.restored = at_moment_;
  status_.sound = sound_;
  status_.timeline = timeline_.extent();
}

}  // namespace stickslip
