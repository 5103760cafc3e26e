// Measures within a contact problem of nodal ADMM [Daviet20 Table 3, Fig. 17]. Each start is tried twice by
// each method M: to 0.01 mm, and for as many iterations as the run says, without an end before. Quantities:
// M.iterations (to 0.01 mm), M.seconds (of the projections in the second try), M.seconds_ratio (over those of
// the first method), M.error (at its end, mm), M.reached (1: 0.01 mm by then, else 0), M.decrease (of the
// squared residual, last over first iteration).
#include <algorithm>
#include <cmath>

#include "bench/program/reproduce/measure.h"

namespace stickslip {
namespace {

constexpr double kWanted = 1e-5;    // [m]
constexpr double kAnyResidual = 1;  // the paper ends iterations by kWanted alone
constexpr int kTries = 3;           // of a time, of which the least counts

/// The contact problem of one step from `start`.
ContactSolveRecord solve_from(const State& start, const Scene& scene, const MeasureContext& context) {
  const std::unique_ptr<Engine> engine = context.engine();
  load_into(*engine, scene);
  engine->set_state(start);
  const StepReport report = engine->step();
  if (!report.contact_solve || report.contact_solve->changes.empty())
    throw InputError("this measure needs contacts, and coupling = nodal_admm or ica");
  return *report.contact_solve;
}

void add_curve(const ContactSolveRecord& record, Curve& curve) {
  for (std::size_t i = 0; i < record.changes.size(); ++i)
    if (record.changes[i] > 0) curve.points.emplace_back(static_cast<double>(i + 1), 1e3 * record.changes[i]);
}

}  // namespace

Measurement measure_projection(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  const std::vector<ClaimMethod> methods = methods_of(claim);
  Measurement out;
  out.x_name = "iteration";
  out.y_name = "residual, mm";
  out.y_log = true;
  const std::unique_ptr<Engine> engine = context.engine();
  load_into(*engine, claim_strands(claim, run, methods[0]));
  for (int k = 0; k < run.starts; ++k) {
    while (engine->state().frame < run.from + k * run.stride) {
      context.check();
      engine->step();
    }
    const State start = engine->state();
    double first = 0;
    for (const ClaimMethod& method : methods) {
      Scene scene = claim_strands(claim, run, method);
      scene.contact_params.tolerance = kAnyResidual;
      scene.params.admm_tolerance = kWanted;
      scene.params.admm_iterations = 2000;
      context.check();
      out.add(method.name + ".iterations",
              static_cast<double>(solve_from(start, scene, context).changes.size()));
      scene.params.admm_tolerance = 1e-12;
      scene.params.admm_iterations = run.iterations > 0 ? run.iterations : 25;
      ContactSolveRecord record;
      double seconds = 1e300;
      for (int i = 0; i < kTries; ++i) {
        context.check();
        record = solve_from(start, scene, context);
        seconds = std::min(seconds, record.projection_seconds);
      }
      const double last = record.changes.back();
      if (&method == &methods[0]) first = seconds;
      out.add(method.name + ".seconds", seconds);
      out.add(method.name + ".seconds_ratio", seconds / first);
      out.add(method.name + ".error", 1e3 * last);
      out.add(method.name + ".reached", last < kWanted ? 1 : 0);
      out.add(method.name + ".decrease", std::pow(last / record.changes.front(), 2));
      if (k == 0) {
        out.curves.push_back({method.name, {}});
        add_curve(record, out.curves.back());
      }
    }
  }
  return out;
}

}  // namespace stickslip
