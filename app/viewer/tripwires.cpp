#include "app/viewer/tripwires.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace stickslip {
namespace {

/// Friction's work below this share of the energy at hand is rounding, or the solver's tolerance.
constexpr double kFrictionShare = 1e-4;

std::string number(const char* format, double value) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, format, value);
  return {text, static_cast<std::size_t>(std::clamp(length, 0, 63))};
}

/// [J] that can turn into motion within a step: what gains are compared with.
double energy_at_hand(const StepReport& step) {
  const StepJudgement& judged = *step.judgement;
  double sum = step.kinetic_energy + std::abs(step.elastic_energy);
  for (const double part : {judged.energy_change, judged.barrier_energy, judged.work})
    if (std::isfinite(part)) sum += std::abs(part);
  return sum;
}

std::string overlap_of(const Tripwires& wires, const StepReport& step) {
  if (step.intersections > 0) return std::to_string(step.intersections) + " intersections of surfaces";
  const double judged = step.judgement ? step.judgement->penetration : 0;
  const double depth = std::max({step.overlap, step.contact_solve ? step.contact_solve->penetration : 0,
                                 std::isfinite(judged) ? judged : 0});
  return depth > wires.depth ? number("bodies overlap by %.3g mm", 1e3 * depth) : "";
}

/// Barriers store energy between surfaces that come near, which is no part of energy_change.
std::string gain_of(const Tripwires& wires, const StepReport& step, const StepReport* before) {
  if (!step.judgement || before == nullptr || !before->judgement) return {};
  const StepJudgement& judged = *step.judgement;
  double gain = judged.energy_change - (std::isfinite(judged.work) ? judged.work : 0);
  const double stored = judged.barrier_energy - before->judgement->barrier_energy;
  if (std::isfinite(stored)) gain += stored;
  if (!(gain > wires.gain * energy_at_hand(step))) return {};
  return number("energy grew by %.3g J more than work explains", gain);
}

ParamInfo wire_row(std::string_view name, std::size_t offset, bool value, std::string_view meaning) {
  return {name, ParamType::boolean, value ? 1.0 : 0.0, 0, 1, "", "tripwire", meaning, {}, offset};
}

ParamInfo limit_row(std::string_view name, std::size_t offset, double value, double low, double high,
                    std::string_view unit, std::string_view meaning) {
  return {name, ParamType::real, value, low, high, unit, "tripwire", meaning, {}, offset};
}

}  // namespace

std::span<const ParamInfo> tripwire_table() {
  constexpr Tripwires start;
  static const std::vector<ParamInfo> table{
      wire_row("unconverged", offsetof(Tripwires, unconverged), start.unconverged,
               "pause at a step without convergence"),
      wire_row("overlap", offsetof(Tripwires, overlap), start.overlap,
               "pause at an overlap deeper than depth, or at surfaces that intersect"),
      wire_row("energy", offsetof(Tripwires, energy), start.energy,
               "pause when energy grows by more than gain, beyond what work explains"),
      wire_row("friction", offsetof(Tripwires, friction), start.friction, "pause when friction adds energy"),
      wire_row("not_finite", offsetof(Tripwires, not_finite), start.not_finite,
               "pause at a place or a velocity that is no finite number"),
      limit_row("depth", offsetof(Tripwires, depth), start.depth, 1e-6, 0.1, "m",
                "the deepest overlap that is let pass"),
      limit_row("gain", offsetof(Tripwires, gain), start.gain, 1e-5, 1, "1",
                "share of the energy at hand that is let pass")};
  return table;
}

std::string first_not_finite(const Model& model, const State& state) {
  const auto is_finite = [](const Vec<double, 3>& v) { return std::isfinite(v[0] + v[1] + v[2]); };
  const auto name_of_body = [&](std::size_t body) {
    return model.objects[static_cast<std::size_t>(model.bodies[body].object)].name;
  };
  for (std::size_t b = 0; b < std::min(state.bodies.size(), model.bodies.size()); ++b) {
    const BodyState& body = state.bodies[b];
    const Quat& q = body.pose.q;
    if (!is_finite(body.pose.x) || !std::isfinite(q.w) || !is_finite(q.v))
      return "the place of '" + name_of_body(b) + "'";
    if (!is_finite(body.velocity) || !is_finite(body.spin))
      return "the velocity of '" + name_of_body(b) + "'";
  }
  const auto of_nodes = [&](const std::vector<Vec<double, 3>>& vectors, const char* what) -> std::string {
    const auto found = std::ranges::find_if_not(vectors, is_finite);
    const auto node = static_cast<std::size_t>(found - vectors.begin());
    if (found == vectors.end()) return {};
    if (node >= model.node_object.size()) return std::string(what) + " of a body";
    const auto object = static_cast<std::size_t>(model.node_object[node]);
    return std::string(what) + " of '" + model.objects[object].name + "'";
  };
  const std::string place = of_nodes(state.positions, "the place");
  return place.empty() ? of_nodes(state.velocities, "the velocity") : place;
}

std::string tripped(const Tripwires& wires, const StepReport& step, const StepReport* before,
                    const std::string& not_finite) {
  std::string what;
  if (wires.not_finite && !not_finite.empty()) what = not_finite + " is no finite number";
  if (what.empty() && wires.unconverged && !step.converged)
    what = "not converged" + (step.stop_reason.empty() ? "" : ": " + step.stop_reason);
  if (what.empty() && wires.overlap) what = overlap_of(wires, step);
  if (what.empty() && wires.energy) what = gain_of(wires, step, before);
  if (what.empty() && wires.friction && step.judgement &&
      step.judgement->law.friction_work > kFrictionShare * energy_at_hand(step))
    what = number("friction added %.3g J", step.judgement->law.friction_work);
  return what.empty() ? what : "step " + std::to_string(step.frame) + ": " + what;
}

}  // namespace stickslip
