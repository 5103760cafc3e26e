// Measures on thin objects. Quantities of `beta` for a method M of nodal ADMM or ICA, per start:
// M.iterations_B for each beta B of the run, M.spread (most over fewest iterations), M.at_25 (those of beta =
// 25 over the fewest), M.ratio (of all iterations, over those of the first method); and spread_ratio (first
// method's over the last's). With a size, the scene is `hairy-ball` with so many strands. Of `thin`, per
// scene and method of `bench thin`: SCENE.METHOD.strands, .contacts, .seconds_per_frame, .iterations,
// .share_linear, .share_projection, .share_solver (both), .linear_of_solver (linear systems over both),
// .contact_frames and .vertex_frames (contacts or vertices times frames of 1/24 s, per second of processor
// time), and of nodal_admm .updates, contacts projected per second of processor time.
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/io/file/number_text.h"
#include "app/io/scene/settings.h"
#include "bench/program/bench_thin.h"
#include "bench/program/reproduce/measure.h"
#include "gpu/core/timer.h"

namespace stickslip {

Scene claim_strands(const Claim& claim, const ClaimRun& run, const ClaimMethod& method) {
  if (run.scenes.size() != 1) throw InputError("claim " + claim.name + ": this measure takes one scene");
  if (run.sizes.empty()) return claim_scene(run.scenes[0], run, method);
  if (run.scenes[0] != "hairy-ball" || run.scale)
    throw InputError("claim " + claim.name + ": only hairy-ball has a size, and then no scale");
  Scene scene = load_with_strands(static_cast<int>(run.sizes[0]));
  apply_claim(run, method, scene);
  return scene;
}

Measurement measure_beta(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  const std::vector<ClaimMethod> methods = methods_of(claim);
  Measurement out;
  out.x_name = "beta";
  out.y_name = "ADMM iterations, mean";
  out.x_log = out.y_log = true;
  for (const ClaimMethod& method : methods) out.curves.push_back({method.name, {}});
  const auto scene_of = [&](const ClaimMethod& method) { return claim_strands(claim, run, method); };
  const std::unique_ptr<Engine> engine = context.engine();
  load_into(*engine, scene_of(methods[0]));
  for (int k = 0; k < run.starts; ++k) {
    while (engine->state().frame < run.from + k * run.stride) engine->step();
    const State start = engine->state();
    std::vector<double> spreads, sums;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      std::vector<double> iterations;
      double at_default = 0;
      for (std::size_t b = 0; b < run.values.size(); ++b) {
        Scene scene = scene_of(methods[m]);
        scene.params.admm_beta = run.values[b];
        if (run.iterations > 0) scene.params.admm_iterations = run.iterations;
        const std::unique_ptr<Engine> tried = context.engine();
        load_into(*tried, scene);
        tried->set_state(start);
        const StepReport report = tried->step();
        // The report counts sweeps of the projections.
        const int rounds =
            report.contact_solve ? report.contact_solve->iterations / scene.params.projection_sweeps : 0;
        const double count = rounds;
        iterations.push_back(count);
        out.add(methods[m].name + ".iterations_" + number_text(run.values[b]), count);
        auto& points = out.curves[m].points;
        if (k == 0) points.emplace_back(run.values[b], 0);
        points[b].second += count / run.starts;
        if (run.values[b] == 25) at_default = count;
      }
      const auto [fewest, most] = std::minmax_element(iterations.begin(), iterations.end());
      spreads.push_back(*most / std::max(*fewest, 1.0));
      out.add(methods[m].name + ".spread", spreads.back());
      sums.push_back(std::accumulate(iterations.begin(), iterations.end(), 0.0));
      if (m > 0 && sums[0] > 0) out.add(methods[m].name + ".ratio", sums[m] / sums[0]);
      if (at_default > 0) out.add(methods[m].name + ".at_25", at_default / std::max(*fewest, 1.0));
    }
    out.add("spread_ratio", spreads.front() / spreads.back());
  }
  return out;
}

Measurement measure_thin_rates(const Claim&, const ClaimRun& run, const MeasureContext& context) {
  BenchOptions options;
  options.scenes = run.scenes;
  options.threads = context.threads;
  options.sets = run.settings;
  if (run.frames > 0) options.frames = run.frames;
  if (run.from > 0) options.warm = run.from;
  const EngineFactory engines = [&](Backend, int) { return context.engine(); };
  Measurement out;
  for (int k = 0; k < run.starts; ++k) {
    const Timer timer;
    const std::clock_t begin = std::clock();
    const nlohmann::json rows = thin_rows(context.backend, options, engines);
    const double processors = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / timer.seconds();
    for (const nlohmann::json& row : rows) {
      const auto value = [&](const char* key) { return row[key].get<double>(); };
      std::string name = row["scene"];
      name.append(".").append(row["method"]);
      out.add(name + ".strands", value("strands"));
      out.add(name + ".contacts", value("contacts_mean"));
      out.add(name + ".seconds_per_frame", value("seconds_per_frame"));
      out.add(name + ".iterations", value("iterations_per_step"));
      out.add(name + ".share_linear", value("share_linear_solve"));
      out.add(name + ".share_projection", value("share_contact_solve"));
      const double solver = value("share_linear_solve") + value("share_contact_solve");
      out.add(name + ".share_solver", solver);
      if (solver > 0) out.add(name + ".linear_of_solver", value("share_linear_solve") / solver);
      const double frame = processors * value("seconds_per_frame");
      out.add(name + ".contact_frames", value("contacts_mean") / frame);
      out.add(name + ".vertex_frames", value("vertices") / frame);
      const double seconds = value("share_contact_solve") * value("seconds_per_step");
      if (row["method"] == "nodal_admm" && seconds > 0)
        out.add(name + ".updates",
                value("contacts_mean") * value("iterations_per_step") / (processors * seconds));
    }
  }
  return out;
}

}  // namespace stickslip
