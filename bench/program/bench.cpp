// stickslip bench: kernels (bench), whole steps of the shipped scenes, solvers, and collision queries.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/io/file/output_file.h"
#include "bench/bench.h"
#include "bench/program/bench_barrier.h"
#include "bench/program/bench_ccd.h"
#include "bench/program/bench_frames.h"
#include "bench/program/bench_rigid.h"
#include "bench/program/bench_steps.h"
#include "bench/program/bench_thin.h"
#include "bench/program/options.h"

namespace stickslip {
namespace {

constexpr int kStepFrames = 30;

std::vector<std::string> known_benches() {
  std::vector<std::string> names = list_benches();
  names.insert(names.end(), {"step", "steps", "barrier", "rigid", "thin", "frames", "ccd"});
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

/// Time of a step by stage, for each chosen scene.
BenchResult bench_steps(const BackendInfo& backend, const BenchOptions& options,
                        const EngineFactory& factory) {
  BenchResult result{"step", backend.name, backend.device, options.threads, {}};
  const std::unique_ptr<Engine> engine = factory(backend.backend, options.threads);
  std::vector<std::string> scenes = options.scenes;
  if (scenes.empty())
    for (const SceneInfo& info : list_scenes()) scenes.push_back(info.name);
  for (const std::string& name : scenes) {
    const Scene scene = load_scene(name, options.scale);
    load_into(*engine, scene);
    add_step_profile(*engine, scene.name, options.frames.value_or(kStepFrames), result);
  }
  return result;
}

}  // namespace

int command_bench(const BenchOptions& options, const EngineFactory& factory) {
  // The arguments after `ccd` are its files.
  const auto ccd = std::find(options.names.begin(), options.names.end(), "ccd");
  const std::vector<std::string> names(options.names.begin(), ccd);
  check_names(names);
  const std::vector<BackendInfo> backends = benched_backends(options.backend);
  if (!options.json.empty()) check_writable(options.json);
  nlohmann::json all = nlohmann::json::array();
  // First, so that a bad file is reported before long benches run.
  if (ccd != options.names.end()) all.push_back(bench_ccd({ccd + 1, options.names.end()}));
  const StepBenchOptions steps{options.scenes, options.threads, options.full, options.warm, options.frames};
  for (const std::string& name : names)
    for (const BackendInfo& backend : backends) {
      if (name == "barrier") {
        all.push_back(bench_barrier(backend, options, factory));
        continue;
      }
      if (name == "rigid") {
        all.push_back(bench_rigid(backend, options, factory));
        continue;
      }
      if (name == "thin") {
        all.push_back(bench_thin(backend, options, factory));
        continue;
      }
      if (name == "frames") {
        all.push_back(bench_frames(backend, options, factory));
        continue;
      }
      const BenchResult result = name == "step" ? bench_steps(backend, options, factory)
                                 : name == "steps"
                                     ? bench_sized_steps(backend, steps, factory)
                                     : run_bench(name, backend.backend, options.threads, options.full);
      std::fputs(bench_text(result).c_str(), stdout);
      std::fflush(stdout);
      all.push_back(nlohmann::json::parse(bench_json(result)));
    }
  if (!options.json.empty()) {
    OutputFile file(options.json);
    file.stream() << all.dump(2) << "\n";
    file.commit();
  }
  return exit_good;
}

}  // namespace stickslip
