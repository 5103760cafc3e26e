#include "gpu/model/scene_traits.h"

#include <algorithm>

#include "gpu/model/coupled.h"
#include "gpu/model/element_group.h"
#include "gpu/model/steppers.h"

namespace stickslip {

SceneTraits scene_traits(const Model& model) {
  const auto has_limits = [](const Joint& joint) { return joint.low <= joint.high; };
  return {.rigid = !model.bodies.empty(),
          .coupled = is_coupled(model),
          .joints = !model.joints.empty(),
          .joint_limits = std::ranges::any_of(model.joints, has_limits),
          .scripted = !model.scripted.empty(),
          .thin = std::ranges::any_of(model.objects, &Object::feels_air),
          .open_rods = has_open_rods_alone(model)};
}

MaterialUse material_use(const Model& model, const std::vector<Material>& materials, int material,
                         SolverKind solver) {
  MaterialUse use;
  bool rods = false;
  const bool coupled = stepper_family(solver) == StepperFamily::velocity || !model.bodies.empty();
  for (const Object& object : model.objects) {
    if (material >= 0 && object.material != material) continue;
    const bool solid = object.is_movable();
    use.solid |= solid;
    use.deformable |= object.is_deformable();
    use.tets |= object.is_solid() && !object.is_affine();
    use.cloth |= object.is_cloth();
    use.thin |= object.feels_air();
    rods |= object.is_rods();
    use.rigid |= object.is_rigid() || (coupled && solid);
    if (!object.is_rigid()) continue;
    use.body = true;
    const Body& body = model.bodies[static_cast<std::size_t>(object.body)];
    use.weighed |= body.moves && body.mass <= 0;
  }
  const auto first = material < 0 ? materials.begin() : materials.begin() + material;
  const auto last = material < 0 ? materials.end() : first + 1;
  use.isotropic =
      std::all_of(first, last, [](const Material& m) { return m.friction_kind == FrictionKind::isotropic; });
  const auto is_kind = [](FrictionKind kind) {
    return [kind](const Material& m) { return m.friction_kind == kind; };
  };
  use.matchstick = std::any_of(first, last, is_kind(FrictionKind::matchstick));
  use.tensor = std::any_of(first, last, is_kind(FrictionKind::tensor));
  use.has_static = std::any_of(first, last, [](const Material& m) { return m.mu_static > 0; });
  // Rods read Poisson's ratio whatever the model is.
  use.arap =
      !rods && std::all_of(first, last, [](const Material& m) { return m.model == ElasticModel::arap; });
  return use;
}

std::string barred_choice_reason(const ParamInfo& info, std::size_t index, const Model& model,
                                 bool drop_unsupported) {
  const bool contact_solver = info.name == "contact_solver";
  if (is_coupled(model) && (contact_solver || info.name == "stabilisation")) {
    Params params;
    set_param(&params, info, static_cast<double>(index));
    return coupled_fault(params);
  }
  if (info.name != "solver") return {};
  const auto refused = stepper_refusal(model, static_cast<SolverKind>(index), drop_unsupported);
  return refused ? refused->text() : "";
}

}  // namespace stickslip
