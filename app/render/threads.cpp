#include "app/render/threads.h"

#include <algorithm>
#include <cmath>

#include "app/render/checker.h"
#include "app/render/frame_view.h"
#include "gpu/model/cloth_pattern.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kThreads = 96;    // across a square with the area of the cloth
constexpr double kSteep = 0.5;     // cosine of the angle to the mean plane from which on cloth is steep
constexpr double kLongCells = 4;   // diameters of a rod
constexpr double kMostCells = 48;  // along a rod that is much longer than thick

Vec3d rest(const Model& model, std::int32_t node) {
  return model.rest_positions[static_cast<std::size_t>(node)];
}

/// Twice the area as length.
Vec3d normal_of(const Model& model, const Vec3i& t) {
  return cross(rest(model, t[1]) - rest(model, t[0]), rest(model, t[2]) - rest(model, t[0]));
}

struct Plane {
  Vec3d warp, weft;  // unit
};

Plane plane_across(const Vec3d& normal, const Vec3d& warp) {
  Vec3d along = warp - dot(warp, normal) * normal;
  if (norm(along) < 1e-6) along = std::abs(normal[0]) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  along = normalized(along - dot(along, normal) * normal);
  return {along, cross(normal, along)};
}

ThreadPlaces projected(const Model& model, const Vec3i& t, const Plane& plane) {
  ThreadPlaces places;
  for (int k = 0; k < 3; ++k) {
    const Vec3d x = rest(model, t[k]);
    places[static_cast<std::size_t>(k)] = {static_cast<float>(dot(x, plane.warp)),
                                           static_cast<float>(dot(x, plane.weft))};
  }
  return places;
}

/// Of the axis nearest to the normal; the planes on both sides of the cloth are the same.
Vec3d nearest_axis(const Vec3d& normal) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
  Vec3d unit = Vec3d::zero();
  unit[axis] = 1;
  return unit;
}

double area_of(const Model& model, const Object& cloth) {
  double area = 0;
  if (cloth.is_sewn())
    for (const PatternTriangle& triangle : pattern_of(model, cloth).triangles) area += pattern_area(triangle);
  else
    for (const Vec3i& t : triangles_of(model, cloth)) area += 0.5 * norm(normal_of(model, t));
  return area;
}

}  // namespace

std::vector<ThreadPlaces> thread_places(const Model& model, const Object& cloth) {
  std::vector<ThreadPlaces> places;
  if (cloth.is_sewn()) {
    for (const PatternTriangle& triangle : pattern_of(model, cloth).triangles) {
      ThreadPlaces& own = places.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) own[k] = triangle.corners[k].cast<float>();
    }
    return places;
  }
  Vec3d sum = Vec3d::zero();
  for (const Vec3i& t : triangles_of(model, cloth)) sum += normal_of(model, t);
  const Vec3d mean = norm(sum) > 0 ? normalized(sum) : Vec3d{0, 1, 0};
  const bool is_flat = std::ranges::all_of(triangles_of(model, cloth), [&](const Vec3i& t) {
    const Vec3d normal = normal_of(model, t);
    return dot(normal, mean) >= kSteep * norm(normal);
  });
  for (const Vec3i& t : triangles_of(model, cloth))
    places.push_back(
        projected(model, t, plane_across(is_flat ? mean : nearest_axis(normal_of(model, t)), cloth.warp)));
  return places;
}

float threads_per_metre(const Model& model, const Object& cloth) {
  const double area = area_of(model, cloth);
  return area > 0 ? static_cast<float>(kThreads / std::sqrt(area)) : 0;
}

bool is_hair(const Model& model, const Object& object) {
  if (!object.is_rods()) return false;
  constexpr int kFewest = 12;
  int strands = 0;
  std::int32_t last = -1;
  for (const Vec2i& s : segments_of(model, object)) {
    strands += s[0] != last;
    last = s[1];
  }
  return strands >= kFewest;
}

bool has_pattern(const Model& model, const Object& object) {
  return (object.is_thin() && !is_hair(model, object)) || is_round(model, object) ||
         has_checker(model, object);
}

float cells_per_metre(const Model& model, const Object& rods) {
  double longest = 0, length = 0;
  std::int32_t last = -1;
  for (const Vec2i& s : segments_of(model, rods)) {
    if (s[0] != last) length = 0;
    length += norm(rest(model, s[1]) - rest(model, s[0]));
    longest = std::max(longest, length);
    last = s[1];
  }
  if (!(longest > 0)) return 0;
  return static_cast<float>(std::min(1 / (kLongCells * rods.thickness), kMostCells / longest));
}

}  // namespace stickslip
