// A scene of rigid bodies, and an engine that reports contact solves without solving.
#pragma once

#include "gpu/model/rigid_body.h"
#include "tests/app/fake_engine.h"

namespace stickslip::test {

/// A part with a surface to draw: a box of half sizes `half`.
inline BodyPart box_part(const Vec<double, 3>& half) {
  BodyPart part = make_part(ShapeKind::box, half);
  for (int i = 0; i < 8; ++i)
    part.nodes.push_back(
        {(i & 1 ? 1 : -1) * half[0], (i & 2 ? 1 : -1) * half[1], (i & 4 ? 1 : -1) * half[2]});
  part.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return part;
}

/// "low" of half sizes 0.5, 0.25, 1 m at the origin; "high" above it, joined to it by a hinge along z; a
/// fixed "wall"; and a floor. Materials: "wood" of low and high, "stone" of the wall.
inline Scene rigid_scene(const std::string& name, const std::string& /*variant*/ = {}) {
  Scene scene;
  scene.name = name;
  Model& model = scene.model;
  model.material_names = {"wood", "stone"};
  model.materials = {Material{}, Material{}};
  const auto add = [&](const char* body, const Vec<double, 3>& half, const Vec<double, 3>& at, bool moves) {
    BodyStart start;
    start.pose.x = at;
    start.moves = moves;
    add_body(model, body, assemble({box_part(half)}), moves ? 0 : 1, start);
  };
  add("low", {0.5, 0.25, 1}, {0, 0, 0}, true);
  add("high", {0.5, 0.25, 0.75}, {0, 2, 0}, true);
  add("wall", {0.1, 2, 2}, {3, 1, 0}, false);
  Joint joint;
  joint.name = "hinge";
  joint.kind = JointKind::hinge;
  joint.a = 0;
  joint.b = 1;
  add_joint(model, joint, {{0, 1, 0}, turn_of_x({0, 0, 1})});
  model.half_spaces.push_back({{0, 1, 0}, -1.0, 0.3});
  finalize(model);
  scene.params.solver = SolverKind::velocity;
  return scene;
}

/// One body on a plane, as returned by `freeze`.
inline ContactProblem one_contact() {
  ContactProblem problem;
  problem.form = ContactProblem::Form::bodies;
  problem.laws.resize(1);
  problem.laws[0].mu = {0.5, 0.5, 0};
  problem.inverse_mass.assign(36, 0.0);
  for (std::size_t i = 0; i < 6; ++i) problem.inverse_mass[7 * i] = 1;
  problem.f = {0.3, -1, 0, 0, 0, 0};
  problem.w = {0, 0, 0};
  problem.block_start = {0, 1};
  JacobianBlock block;
  for (std::size_t row = 0; row < 3; ++row) block.rows[6 * row + (row == 0 ? 1 : row == 1 ? 0 : 2)] = 1;
  problem.jacobian = {block};
  problem.guess = {0.9, 0, 0};
  problem.solution = {1, -0.3, 0};
  return problem;
}

}  // namespace stickslip::test
