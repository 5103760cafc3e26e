// stickslip soak: runs a scene under random edits and checks every step.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/interrupt.h"
#include "app/cli/log_level.h"
#include "app/cli/number_range.h"
#include "app/viewer/soak.h"

namespace stickslip {
namespace {

using nlohmann::json;

json to_json(const SoakCommand& command, const SoakReport& report) {
  return {{"scene", command.scene},
          {"seed", command.seed},
          {"window", command.window},
          {"seconds", report.seconds},
          {"interrupted", report.interrupted},
          {"steps", report.steps},
          {"edits", report.edit_count()},
          {"edits_by_key", report.edits},
          {"resets", report.resets},
          {"failed_steps", report.failed_steps},
          {"refused_edits", report.refused_edits},
          {"told", report.told},
          {"examples", report.examples},
          {"slowest_step", report.slowest_step},
          {"slowest_solver", report.slowest_solver},
          {"memory_mb",
           {{"early", report.memory_early / 1e6},
            {"late", report.memory_late / 1e6},
            {"most", report.memory_most / 1e6}}},
          {"faults", report.faults}};
}

void show_progress(const SoakReport& report) {
  std::fprintf(stderr,
               "%.0f s  %ld steps  %ld edits  %ld failed steps  %zu faults  slowest %.2f s (%s)  %.0f MB\n",
               report.seconds, report.steps, report.edit_count(), report.failed_steps, report.faults.size(),
               report.slowest_step, report.slowest_solver.c_str(), report.memory_most / 1e6);
}

}  // namespace

CLI::App* add_soak(CLI::App& app, SoakCommand& options) {
  CLI::App* soak = app.add_subcommand("soak",
                                      "run a scene while its controls are turned by chance, and check every "
                                      "step; the last line of stdout is one JSON object");
  soak->add_option("scene", options.scene, "shipped name or file")->required();
  add_scene_options(*soak, options);
  soak->add_option("--minutes", options.minutes, "how long")
      ->check(number_range(0.001, 1e5))
      ->capture_default_str();
  soak->add_option("--steps", options.steps, "end after so many steps too; 0: no limit")
      ->check(CLI::Range(0, 1000000000));
  add_seed(*soak, options.seed, "of what is done");
  soak->add_option("--step-budget", options.step_budget,
                   "[s] that a contact solver may take of a step; 0: no limit")
      ->check(number_range(0.0, 1e6))
      ->capture_default_str();
  soak->add_flag(
      "--window", options.window,
      "in the window, with the validation layers; what is frozen leaves its files in stickslip-output");
  soak->add_flag("--quiet", options.quiet, "no progress");
  return soak;
}

int command_soak(const SoakCommand& options, const EngineFactory& factory) {
  const Backend backend = prepare_backend(options.backend);
  SoakOptions soak_options;
  soak_options.scene = options.scene;
  soak_options.minutes = options.minutes;
  soak_options.steps = options.steps;
  soak_options.seed = options.seed;
  soak_options.step_budget = options.step_budget;
  soak_options.make_engine = [&] { return factory(backend, options.threads); };
  Scene scene = prepare_scene(options);
  soak_options.load_scene = [&](const std::string&, const std::string&) { return scene; };
  if (!options.quiet) soak_options.progress = show_progress;
  const InterruptGuard interrupt;
  soak_options.cancel = &interrupt.flag();
  SoakReport report;
  try {
    if (options.window) {
      ViewOptions view;
      view.backend = backend_name(backend);
      view.validation = true;
      view.make_lab = [&] { return make_contact_lab(Backend::cpu, options.threads); };
      report = soak_window(soak_options, view);
    } else {
      const LogLevel silent(spdlog::level::off);  // messages of failed steps are counted
      report = soak(soak_options);
    }
  } catch (const NoDeviceError& error) {
    throw DeviceError(error.what());
  }
  for (const std::string& fault : report.faults) std::cerr << "stickslip: " << fault << "\n";
  std::cout << to_json(options, report).dump() << std::endl;
  return report.faults.empty() ? exit_good : exit_failed;
}

}  // namespace stickslip
