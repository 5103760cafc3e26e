#include "gpu/model/coupled.h"

#include <algorithm>

namespace stickslip {

bool is_coupled(const Model& model) {
  return std::ranges::any_of(model.objects, [](const Object& object) { return !object.is_rigid(); });
}

bool searches_within(const Params& params) {
  return params.admm_search_every > 0 && params.coupling == SolidCoupling::nodal_admm &&
         params.contact_solver != ContactSolverKind::penalty_explicit;
}

std::string coupled_fault(const Params& params) {
  if (params.sleeping) return "sleeping = true: elastic solids and what they touch never rest for good";
  if (params.contact_solver == ContactSolverKind::penalty_explicit && params.penetration_guard)
    return "contact_solver = penalty_explicit with penetration_guard = true: the guard adds contacts to a "
           "contact problem, which explicit forces do not have; take penalty_implicit";
  if (params.stabilisation == Stabilisation::projection)
    return "stabilisation = projection corrects the poses of rigid bodies only: take baumgarte or "
           "spring_damper";
  if (params.shock_propagation)
    return "shock_propagation = true: it goes from body to body and does not handle elastic solids";
  if (params.penetration_guard && params.integrator == RigidIntegrator::midpoint)
    return "penetration_guard = true with integrator = midpoint: the half step before contacts are found is "
           "not guarded; take semi_implicit";
  if (searches_within(params) && params.integrator == RigidIntegrator::midpoint)
    return "admm_search_every = " + std::to_string(params.admm_search_every) +
           " with integrator = midpoint: contacts are found after half of the motion; take semi_implicit";
  if (params.geometric_correction == GeometricCorrection::position &&
      params.integrator == RigidIntegrator::midpoint)
    return "geometric_correction = position with integrator = midpoint: positions have moved half a step "
           "before overlaps are found; take semi_implicit";
  return {};
}

Params coupled_params(Params params) {
  params.sleeping = params.shock_propagation = false;
  if (params.contact_solver == ContactSolverKind::penalty_explicit) params.penetration_guard = false;
  if (params.stabilisation == Stabilisation::projection) params.stabilisation = Stabilisation::baumgarte;
  if (params.integrator == RigidIntegrator::midpoint) {
    params.penetration_guard = false;
    params.geometric_correction = GeometricCorrection::velocity;
  }
  if (!searches_within(params) || params.integrator == RigidIntegrator::midpoint)
    params.admm_search_every = 0;
  return params;
}

}  // namespace stickslip
