#include "gpu/model/surface_followers.h"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "gpu/geometry/distance.h"
#include "gpu/math/mat.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3, 3>;

using TriangleCorners = std::array<Vec3d, 3>;

bool has_area(const TriangleCorners& t) { return norm(cross(t[1] - t[0], t[2] - t[0])) > 0; }

/// Columns: along the first edge, along the normal, and across both.
Mat3d axes(const TriangleCorners& t) {
  const Vec3d edge = normalized(t[1] - t[0]), normal = normalized(cross(edge, t[2] - t[0]));
  const Vec3d across = cross(edge, normal);
  Mat3d out;
  for (int r = 0; r < 3; ++r) {
    out(r, 0) = edge[r];
    out(r, 1) = normal[r];
    out(r, 2) = across[r];
  }
  return out;
}

Vec3d point_of(const TriangleCorners& t, const Vec3d& weights) {
  return weights[0] * t[0] + weights[1] * t[1] + weights[2] * t[2];
}

/// The place of a root on a surface.
struct Anchor {
  Vec3i triangle;
  Vec3d weights;

  TriangleCorners corners(std::span<const Vec3d> nodes) const {
    return {nodes[triangle[0]], nodes[triangle[1]], nodes[triangle[2]]};
  }
};

/// The point of the surface that is nearest to `root`.
Anchor nearest(std::span<const Vec3i> triangles, std::span<const Vec3d> nodes, const Vec3d& root) {
  Anchor best{};
  double least = std::numeric_limits<double>::infinity();
  for (const Vec3i& t : triangles) {
    const auto pair = point_triangle_closest(root, nodes[t[0]], nodes[t[1]], nodes[t[2]]);
    if (!(pair.d2 < least)) continue;
    least = pair.d2;
    best = {t, {-pair.w[1], -pair.w[2], -pair.w[3]}};
  }
  return best;
}

/// Moves with the triangle: its place by weights, its turn by the triangle's.
Vec3d carried(const Vec3d& p, const TriangleCorners& from, const TriangleCorners& to, const Vec3d& weights) {
  return point_of(to, weights) + axes(to) * (axes(from).transposed() * (p - point_of(from, weights)));
}

}  // namespace

std::vector<std::vector<Vec3d>> carried_points(const MovingSurface& surface,
                                               std::span<const Follower> followers) {
  std::vector<std::vector<Vec3d>> out(surface.frames.size(), std::vector<Vec3d>(followers.size()));
  Anchor anchor{};
  for (std::size_t k = 0; k < followers.size(); ++k) {
    if (k == 0 || followers[k].root != followers[k - 1].root)
      anchor = nearest(surface.triangles, surface.nodes, followers[k].root);
    const TriangleCorners from = anchor.corners(surface.nodes);
    for (std::size_t f = 0; f < out.size(); ++f) {
      const TriangleCorners to = anchor.corners(surface.frames[f]);
      if (!has_area(from) || !has_area(to))
        throw std::invalid_argument("a triangle that holds a strand has no area at frame " +
                                    std::to_string(f) + " of the sequence");
      out[f][k] = carried(followers[k].point, from, to, anchor.weights);
    }
  }
  return out;
}

}  // namespace stickslip
