#include "gpu/model/steppers.h"

#include <algorithm>

namespace stickslip {
namespace {

std::string name_of(SolverKind solver) {
  return std::string(list_solvers()[static_cast<std::size_t>(solver)].name);
}

std::optional<Refusal> barrier_refusal(const Model& model, SolverKind solver) {
  const auto rigid = std::ranges::find_if(model.objects, &Object::is_rigid);
  if (model.bodies.empty()) return {};
  return Refusal{rigid == model.objects.end() ? "" : rigid->name, name_of(solver),
                 "rigid bodies need velocity, or one of its contact solvers (stickslip list solvers shows "
                 "all)"};
}

std::optional<Refusal> velocity_refusal(const Model& model, SolverKind solver) {
  if (model.bodies.empty()) return {};
  for (const Object& object : model.objects)
    if (object.is_collider())
      return Refusal{
          object.name, name_of(solver),
          "it is a collider without a shape that rigid bodies could touch; put a fixed or scripted "
          "rigid body in its place"};
  return {};
}

}  // namespace

std::vector<SolverInfo> list_solvers() {
  const std::vector<std::string_view> groups{"solver", "time", "integration", "barrier",  "friction",
                                             "newton", "pcg",  "ccd",         "boundary", "interaction"};
  std::vector<std::string_view> with_multipliers = groups;
  with_multipliers.emplace_back("augmented");
  return {{"ipc",
           "incremental potential contact: barrier, smoothed friction, projected Newton with PCG [Guo24 "
           "baseline]",
           groups, StepperFamily::barrier},
          {"barrier_al",
           "barrier-augmented Lagrangian: multipliers carry the tightest contacts, one inexact Newton step "
           "each [Guo24 Alg.1]",
           with_multipliers, StepperFamily::barrier},
          {"velocity",
           "velocity-level contact of rigid bodies and elastic solids: a linear step with impulses, found by "
           "contact_solver [Course 1.2, 3, 4.3]",
           {"solver", "time", "velocity", "stabilisation", "sleep", "penalty", "interaction", "pcg"},
           StepperFamily::velocity}};
}

StepperFamily stepper_family(SolverKind solver) {
  return list_solvers()[static_cast<std::size_t>(solver)].family;
}

std::string Refusal::text() const {
  return "solver " + solver + " cannot move " + (body.empty() ? "this scene" : "'" + body + "'") + ": " +
         reason;
}

std::optional<Refusal> stepper_refusal(const Model& model, SolverKind solver) {
  switch (stepper_family(solver)) {
    case StepperFamily::barrier:
      return barrier_refusal(model, solver);
    case StepperFamily::velocity:
      return velocity_refusal(model, solver);
  }
  return {};
}

}  // namespace stickslip
