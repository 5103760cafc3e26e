// Time that couplings take for contacts and elasticity, from the same states. Quantities of a method M, per
// start: SCENE.M.ms per step, SCENE.M.us_per_contact, SCENE.M.iterations per step, SCENE.M.residual (median
// of the steps), SCENE.M.converged (share of them), SCENE.M.contacts; for all but the first method also
// SCENE.M.time_ratio, how many times as long as the first it takes. M.ms_most and M.time_ratio_least are over
// the scenes. Times are those of the processor, of all threads, in the step's stages contact_solve and
// linear_solve. A scene's variant NAME:VARIANT is NAME-VARIANT in the quantities.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "bench/program/reproduce/measure.h"

namespace stickslip {
namespace {

constexpr int kLead = 2;  // steps before those that are measured: a state has no impulses of the step before

struct ContactTime {
  double seconds = 0, contacts = 0, iterations = 0;
  int steps = 0, converged = 0;
  std::vector<double> residuals;

  double ms() const { return 1e3 * seconds / std::max(steps, 1); }
};

ContactTime time_steps(Engine& engine, int steps, const MeasureContext& context) {
  ContactTime out;
  for (int i = 0; i < kLead + steps; ++i) {
    context.check();
    const std::clock_t begin = std::clock();
    const StepReport report = engine.step();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const double whole = report.seconds.total();
    if (i < kLead || report.contacts == 0 || !report.contact_solve || !(whole > 0)) continue;
    out.seconds += seconds * (report.seconds.contact_solve + report.seconds.linear_solve) / whole;
    out.contacts += report.contacts;
    out.iterations += report.contact_solve->rounds;
    out.residuals.push_back(report.contact_solve->residual);
    out.converged += report.converged;
    ++out.steps;
  }
  return out;
}

void add_times(const std::string& name, ContactTime& time, Measurement& out) {
  const double steps = time.steps;
  out.add(name + ".ms", time.ms());
  out.add(name + ".us_per_contact", 1e6 * time.seconds / time.contacts);
  out.add(name + ".iterations", time.iterations / steps);
  out.add(name + ".contacts", time.contacts / steps);
  out.add(name + ".converged", time.converged / steps);
  const auto middle = time.residuals.begin() + static_cast<std::ptrdiff_t>(time.residuals.size() / 2);
  std::ranges::nth_element(time.residuals, middle);
  out.add(name + ".residual", *middle);
}

}  // namespace

Measurement measure_contact_times(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  const std::vector<ClaimMethod> methods = methods_of(claim);
  Measurement out;
  std::map<std::string, double> most, least;
  std::map<std::string, std::pair<int, int>> steps;  // by scene and method: converged, made
  for (const std::string& scene_name : run.scenes) {
    std::string shown = scene_name;
    std::ranges::replace(shown, ':', '-');
    const std::unique_ptr<Engine> lead = context.engine();
    load_into(*lead, claim_scene(scene_name, run, methods[0]));
    for (int k = 0; k < run.starts; ++k) {
      while (lead->state().frame < run.from + k * run.stride) {
        context.check();
        lead->step();
      }
      const State start = lead->state();
      double first = 0;
      for (std::size_t m = 0; m < methods.size(); ++m) {
        const std::string& name = methods[m].name;
        const std::unique_ptr<Engine> engine = context.engine();
        load_into(*engine, claim_scene(scene_name, run, methods[m]));
        engine->set_state(start);
        ContactTime time;
        try {
          time = time_steps(*engine, std::max(run.frames, 1), context);
        } catch (const SimulationError& error) {
          out.notes.push_back(fmt::format("{}, {}: {}", shown, name, error.what()));
        }
        if (time.steps == 0) continue;
        add_times(fmt::format("{}.{}", shown, name), time, out);
        auto& count = steps[fmt::format("{}, {}", shown, name)];
        count.first += time.converged;
        count.second += time.steps;
        most[name] = std::max(most[name], time.ms());
        if (m == 0) first = time.ms();
        if (m == 0 || !(first > 0)) continue;
        const double ratio = time.ms() / first;
        out.add(fmt::format("{}.{}.time_ratio", shown, name), ratio);
        least[name] = least.contains(name) ? std::min(least[name], ratio) : ratio;
      }
    }
  }
  for (const auto& [name, count] : steps)
    if (count.first < count.second)
      out.notes.push_back(name + ": " + std::to_string(count.first) + " of " + std::to_string(count.second) +
                          " steps converged");
  for (const auto& [name, ms] : most) out.add(name + ".ms_most", ms);
  for (const auto& [name, ratio] : least) out.add(name + ".time_ratio_least", ratio);
  return out;
}

}  // namespace stickslip
