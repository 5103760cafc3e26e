// Triangle surfaces of the shapes of rigid bodies, for collision detection between triangles. Host memory
// only.
#pragma once

#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

struct ShapeSurface {
  std::vector<Vec<double, 3>> nodes;  // [m] in the body's frame
  std::vector<Vec3i> triangles;       // outward by the right-hand rule
};

/// The surfaces of all shapes of a body. Each is closed; those of a compound may intersect. The surface of a
/// polyhedron is exact. That of a round shape is inscribed, and nowhere farther from the shape's surface than
/// `tolerance` times the radius.
ShapeSurface shape_surface(const Model& model, const Body& body, double tolerance);

/// The inside offset of a closed surface: each node moves so that the planes of its triangles move inward by
/// `skin` [m], by least squares; at most kMostMiter skins, where triangles form a sharp point.
std::vector<Vec<double, 3>> shrunk_surface(const std::vector<Vec<double, 3>>& nodes,
                                           const std::vector<Vec3i>& triangles, double skin);
inline constexpr double kMostMiter = 4;

}  // namespace stickslip
