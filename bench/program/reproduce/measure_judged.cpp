// Whole runs of hair, measured at every step by the judge, and by checks of strand_checks.h.
// Quantities of `judged` for a method M, per start:
//   M.strands; M.contacts and M.contacts_most: of a step, mean and most;
//   M.lawful: share of the steps whose residual by the judge is within the scene's contact.tolerance;
//   M.residual, M.error [m/s]: the judge's largest; M.converged: share of the steps;
//   M.penetration [m]: largest overlap of a contact, over the diameter of the thinnest rod;
//   M.inside [m]: deepest point of an object inside a closed surface;
//   M.crossed: pairs of segments that pass through each other within a step, all steps together;
//   M.pierced: most segments of a step that stick in a triangle;
//   M.friction_work [J]: largest of a step, at most zero by the law;
//   M.energy_rise: largest rise of the energy within a step in which no script moves, over the largest
//   kinetic energy of the run; not measured in scenes with forces or wind;
//   M.held, M.spread [m]: share of the strands that go through the band at the end, and how far they are from
//   each other there; M.fall [m]: by which the band has sunk.
// With a size, the scene is `hairy-ball` with so many strands.
#include <algorithm>
#include <cmath>

#include "bench/program/reproduce/measure.h"
#include "bench/program/reproduce/strand_checks.h"
#include "gpu/model/perturbed.h"

namespace stickslip {
namespace {

double thinnest_rod(const Model& model) {
  double least = 1e300;
  for (const Object& object : model.objects)
    if (object.is_rods()) least = std::min(least, object.thickness);
  return least;
}

/// Whether nodes on scripts are in other places.
bool scripts_moved(const Model& model, const State& before, const State& after) {
  for (const ScriptedNodes& script : model.scripted)
    for (const std::int32_t node : script.nodes)
      if (norm2(after.positions[static_cast<std::size_t>(node)] -
                before.positions[static_cast<std::size_t>(node)]) > 0)
        return true;
  return false;
}

/// What a run has shown so far.
struct JudgedRun {
  int steps = 0, converged = 0, lawful = 0, contacts_most = 0;
  double contacts = 0, residual = 0, error = 0, penetration = 0, inside = 0, friction_work = -1e300;
  double energy = NAN, energy_rise = 0, kinetic = 0;
  std::size_t crossed = 0, pierced = 0;

  void add(const StepReport& report, double tolerance, bool quiet) {
    ++steps;
    converged += report.converged;
    contacts += report.contacts;
    contacts_most = std::max(contacts_most, report.contacts);
    inside = std::max(inside, report.overlap);
    const double now = report.kinetic_energy + report.elastic_energy + report.gravity_energy;
    if (quiet && std::isfinite(energy)) energy_rise = std::max(energy_rise, now - energy);
    energy = now;
    kinetic = std::max(kinetic, report.kinetic_energy);
    if (!report.judgement) return;  // the step counts as one that breaks the law
    const StepJudgement& judged = *report.judgement;
    lawful += judged.contacts == 0 || judged.residual <= tolerance;
    if (judged.contacts == 0) return;
    residual = std::max(residual, judged.residual);
    error = std::max(error, judged.error);
    penetration = std::max(penetration, judged.penetration);
    friction_work = std::max(friction_work, judged.law.friction_work);
  }
};

}  // namespace

Measurement measure_judged(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  Measurement out;
  out.x_name = "time, s";
  out.y_name = "residual by the judge";
  out.y_log = true;
  for (const ClaimMethod& method : methods_of(claim))
    for (int k = 0; k < run.starts; ++k) {
      Scene scene = claim_strands(claim, run, method);
      scene.params.check_intersections = true;
      const std::unique_ptr<Engine> engine = context.engine();
      load_into(*engine, scene);
      if (k > 0) engine->set_state(perturbed(engine->state(), static_cast<std::uint64_t>(k)));
      const Model& model = scene.model;
      JudgedRun seen;
      Curve curve{method.name, {}};
      State before = engine->state();
      const HeldStrands first = held_strands(model, before.positions);
      for (int i = 0; i < (run.frames > 0 ? run.frames : scene.frames); ++i) {
        context.check();
        const StepReport report = engine->step();
        State after = engine->state();
        seen.add(report, scene.contact_params.tolerance, !scripts_moved(model, before, after));
        seen.crossed += crossed_segments(model, before.positions, after.positions);
        seen.pierced = std::max(seen.pierced, pierced_triangles(model, after.positions));
        if (report.judgement && report.judgement->residual > 0)
          curve.points.emplace_back(report.time, report.judgement->residual);
        before = std::move(after);
      }
      const double steps = std::max(seen.steps, 1);
      const auto add = [&](const char* quantity, double value) { out.add(method.name + quantity, value); };
      add(".strands", static_cast<double>(strand_count(model)));
      add(".contacts", seen.contacts / steps);
      add(".contacts_most", seen.contacts_most);
      add(".lawful", seen.lawful / steps);
      add(".residual", seen.residual);
      add(".error", seen.error);
      add(".converged", seen.converged / steps);
      add(".penetration", seen.penetration / thinnest_rod(model));
      add(".inside", seen.inside);
      add(".crossed", static_cast<double>(seen.crossed));
      add(".pierced", static_cast<double>(seen.pierced));
      if (seen.friction_work > -1e300) add(".friction_work", seen.friction_work);
      if (model.forces.empty() && scene.params.wind_speed == 0 && seen.kinetic > 0)
        add(".energy_rise", seen.energy_rise / seen.kinetic);
      const HeldStrands last = held_strands(model, before.positions);
      if (last.has_band) {
        add(".held", last.strands / std::max(1.0, static_cast<double>(strand_count(model))));
        add(".spread", last.spread);
        add(".fall", first.height - last.height);
      }
      if (k == 0) out.curves.push_back(std::move(curve));
    }
  return out;
}

}  // namespace stickslip
