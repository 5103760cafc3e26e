// Measures on scenes. Quantities of `steps` for a method M, per step and start: M.newton, M.pcg, M.seconds
// (of the solver), M.processor_seconds (the same of all threads, which other programs on the machine affect
// less), M.converged (share of the steps), M.contacts and M.augmented (most at the end of a step),
// M.intersections, M.gap_min [m]; and for all but the first method M.newton_ratio, M.pcg_ratio and
// M.time_ratio (of processor seconds): how many times as much the first needs; M.newton_ratio_most and
// M.time_ratio_most are their maxima. With several scenes, all starts of each. Of `scenes`, per start:
// M.passed, the share of the scenes whose expectations all hold, those on convergence left aside, and
// M.converged, the share of steps that converged.
#include <algorithm>
#include <cstdio>

#include "app/io/scene/expect.h"
#include "bench/barrier_study.h"
#include "bench/program/reproduce/measure.h"
#include "gpu/model/perturbed.h"
#include "gpu/model/steppers.h"

namespace stickslip {
namespace {

// Steps before those that are measured, each method its own: a state has no barrier stiffness of the step
// before, and the rule that finds a first one is not that of a run.
constexpr int kLead = 4;

/// The states from which all methods start: those of the first method's run, one per start.
class StartStates {
 public:
  StartStates(const Scene& scene, const MeasureContext& context) : engine_(context.engine()) {
    load_into(*engine_, scene);
  }
  State at(int frame) {
    while (engine_->state().frame < frame) engine_->step();
    return engine_->state();
  }

 private:
  std::unique_ptr<Engine> engine_;
};

void add_steps(Measurement& out, const std::string& name, const BarrierMeasure& m) {
  const double steps = std::max(m.frames, 1);
  out.add(name + ".newton", static_cast<double>(m.newton_iterations) / steps);
  out.add(name + ".pcg", static_cast<double>(m.pcg_iterations) / steps);
  out.add(name + ".seconds", m.seconds / steps);
  out.add(name + ".processor_seconds", m.processor_seconds / steps);
  out.add(name + ".converged", m.converged / steps);
  out.add(name + ".contacts", m.contacts);
  out.add(name + ".augmented", m.augmented);
  out.add(name + ".intersections", m.intersections);
  out.add(name + ".gap_min", m.gap_min);
}

void add_ratios(Measurement& out, const std::string& name, const BarrierMeasure& first,
                const BarrierMeasure& m) {
  const auto ratio = [&](const char* quantity, double a, double b) {
    if (a > 0 && b > 0) out.add(name + "." + quantity, a / first.frames * m.frames / b);
  };
  ratio("newton_ratio", static_cast<double>(first.newton_iterations),
        static_cast<double>(m.newton_iterations));
  ratio("pcg_ratio", static_cast<double>(first.pcg_iterations), static_cast<double>(m.pcg_iterations));
  ratio("time_ratio", first.processor_seconds, m.processor_seconds);
}

std::string short_text(const char* form, const std::string& name, int a, int b) {
  char text[160];
  std::snprintf(text, sizeof text, form, name.c_str(), a, b);
  return text;
}
std::string start_text(const std::string& method, const std::string& scene, int start) {
  return method + ", " + scene + ", start " + std::to_string(start);
}

}  // namespace

Measurement measure_steps(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  const std::vector<ClaimMethod> methods = methods_of(claim);
  Measurement out;
  std::map<std::string, std::pair<int, int>> steps;  // converged, made
  for (const std::string& scene_name : run.scenes) {
    const Scene scene = claim_scene(scene_name, run, methods[0]);
    StartStates starts(scene, context);
    for (int k = 0; k < run.starts; ++k) {
      const int from = run.from + k * run.stride, lead = std::min(from, kLead);
      const int frames = run.frames > 0 ? run.frames : scene.frames - from;
      const State start = starts.at(from - lead);
      BarrierMeasure first;
      for (std::size_t m = 0; m < methods.size(); ++m) {
        context.check();
        const Scene own = claim_scene(scene_name, run, methods[m]);
        const std::unique_ptr<Engine> engine = context.engine();
        load_into(*engine, own);
        // A method of another scale has other nodes: it starts where its scene starts.
        const State& begin = from > lead ? start : engine->state();
        const BarrierMeasure measured = measure_settings(
            *engine, perturbed(begin, static_cast<std::uint64_t>(k)), own.params, frames, lead);
        const std::string& name = methods[m].name;
        add_steps(out, name, measured);
        if (m == 0) first = measured;
        else add_ratios(out, name, first, measured);
        steps[name].first += measured.converged;
        steps[name].second += measured.frames;
        if (!measured.error.empty())
          out.notes.push_back(start_text(name, scene_name, k) + ", ended early: " + measured.error);
      }
    }
  }
  for (const ClaimMethod& method : methods)
    for (const char* quantity : {".newton_ratio", ".time_ratio"})
      if (const auto of = out.samples.find(method.name + quantity); of != out.samples.end())
        out.add(method.name + quantity + "_most", std::ranges::max(of->second));
  for (const auto& [name, count] : steps)
    if (count.first < count.second)
      out.notes.push_back(short_text("%s: %d of %d steps converged", name, count.first, count.second));
  return out;
}

Measurement measure_scenes(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  Measurement out;
  for (const ClaimMethod& method : methods_of(claim))
    for (int k = 0; k < run.starts; ++k) {
      int passed = 0, skipped = 0;
      double steps = 0, converged = 0;
      for (const std::string& name : run.scenes) {
        Scene scene = claim_scene(name, run, method);
        scene.params.check_intersections = stepper_family(scene.params.solver) == StepperFamily::barrier;
        const std::unique_ptr<Engine> engine = context.engine();
        load_into(*engine, scene);
        if (k > 0) engine->set_state(perturbed(engine->state(), static_cast<std::uint64_t>(k)));
        std::erase_if(scene.expect,
                      [](const Expectation& e) { return std::holds_alternative<ExpectConverged>(e); });
        ExpectationJudge judge(scene.model, scene.expect);
        std::vector<std::string> faults;
        try {
          for (int i = 0; i < (run.frames > 0 ? run.frames : scene.frames); ++i) {
            context.check();
            const StepReport report = engine->step();
            ++steps;
            converged += report.converged;
            judge.observe(report, judge.needs_state() ? engine->state() : State{});
          }
          for (const Verdict& verdict : judge.verdicts()) {
            skipped += verdict.outcome == Verdict::Outcome::skipped;
            if (verdict.outcome == Verdict::Outcome::failed)
              faults.push_back("expected " + verdict.expected + ", seen " + verdict.seen);
          }
        } catch (const SimulationError& error) {
          faults.emplace_back(error.what());
        }
        passed += faults.empty();
        for (const std::string& fault : faults) {
          std::string note = method.name;
          note.append(", ").append(name).append(": ").append(fault);
          out.notes.push_back(note);
        }
      }
      out.add(method.name + ".passed", static_cast<double>(passed) / static_cast<double>(run.scenes.size()));
      out.add(method.name + ".converged", steps > 0 ? converged / steps : 0);
      if (skipped > 0)
        out.notes.push_back(method.name + ": " + std::to_string(skipped) +
                            " expectations concern later times or other solvers, and were skipped");
    }
  return out;
}

}  // namespace stickslip
