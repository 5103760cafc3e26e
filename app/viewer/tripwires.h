// Tripwires: what a step must not do. A step that does pauses the run, so that its problem can be looked at.
#pragma once

#include <string>

#include "gpu/model/report.h"

namespace stickslip {

struct Tripwires {
  bool unconverged = false;  // a step without convergence
  bool overlap = false;      // a penetration deeper than `depth`, or surfaces that intersect
  bool energy = false;       // more energy than before and than work explains, by the share `gain`
  bool friction = false;     // friction that adds energy
  double depth = 1e-3;       // [m]
  double gain = 0.01;        // of the energy at hand

  bool any() const { return unconverged || overlap || energy || friction; }
};

/// What the step did, with its numbers; empty if it tripped nothing. `before`: the report of the step before,
/// null if there is none; without it no gain of energy is seen. A number that was not measured trips nothing.
std::string tripped(const Tripwires& wires, const StepReport& step, const StepReport* before);

}  // namespace stickslip
