// The part of Simulation that runs on its thread.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "app/viewer/object_moves.h"
#include "app/viewer/scene_content.h"
#include "app/viewer/simulation.h"
#include "gpu/model/contact_area.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {
namespace {

using Activity = SimulationStatus::Activity;

/// Minimum interval between snapshots: no window draws faster.
constexpr auto snapshot_interval = std::chrono::milliseconds(8);

/// [s] over which the rate of steps is averaged.
constexpr double rate_window = 0.5;

/// A command that finds nothing to act on: no error of the simulation.
struct NothingToActOn : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The nodes are those of a frame that was seen: since then the scene may have become another one.
void require_nodes(const Drag& drag, const Model& model) {
  for (int c = 0; c < 3; ++c)
    if (drag.triangle[c] < 0 || static_cast<std::size_t>(drag.triangle[c]) >= model.node_count())
      throw NothingToActOn("nothing to pull: the scene has changed since it was clicked");
}

/// [m] at which contacts of meshes begin, so that details below are none of the pressure; 0 between rigid
/// bodies at velocity level, whose contacts are corners of patches.
double resolution_of(const Model& model, const Params& params) {
  if (stepper_family(params.solver) != StepperFamily::velocity) return params.d_hat;
  return std::ranges::any_of(model.objects, &Object::is_deformable) ? params.contact_margin : 0;
}

double seconds(Simulation::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void Simulation::run() {
  std::vector<Queued> commands;
  while (wait_for_work(commands))
    if (commands.empty()) step();
    else apply_all(commands);
}

bool Simulation::wait_for_work(std::vector<Queued>& commands) {
  commands.clear();
  std::unique_lock lock(mutex_);
  while (!quit_) {
    if (!queue_.empty()) {
      commands.swap(queue_);
      applying_ = true;
      interrupted_ = false;
      return true;
    }
    if (offered_) {
      Offered offered = std::move(*offered_);
      offered_.reset();
      lock.unlock();
      accept(std::move(offered.scene), std::move(offered.offer));
      lock.lock();
      continue;
    }
    const bool lacks = (contacts_wanted_ && !contacts_published_) || (tree_wanted_ && !tree_published_) ||
                       (contacts_wanted_ && details_wanted_ && !details_published_) ||
                       (stiffness_wanted_ && !stiffness_published_) || (matrix_wanted_ && !matrix_published_);
    if (lacks && scene_) unpublished_ = true;
    const bool free = status_.loaded && frame_ < leash_;
    const bool playing = status_.playing && free;
    if (free && (steps_wanted_ > 0 || (playing && Clock::now() >= next_step_))) return true;
    if (unpublished_) {
      lock.unlock();
      publish_frame();
      lock.lock();
    } else if (playing) {
      wake_.wait_until(lock, next_step_);
    } else {
      wake_.wait(lock);
    }
  }
  return false;
}

void Simulation::apply_all(const std::vector<Queued>& commands) {
  for (const Queued& queued : commands) {
    try {
      apply(queued.command);
    } catch (const NothingToActOn& error) {
      spdlog::warn("{}", error.what());
      continue;
    } catch (const std::exception& error) {
      if (dynamic_cast<const StepInterrupted*>(&error) != nullptr) end_interrupted("the change was stopped");
      else fail(error.what(), true);
      const std::lock_guard lock(mutex_);
      contents_in_flight_ -= changes_content(queued.command);
      continue;
    }
    const std::lock_guard lock(mutex_);
    contents_in_flight_ -= changes_content(queued.command);
    journal_.push_back({frame_, time_, seconds(queued.given - started_), queued.command});
  }
  {
    const std::lock_guard lock(mutex_);
    // With queued commands, `settings_` already contains their edits and is ahead of the engine.
    if (scene_ && queue_.empty())
      settings_ = {engine_->params(), engine_->materials(), half_space_mu_, engine_->contact_params()};
    status_.activity = Activity::idle;
    applying_ = false;
    news_ = true;  // under this lock: after is_caught_up() is true, the next update has all results
  }
  changed();
}

void Simulation::apply(const Command& command) {
  if (const auto* scene = std::get_if<LoadScene>(&command)) return load(*scene);
  if (const auto* wire = std::get_if<TripwireEdit>(&command)) {
    const std::lock_guard lock(mutex_);
    return apply_edit(*wire, tripwires_);
  }
  if (!scene_) throw std::invalid_argument("no scene is loaded");
  // As a new object, because observers of frames take over a scene when the object changes.
  if (std::holds_alternative<ResetAll>(command)) {
    begin(Activity::loading);
    contents_.forget_states();
    return start(std::make_shared<const Scene>(*scene_));
  }
  std::visit(
      [this](const auto& edit) {
        using Edit = std::decay_t<decltype(edit)>;
        if constexpr (std::is_same_v<Edit, Reset>) {
          engine_->set_drag(std::nullopt);
          engine_->reset();
          contents_.forget_states();
          drag_.reset();
          restart();
          unpublished_ = true;
          remember(false);
        } else if constexpr (std::is_same_v<Edit, ParamEdit>) {
          Params params = engine_->params();
          apply_edit(edit, params);
          const std::string before = engine_->load_note();
          if (stepper_family(params.solver) != stepper_family(engine_->params().solver))
            begin(Activity::switching);
          engine_->set_params(params);
          if (const std::string note = engine_->load_note(); note != before && !note.empty())
            spdlog::warn("{}: {}", scene_->name, note);
        } else if constexpr (std::is_same_v<Edit, ContactParamEdit>) {
          LabParams params = engine_->contact_params();
          apply_edit(edit, params);
          engine_->set_contact_params(params);
        } else if constexpr (std::is_same_v<Edit, MaterialEdit>) {
          std::vector<Material> materials = engine_->materials();
          apply_edit(edit, materials);
          engine_->set_materials(materials);
        } else if constexpr (std::is_same_v<Edit, HalfSpaceEdit>) {
          apply_edit(edit, half_space_mu_);
          engine_->set_half_space_mu(edit.index, edit.mu);
        } else if constexpr (std::is_same_v<Edit, DragStart>) {
          require_nodes(edit.drag, scene_->model);
          drag_ = edit.drag;
          engine_->set_drag(drag_);
        } else if constexpr (std::is_same_v<Edit, DragMove>) {
          if (!drag_) return;
          drag_->target = edit.target;
          engine_->set_drag(drag_);
        } else if constexpr (std::is_same_v<Edit, DragEnd>) {
          drag_.reset();
          engine_->set_drag(std::nullopt);
        } else if constexpr (std::is_same_v<Edit, Freeze>) {
          freeze();
        } else if constexpr (std::is_same_v<Edit, CaptureState>) {
          deliver(edit.use);
        } else if constexpr (std::is_same_v<Edit, ForkState>) {
          fork(edit);
        } else if constexpr (std::is_same_v<Edit, Rewind>) {
          rewind(edit.frame);
        } else if constexpr (std::is_same_v<Edit, KeepState>) {
          keep();
        } else if constexpr (std::is_same_v<Edit, ReturnToKept>) {
          return_to_kept();
        } else if constexpr (std::is_same_v<Edit, AddObject>) {
          go_on_with([&] { return with_object(*scene_, edit.toml); }, "");
        } else if constexpr (std::is_same_v<Edit, RemoveObject>) {
          go_on_with([&] { return without_object(*scene_, edit.name); }, edit.name + " removed");
        } else if constexpr (std::is_same_v<Edit, MoveObject>) {
          go_on_with([&] { return with_move(*scene_, edit, engine_->state()); }, edit.object + " moved", {},
                     [&](const Model& from, const State& before, const Model& to, State& state) {
                       put_moved(from, before, to, edit, state);
                     });
        } else if constexpr (std::is_same_v<Edit, AddPin>) {
          go_on_with([&] { return with_pin(*scene_, edit.object, edit.nodes, engine_->state().time); },
                     "a pin of " + edit.object);
        } else if constexpr (std::is_same_v<Edit, RemovePins>) {
          go_on_with([&] { return without_pins(*scene_, edit.object); },
                     "pins of " + edit.object + " removed");
        } else if constexpr (std::is_same_v<Edit, AddJoint>) {
          go_on_with([&] { return with_joint(*scene_, edit.toml); }, label_of_joint(edit.toml));
        } else if constexpr (std::is_same_v<Edit, AddSpring>) {
          go_on_with([&] { return with_spring(*scene_, edit.toml); }, "a spring added");
        } else if constexpr (std::is_same_v<Edit, RemoveTies>) {
          go_on_with([&] { return without_ties(*scene_, edit.object); }, "ties of " + edit.object + " cut");
        } else if constexpr (std::is_same_v<Edit, GoToContent>) {
          go_on_with([&] { return contents_.at(edit.content, *scene_); }, "", edit.content);
        }
      },
      command);
}

/// Ignores an offer for a scene that was replaced, or that the engine refused.
void Simulation::accept(std::shared_ptr<const Scene> scene, PositionOffer offer) {
  if (!scene_ || scene != scene_) return;
  Sharing sharing = offer.how;
  slots_ = nullptr;
  if (offer.slots) {
    const std::string note = std::move(sharing.note);
    try {
      sharing = engine_->share(std::move(offer.target));
    } catch (const std::exception& error) {
      sharing = {ShareKind::staged, error.what()};
    }
    if (sharing.kind != ShareKind::staged) slots_ = std::move(offer.slots);
    if (sharing.note.empty()) sharing.note = note;
    unpublished_ = true;
  }
  set_sharing(sharing);
}

void Simulation::set_sharing(const Sharing& sharing) {
  {
    const std::lock_guard lock(mutex_);
    status_.sharing = sharing;
  }
  changed();
}

void Simulation::freeze() {
  if (at_moment_) throw NothingToActOn("nothing to freeze: the state was restored, and no step made since");
  auto step = std::make_shared<FrozenStep>();
  Snapshot shown;
  shown.wants_positions = false;
  try {
    step->problem = engine_->freeze();
  } catch (const std::logic_error& error) {
    throw NothingToActOn(std::string("nothing to freeze: ") + error.what());
  }
  if (step->problem.blocks() == 0) throw NothingToActOn("nothing to freeze: the last step had no contacts");
  const ParamInfo& solver = *find_param(param_table(), "contact_solver");
  step->scene = scene_->name;
  step->frame = frame_;
  step->time = time_;
  step->solver = param_text(&engine_->params(), solver);
  step->params = engine_->contact_params();
  engine_->snapshot(shown);
  ages_.observe(time_, shown.contacts);
  set_contact_areas(shown.contacts, resolution_of(scene_->model, engine_->params()));
  step->contacts = std::move(shown.contacts);
  step->dt = engine_->params().dt;
  const std::lock_guard lock(mutex_);
  frozen_ = std::move(step);
}

/// Clears the data of the previous run.
void Simulation::restart() {
  frame_ = 0;
  time_ = 0;
  unpublished_ = false;
  timeline_.clear();
  ages_.clear();
  at_moment_ = false;
  sound_ = -1;
  last_report_.reset();
  const std::lock_guard lock(mutex_);
  status_.frame = 0;
  status_.time = 0;
  status_.timeline = timeline_.extent();
  status_.tripped.clear();
  status_.faulty = false;
  status_.loaded = scene_ != nullptr;
  status_.steps_per_second = status_.step_seconds = 0;
  history_cleared_ = true;
  new_reports_.clear();
  next_step_ = {};
}

void Simulation::step() {
  begin(Activity::stepping);
  {
    const std::lock_guard lock(mutex_);
    status_.tripped.clear();
  }
  const Clock::time_point start = Clock::now();
  StepReport report;
  try {
    follow_tracing();
    report = engine_->step();
  } catch (const StepInterrupted&) {
    return end_interrupted("the step was stopped: the state is that before it");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
  const Clock::time_point end = Clock::now();
  pace(report.time - time_);
  frame_ = report.frame;
  time_ = report.time;
  at_moment_ = false;
  unpublished_ = true;
  try {
    remember(true);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
  if (!(end - published_ < snapshot_interval ? watch_contacts() : publish_frame())) return;
  if (!take_sample()) return;
  end_step(std::move(report), start, end);
}

/// Tells the caller's side of a step.
void Simulation::end_step(StepReport report, Clock::time_point start, Clock::time_point end) {
  std::string tripped_by;
  {
    const std::lock_guard lock(mutex_);
    if (tripwires_.any())
      tripped_by = tripped(tripwires_, report, last_report_ ? &*last_report_ : nullptr, not_finite_);
    status_.activity = Activity::idle;
    status_.step_seconds = seconds(end - start);
    // A pause is not a slow step: an interval counts only if it is short, or if the step itself was long.
    const double interval = seconds(end - last_step_end_);
    const double spent = std::max(interval < 1 ? interval : status_.step_seconds, 1e-6);
    const double weight = status_.steps_per_second > 0 ? 1 - std::exp(-spent / rate_window) : 1;
    status_.steps_per_second += weight * (1 / spent - status_.steps_per_second);
    status_.error.clear();
    status_.faulty = false;
    status_.tripped = tripped_by;
    if (steps_wanted_ > 0) --steps_wanted_;
    if (!tripped_by.empty()) {
      status_.playing = false;
      steps_wanted_ = 0;
    }
    if (!new_reports_.empty()) new_reports_.back().trace = {};
    last_report_ = report;
    last_report_->trace.clear();
    new_reports_.push_back(std::move(report));
    if (new_reports_.size() > history_length) new_reports_.erase(new_reports_.begin());
  }
  if (!tripped_by.empty()) spdlog::warn("tripwire: {}", tripped_by);
  last_step_end_ = end;
  changed();
}

/// Sets the earliest start of the next step. A simulation behind the clock catches up by one step at most.
void Simulation::pace(double simulated_seconds) {
  const std::lock_guard lock(mutex_);
  if (!pacing_.real_time) {
    next_step_ = {};
    return;
  }
  const Clock::time_point now = Clock::now();
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(simulated_seconds / std::max(pacing_.speed, 1e-3)));
  next_step_ = std::max(next_step_ + interval, now - interval);
}

void Simulation::follow_tracing() {
  bool wanted = false;
  {
    const std::lock_guard lock(mutex_);
    wanted = tracing_;
  }
  if (wanted == engine_traces_) return;
  engine_->set_tracing(wanted);
  engine_traces_ = wanted;
}

/// False when the engine cannot return its state, for example after a lost device: the previous frame stays.
bool Simulation::publish_frame() {
  unpublished_ = false;
  SimulationFrame& frame = frames_.back();
  frame.scene = scene_;
  try {
    frame.shared = {};  // release the slot of three frames ago before searching for another
    frame.shared = publish_positions();
    frame.snapshot.wants_positions = !frame.shared;
    {
      const std::lock_guard lock(mutex_);
      frame.snapshot.wants_contacts = contacts_published_ = contacts_wanted_;
      details_published_ = details_wanted_;
      tree_published_ = tree_wanted_;
      stiffness_published_ = stiffness_wanted_;
      matrix_published_ = matrix_wanted_;
    }
    frame.parts = {contacts_published_, details_published_, tree_published_, stiffness_published_,
                   matrix_published_};
    // The engine's trees are those of a step: no step led to the start, or to a restored state.
    const bool is_of_step = frame_ > 0 && !at_moment_;
    frame.snapshot.wants_tree = tree_published_ && is_of_step;
    frame.snapshot.wants_stiffness = stiffness_published_ && is_of_step;
    frame.snapshot.matrix_cells = matrix_published_ && is_of_step ? kMatrixCells : 0;
    engine_->snapshot(frame.snapshot);
    if (frame.snapshot.wants_contacts) finish_contacts(frame.snapshot);
    else ages_.miss();
  } catch (const std::exception& error) {
    fail(error.what());
    return false;
  }
  frames_.publish();
  published_ = Clock::now();
  if (on_change_) on_change_();
  return true;
}

/// Replaces or completes the contacts of the engine.
void Simulation::finish_contacts(Snapshot& snapshot) {
  // A restored state has no impulses yet: the contacts that were found in it before are shown again.
  const Moment* moment = at_moment_ ? timeline_.at(frame_) : nullptr;
  if (moment != nullptr) snapshot.contacts = moment->contacts;
  else if (!at_moment_) ages_.observe(time_, snapshot.contacts);
  if (details_published_)
    set_contact_areas(snapshot.contacts, resolution_of(scene_->model, engine_->params()));
  if (moment == nullptr) timeline_.set_contacts(frame_, snapshot.contacts);
}

/// Of a step that no frame shows, where ages count every step.
bool Simulation::watch_contacts() {
  if (!details_published_ || !contacts_published_) return true;
  watched_.wants_positions = false;
  try {
    engine_->snapshot(watched_);
  } catch (const std::exception& error) {
    fail(error.what());
    return false;
  }
  ages_.observe(time_, watched_.contacts);
  timeline_.set_contacts(frame_, watched_.contacts);
  return true;
}

/// False when the engine cannot return its state.
bool Simulation::take_sample() {
  {
    const std::lock_guard lock(mutex_);
    if (!samples_wanted_) return true;
  }
  StepSample sample{scene_, {}};
  try {
    engine_->snapshot(sample.snapshot);
  } catch (const std::exception& error) {
    fail(error.what());
    return false;
  }
  const std::lock_guard lock(mutex_);
  samples_.push_back(std::move(sample));
  if (samples_.size() > kMostSamples) samples_.pop_front();
  return true;
}

/// Empty if positions are not shared, or no longer.
SlotHold Simulation::publish_positions() {
  if (!slots_) return {};
  try {
    return slots_->write(
        [this](std::size_t slot, std::uint64_t value) { return engine_->publish(slot, value); });
  } catch (const std::exception& error) {
    spdlog::warn("positions are copied from now on: {}", error.what());
    slots_ = nullptr;
    set_sharing({ShareKind::staged, error.what()});
    return {};
  }
}

/// Publishes a scene as defined by its file. So the window shows the scene even if the engine then refuses
/// it.
void Simulation::publish_start(const std::shared_ptr<const Scene>& scene) {
  SimulationFrame& frame = frames_.back();
  frame.scene = scene;
  frame.parts = {};
  frame.snapshot = {};
  frame.shared = {};
  for (const auto& position : scene->model.positions)
    frame.snapshot.positions.push_back(position.cast<float>());
  for (const Body& body : frame.scene->model.bodies) frame.snapshot.poses.push_back(body.pose);
  frames_.publish();
  {
    const std::lock_guard lock(mutex_);
    settings_ = {scene->params, scene->model.materials, half_space_mu_, scene->contact_params};
    // A reset makes a copy of the same scene.
    const bool is_other =
        !published_scene_ || published_scene_->name != scene->name || published_scene_->file != scene->file ||
        published_scene_->variant != scene->variant || published_scene_->source != scene->source;
    if (is_other) {
      ++status_.scenes;
      contents_.begin(*scene);
      status_.content = 0;
      new_contents_.clear();
    }
    published_scene_ = scene;
    status_.sharing = {};
  }
  changed();
}

void Simulation::begin(Activity activity) {
  const std::lock_guard lock(mutex_);
  if (activity == Activity::stepping) interrupted_ = quit_;
  status_.activity = activity;
  status_.since = Clock::now();
  news_ = true;
}

void Simulation::fail(const std::string& message, bool refused) {
  spdlog::error("{}", message);
  {
    const std::lock_guard lock(mutex_);
    status_.activity = Activity::idle;
    status_.playing = false;
    status_.error = message;
    ++(refused ? status_.refusals : status_.faults);
    status_.faulty |= !refused;
    steps_wanted_ = 0;
  }
  changed();
}

/// The run is paused already.
void Simulation::end_interrupted(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (!quit_) spdlog::warn("{}", what);
    status_.activity = Activity::idle;
  }
  changed();
}

void Simulation::changed() {
  {
    const std::lock_guard lock(mutex_);
    news_ = true;
  }
  if (on_change_) on_change_();
}

}  // namespace stickslip
