#include <algorithm>
#include <cmath>

#include "gpu/rigid/islands.cuh"

namespace stickslip {
namespace {

/// Largest distance of the shape's points from its origin; for a hull or mesh, of its bounding box.
double shape_reach(const Shape& shape) {
  const Vec<double, 3>& s = shape.size;
  switch (shape.kind) {
    case ShapeKind::sphere:
      return s[0];
    case ShapeKind::capsule:
      return s[0] + s[1];
    case ShapeKind::cylinder:
      return std::hypot(s[0], s[1]);
    default:
      return norm(s);
  }
}

}  // namespace

std::vector<double> body_reaches(const Model& model) {
  std::vector<double> reach(model.bodies.size(), 0.0);
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (std::int32_t i = model.bodies[b].shape_begin; i < model.bodies[b].shape_end; ++i) {
      const Shape& shape = model.shapes[static_cast<std::size_t>(i)];
      reach[b] = std::max(reach[b], norm(shape.pose.x) + shape_reach(shape));
    }
  return reach;
}

}  // namespace stickslip
