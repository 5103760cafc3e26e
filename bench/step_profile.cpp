#include "bench/step_profile.h"

#include <algorithm>

#include "bench/bench_backend.h"
#include "bench/lattice.h"
#include "gpu/core/timer.h"

namespace stickslip {

namespace {

void accumulate(StageTimes& sum, const StageTimes& step) {
  sum.broad_phase += step.broad_phase;
  sum.contacts += step.contacts;
  sum.assembly += step.assembly;
  sum.linear_solve += step.linear_solve;
  sum.ccd += step.ccd;
  sum.line_search += step.line_search;
  sum.contact_solve += step.contact_solve;
  sum.check += step.check;
  sum.other += step.other;
}

void accumulate(Counters& sum, const Counters& step) {
  sum.allocations += step.allocations;
  sum.launches += step.launches;
  sum.graph_launches += step.graph_launches;
  sum.copies_to_host += step.copies_to_host;
  sum.bytes_to_host += step.bytes_to_host;
  sum.copies_to_device += step.copies_to_device;
  sum.bytes_to_device += step.bytes_to_device;
  sum.synchronisations += step.synchronisations;
}

}  // namespace

StepProfile profile_steps(Engine& engine, int steps) {
  StepProfile profile;
  for (int i = 0; i < steps; ++i) {
    const Timer timer;
    const StepReport report = engine.step();
    profile.wall += timer.seconds();
    ++profile.steps;
    profile.converged += report.converged;
    accumulate(profile.stages, report.seconds);
    accumulate(profile.counters, report.counters);
    profile.newton += report.newton_iterations;
    profile.pcg += report.pcg_iterations;
    if (report.contact_solve)
      profile.contact_iterations += static_cast<double>(report.contact_solve->iterations);
    profile.contacts_most = std::max(profile.contacts_most, report.contacts);
    profile.memory_bytes = std::max(profile.memory_bytes, report.memory_bytes);
  }
  return profile;
}

void add_step_profile(Engine& engine, const std::string& name, int frames, BenchResult& result) {
  const StepProfile profile = profile_steps(engine, frames);
  const StageTimes& sum = profile.stages;
  const auto add = [&](const std::string& what, double value, const char* unit) {
    result.figures.push_back({name + what, value, unit, 0, ""});
  };
  add(", step", 1e3 * profile.wall / frames, "ms/step");
  const auto add_share = [&](const char* stage, double seconds) {
    add(std::string(", share of ") + stage, 100 * seconds / sum.total(), "%");
  };
  add_share("broad phase", sum.broad_phase);
  add_share("contacts", sum.contacts);
  add_share("assembly", sum.assembly);
  add_share("linear solve", sum.linear_solve);
  add_share("ccd", sum.ccd);
  add_share("line search", sum.line_search);
  if (sum.check > 0) add_share("check", sum.check);
  add_share("other", sum.other);
  add(", newton", profile.newton / frames, "iterations/step");
  add(", pcg", profile.pcg / frames, "iterations/step");
  if (profile.pcg > 0) add(", pcg iteration", 1e6 * sum.linear_solve / profile.pcg, "us");
  add(", contacts at most", profile.contacts_most, "stencils");
  add(", launches", static_cast<double>(profile.counters.launches) / frames, "launches/step");
  add(", host reads", static_cast<double>(profile.counters.copies_to_host) / frames, "reads/step");
}

BenchResult bench_pile(Backend backend, int threads) {
  constexpr std::int32_t kSide = 5;             // nodes along a cube's edge
  constexpr double kSize = 0.1, kPitch = 0.11;  // [m]
  constexpr int kFrames = 10;
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("soft");
  model.half_spaces.push_back({});
  const std::vector<Vec4i> tets = lattice_tets(kSide);
  for (int c = 0; c < 64; ++c) {
    const int layer = c / 16;
    // Layers are shifted relative to each other, so that each cube lands on several.
    const Vec<double, 3> corner{kPitch * (c % 4) + 0.03 * layer, 0.005 + kPitch * layer,
                                kPitch * (c / 4 % 4) + 0.02 * layer};
    std::vector<Vec<double, 3>> nodes;
    for (int z = 0; z < kSide; ++z)
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
          nodes.push_back(corner + Vec<double, 3>{double(x), double(y), double(z)} * (kSize / (kSide - 1)));
    add_solid(model, "cube " + std::to_string(c), nodes, tets, 0);
  }
  finalize(model);

  const std::unique_ptr<Engine> engine = make_engine(backend, threads);
  engine->load(model);
  BenchResult result = result_of("pile", backend, threads);
  add_step_profile(*engine, "64 cubes", kFrames, result);
  return result;
}

}  // namespace stickslip
