#include "app/io/mesh/polygon.h"

namespace stickslip {
namespace {

using Vec2d = Vec<double, 2>;
using Vec3d = Vec<double, 3>;

double cross2(const Vec2d& a, const Vec2d& b) { return a[0] * b[1] - a[1] * b[0]; }

/// Twice the vector area [Newell].
Vec3d area_vector(const std::vector<Vec3d>& nodes, std::span<const std::int32_t> polygon) {
  Vec3d sum{0, 0, 0};
  for (std::size_t i = 0; i < polygon.size(); ++i)
    sum += cross(nodes[polygon[i]] - nodes[polygon[0]],
                 nodes[polygon[(i + 1) % polygon.size()]] - nodes[polygon[0]]);
  return sum;
}

/// Corners projected along the largest component of the normal, counter-clockwise.
std::vector<Vec2d> flatten(const std::vector<Vec3d>& nodes, std::span<const std::int32_t> polygon) {
  const Vec3d n = area_vector(nodes, polygon);
  int axis = 0;
  for (int c = 1; c < 3; ++c)
    if (std::abs(n[c]) > std::abs(n[axis])) axis = c;
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  if (n[axis] < 0) std::swap(u, v);
  std::vector<Vec2d> flat;
  for (const std::int32_t i : polygon) flat.push_back({nodes[i][u], nodes[i][v]});
  return flat;
}

/// Whether the corner `b` between `a` and `c` turns left and its triangle contains none of the other corners.
bool is_ear(const std::vector<Vec2d>& p, const std::vector<int>& rest, std::size_t at) {
  const std::size_t n = rest.size();
  const int ia = rest[(at + n - 1) % n], ib = rest[at], ic = rest[(at + 1) % n];
  const Vec2d &a = p[ia], &b = p[ib], &c = p[ic];
  if (!(cross2(b - a, c - b) > 0)) return false;
  for (const int i : rest) {
    if (i == ia || i == ib || i == ic) continue;
    const Vec2d& q = p[i];
    if (cross2(b - a, q - a) >= 0 && cross2(c - b, q - b) >= 0 && cross2(a - c, q - c) >= 0) return false;
  }
  return true;
}

}  // namespace

void triangulate(const std::vector<Vec3d>& nodes, std::span<const std::int32_t> polygon,
                 std::vector<Vec3i>& triangles) {
  if (polygon.size() == 3) {
    triangles.push_back({polygon[0], polygon[1], polygon[2]});
    return;
  }
  const std::vector<Vec2d> flat = flatten(nodes, polygon);
  std::vector<int> rest(polygon.size());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = static_cast<int>(i);
  std::size_t at = 0;
  while (rest.size() > 3) {
    const std::size_t n = rest.size();
    std::size_t tried = 0;
    for (; tried < n && !is_ear(flat, rest, at % n); ++tried) ++at;
    if (tried == n) break;  // self-intersecting polygon: use a fan
    at %= n;
    triangles.push_back({polygon[rest[(at + n - 1) % n]], polygon[rest[at]], polygon[rest[(at + 1) % n]]});
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  }
  for (std::size_t i = 2; i < rest.size(); ++i)
    triangles.push_back({polygon[rest[0]], polygon[rest[i - 1]], polygon[rest[i]]});
}

}  // namespace stickslip
