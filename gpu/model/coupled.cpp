#include "gpu/model/coupled.h"

#include <algorithm>

namespace stickslip {

bool is_coupled(const Model& model) {
  return !model.bodies.empty() && std::ranges::any_of(model.objects, &Object::is_deformable);
}

std::string coupled_fault(const Params& params) {
  if (params.sleeping) return "sleeping = true: bodies that elastic solids touch never rest for good";
  if (params.contact_solver == ContactSolverKind::penalty_explicit)
    return "contact_solver = penalty_explicit pushes rigid bodies only: penalty_implicit pushes elastic "
           "solids too";
  if (params.stabilisation == Stabilisation::projection)
    return "stabilisation = projection corrects the poses of rigid bodies only: take baumgarte or "
           "spring_damper";
  if (params.shock_propagation)
    return "shock_propagation = true: it goes from body to body and does not handle elastic solids";
  return {};
}

Params coupled_params(Params params) {
  params.sleeping = params.shock_propagation = false;
  if (params.contact_solver == ContactSolverKind::penalty_explicit)
    params.contact_solver = ContactSolverKind::penalty_implicit;
  if (params.stabilisation == Stabilisation::projection) params.stabilisation = Stabilisation::baumgarte;
  return params;
}

}  // namespace stickslip
