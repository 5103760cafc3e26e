#include "gpu/model/friction_table.h"

#include <algorithm>
#include <cmath>

namespace stickslip {
namespace {

double on_plane(const Material& material, const HalfSpace& plane) {
  if (plane.mu_of_pair) return plane.mu;
  return plane.mu_of_body ? material.mu : std::sqrt(material.mu * plane.mu);
}

}  // namespace

std::vector<double> friction_coefficients(const Model& model) {
  const std::size_t materials = model.materials.size(), columns = materials + model.half_spaces.size();
  std::vector<double> mu(materials * columns);
  for (std::size_t a = 0; a < materials; ++a) {
    for (std::size_t b = 0; b < materials; ++b)
      mu[a * columns + b] = std::sqrt(model.materials[a].mu * model.materials[b].mu);
    for (std::size_t h = 0; h < model.half_spaces.size(); ++h)
      mu[a * columns + materials + h] = on_plane(model.materials[a], model.half_spaces[h]);
  }
  for (const PairFriction& pair : model.pair_friction) {
    const auto a = static_cast<std::size_t>(pair.material_a), b = static_cast<std::size_t>(pair.material_b);
    mu[a * columns + b] = mu[b * columns + a] = pair.mu;
  }
  return mu;
}

std::vector<double> rolling_coefficients(const Model& model) {
  const std::size_t materials = model.materials.size(), columns = materials + model.half_spaces.size();
  std::vector<double> rolling(materials * columns);
  for (std::size_t a = 0; a < materials; ++a)
    for (std::size_t b = 0; b < columns; ++b)
      rolling[a * columns + b] = std::max(model.materials[a].rolling_resistance,
                                          b < materials ? model.materials[b].rolling_resistance : 0.0);
  for (const PairFriction& pair : model.pair_friction) {
    if (pair.rolling_resistance < 0) continue;
    const auto a = static_cast<std::size_t>(pair.material_a), b = static_cast<std::size_t>(pair.material_b);
    rolling[a * columns + b] = rolling[b * columns + a] = pair.rolling_resistance;
  }
  if (std::ranges::all_of(rolling, [](double r) { return r == 0; })) rolling.clear();
  return rolling;
}

}  // namespace stickslip
