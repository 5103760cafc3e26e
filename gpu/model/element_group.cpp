#include "gpu/model/element_group.h"

#include "gpu/model/affine.h"
#include "gpu/model/barrier_model.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {

std::vector<ElementGroup> element_groups(const Model& model) {
  std::vector<ElementGroup> groups;
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    const auto add = [&](ElementKind kind, std::vector<Vec4i> stencils) {
      groups.push_back({kind, static_cast<std::int32_t>(o), object.material, solid_volume(model, object),
                        object.is_stiff() ? body_stiffness(model, object) : 0, std::move(stencils)});
    };
    const auto tets = tets_of(model, object);
    if (object.is_affine()) add(ElementKind::control_tet, {control_tet(object)});
    else if (object.is_deformable()) add(ElementKind::tet, {tets.begin(), tets.end()});
  }
  return groups;
}

std::span<const Vec4i> tets_of(const Model& model, const Object& object) {
  return {model.tets.data() + object.tet_begin, model.tets.data() + object.tet_end};
}

std::span<const Vec3i> triangles_of(const Model& model, const Object& object) {
  return {model.triangles.data() + object.triangle_begin, model.triangles.data() + object.triangle_end};
}

std::vector<double> node_volumes(const Model& model, const Object& object) {
  std::vector<double> volumes(static_cast<std::size_t>(object.node_end - object.node_begin), 0.0);
  for (const Vec4i& tet : tets_of(model, object))
    for (int c = 0; c < 4; ++c)
      volumes[static_cast<std::size_t>(tet[c] - object.node_begin)] +=
          tet_volume(model.rest_positions, tet) / 4;
  return volumes;
}

double solid_volume(const Model& model, const Object& object) {
  double sum = 0;
  for (const Vec4i& tet : tets_of(model, object)) sum += tet_volume(model.rest_positions, tet);
  return sum;
}

}  // namespace stickslip
