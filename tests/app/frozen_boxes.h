// A step of the real engine with contacts that stick and contacts that slip, frozen.
#pragma once

#include <string>

#include "app/io/scene/scene.h"
#include "app/viewer/simulation.h"
#include "gpu/engine.h"

namespace stickslip::test {

/// A box at rest on a floor, and a box that slides on it. `material`: more keys of theirs.
inline std::string boxes_toml(const std::string& material = "", const std::string& object = "body = 'rigid'",
                              const std::string& floor = "[[half_space]]\nmu = 0.5\n") {
  const std::string box =
      "[[object]]\n" + object + "\nshape = 'box'\nsize = [0.4, 0.4, 0.4]\nmaterial = 'wood'\n";
  return "solver = 'nsgs'\n[[material]]\nname = 'wood'\ndensity = 500\nmu = 0.5\n" + material + "\n" + floor +
         box + "name = 'still'\nposition = [0, 0.2, 0]\n" + box +
         "name = 'sliding'\nposition = [2, 0.2, 0]\nvelocity = [1, 0, 0.5]\n";
}

/// A floor of the material of the boxes: half-spaces have no cohesion.
inline std::string wooden_floor() {
  return "[[collider]]\nname = 'floor'\nshape = 'box'\nsize = [8, 0.4, 8]\nposition = [0, -0.2, 0]\n"
         "material = 'wood'\n";
}

/// The contact problem of the third step, as Simulation freezes it.
inline FrozenStep frozen_boxes(const std::string& toml) {
  const Scene scene = parse_scene(toml, "/somewhere/boxes.toml");
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  LabParams solve = scene.contact_params;
  solve.tolerance = 1e-10;
  solve.max_iterations = 5000;
  engine->set_contact_params(solve);
  engine->load(scene.model);
  for (int i = 0; i < 3; ++i) engine->step();
  FrozenStep step;
  step.scene = "boxes";
  step.frame = 3;
  step.solver = "nsgs";
  step.params = solve;
  step.problem = engine->freeze();
  Snapshot shown;
  engine->snapshot(shown);
  step.contacts = shown.contacts;
  step.dt = engine->params().dt;
  return step;
}

}  // namespace stickslip::test
