#include "gpu/model/surface_texture.h"

#include <cmath>
#include <numbers>

namespace stickslip {

std::vector<Vec<float, 2>> direction_texels(const std::vector<double>& angles) {
  std::vector<Vec<float, 2>> texels;
  texels.reserve(angles.size());
  for (const double a : angles)
    texels.push_back({static_cast<float>(std::cos(2 * a)), static_cast<float>(std::sin(2 * a))});
  return texels;
}

std::vector<Vec<float, 2>> facet_texels(const std::vector<double>& heights, std::int32_t columns,
                                        std::int32_t rows, const Vec<double, 2>& size) {
  const auto height = [&](std::int32_t i, std::int32_t j) {
    return heights[static_cast<std::size_t>((j % rows) * columns + i % columns)];
  };
  std::vector<Vec<float, 2>> texels;
  for (std::int32_t j = 0; j < rows; ++j)
    for (std::int32_t i = 0; i < columns; ++i) {
      const double a = height(i, j), b = height(i + 1, j), c = height(i, j + 1), d = height(i + 1, j + 1);
      const Vec<double, 2> slope{0.5 * (b - a + d - c) * columns / size[0],
                                 0.5 * (c - a + d - b) * rows / size[1]};
      const double steepness = norm(slope);
      // The normal (-slope, 1) leans against the slope.
      const Vec<double, 2> plough = steepness > 0
                                        ? (-2 / std::numbers::pi * std::atan(steepness) / steepness) * slope
                                        : Vec<double, 2>{0, 0};
      texels.push_back(plough.cast<float>());
    }
  return texels;
}

std::string texture_fault(const SurfaceTexture& t) {
  if (t.columns < 1 || t.rows < 1 ||
      t.texels.size() != static_cast<std::size_t>(t.columns) * static_cast<std::size_t>(t.rows))
    return "a texture needs as many texels as columns times rows";
  for (const Vec<float, 2>& texel : t.texels)
    if (!std::isfinite(norm(texel))) return "its texels are not finite";
  const auto counts = {t.columns, t.rows};
  for (int c = 0; c < 2; ++c) {
    if (!(t.size[c] > 0) || !std::isfinite(t.size[c])) return "its size must be positive";
    const double texels = t.patch[c] / t.size[c] * *(counts.begin() + c);
    if (t.kind == TextureKind::height && !(texels > 0 && texels <= SurfaceTexture::kMostPatch * (1 + 1e-9)))
      return "its patch must be positive and span at most " + std::to_string(SurfaceTexture::kMostPatch) +
             " texels";
  }
  return {};
}

}  // namespace stickslip
