// stickslip bench: kernels (gpu/bench) and whole steps of the shipped scenes.
#include "gpu/bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/io/output_file.h"
#include "app/io/report.h"

namespace stickslip {
namespace {

std::vector<std::string> known_benches() {
  std::vector<std::string> names = list_benches();
  names.push_back("step");
  return names;
}

void check_names(const std::vector<std::string>& names) {
  const std::vector<std::string> known = known_benches();
  const std::vector<std::string_view> views(known.begin(), known.end());
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(views, name);
    std::string message = "there is no bench '" + name + "'";
    if (!nearest.empty()) message += "; did you mean '" + nearest + "'?";
    message += " Known:";
    for (const std::string& k : known) message += " " + k;
    throw InputError(message);
  }
}

std::vector<BackendInfo> benched_backends(const std::string& name) {
  std::vector<BackendInfo> chosen;
  const Backend only = name == "all" ? Backend::cpu : prepare_backend(name);
  for (const BackendInfo& info : list_backends())
    if (info.available && (name == "all" || info.backend == only)) chosen.push_back(info);
  return chosen;
}

/// Mean wall time of a step and of its stages, for each shipped scene.
BenchResult bench_steps(const BackendInfo& backend, const BenchOptions& options,
                        const EngineFactory& factory) {
  BenchResult result{"step", backend.name, backend.device, options.threads, {}};
  const std::unique_ptr<Engine> engine = factory(backend.backend, options.threads);
  for (const SceneInfo& info : list_scenes()) {
    const Scene scene = load_scene(info.name);
    load_into(*engine, scene);
    StageTimes sum;
    int newton = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < options.frames; ++i) {
      const StepReport report = engine->step();
      sum.broad_phase += report.seconds.broad_phase;
      sum.contacts += report.seconds.contacts;
      sum.assembly += report.seconds.assembly;
      sum.linear_solve += report.seconds.linear_solve;
      sum.ccd += report.seconds.ccd;
      sum.line_search += report.seconds.line_search;
      sum.other += report.seconds.other;
      newton += report.newton_iterations;
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto add = [&](const char* stage, double seconds) {
      result.figures.push_back({info.name + " " + stage, 1e3 * seconds / options.frames, "ms/step", 0, ""});
    };
    add("step", wall);
    add("broad_phase", sum.broad_phase);
    add("contacts", sum.contacts);
    add("assembly", sum.assembly);
    add("linear_solve", sum.linear_solve);
    add("ccd", sum.ccd);
    add("line_search", sum.line_search);
    add("other", sum.other);
    result.figures.push_back(
        {info.name + " newton", double(newton) / options.frames, "iterations/step", 0, ""});
  }
  return result;
}

void print(const BenchResult& result) {
  std::printf("%s on %s (%s)\n", result.bench.c_str(), result.backend.c_str(), result.device.c_str());
  for (const BenchFigure& f : result.figures) {
    std::printf("  %-34s %12.4g %-16s", f.name.c_str(), f.value, f.unit.c_str());
    if (f.floor > 0)
      std::printf(" %5.1f%% of %.4g (%s)", 100 * f.value / f.floor, f.floor, f.floor_name.c_str());
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

int command_bench(const BenchOptions& options, const EngineFactory& factory) {
  check_names(options.names);
  const std::vector<BackendInfo> backends = benched_backends(options.backend);
  if (!options.json.empty()) check_writable(options.json);
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : options.names)
    for (const BackendInfo& backend : backends) {
      const BenchResult result = name == "step" ? bench_steps(backend, options, factory)
                                                : run_bench(name, backend.backend, options.threads);
      print(result);
      all.push_back(to_json(result));
    }
  if (!options.json.empty()) {
    OutputFile file(options.json);
    file.stream() << all.dump(2) << "\n";
    file.commit();
  }
  return exit_good;
}

}  // namespace stickslip
