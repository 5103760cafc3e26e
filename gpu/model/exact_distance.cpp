#include "gpu/model/exact_distance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// What of a triangle is nearest: its inside, side c (from corner c to the next), or corner c.
struct ClosestPoint {
  Vec3d point;
  int side = -1, corner = -1;
};

/// By the Voronoi regions of its corners and sides [Ericson, Real-Time Collision Detection, §5.1.5].
ClosestPoint closest_on_triangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
  if (d1 <= 0 && d2 <= 0) return {a, -1, 0};
  if (d3 >= 0 && d4 <= d3) return {b, -1, 1};
  if (d6 >= 0 && d5 <= d6) return {c, -1, 2};
  const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return {a + (d1 / (d1 - d3)) * ab, 0, -1};
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return {a + (d2 / (d2 - d6)) * ac, 2, -1};
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    return {b + ((d4 - d3) / ((d4 - d3) + (d5 - d6))) * (c - b), 1, -1};
  const double sum = va + vb + vc;
  return {a + (vb / sum) * ab + (vc / sum) * ac, -1, -1};
}

/// Normals of triangles, sides and corners: at each, the sign of dot(normal, p - point) says on which side of
/// the surface p lies.
struct PseudoNormals {
  std::vector<Vec3d> triangle, side, corner;  // side c of triangle t at 3 t + c

  PseudoNormals(const std::vector<Vec3d>& nodes, const std::vector<Vec3i>& triangles)
      : triangle(triangles.size()), side(3 * triangles.size()), corner(nodes.size(), Vec3d::zero()) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> triangle_of;
    for (std::size_t t = 0; t < triangles.size(); ++t) {
      const Vec3i& v = triangles[t];
      triangle[t] = normalized(cross(nodes[v[1]] - nodes[v[0]], nodes[v[2]] - nodes[v[0]]));
      for (int c = 0; c < 3; ++c) {
        triangle_of[{v[c], v[(c + 1) % 3]}] = t;
        const Vec3d e = nodes[v[(c + 1) % 3]] - nodes[v[c]], f = nodes[v[(c + 2) % 3]] - nodes[v[c]];
        corner[v[c]] += std::atan2(norm(cross(e, f)), dot(e, f)) * triangle[t];
      }
    }
    for (std::size_t t = 0; t < triangles.size(); ++t)
      for (int c = 0; c < 3; ++c)
        side[3 * t + c] =
            triangle[t] + triangle[triangle_of.at({triangles[t][(c + 1) % 3], triangles[t][c]})];
  }
};

/// Boxes around halves of halves of the triangles. Node k has the children 2k + 1 and 2k + 2.
class TriangleTree {
 public:
  TriangleTree(const std::vector<Vec3d>& nodes, const std::vector<Vec3i>& triangles)
      : nodes_(nodes), triangles_(triangles), order_(triangles.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    build(0, 0, order_.size());
  }

  struct Hit {
    std::int32_t triangle = -1;
    ClosestPoint at;
    double distance2 = std::numeric_limits<double>::max();
  };
  /// The nearest point of a surface that is nearer than hit.distance2 allows.
  void nearest(const Vec3d& p, Hit& hit) const { visit(0, p, hit); }

 private:
  static constexpr std::size_t kLeaf = 4;
  struct Box {
    Vec3d low = Vec3d::filled(1e300), high = Vec3d::filled(-1e300);
    std::size_t begin = 0, end = 0;
  };

  Vec3d middle(std::int32_t t) const {
    return nodes_[triangles_[t][0]] + nodes_[triangles_[t][1]] + nodes_[triangles_[t][2]];
  }

  void build(std::size_t k, std::size_t begin, std::size_t end) {
    if (boxes_.size() <= k) boxes_.resize(k + 1);
    Box box;
    box.begin = begin;
    box.end = end;
    for (std::size_t i = begin; i < end; ++i)
      for (int c = 0; c < 3; ++c) {
        box.low = min(box.low, nodes_[triangles_[order_[i]][c]]);
        box.high = max(box.high, nodes_[triangles_[order_[i]][c]]);
      }
    boxes_[k] = box;
    if (end - begin <= kLeaf) return;
    const Vec3d size = box.high - box.low;
    const int axis = size[0] >= size[1] ? (size[0] >= size[2] ? 0 : 2) : (size[1] >= size[2] ? 1 : 2);
    const std::size_t half = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                     order_.begin() + static_cast<std::ptrdiff_t>(half),
                     order_.begin() + static_cast<std::ptrdiff_t>(end), [&](std::int32_t s, std::int32_t t) {
                       const double a = middle(s)[axis], b = middle(t)[axis];
                       return a != b ? a < b : s < t;
                     });
    build(2 * k + 1, begin, half);
    build(2 * k + 2, half, end);
  }

  double distance2(const Box& box, const Vec3d& p) const { return norm2(p - max(box.low, min(box.high, p))); }

  void visit(std::size_t k, const Vec3d& p, Hit& hit) const {
    const Box& box = boxes_[k];
    if (box.end - box.begin <= kLeaf) {
      for (std::size_t i = box.begin; i < box.end; ++i) {
        const Vec3i& t = triangles_[order_[i]];
        const ClosestPoint at = closest_on_triangle(p, nodes_[t[0]], nodes_[t[1]], nodes_[t[2]]);
        if (const double d2 = norm2(p - at.point); d2 < hit.distance2) hit = {order_[i], at, d2};
      }
      return;
    }
    std::size_t near = 2 * k + 1, far = near + 1;
    double near2 = distance2(boxes_[near], p), far2 = distance2(boxes_[far], p);
    if (far2 < near2) {
      std::swap(near, far);
      std::swap(near2, far2);
    }
    if (near2 < hit.distance2) visit(near, p, hit);
    if (far2 < hit.distance2) visit(far, p, hit);
  }

  const std::vector<Vec3d>& nodes_;
  const std::vector<Vec3i>& triangles_;
  std::vector<std::int32_t> order_;
  std::vector<Box> boxes_;
};

}  // namespace

struct ExactDistance::Search {
  TriangleTree tree;
  PseudoNormals normals;
};

ExactDistance::ExactDistance(const ShapeMesh& mesh)
    : triangles_(mesh.triangles),
      search_(new Search{{mesh.vertices, mesh.triangles}, {mesh.vertices, mesh.triangles}}) {}
ExactDistance::~ExactDistance() = default;

double ExactDistance::at(const Vec3d& p, double bound) const {
  TriangleTree::Hit hit;
  if (std::isfinite(bound)) hit.distance2 = bound * bound;
  search_->tree.nearest(p, hit);
  const auto t = static_cast<std::size_t>(hit.triangle);
  const PseudoNormals& normals = search_->normals;
  const Vec3d& normal = hit.at.corner >= 0 ? normals.corner[triangles_[t][hit.at.corner]]
                        : hit.at.side >= 0 ? normals.side[3 * t + hit.at.side]
                                           : normals.triangle[t];
  const double distance = std::sqrt(hit.distance2);
  return dot(normal, p - hit.at.point) < 0 ? -distance : distance;
}

}  // namespace stickslip
