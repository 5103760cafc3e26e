#include "app/io/report/step_race.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/io/report/report.h"
#include "app/io/scene/settings.h"
#include "gpu/core/device_lost.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {
namespace {

/// The larger of two values; unknown (NaN) if one of them is.
double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

/// What a step adds to the judgement of a run.
void add(StepJudgement& sum, const StepJudgement& step, bool first) {
  if (first) {
    sum = step;
    return;
  }
  for (double StepJudgement::*value :
       {&StepJudgement::residual, &StepJudgement::error, &StepJudgement::scale, &StepJudgement::penetration})
    sum.*value = larger(sum.*value, step.*value);
  for (double StepJudgement::*value : {&StepJudgement::energy_change, &StepJudgement::work})
    sum.*value += step.*value;
  sum.barrier_energy = step.barrier_energy;
  sum.contacts = step.contacts;
  for (double LawCheck::*value :
       {&LawCheck::approach, &LawCheck::pull, &LawCheck::cone, &LawCheck::complementarity, &LawCheck::slip,
        &LawCheck::impulse, &LawCheck::torque, &LawCheck::momentum, &LawCheck::angular_momentum,
        &LawCheck::momentum_size})
    sum.law.*value = larger(sum.law.*value, step.law.*value);
  sum.law.friction_work += step.law.friction_work;
}

void add(StepRun& run, const StepReport& report) {
  run.seconds += report.seconds.total() - report.seconds.check;
  run.converged += report.converged;
  run.contacts = report.contacts;
  run.energy = report.kinetic_energy + report.elastic_energy + report.gravity_energy;
  run.overlap = std::max(run.overlap, report.overlap);
  if (report.intersections >= 0) run.intersections = std::max(run.intersections, 0) + report.intersections;
  if (report.judgement) add(run.worst, *report.judgement, !run.judged);
  run.judged = report.judgement.has_value();
  ++run.steps;
}

/// Places the state of `start` with the parameters that made it, then sets `params`. Returns the note on the
/// change of family, or nothing where the family stays: the engine's note is then about the scene's start.
std::string load(Engine& engine, const StepRaceStart& start, const Params& params) {
  engine.set_params(start.params);
  engine.set_contact_params(start.contact);
  engine.load(start.model);
  engine.set_state(start.state);
  engine.set_params(params);
  const bool switched = stepper_family(params.solver) != stepper_family(start.params.solver);
  return switched ? engine.load_note() : "";
}

StepRun& ended(StepRun& run, StepRun::End end, std::string message) {
  run.end = end;
  run.message = std::move(message);
  return run;
}

std::string number(const char* format, double value) {
  if (!std::isfinite(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

const char* name_of(StepRun::End end) {
  static constexpr const char* names[] = {"finished", "refused", "failed", "cancelled"};
  return names[static_cast<std::size_t>(end)];
}

std::vector<std::string> all_steppers() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list_solvers().size(); ++i)
    if (stepper_family(static_cast<SolverKind>(i)) != StepperFamily::velocity)
      names.emplace_back(list_solvers()[i].name);
  for (const ContactSolverInfo& solver : contact_solver_table()) names.emplace_back(solver.name);
  return names;
}

std::string stepper_name(const Params& params) {
  if (stepper_family(params.solver) == StepperFamily::velocity)
    return std::string(contact_solver_info(params.contact_solver).name);
  return std::string(list_solvers()[static_cast<std::size_t>(params.solver)].name);
}

StepRun run_stepper(Engine& engine, const StepRaceStart& start, const std::string& stepper, int steps,
                    const std::atomic<bool>* cancel) {
  StepRun run;
  run.stepper = stepper;
  Params params = start.params;
  set_solver(params, stepper);
  params.check_intersections = true;
  try {
    check_solver(params, start.model);
    run.note = load(engine, start, params);
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::runtime_error& error) {  // also InputError
    return ended(run, StepRun::End::refused, error.what());
  } catch (const std::invalid_argument& error) {
    return ended(run, StepRun::End::refused, error.what());
  } catch (const std::exception& error) {  // memory, for example
    return ended(run, StepRun::End::failed, error.what());
  }
  engine.set_cancel(cancel);
  try {
    for (int i = 0; i < steps; ++i) {
      if (cancel != nullptr && *cancel) throw StepInterrupted();
      add(run, engine.step());
    }
  } catch (const StepInterrupted&) {
    ended(run, StepRun::End::cancelled, "");
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {  // any: the other steppers of the race go on
    ended(run, StepRun::End::failed, error.what());
  }
  engine.set_cancel(nullptr);
  if (run.end == StepRun::End::failed) return run;
  Snapshot end;
  end.wants_contacts = false;
  engine.snapshot(end);
  run.positions = std::move(end.positions);
  return run;
}

bool ranks_before(const StepRun& a, const StepRun& b) {
  const auto key = [](const StepRun& run) {
    const bool known = run.judged && std::isfinite(run.worst.residual);
    return std::tuple(static_cast<int>(run.end), !known, known ? run.worst.residual : 0.0, run.seconds);
  };
  return key(a) < key(b);
}

nlohmann::json to_json(const StepRun& run) {
  using nlohmann::json;
  const auto measured = [&](bool is, json value) { return is ? std::move(value) : json(); };
  const bool stepped = run.steps > 0;
  return {{"stepper", run.stepper},
          {"end", name_of(run.end)},
          {"message", measured(!run.message.empty(), run.message)},
          {"note", measured(!run.note.empty(), run.note)},
          {"steps", run.steps},
          {"converged", run.converged},
          {"seconds", measured(stepped, run.seconds)},
          {"judgement", measured(run.judged, to_json(run.worst))},
          {"contacts", measured(stepped, run.contacts)},
          {"overlap", measured(run.overlap >= 0, run.overlap)},
          {"intersections", measured(run.intersections >= 0, run.intersections)},
          {"energy", measured(stepped, run.energy)}};
}

std::span<const StepRaceColumn> step_race_columns() {
  static constexpr StepRaceColumn columns[] = {
      {"converged", "steps that met their own tolerance",
       [](const StepRun& r) { return std::to_string(r.converged) + "/" + std::to_string(r.steps); }},
      {"ms/step", "wall time of a step, without checks of intersections",
       [](const StepRun& r) { return r.steps > 0 ? number("%.4g", 1e3 * r.seconds / r.steps) : "-"; }},
      {"residual", "the judge's, by Coulomb's law: the largest of all steps",
       [](const StepRun& r) { return r.judged ? number("%.2e", r.worst.residual) : "-"; }},
      {"e m/s", "largest error of a contact",
       [](const StepRun& r) { return r.judged ? number("%.2e", r.worst.error) : "-"; }},
      {"approach", "largest -u_N [m/s]",
       [](const StepRun& r) { return r.judged ? number("%.1e", r.worst.law.approach) : "-"; }},
      {"r_N u_N J", "largest r_N u_N of a contact that opens",
       [](const StepRun& r) { return r.judged ? number("%.1e", r.worst.law.complementarity) : "-"; }},
      {"cone N s", "largest friction beyond mu r_N",
       [](const StepRun& r) { return r.judged ? number("%.1e", r.worst.law.cone) : "-"; }},
      {"momentum", "largest momentum of a step that nothing explains, relative to the sum of m |v|",
       [](const StepRun& r) {
         return r.judged ? number("%.1e", r.worst.law.momentum_size > 0
                                              ? r.worst.law.momentum / r.worst.law.momentum_size
                                              : r.worst.law.momentum)
                         : "-";
       }},
      {"overlap mm", "deepest point of one mesh inside another",
       [](const StepRun& r) { return r.overlap >= 0 ? number("%.3g", 1e3 * r.overlap) : "-"; }},
      {"cuts", "edges that pass through triangles",
       [](const StepRun& r) { return r.intersections >= 0 ? std::to_string(r.intersections) : "-"; }},
      {"energy J", "kinetic, elastic and of gravity, at the end",
       [](const StepRun& r) { return r.steps > 0 ? number("%.6g", r.energy) : "-"; }},
      {"change J", "of that energy in all steps",
       [](const StepRun& r) { return r.judged ? number("%.3g", r.worst.energy_change) : "-"; }},
      {"friction J", "work of friction in all steps: at most zero",
       [](const StepRun& r) { return r.judged ? number("%.3g", r.worst.law.friction_work) : "-"; }},
  };
  return columns;
}

}  // namespace stickslip
