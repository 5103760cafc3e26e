// Tripwires: what a step must not do. A step that does pauses the run, so that its problem can be looked at.
#pragma once

#include <span>
#include <string>

#include "gpu/model/model.h"
#include "gpu/model/report.h"
#include "gpu/model/state.h"
#include "gpu/params/params.h"

namespace stickslip {

struct Tripwires {
  bool unconverged = false;  // a step without convergence
  bool overlap = false;      // a penetration deeper than `depth`, or surfaces that intersect
  bool energy = false;       // more energy than before and than work explains, by the share `gain`
  bool friction = false;     // friction that adds energy
  bool not_finite = true;    // a place or a velocity that is no finite number
  double depth = 1e-3;       // [m]
  double gain = 0.01;        // of the energy at hand

  bool any() const { return unconverged || overlap || energy || friction || not_finite; }
};

/// A row for each of them, for scripts and journals.
std::span<const ParamInfo> tripwire_table();

/// What the step did, with its numbers; empty if it tripped nothing. `before`: the report of the step before,
/// null if there is none; without it no gain of energy is seen. A number that was not measured trips nothing.
/// `not_finite`: that of the state, see below.
std::string tripped(const Tripwires& wires, const StepReport& step, const StepReport* before,
                    const std::string& not_finite = {});

/// The first object of which a place or a velocity is no finite number: "the velocity of 'ball'". Empty:
/// there is none.
std::string first_not_finite(const Model& model, const State& state);

}  // namespace stickslip
