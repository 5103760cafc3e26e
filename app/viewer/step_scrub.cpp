#include "app/viewer/step_scrub.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/viewer/iteration_scrub.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {
namespace {

constexpr std::size_t kMostIterates = 60, kFewestIterates = 10;
constexpr std::size_t kIterateBytes = 64u << 20;  // of the iterates

std::shared_ptr<const Snapshot> iterate_of(Engine& engine) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->wants_contacts = true;
  engine.snapshot(*snapshot);
  return snapshot;
}

/// Iterates must fit into the memory; the last one tells their size.
std::vector<StepIterate> iterates_of(const std::vector<NewtonRecord>& records, const Snapshot& last) {
  const std::size_t bytes = last.positions.size() * sizeof(Vec3f) + last.poses.size() * sizeof(Pose) +
                            last.contacts.size() * sizeof(ContactRecord);
  const std::size_t most =
      std::clamp(kIterateBytes / std::max<std::size_t>(1, bytes), kFewestIterates, kMostIterates);
  std::vector<HistoryPoint> history;
  history.reserve(records.size());
  for (const NewtonRecord& record : records)
    history.push_back({static_cast<long>(history.size()) + 1, 0, record.gradient_norm, 0});
  std::vector<StepIterate> stops;
  for (const ScrubStop& stop : scrub_stops(history, most))
    stops.push_back(
        {static_cast<int>(stop.iteration), records[static_cast<std::size_t>(stop.iteration) - 1], nullptr});
  return stops;
}

bool are_same_records(const NewtonRecord& a, const NewtonRecord& b) {
  return a.gradient_norm == b.gradient_norm && a.step_length == b.step_length && a.energy == b.energy;
}

}  // namespace

StepScrub::StepScrub(EngineFactory make_engine, std::function<void()> on_change)
    : make_engine_(std::move(make_engine)),
      job_(
          "iterations of a step", [this](const Job& job) { make(job); }, std::move(on_change)) {}

void StepScrub::make(const Job& job) {
  const StepRaceStart& start = job.state->start;
  const std::unique_ptr<Engine> engine = make_engine_();
  Params params = start.params;
  params.budget_ms = 0;  // the clock would end it elsewhere each time
  params.check_intersections = false;
  engine->set_params(params);
  engine->set_contact_params(start.contact);
  engine->load(start.model);
  engine->set_cancel(&job_.cancelled());
  const auto step = [&](int iterations) {
    params.newton_iterations = iterations;
    engine->set_params(params);
    engine->set_state(start.state);
    return engine->step();
  };
  try {
    const StepReport whole = step(start.params.newton_iterations);
    const std::shared_ptr<const Snapshot> last = iterate_of(*engine);
    const std::vector<StepIterate> stops = iterates_of(whole.newton, *last);
    job_.publish([&](StepScrubStatus& status) {
      status.iterates = stops;
      status.end = whole.stop_reason;
      status.converged = whole.converged;
      if (!stops.empty()) status.iterates.back().snapshot = last;
    });
    for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
      const StepReport part = step(stops[i].iteration);
      const auto count = static_cast<std::size_t>(stops[i].iteration);
      if (part.newton.size() != count || !are_same_records(part.newton.back(), stops[i].record)) {
        job_.publish([&](StepScrubStatus& status) {
          status.note = "the step was repeated with stiffer bodies: iterations from " +
                        std::to_string(stops[i].iteration) + " on cannot be shown alone";
        });
        break;
      }
      const std::shared_ptr<const Snapshot> iterate = iterate_of(*engine);
      job_.publish([&](StepScrubStatus& status) { status.iterates[i].snapshot = iterate; });
    }
    job_.publish([](StepScrubStatus& status) { status.complete = true; });
  } catch (const StepInterrupted&) {  // another step was asked for
  }
}

void StepScrub::start(std::shared_ptr<const CapturedState> state) {
  leave();
  stop_ = 0;
  fresh_ = true;
  StepScrubStatus status;
  status.state = state;
  job_.start({std::move(state)}, std::move(status));
  update();
}

void StepScrub::follow(const SimulationStatus& simulation) {
  const bool moved =
      simulation.frame != frame_ || simulation.scenes != scenes_ || simulation.content != content_;
  frame_ = simulation.frame;
  scenes_ = simulation.scenes;
  content_ = simulation.content;
  run_plays_ = simulation.playing;
  if (moved || run_plays_) leave();
}

void StepScrub::show(std::size_t stop) {
  if (stops().empty()) return;
  stop_ = std::min(stop, stops().size() - 1);
  shown_since_ = Clock::now();
  in_scene_ = !run_plays_;
}

void StepScrub::show_iteration(int iteration) {
  if (stops().empty()) return;
  const auto nearest = std::ranges::min_element(
      stops(), {}, [&](const StepIterate& stop) { return std::abs(stop.iteration - iteration); });
  show(static_cast<std::size_t>(nearest - stops().begin()));
}

void StepScrub::leave() {
  in_scene_ = false;
  plays_ = false;
}

void StepScrub::play(bool on) {
  plays_ = on && stops().size() > 1;
  if (plays_) show(stop_ + 1 < stops().size() ? stop_ : 0);
}

bool StepScrub::advance(Clock::time_point now) {
  if (!plays_ || (shown() == nullptr && is_solving())) return false;
  if (std::chrono::duration<double>(now - shown_since_).count() < scrub_interval(stops().size()))
    return false;
  show(stop_ + 1);
  if (stop_ + 1 == stops().size()) plays_ = false;
  return true;
}

float StepScrub::distance_to_end() const {
  const Snapshot* here = shown();
  const Snapshot* end = stops().empty() ? nullptr : stops().back().snapshot.get();
  if (here == nullptr || end == nullptr) return -1;
  float largest = 0;
  for (std::size_t i = 0; i < here->positions.size(); ++i)
    largest = std::max(largest, norm(here->positions[i] - end->positions[i]));
  return largest;
}

bool StepScrub::update() {
  if (!job_.update()) return false;
  if (fresh_ && !stops().empty()) {
    fresh_ = false;
    show(0);
  }
  return true;
}

}  // namespace stickslip
