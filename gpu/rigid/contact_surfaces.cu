#include "gpu/rigid/contact_surfaces.cuh"

#include <cmath>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// mu of all pairs: a row per material, a column per material, then one per half-space.
std::vector<double> mu_table(const Model& model) {
  const std::size_t materials = model.materials.size(), columns = materials + model.half_spaces.size();
  std::vector<double> mu(materials * columns);
  for (std::size_t a = 0; a < materials; ++a) {
    for (std::size_t b = 0; b < materials; ++b)
      mu[a * columns + b] = std::sqrt(model.materials[a].mu * model.materials[b].mu);
    for (std::size_t h = 0; h < model.half_spaces.size(); ++h) {
      const HalfSpace& plane = model.half_spaces[h];
      mu[a * columns + materials + h] =
          plane.mu_of_pair ? plane.mu : std::sqrt(model.materials[a].mu * plane.mu);
    }
  }
  for (const PairFriction& pair : model.pair_friction) {
    const auto a = static_cast<std::size_t>(pair.material_a), b = static_cast<std::size_t>(pair.material_b);
    mu[a * columns + b] = mu[b * columns + a] = pair.mu;
  }
  return mu;
}

}  // namespace

void ContactSurfaces::set_materials(Context& ctx, const Model& model) {
  std::vector<ContactSurface> surfaces;
  for (const Material& material : model.materials) surfaces.push_back(contact_surface(material));
  for (const HalfSpace& plane : model.half_spaces) surfaces.push_back(half_space_surface(plane.mu));
  for (std::size_t t = 0; t < model.textures.size(); ++t)
    surfaces[static_cast<std::size_t>(model.textures[t].material)].texture = static_cast<std::int32_t>(t);
  surfaces_.upload(ctx, surfaces);
  mu_.upload(ctx, mu_table(model));
  material_count_ = static_cast<std::int32_t>(model.materials.size());
  column_count_ = static_cast<std::int32_t>(surfaces.size());
}

}  // namespace stickslip::STICKSLIP_BACKEND
