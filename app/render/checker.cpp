#include "app/render/checker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "gpu/math/mat.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Axes = Mat<double, 3, 3>;  // rows: unit vectors

constexpr double kAcross = 3;       // cells of the smallest extent of a compact body
constexpr double kMostAlong = 8;    // cells of the largest extent
constexpr double kFlatShare = 0.1;  // of the surface, from which on a face gives the checker its axes
constexpr double kSteps = 64;       // normals that differ by less than about 1 / kSteps are of one face

struct Face {
  Vec3d normal = Vec3d::zero();  // sum: its length is twice the area
};

/// Normals in both directions are of one face, so that opposite sides of a box count together.
std::vector<Face> faces_of(const Model& model, const Object& object) {
  std::map<std::array<int, 3>, Face> faces;
  for (const Vec3i& t : triangles_of(model, object)) {
    const auto at = [&](int k) { return model.rest_positions[static_cast<std::size_t>(t[k])]; };
    Vec3d normal = cross(at(1) - at(0), at(2) - at(0));
    const double length = norm(normal);
    if (!(length > 0)) continue;
    std::array<int, 3> key{};
    for (int k = 0; k < 3; ++k)
      key[static_cast<std::size_t>(k)] = static_cast<int>(std::lround(kSteps * normal[k] / length));
    if (key < std::array<int, 3>{}) {
      normal = -normal;
      for (int& k : key) k = -k;
    }
    faces[key].normal += normal;
  }
  std::vector<Face> sorted;
  sorted.reserve(faces.size());
  for (const auto& [key, face] : faces) sorted.push_back(face);
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const Face& face) { return norm(face.normal); });
  return sorted;
}

Axes axes_of(const Model& model, const Object& object) {
  const std::vector<Face> faces = faces_of(model, object);
  double area = 0;
  for (const Face& face : faces) area += norm(face.normal);
  const auto is_large = [&](const Face& face) { return norm(face.normal) >= kFlatShare * area; };
  if (faces.empty() || !is_large(faces[0])) return Axes::identity();
  const Vec3d x = normalized(faces[0].normal);
  Vec3d y = std::abs(x[1]) < 0.9 ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0};
  for (const Face& face : faces)
    if (std::abs(dot(face.normal, x)) < 0.05 * norm(face.normal)) {
      y = face.normal;
      break;
    }
  y = normalized(y - dot(x, y) * x);
  const Vec3d rows[3] = {x, y, cross(x, y)};
  return Axes::from_columns(rows).transposed();
}

}  // namespace

bool is_round(const Model& model, const Object& object) {
  if (!object.is_rigid()) return false;
  const Body& body = model.bodies[static_cast<std::size_t>(object.body)];
  return std::any_of(
      model.shapes.begin() + body.shape_begin, model.shapes.begin() + body.shape_end, [](const Shape& s) {
        return s.kind == ShapeKind::sphere || s.kind == ShapeKind::capsule || s.kind == ShapeKind::cylinder;
      });
}

bool has_checker(const Model& model, const Object& object) {
  if (object.is_thin() || object.is_collider() || is_round(model, object)) return false;
  if (!object.is_rigid()) return true;
  const Body& body = model.bodies[static_cast<std::size_t>(object.body)];
  return body.moves || body.motion >= 0;
}

std::vector<Vec3f> checker_places(const Model& model, const Object& object) {
  const Axes axes = axes_of(model, object);
  const auto begin = static_cast<std::size_t>(object.node_begin),
             end = static_cast<std::size_t>(object.node_end);
  std::vector<Vec3d> at(end - begin, Vec3d::zero());
  Vec3d low = Vec3d::filled(std::numeric_limits<double>::infinity()), high = -low;
  for (const Vec3i& t : triangles_of(model, object))
    for (int k = 0; k < 3; ++k) {
      const auto node = static_cast<std::size_t>(t[k]);
      at[node - begin] = axes * model.rest_positions[node];
      low = min(low, at[node - begin]);
      high = max(high, at[node - begin]);
    }
  std::vector<Vec3f> places(at.size(), Vec3f::zero());
  const Vec3d size = high - low;
  const auto [smallest, largest] = std::minmax({size[0], size[1], size[2]});
  if (!(largest > 0) || !std::isfinite(largest)) return places;
  const double cell = std::max(smallest / kAcross, largest / kMostAlong);
  Vec3d per_metre = Vec3d::zero();
  for (int k = 0; k < 3; ++k)
    if (size[k] > 0) per_metre[k] = std::max(1.0, std::round(size[k] / cell)) / size[k];
  for (std::size_t i = 0; i < at.size(); ++i)
    for (int k = 0; k < 3; ++k) places[i][k] = static_cast<float>(per_metre[k] * (at[i][k] - low[k]));
  return places;
}

}  // namespace stickslip
