#include "gpu/bench/step_profile.h"

#include <algorithm>

#include "gpu/bench/lattice.h"
#include "gpu/core/timer.h"

namespace stickslip {

void add_step_profile(Engine& engine, const std::string& name, int frames, BenchResult& result) {
  StageTimes sum;
  double newton = 0, pcg = 0, launches = 0, host_reads = 0, wall = 0;
  int contacts = 0;
  for (int i = 0; i < frames; ++i) {
    const Timer timer;
    const StepReport report = engine.step();
    wall += timer.seconds();
    sum.broad_phase += report.seconds.broad_phase;
    sum.contacts += report.seconds.contacts;
    sum.assembly += report.seconds.assembly;
    sum.linear_solve += report.seconds.linear_solve;
    sum.ccd += report.seconds.ccd;
    sum.line_search += report.seconds.line_search;
    sum.other += report.seconds.other;
    newton += report.newton_iterations;
    pcg += report.pcg_iterations;
    launches += static_cast<double>(report.counters.launches);
    host_reads += static_cast<double>(report.counters.copies_to_host);
    contacts = std::max(contacts, report.contacts);
  }
  const auto add = [&](const std::string& what, double value, const char* unit) {
    result.figures.push_back({name + what, value, unit, 0, ""});
  };
  add(", step", 1e3 * wall / frames, "ms/step");
  const auto add_share = [&](const char* stage, double seconds) {
    add(std::string(", share of ") + stage, 100 * seconds / sum.total(), "%");
  };
  add_share("broad phase", sum.broad_phase);
  add_share("contacts", sum.contacts);
  add_share("assembly", sum.assembly);
  add_share("linear solve", sum.linear_solve);
  add_share("ccd", sum.ccd);
  add_share("line search", sum.line_search);
  add_share("other", sum.other);
  add(", newton", newton / frames, "iterations/step");
  add(", pcg", pcg / frames, "iterations/step");
  if (pcg > 0) add(", pcg iteration", 1e6 * sum.linear_solve / pcg, "us");
  add(", contacts at most", contacts, "stencils");
  add(", launches", launches / frames, "launches/step");
  add(", host reads", host_reads / frames, "reads/step");
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
    // Layers are shifted against each other, so that each cube lands on several.
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
  BenchResult result;
  for (const BackendInfo& info : list_backends())
    if (info.backend == backend) result = {"pile", info.name, info.device, threads, {}};
  add_step_profile(*engine, "64 cubes", kFrames, result);
  return result;
}

}  // namespace stickslip
