#include "app/viewer/stepper_race.h"

#include <algorithm>
#include <utility>

#include "app/io/scene/settings.h"

namespace stickslip {
namespace {

/// All steppers, those of the family that made the state first: they need no change of family, and the others
/// may take much longer.
std::vector<std::string> in_order(const Params& params) {
  std::vector<std::string> names = all_steppers();
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    Params probe = params;
    set_solver(probe, name);
    return stepper_family(probe.solver) == stepper_family(params.solver);
  });
  return names;
}

}  // namespace

StepperRace::StepperRace(EngineFactory make_engine, std::function<void()> on_change)
    : make_engine_(std::move(make_engine)),
      job_(
          "race of steppers", [this](const Job& job) { race(job); }, std::move(on_change)) {}

void StepperRace::start(std::shared_ptr<const CapturedState> state, const StepperRaceSettings& settings) {
  StepperRaceStatus status;
  status.state = state;
  status.steps = settings.steps;
  status.waiting = in_order(state->start.params);
  job_.start({std::move(state), settings.steps}, std::move(status));
}

void StepperRace::race(const Job& job) {
  for (const std::string& stepper : in_order(job.state->start.params)) {
    if (job_.cancelled()) return;
    const std::unique_ptr<Engine> engine = make_engine_();
    StepRun run = run_stepper(*engine, job.state->start, stepper, job.steps, &job_.cancelled());
    run.positions = {};
    job_.publish([&](StepperRaceStatus& status) {
      std::erase(status.waiting, stepper);
      status.runs.push_back(std::move(run));
      std::ranges::stable_sort(status.runs,
                               [](const StepRun& a, const StepRun& b) { return ranks_before(a, b); });
    });
  }
}

}  // namespace stickslip
