#include "app/viewer/simulation.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>
#include <limits>
#include <utility>

#include "app/viewer/step_text.h"

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace stickslip {
namespace {

/// The window shares the processor with the simulation and must have priority: a late frame is visible, a
/// late step is not. Threads of the engine inherit this.
void lower_priority() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
#endif
}

void show_edit(Tripwires& wires, const Command& command) try {
  if (const auto* wire = std::get_if<TripwireEdit>(&command)) apply_edit(*wire, wires);
} catch (const std::invalid_argument&) {
}

/// Applies an edit to `settings` on the caller's side at once. The simulation's thread refuses bad values.
void show_edit(Settings& settings, const Command& command) try {
  if (const auto* param = std::get_if<ParamEdit>(&command)) apply_edit(*param, settings.params);
  if (const auto* contact = std::get_if<ContactParamEdit>(&command))
    apply_edit(*contact, settings.contact_params);
  if (const auto* material = std::get_if<MaterialEdit>(&command)) apply_edit(*material, settings.materials);
  if (const auto* plane = std::get_if<HalfSpaceEdit>(&command)) apply_edit(*plane, settings.half_space_mu);
} catch (const std::invalid_argument&) {
}

bool ends_drag(const Command& command) {
  return changes_content(command) || std::holds_alternative<DragEnd>(command) ||
         std::holds_alternative<Reset>(command) || std::holds_alternative<ResetAll>(command);
}

}  // namespace

Simulation::Simulation(EngineFactory make_engine, SceneLoader load_scene, std::function<void()> on_change)
    : make_engine_(std::move(make_engine)),
      load_scene_(std::move(load_scene)),
      on_change_(std::move(on_change)),
      started_(Clock::now()) {
  std::promise<void> made;
  std::future<void> engine_made = made.get_future();
  thread_ = std::thread([this, made = std::move(made)]() mutable {
    lower_priority();
    try {
      engine_ = new_engine();
      engine_device_ = engine_->device_uuid();
    } catch (...) {
      made.set_exception(std::current_exception());
      return;
    }
    made.set_value();
    run();
    engine_.reset();
  });
  try {
    engine_made.get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

Simulation::~Simulation() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = interrupted_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::unique_ptr<Engine> Simulation::new_engine() {
  std::unique_ptr<Engine> engine = make_engine_();
  engine->set_cancel(&interrupted_);
  return engine;
}

void Simulation::queue(const Command& command) {
  {
    const std::lock_guard lock(mutex_);
    show_edit(settings_, command);
    if (std::holds_alternative<LoadScene>(command) || std::holds_alternative<Reset>(command) ||
        std::holds_alternative<ResetAll>(command))
      steps_wanted_ = 0;
    if (std::holds_alternative<Rewind>(command) || std::holds_alternative<ReturnToKept>(command)) {
      steps_wanted_ = 0;
      status_.playing = false;
      news_ = true;
    }
    if (!queue_.empty() && supersedes(command, queue_.back().command)) {
      contents_in_flight_ -= changes_content(queue_.back().command);
      queue_.pop_back();
    }
    contents_in_flight_ += changes_content(command);
    queue_.push_back({command, Clock::now()});
  }
  changing_content_ |= changes_content(command);
  dragging_ = (dragging_ || std::holds_alternative<DragStart>(command)) && !ends_drag(command);
  show_edit(seen_settings_, command);
  show_edit(seen_tripwires_, command);
  wake_.notify_one();
}

void Simulation::post(const Command& command) {
  queue(command);
  follow_edits(true);
}

void Simulation::post_all(const std::vector<Command>& edits) {
  edits_.end_step();
  for (const Command& edit : in_order(edits)) queue(edit);
  follow_edits(true);
  edits_.end_step();
}

void Simulation::undo() { ask(true); }
void Simulation::redo() { ask(false); }

void Simulation::ask(bool back) {
  if (changing_content_ || !asked_.empty()) return asked_.push_back(back);
  go_back_or_on(back);
}

void Simulation::go_back_or_on(bool back) {
  const std::vector<Command> edits = back ? edits_.undo() : edits_.redo();
  if (edits.empty()) return spdlog::info("there is nothing to {}", back ? "undo" : "redo");
  post_all(edits);
}

void Simulation::follow_content(const std::vector<ContentChange>& changes) {
  const double now = std::chrono::duration<double>(Clock::now() - started_).count();
  for (const ContentChange& change : changes) edits_.observe(change, now);
  if (!changing_content_) edits_.settle(seen_status_.content);
}

/// Edits that follow a change of the content come after it in the history.
void Simulation::follow_edits(bool accepted) {
  if (changing_content_) return;
  edits_.observe(seen_settings_, std::chrono::duration<double>(Clock::now() - started_).count(), accepted);
}

void Simulation::play() {
  {
    const std::lock_guard lock(mutex_);
    status_.playing = true;
    status_.tripped.clear();
    news_ = true;
  }
  wake_.notify_one();
}

void Simulation::pause() {
  {
    const std::lock_guard lock(mutex_);
    status_.playing = false;
    steps_wanted_ = 0;
    news_ = true;
  }
  wake_.notify_one();
}

void Simulation::interrupt() {
  pause();
  const std::lock_guard lock(mutex_);
  interrupted_ = interrupted_ || applying_ || status_.activity == SimulationStatus::Activity::stepping;
}

void Simulation::step_once() {
  {
    const std::lock_guard lock(mutex_);
    status_.playing = false;
    ++steps_wanted_;
    news_ = true;
  }
  wake_.notify_one();
}

void Simulation::request_step() {
  {
    const std::lock_guard lock(mutex_);
    if (status_.activity == SimulationStatus::Activity::loading) return;
    // The end of a step takes one off those that are wanted, also where none was: after a pause.
    const bool stepping = status_.activity == SimulationStatus::Activity::stepping && !status_.playing;
    steps_wanted_ = std::min(std::max(steps_wanted_, stepping ? 1 : 0) + 1, 2);
    status_.playing = false;
    news_ = true;
  }
  wake_.notify_one();
}

void Simulation::set_pacing(const Pacing& pacing) {
  {
    const std::lock_guard lock(mutex_);
    pacing_ = pacing;
    next_step_ = {};
  }
  seen_pacing_ = pacing;
  wake_.notify_one();
}

void Simulation::set_tracing(bool on) {
  const std::lock_guard lock(mutex_);
  tracing_ = seen_tracing_ = on;
}

bool Simulation::is_caught_up() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !applying_ && steps_wanted_ == 0;
}

void Simulation::set_leash(int frame) {
  {
    const std::lock_guard lock(mutex_);
    if (leash_ == frame) return;
    leash_ = frame;
  }
  wake_.notify_one();
}

void Simulation::set_timeline_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  timeline_limit_ = bytes;
}

void Simulation::set_tripwires(const Tripwires& wires) {
  for (const ParamInfo& row : tripwire_table())
    if (const double value = get_param(&wires, row); value != get_param(&seen_tripwires_, row))
      post(TripwireEdit{row.name, value});
}

void Simulation::set_hashing(bool on) {
  const std::lock_guard lock(mutex_);
  hashing_ = on;
}

void Simulation::share(std::shared_ptr<const Scene> scene, PositionOffer offer) {
  {
    const std::lock_guard lock(mutex_);
    offered_.emplace(Offered{std::move(scene), std::move(offer)});
  }
  wake_.notify_one();
}

void Simulation::want_contacts(bool wanted) {
  if (std::exchange(asked_for_contacts_, wanted) == wanted) return;
  {
    const std::lock_guard lock(mutex_);
    contacts_wanted_ = wanted;
  }
  wake_.notify_one();
}

void Simulation::want_contact_details(bool wanted) {
  if (std::exchange(asked_for_details_, wanted) == wanted) return;
  {
    const std::lock_guard lock(mutex_);
    details_wanted_ = wanted;
  }
  wake_.notify_one();
}

void Simulation::want_samples(bool wanted) {
  const std::lock_guard lock(mutex_);
  samples_wanted_ = wanted;
  if (!wanted) samples_.clear();
}

std::vector<StepSample> Simulation::take_samples() {
  const std::lock_guard lock(mutex_);
  const std::deque<StepSample> samples = std::exchange(samples_, {});
  return {samples.begin(), samples.end()};
}

void Simulation::want_tree(bool wanted) {
  if (std::exchange(asked_for_tree_, wanted) == wanted) return;
  {
    const std::lock_guard lock(mutex_);
    tree_wanted_ = wanted;
  }
  wake_.notify_one();
}

void Simulation::want_stiffness(bool wanted) {
  if (std::exchange(asked_for_stiffness_, wanted) == wanted) return;
  {
    const std::lock_guard lock(mutex_);
    stiffness_wanted_ = wanted;
  }
  wake_.notify_one();
}

void Simulation::want_matrix(bool wanted) {
  if (std::exchange(asked_for_matrix_, wanted) == wanted) return;
  {
    const std::lock_guard lock(mutex_);
    matrix_wanted_ = wanted;
  }
  wake_.notify_one();
}

bool Simulation::shows_what_is_wanted() const {
  const SimulationFrame& shown = frame();
  if (!seen_status_.loaded || seen_status_.faulty || !shown.scene) return true;
  if (!seen_status_.playing && shown.snapshot.frame != seen_status_.frame) return false;
  const auto has = [](bool wanted, bool part) { return part || !wanted; };
  return has(asked_for_contacts_, shown.parts.contacts) &&
         has(asked_for_contacts_ && asked_for_details_, shown.parts.details) &&
         has(asked_for_tree_, shown.parts.tree) && has(asked_for_stiffness_, shown.parts.stiffness) &&
         has(asked_for_matrix_, shown.parts.matrix);
}

bool Simulation::update() {
  // In this order: frames are published before the status that follows from them, so the frame that is taken
  // here has the scene of the status, or a later one.
  const bool has_news = take_news();
  const bool new_frame = frames_.update();
  if (!has_news) return new_frame;
  // Each waits for what the one before has asked for.
  while (!asked_.empty() && !changing_content_) {
    const bool back = asked_.front();
    asked_.pop_front();
    go_back_or_on(back);
  }
  return true;
}

/// False when the thread has none.
bool Simulation::take_news() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(news_, false)) return false;
  if (std::exchange(history_cleared_, false)) {
    history_.clear();
    future_.clear();
  }
  // A new step leaves the future from which the run was rewound.
  if (!new_reports_.empty()) future_.clear();
  // Traces of a long history would fill the memory.
  if (!new_reports_.empty() && !history_.empty()) history_.back().trace = {};
  for (StepReport& report : new_reports_) {
    while (!history_.empty() && history_.back().frame >= report.frame) history_.pop_back();
    history_.push_back(std::move(report));
  }
  new_reports_.clear();
  while (history_.size() > history_length) history_.pop_front();
  const bool other_scene = status_.scenes != seen_status_.scenes;
  const bool refused = status_.refusals != seen_status_.refusals;
  seen_status_ = status_;
  seen_settings_ = settings_;
  const std::vector<ContentChange> changes = std::exchange(new_contents_, {});
  changing_content_ = contents_in_flight_ > 0;
  if (other_scene) edits_.forget(seen_settings_);
  follow_content(changes);
  if (!other_scene) follow_edits(!refused);
  follow_frame();
  return true;
}

/// Splits the reports at the frame of the engine.
void Simulation::follow_frame() {
  while (!history_.empty() && history_.back().frame > seen_status_.frame) {
    future_.push_front(std::move(history_.back()));
    history_.pop_back();
  }
  while (!future_.empty() && future_.front().frame <= seen_status_.frame) {
    history_.push_back(std::move(future_.front()));
    future_.pop_front();
  }
}

std::shared_ptr<const FrozenStep> Simulation::take_frozen() {
  const std::lock_guard lock(mutex_);
  return std::exchange(frozen_, nullptr);
}

std::shared_ptr<const CapturedState> Simulation::take_captured(CaptureUse use) {
  const std::lock_guard lock(mutex_);
  return std::exchange(captured_[static_cast<std::size_t>(use)], nullptr);
}

std::shared_ptr<const CapturedState> Simulation::take_forked() {
  const std::lock_guard lock(mutex_);
  if (forked_.empty()) return nullptr;
  std::shared_ptr<const CapturedState> oldest = std::move(forked_.front());
  forked_.pop_front();
  return oldest;
}

std::shared_ptr<const Checkpoint> Simulation::take_kept() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_, nullptr);
}

std::vector<JournalEntry> Simulation::journal(std::size_t skip) const {
  const std::lock_guard lock(mutex_);
  return {journal_.begin() + static_cast<std::ptrdiff_t>(std::min(skip, journal_.size())), journal_.end()};
}

std::vector<SceneLoad> Simulation::opened() const {
  const std::lock_guard lock(mutex_);
  return opened_.loads();
}

float Simulation::error_limit() const {
  const int frame = this->frame().snapshot.frame;
  for (const std::deque<StepReport>* reports : {&history_, &future_})
    for (auto report = reports->rbegin(); report != reports->rend(); ++report)
      if (report->frame == frame) return stickslip::error_limit(*report, settings().params);
  return std::numeric_limits<float>::infinity();
}

}  // namespace stickslip
