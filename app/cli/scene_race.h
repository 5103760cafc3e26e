// `stickslip race SCENE --steppers ...`: many steppers from the same state of a scene, ranked by the judge.
#pragma once

#include <string>
#include <vector>

#include "app/cli/cli.h"

namespace stickslip {

struct SceneRaceOptions : SceneOptions {
  std::vector<std::string> steppers;  // "all": every stepper
  int frame = 0;                      // step of the scene's own stepper at whose end the race begins
  int steps = 1;
  std::string pictures;  // folder; empty: none
  bool json = false;
};

/// Runs the scene's own stepper to `frame`, then each stepper from there in an engine of its own. Returns
/// exit_good if a stepper made all its steps, else exit_failed. Throws InputError, DeviceError.
int command_scene_race(const SceneRaceOptions& options, const EngineFactory& factory);

}  // namespace stickslip
