#include "gpu/model/spring_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "gpu/geometry/distance.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// The weights of the corners of a tet in which x has the affine coordinates of `at`.
Vec<double, 4> affine_weights(const Model& model, const Vec4i& tet, const Vec3d& at) {
  const Vec3d& o = model.positions[tet[0]];
  const Vec3d a = model.positions[tet[1]] - o, b = model.positions[tet[2]] - o,
              c = model.positions[tet[3]] - o, p = at - o;
  const double volume = dot(a, cross(b, c));
  const double u = dot(p, cross(b, c)) / volume, v = dot(p, cross(c, a)) / volume,
               w = dot(p, cross(a, b)) / volume;
  return {1 - u - v - w, u, v, w};
}

/// [m] how far x lies beyond the farthest face of a tet; negative inside.
double beyond_faces(const Model& model, const Vec4i& tet, const Vec3d& x) {
  const Vec<double, 4> weights = affine_weights(model, tet, x);
  double beyond = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 4; ++i) {
    const Vec3d& p = model.positions[tet[(i + 1) % 4]];
    const Vec3d normal = cross(model.positions[tet[(i + 2) % 4]] - p, model.positions[tet[(i + 3) % 4]] - p);
    const double height = std::abs(dot(model.positions[tet[i]] - p, normal)) / norm(normal);
    beyond = std::max(beyond, -weights[i] * height);
  }
  return beyond;
}

}  // namespace

ConstraintPoint nearest_on_object(const Model& model, const Object& object, const Vec3d& at) {
  ConstraintPoint nearest;
  double least = std::numeric_limits<double>::infinity();
  const auto x = [&](std::int32_t node) { return model.positions[static_cast<std::size_t>(node)]; };
  for (const Vec3i& t : triangles_of(model, object)) {
    const auto pair = point_triangle_closest(at, x(t[0]), x(t[1]), x(t[2]));
    if (!(norm2(pair.r) < least)) continue;
    least = norm2(pair.r);
    for (int c = 0; c < 3; ++c) {
      nearest.nodes[c] = t[c];
      nearest.weights[c] = -pair.w[c + 1];
    }
  }
  for (const Vec2i& s : segments_of(model, object)) {
    const auto pair = point_edge_closest(at, x(s[0]), x(s[1]));
    if (!(norm2(pair.r) < least)) continue;
    least = norm2(pair.r);
    nearest.nodes = {s[0], s[1], -1, -1};
    nearest.weights = {-pair.w[1], -pair.w[2], 0, 0};
  }
  if (nearest.nodes[0] < 0)
    throw std::invalid_argument("'" + object.name + "' has no triangles or segments: a spring needs some");
  return nearest;
}

ConstraintPoint carried_by_tet(const Model& model, const Object& solid, const Vec3d& root, const Vec3d& at) {
  const Vec4i* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Vec4i& tet : tets_of(model, solid)) {
    const double beyond = beyond_faces(model, tet, root);
    if (!(beyond < least)) continue;
    least = beyond;
    nearest = &tet;
  }
  if (nearest == nullptr) throw std::invalid_argument("'" + solid.name + "' has no tets: hairs need some");
  return {*nearest, affine_weights(model, *nearest, at), {0, 0, 0}};
}

Vec3d start_of(const Model& model, const ConstraintPoint& point) {
  Vec3d at = point.fixed;
  for (int c = 0; c < 4; ++c)
    if (point.nodes[c] >= 0)
      at += point.weights[c] * model.positions[static_cast<std::size_t>(point.nodes[c])];
  return at;
}

}  // namespace stickslip
