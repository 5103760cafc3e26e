// The choices of `solver`: the stepper of each, the models that it refuses, and the parameters that it reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Each family has one class that implements Stepper (gpu/step/stepper.cuh).
enum class StepperFamily {
  barrier,   // minimises an incremental potential; every state is free of intersections
  velocity,  // a contact problem per step; rigid bodies and elastic solids
};

/// One choice of `solver`.
struct SolverInfo {
  std::string_view name, meaning;
  std::vector<std::string_view> groups;  // of the parameters that it reads
  StepperFamily family = StepperFamily::barrier;
};
/// In the order of SolverKind.
std::vector<SolverInfo> list_solvers();

StepperFamily stepper_family(SolverKind solver);

/// Why a stepper cannot move a model.
struct Refusal {
  std::string body;    // the object that it cannot move; empty: the scene as a whole
  std::string solver;  // the choice of `solver`
  std::string reason;  // what is wrong, and what would be right

  /// One sentence for messages.
  std::string text() const;
};

/// Why the stepper that `solver` chooses refuses `model`; none: it accepts it. `drop_unsupported`: see
/// Params.
std::optional<Refusal> stepper_refusal(const Model& model, SolverKind solver, bool drop_unsupported = false);
inline std::optional<Refusal> stepper_refusal(const Model& model, const Params& params) {
  return stepper_refusal(model, params.solver, params.drop_unsupported);
}

/// The properties of `model` that barrier steps of rigid bodies ignore, for example "restitution of
/// 'rubber'".
std::vector<std::string> ignored_by_barrier(const Model& model);

}  // namespace stickslip
