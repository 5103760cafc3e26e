#include "app/io/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "gpu/core/span_totals.h"

namespace stickslip {
namespace {

using nlohmann::json;

json vector_json(const Vec<double, 3>& v) { return json::array({v[0], v[1], v[2]}); }

json stages_json(const StageTimes& s) {
  return {{"broad_phase", s.broad_phase},
          {"contacts", s.contacts},
          {"assembly", s.assembly},
          {"linear_solve", s.linear_solve},
          {"ccd", s.ccd},
          {"line_search", s.line_search},
          {"contact_solve", s.contact_solve},
          {"check", s.check},
          {"other", s.other},
          {"total", s.total()}};
}

json groups_json(const std::vector<StiffnessGroup>& groups) {
  json rows = json::array();
  for (const StiffnessGroup& group : groups)
    rows.push_back({{"exponent", group.exponent}, {"nodes", group.nodes}});
  return rows;
}

json measured(bool is_measured, json value) { return is_measured ? std::move(value) : json(); }

json newton_json(const NewtonRecord& n) {
  return {{"gradient_norm", n.gradient_norm},
          {"imbalance", n.imbalance},
          {"step_norm", n.step_norm},
          {"step_length", n.step_length},
          {"ccd_bound", n.ccd_bound},
          {"energy", n.energy},
          {"contact_limit_halvings", n.contact_limit_halvings},
          {"pcg_iterations", n.pcg_iterations},
          {"pcg_residual", n.pcg_residual},
          {"contacts", n.contacts},
          {"augmented", n.augmented},
          {"barrier_stiffness", n.barrier_stiffness},
          {"gap_min", measured(n.contacts > 0, n.gap_min)}};
}

/// Null without a trace; the device part is null on the CPU.
json spans_json(const std::vector<TraceSpan>& trace) {
  json rows = json::array();
  for (const SpanTotal& span : span_totals(trace))
    rows.push_back({{"name", span.name},
                    {"depth", span.depth},
                    {"count", span.count},
                    {"host_ms", 1e3 * span.host},
                    {"device_ms", measured(span.has_device, 1e3 * span.device)}});
  return measured(!trace.empty(), std::move(rows));
}

/// Units are SI, see LawCheck.
json law_json(const LawCheck& law) {
  return {{"approach", law.approach},
          {"pull", law.pull},
          {"cone", law.cone},
          {"complementarity", law.complementarity},
          {"slip", law.slip},
          {"friction_work", law.friction_work},
          {"momentum", law.momentum},
          {"angular_momentum", law.angular_momentum},
          {"impulse", law.impulse},
          {"torque", law.torque},
          {"momentum_size", law.momentum_size}};
}

/// Reason why a checked run of velocity-level steps has no intersection count.
constexpr const char* kOverlapNote =
    "in velocity-level steps bodies may overlap: overlap_max is the deepest point [m] of one mesh inside "
    "another";

/// Cause of the end of a step that did not converge.
std::string stop_text(const StepReport& r) {
  std::string text = "'" + (r.stop_reason.empty() ? "unknown" : r.stop_reason) + "'";
  if (!r.contact_solve) return text;
  char numbers[96];
  const int length =
      std::snprintf(numbers, sizeof numbers, " after %ld iterations, residual %.2g of %.2g",
                    r.contact_solve->iterations, r.contact_solve->residual, r.contact_solve->tolerance);
  return text.append(numbers, static_cast<std::size_t>(length));
}

json guard_json(const GuardRecord& g) {
  return {{"crossings", g.crossings}, {"solves", g.solves},
          {"shortened", g.shortened}, {"cut", g.cut},
          {"unguarded", g.unguarded}, {"intersections", g.intersections}};
}

json contact_solve_json(const ContactSolveRecord& s) {
  return {{"residual", s.residual},
          {"tolerance", s.tolerance},
          {"scale", s.scale},
          {"iterations", s.iterations},
          {"blocks", s.blocks},
          {"nu", s.nu},
          {"message", measured(!s.message.empty(), s.message)},
          {"colours", s.colours},
          {"changes", measured(!s.changes.empty(), s.changes)},
          {"projection_seconds", measured(!s.changes.empty(), s.projection_seconds)},
          {"penetration", s.penetration},
          {"law", s.law ? law_json(*s.law) : json()},
          {"dissipation", s.dissipation},
          {"bodies", s.bodies},
          {"asleep", s.asleep},
          {"islands", s.islands},
          {"rounds", s.rounds},
          {"dual_solves", s.dual_solves},
          {"dual_iterations", s.dual_iterations},
          {"solids_residual", s.solids_residual},
          {"linearisations", s.linearisations},
          {"friction_rounds", s.friction_rounds},
          {"friction_change", s.friction_change},
          {"linearisations_diverge", s.linearisations_diverge},
          {"linearisation_error", s.linearisation_error},
          {"splitting_unfinished", s.splitting_unfinished},
          {"guard", s.guard ? guard_json(*s.guard) : json()}};
}

}  // namespace

json to_json(const StepJudgement& judgement) {
  json out{{"contacts", judgement.contacts}, {"law", law_json(judgement.law)}};
  for (const JudgementInfo& row : judgement_table()) {
    const double value = judgement.*row.value;
    out[row.name] = measured(std::isfinite(value), value);
  }
  return out;
}

json to_json(const StepReport& r) {
  json history = json::array();
  for (const NewtonRecord& record : r.newton) history.push_back(newton_json(record));
  return {{"frame", r.frame},
          {"time", r.time},
          {"seconds", stages_json(r.seconds)},
          {"newton", std::move(history)},
          {"newton_iterations", r.newton_iterations},
          {"pcg_iterations", r.pcg_iterations},
          {"converged", r.converged},
          {"stopped_by_budget", r.stopped_by_budget},
          {"stop_reason", r.stop_reason},
          {"body_strain", measured(r.body_strain >= 0, r.body_strain)},
          {"strain_repeats", r.strain_repeats},
          {"joint_residual", measured(r.joint_residual >= 0, r.joint_residual)},
          {"candidates", r.candidates},
          {"contacts", r.contacts},
          {"augmented", r.augmented},
          {"multiplier_max", r.multiplier_max},
          {"contact_limit_halvings", r.contact_limit_halvings},
          {"contact_limit_exceeded", r.contact_limit_exceeded},
          {"stiffness_groups", groups_json(r.groups)},
          {"gap_min", measured(r.contacts > 0, r.gap_min)},
          {"volume_ratio_min", r.volume_ratio_min},
          {"inverted", r.inverted},
          {"barrier_stiffness", r.barrier_stiffness},
          {"intersections", measured(r.intersections >= 0, r.intersections)},
          {"overlap", measured(r.overlap >= 0, r.overlap)},
          {"overlap_of", measured(!r.overlap_of.empty(), r.overlap_of)},
          {"contact_solve", r.contact_solve ? contact_solve_json(*r.contact_solve) : json()},
          {"judgement", r.judgement ? to_json(*r.judgement) : json()},
          {"kinetic_energy", r.kinetic_energy},
          {"elastic_energy", r.elastic_energy},
          {"gravity_energy", r.gravity_energy},
          {"momentum", vector_json(r.momentum)},
          {"angular_momentum", vector_json(r.angular_momentum)},
          {"allocations", r.counters.allocations},
          {"copies_to_host", r.counters.copies_to_host},
          {"bytes_to_host", r.counters.bytes_to_host},
          {"copies_to_device", r.counters.copies_to_device},
          {"bytes_to_device", r.counters.bytes_to_device},
          {"launches", r.counters.launches},
          {"graph_launches", r.counters.graph_launches},
          {"synchronisations", r.counters.synchronisations},
          {"memory_bytes", r.memory_bytes},
          {"spans", spans_json(r.trace)}};
}

json to_json(const ParamInfo& info) {
  static constexpr const char* types[] = {"real", "integer", "boolean", "choice"};
  json row{{"name", info.name},
           {"type", types[static_cast<int>(info.type)]},
           {"group", info.group},
           {"meaning", info.meaning}};
  switch (info.type) {
    case ParamType::choice:
      row["choices"] = info.choices;
      row["default"] = info.choices[static_cast<std::size_t>(info.default_value)];
      break;
    case ParamType::boolean:
      row["default"] = info.default_value != 0;
      break;
    case ParamType::integer:
      row["default"] = static_cast<int>(info.default_value);
      row["low"] = static_cast<int>(info.low);
      row["high"] = static_cast<int>(info.high);
      row["unit"] = info.unit;
      break;
    case ParamType::real:
      row["default"] = info.default_value;
      row["low"] = info.low;
      row["high"] = info.high;
      row["unit"] = info.unit;
  }
  return row;
}

void RunSummary::add(const StepReport& report, double wall_seconds) {
  ++frames;
  seconds += wall_seconds;
  contacts_max = std::max(contacts_max, report.contacts);
  if (report.contacts > 0) gap_min = std::min(gap_min, report.gap_min);
  volume_ratio_min = std::min(volume_ratio_min, report.volume_ratio_min);
  inverted = report.inverted;
  inverted_max = std::max(inverted_max, report.inverted);
  converged += report.converged;
  stopped_by_budget += report.stopped_by_budget;
  if (!report.converged) last_stop_ = stop_text(report);
  if (report.overlap > overlap_max) {
    overlap_max = report.overlap;
    overlap_of = report.overlap_of;
    overlap_frame = report.frame;
  }
  if (report.intersections >= 0) intersections = std::max(intersections, 0) + report.intersections;
  newton_iterations += report.newton_iterations;
  pcg_iterations += report.pcg_iterations;
  contact_limit_halvings += report.contact_limit_halvings;
  contact_limit_exceeded += report.contact_limit_exceeded;
  if (!report.contact_solve) return;
  const ContactSolveRecord& solve = *report.contact_solve;
  contact_iterations += solve.iterations;
  penetration_max = std::max(penetration_max, solve.penetration);
  // A NaN is kept.
  if (!(solve.residual <= residual_max)) residual_max = solve.residual;
}

std::string RunSummary::unconverged() const {
  if (frames == 0 || converged > 0 || stopped_by_budget == frames) return {};
  return "none of " + std::to_string(frames) + " steps converged: the last one ended with " + last_stop_;
}

int RunSummary::count(Verdict::Outcome outcome) const {
  return static_cast<int>(std::count_if(verdicts.begin(), verdicts.end(),
                                        [&](const Verdict& verdict) { return verdict.outcome == outcome; }));
}

json to_json(const RunSummary& s) {
  return {{"scene", s.scene},
          {"variant", measured(!s.variant.empty(), s.variant)},
          {"scale", s.scale},
          {"density", s.density},
          {"backend", s.backend},
          {"solver", s.solver},
          {"frames", s.frames},
          {"seconds", s.seconds},
          {"contacts_max", s.contacts_max},
          {"gap_min", measured(std::isfinite(s.gap_min), s.gap_min)},
          {"intersections", measured(s.intersections >= 0, s.intersections)},
          {"intersections_note", measured(s.overlap_max >= 0, kOverlapNote)},
          {"overlap_max", measured(s.overlap_max >= 0, s.overlap_max)},
          {"overlap_of", measured(!s.overlap_of.empty(), s.overlap_of)},
          {"volume_ratio_min", s.volume_ratio_min},
          {"inverted_max", s.inverted_max},
          {"converged", s.converged},
          {"stopped_by_budget", s.stopped_by_budget},
          {"newton_iterations", s.newton_iterations},
          {"pcg_iterations", s.pcg_iterations},
          {"contact_limit_halvings", s.contact_limit_halvings},
          {"contact_limit_exceeded", s.contact_limit_exceeded},
          {"contact_iterations", measured(s.residual_max >= 0, s.contact_iterations)},
          {"residual_max", measured(s.residual_max >= 0, s.residual_max)},
          {"penetration_max", measured(s.residual_max >= 0, s.penetration_max)},
          {"interrupted", s.interrupted},
          {"error", measured(!s.error.empty(), s.error)},
          {"expect",
           {{"passed", s.count(Verdict::Outcome::passed)},
            {"failed", s.count(Verdict::Outcome::failed)},
            {"skipped", s.count(Verdict::Outcome::skipped)}}}};
}

}  // namespace stickslip
