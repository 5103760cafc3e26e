#include "gpu/step/lift.h"

#include <algorithm>

namespace stickslip {
namespace {

std::vector<bool> held_nodes(const Model& model, double time, double dt) {
  std::vector<bool> held(model.node_count(), false);
  for (const ScriptedNodes& script : model.scripted)
    if (script.acts(time, dt))
      for (const std::int32_t node : script.nodes) held[static_cast<std::size_t>(node)] = true;
  return held;
}

class Lift {
 public:
  Lift(const Model& model, const LiftRule& rule, double dt, State& state)
      : model_(model), rule_(rule), state_(state), held_(held_nodes(model, state.time, dt)) {}

  double run() {
    for (const std::int32_t node : model_.surface_nodes) {
      const Object& object = model_.objects[static_cast<std::size_t>(model_.node_object[at(node)])];
      if (object.is_deformable() && !object.is_embedded() && !held_[at(node)] && !is_at_start(node))
        lift({node, node + 1}, {node, node + 1}, rule_.below);
    }
    for (const Object& object : model_.objects)
      if (object.is_solid() && object.is_affine() && !is_held(object) && !is_at_start(object))
        lift({object.node_begin, object.node_end}, {object.node_begin, object.control_begin + 4}, 0);
    for (const Object& object : model_.objects)
      if (object.is_embedded() && !is_any_held(object.node_begin, object.node_end) &&
          !is_lattice_at_start(object))
        lift({object.collides_from, object.node_end}, {object.node_begin, object.node_end}, rule_.below);
    return most_;
  }

 private:
  static std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }

  /// As far as the stepper's precision shows.
  bool is_at_start(std::int32_t node) const {
    return rule_.leave_start &&
           state_.positions[at(node)].cast<Real>() == model_.positions[at(node)].cast<Real>();
  }
  bool is_at_start(const Object& body) const {
    for (std::int32_t k = body.control_begin; k < body.control_begin + 4; ++k)
      if (!is_at_start(k)) return false;
    return true;
  }
  bool is_lattice_at_start(const Object& solid) const {
    for (std::int32_t i = solid.node_begin; i < solid.collides_from; ++i)
      if (!is_at_start(i)) return false;
    return true;
  }
  bool is_any_held(std::int32_t begin, std::int32_t end) const {
    for (std::int32_t i = begin; i < end; ++i)
      if (held_[at(i)]) return true;
    return false;
  }
  bool is_held(const Object& body) const {
    return is_any_held(body.node_begin, body.node_end) ||
           is_any_held(body.control_begin, body.control_begin + 4);
  }

  /// Moves nodes together by what the lowest node of their surface asks for: control nodes and lattice nodes
  /// are no points of it.
  void lift(Vec2i surface, Vec2i nodes, double below) {
    for (const HalfSpace& plane : model_.half_spaces) {
      double lowest = 1e300;
      for (std::int32_t i = surface[0]; i < surface[1]; ++i)
        lowest = std::min(lowest, dot(plane.normal, state_.positions[at(i)]) - plane.offset);
      lowest -= model_.objects[static_cast<std::size_t>(model_.node_object[at(surface[0])])].thickness / 2;
      if ((lowest >= below && lowest > 0) || lowest < -rule_.deepest) continue;
      for (std::int32_t i = nodes[0]; i < nodes[1]; ++i)
        state_.positions[at(i)] += (rule_.gap - lowest) * plane.normal;
      most_ = std::max(most_, rule_.gap - lowest);
    }
  }

  const Model& model_;
  const LiftRule& rule_;
  State& state_;
  const std::vector<bool> held_;
  double most_ = 0;
};

}  // namespace

double lift_out_of_half_spaces(const Model& model, const LiftRule& rule, double dt, State& state) {
  return Lift(model, rule, dt, state).run();
}

}  // namespace stickslip
