// Triangle surfaces of the shapes of rigid bodies, for what collides by triangles. Host memory only.
#pragma once

#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

struct ShapeSurface {
  std::vector<Vec<double, 3>> nodes;  // [m] in the body's frame
  std::vector<Vec3i> triangles;       // outward by the right-hand rule
};

/// Of all shapes of a body, each closed by itself; those of a compound may intersect. Flat shapes are exact. A
/// round one is inscribed: no point of it is farther than `tolerance` times its radius from the surface.
ShapeSurface shape_surface(const Model& model, const Body& body, double tolerance);

}  // namespace stickslip
