// Maps that let friction vary over a surface [Course §6.1.1, §6.3]. Host memory only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

enum class TextureKind : std::uint8_t {
  direction,  // the structure direction at each point, instead of the body's grain
  height,     // heights of the surface: ploughing adds to the pair's friction
};

/// An image that repeats over the surface of all bodies of a material. `Body::texture_frame` gives its place
/// on a body; the middle of the image is at that frame's origin.
struct SurfaceTexture {
  /// Side of the patch around a contact over which heights act, in texels at most.
  static constexpr int kMostPatch = 32;

  std::int32_t material = 0;
  TextureKind kind = TextureKind::direction;
  std::int32_t columns = 0, rows = 0;
  Vec<double, 2> size{0, 0};   // [m] of the whole image, along columns and rows
  Vec<double, 2> patch{0, 0};  // [m] height: sides of the patch
  /// Row by row. direction: (cos 2a, sin 2a) of the angle a from the columns' axis; height: the ploughing
  /// vector of the facet between four heights, 2 theta / pi long, see `facet_texels`.
  std::vector<Vec<float, 2>> texels;
};

/// Texels of a direction map from angles [rad] that count modulo pi.
std::vector<Vec<float, 2>> direction_texels(const std::vector<double>& angles);

/// Texels of a height map [m], which repeats: texel (i, j) is the facet between heights (i, j), (i + 1, j),
/// (i, j + 1) and (i + 1, j + 1). With theta the angle between its normal and the surface's, and p the unit
/// vector along the normal's part in the surface, it holds p 2 theta / pi, so that mu_d = max(0, texel . d)
/// [Course Eq.335] when the surface moves towards d. The text leaves open whether p is a unit vector; it is
/// one here, so that a facet that is hit head-on has the value of the model without direction.
std::vector<Vec<float, 2>> facet_texels(const std::vector<double>& heights, std::int32_t columns,
                                        std::int32_t rows, const Vec<double, 2>& size);

/// What is wrong with the texture; empty: nothing.
std::string texture_fault(const SurfaceTexture& texture);

}  // namespace stickslip
