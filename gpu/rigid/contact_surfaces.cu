#include "gpu/rigid/contact_surfaces.cuh"

#include "gpu/model/friction_table.h"

namespace stickslip::STICKSLIP_BACKEND {
void ContactSurfaces::set_materials(Context& ctx, const Model& model) {
  std::vector<ContactSurface> surfaces;
  for (const Material& material : model.materials) surfaces.push_back(contact_surface(material));
  for (const HalfSpace& plane : model.half_spaces) surfaces.push_back(half_space_surface(plane.mu));
  for (std::size_t t = 0; t < model.textures.size(); ++t)
    surfaces[static_cast<std::size_t>(model.textures[t].material)].texture = static_cast<std::int32_t>(t);
  surfaces_.upload(ctx, surfaces);
  mu_.upload(ctx, friction_coefficients(model));
  rolling_.upload(ctx, rolling_coefficients(model));
  material_count_ = static_cast<std::int32_t>(model.materials.size());
  column_count_ = static_cast<std::int32_t>(surfaces.size());
}

}  // namespace stickslip::STICKSLIP_BACKEND
