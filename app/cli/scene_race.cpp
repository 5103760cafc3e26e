#include "app/cli/scene_race.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/interrupt.h"
#include "app/cli/state_pictures.h"
#include "app/io/file/input_error.h"
#include "app/io/report/solve_json.h"
#include "app/io/report/step_race.h"
#include "app/io/scene/settings.h"
#include "gpu/model/step_interrupted.h"
#include "gpu/params/params.h"

namespace stickslip {
namespace {

using nlohmann::json;

/// The named steppers, each once. Throws InputError with the nearest name.
std::vector<std::string> steppers_of(const SceneRaceOptions& options) {
  const std::vector<std::string> known = all_steppers();
  std::vector<std::string> out;
  for (const std::string& name : options.steppers) {
    const bool all = name == "all";
    if (!all && std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string nearest =
          nearest_name(std::vector<std::string_view>(known.begin(), known.end()), name);
      throw InputError("--steppers " + name + ": there is no such stepper" +
                       (nearest.empty() ? "; use all, or names of: stickslip list step-solvers"
                                        : "; did you mean '" + nearest + "'?"));
    }
    for (const std::string& stepper : all ? known : std::vector<std::string>{name})
      if (std::find(out.begin(), out.end(), stepper) == out.end()) out.push_back(stepper);
  }
  return out;
}

/// The state at the end of the scene's step `frame`, by its own stepper, or that of a later checkpoint.
/// Throws StepInterrupted.
State state_at(Engine& engine, int frame, const std::atomic<bool>& cancel) {
  engine.set_cancel(&cancel);
  for (int i = engine.state().frame; i < frame; ++i) {
    if (cancel) throw StepInterrupted();
    engine.step();
  }
  return engine.state();
}

void print_table(const std::vector<StepRun>& runs) {
  std::vector<std::vector<std::string>> rows{{"", "stepper", "end"}};
  for (const StepRaceColumn& column : step_race_columns()) rows[0].emplace_back(column.title);
  int rank = 0;
  for (const StepRun& run : runs) {
    rows.push_back({std::to_string(++rank), run.stepper, name_of(run.end)});
    for (const StepRaceColumn& column : step_race_columns()) rows.back().push_back(column.text(run));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[c].size());
      const std::string space(width - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (c == 1 || c == 2 ? row[c] + space : space + row[c]);
    }
    std::printf("%s\n", line.c_str());
  }
  for (const StepRun& run : runs)
    for (const std::string& text : {run.message, run.note})
      if (!text.empty()) std::printf("%s: %s\n", run.stepper.c_str(), text.c_str());
  std::fflush(stdout);
}

json to_json(const Scene& scene, const SceneRaceOptions& options, int frame, const std::string& own,
             Backend backend, const std::vector<StepRun>& runs) {
  json rows = json::array();
  for (const StepRun& run : runs) rows.push_back(stickslip::to_json(run));
  return {{"scene", scene.name},       {"variant", scene.variant.empty() ? json() : json(scene.variant)},
          {"scale", scene.scale},      {"frame", frame},
          {"steps", options.steps},    {"solver", own},
          {"dt", scene.params.dt},     {"backend", backend_name(backend)},
          {"ranking", std::move(rows)}};
}

}  // namespace

int command_scene_race(const SceneRaceOptions& options, const EngineFactory& factory) {
  const std::vector<std::string> steppers = steppers_of(options);
  const Scene scene = prepare_scene(options);
  const Backend backend = prepare_backend(options.backend);
  const std::unique_ptr<StatePictures> pictures = make_state_pictures(options.pictures, scene);
  const InterruptGuard interrupt;
  StepRaceStart start{scene.model, scene.params, scene.contact_params, {}};
  {
    const std::unique_ptr<Engine> engine = factory(backend, options.threads);
    load_into(*engine, scene);
    try {
      start.state = state_at(*engine, options.frame, interrupt.flag());
    } catch (const StepInterrupted&) {
      std::cerr << "stickslip: interrupted before frame " << options.frame << "\n";
      return exit_failed;
    }
  }
  std::vector<StepRun> runs;
  for (const std::string& stepper : steppers) {
    if (interrupt.requested()) break;
    const std::unique_ptr<Engine> engine = factory(backend, options.threads);
    runs.push_back(run_stepper(*engine, start, stepper, options.steps, &interrupt.flag()));
    std::fprintf(stderr, "%s: %s after %d steps, %.3g s\n", stepper.c_str(), name_of(runs.back().end),
                 runs.back().steps, runs.back().seconds);
    if (pictures && runs.back().end == StepRun::End::finished)
      pictures->write(runs.back().positions, stepper);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const StepRun& a, const StepRun& b) { return ranks_before(a, b); });
  const std::string own = stepper_name(scene.params);
  if (options.json) {
    std::cout << json_line(to_json(scene, options, start.state.frame, own, backend, runs)) << std::endl;
  } else {
    std::printf("%s: %d steps of %g s from frame %d, which %s made, on %s\n\n", scene.name.c_str(),
                options.steps, scene.params.dt, start.state.frame, own.c_str(),
                backend_name(backend).c_str());
    print_table(runs);
  }
  return std::any_of(runs.begin(), runs.end(),
                     [](const StepRun& run) { return run.end == StepRun::End::finished; })
             ? exit_good
             : exit_failed;
}

}  // namespace stickslip
