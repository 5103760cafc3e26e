// Distance and depth of convex polyhedra by testing every pair of features, for tests of contacts.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "gpu/geometry/collide.h"
#include "gpu/geometry/distance.h"
#include "tests/geometry/random_points.h"

namespace stickslip::testing {

using Point = Vec<double, 3>;

/// A polyhedron, segment or point, and all points within `radius` of it.
struct Solid {
  std::vector<Point> vertices;
  std::vector<Vec<std::int32_t, 2>> edges;
  std::vector<Vec<std::int32_t, 3>> triangles;  // outward
  double radius = 0;

  Point normal(std::size_t t) const {
    const auto [i, j, k] = triangles[t].v;
    return normalized(cross(vertices[j] - vertices[i], vertices[k] - vertices[i]));
  }
};

/// Owner of a hull's arrays, and its view.
struct TestHull {
  std::vector<Point> vertices, normals;
  std::vector<double> offsets;
  std::vector<std::int32_t> face_start{0}, face_vertices;
  std::vector<Vec<std::int32_t, 2>> edges;

  void add_face(const std::vector<std::int32_t>& corners) {
    const Point n = normalized(
        cross(vertices[corners[1]] - vertices[corners[0]], vertices[corners[2]] - vertices[corners[0]]));
    normals.push_back(n);
    offsets.push_back(dot(n, vertices[corners[0]]));
    for (std::size_t i = 0; i < corners.size(); ++i) {
      face_vertices.push_back(corners[i]);
      const std::int32_t next = corners[(i + 1) % corners.size()];
      if (corners[i] < next) edges.push_back({corners[i], next});
    }
    face_start.push_back(static_cast<std::int32_t>(face_vertices.size()));
  }
  HullView view() const {
    return {vertices.data(),
            static_cast<std::int32_t>(vertices.size()),
            normals.data(),
            offsets.data(),
            face_start.data(),
            face_vertices.data(),
            static_cast<std::int32_t>(normals.size()),
            edges.data(),
            static_cast<std::int32_t>(edges.size())};
  }
  Shape shape(std::int32_t index) const {
    Shape s{ShapeKind::hull, {0, 0, 0}, index, Pose::identity()};
    for (const Point& p : vertices) s.size = max(s.size, max(p, -p));
    return s;
  }
};

/// Points on an ellipsoid: a plane through three points is a face if all others lie on one side.
inline TestHull random_hull(Random& random, int corners) {
  TestHull h;
  const Point half = {random.uniform(0.3, 1), random.uniform(0.3, 1), random.uniform(0.3, 1)};
  for (int i = 0; i < corners; ++i) {
    const Point d = random.direction();
    h.vertices.push_back({half[0] * d[0], half[1] * d[1], half[2] * d[2]});
  }
  for (int i = 0; i < corners; ++i)
    for (int j = i + 1; j < corners; ++j)
      for (int k = j + 1; k < corners; ++k) {
        const auto& v = h.vertices;
        const Point n = cross(v[j] - v[i], v[k] - v[i]);
        int above = 0, below = 0;
        for (int l = 0; l < corners; ++l) {
          if (l == i || l == j || l == k) continue;
          ++(dot(n, v[l] - v[i]) > 0 ? above : below);
        }
        if (above == 0) h.add_face({i, j, k});
        if (below == 0) h.add_face({i, k, j});
      }
  return h;
}
/// An upright prism with `sides` sides and axis y; its polygon is inscribed in the circle of this radius.
inline TestHull prism(int sides, double radius, double half) {
  TestHull h;
  std::vector<std::int32_t> top, bottom;
  for (int i = 0; i < sides; ++i) {
    const double a = 2 * M_PI * i / sides;
    h.vertices.push_back({radius * std::sin(a), half, radius * std::cos(a)});
    h.vertices.push_back({radius * std::sin(a), -half, radius * std::cos(a)});
    top.push_back(2 * i);
    bottom.push_back(2 * (sides - 1 - i) + 1);
  }
  h.add_face(top);
  h.add_face(bottom);
  for (int i = 0; i < sides; ++i) {
    const int j = (i + 1) % sides;
    h.add_face({2 * i, 2 * i + 1, 2 * j + 1, 2 * j});
  }
  return h;
}
inline TestHull box_hull(const Point& half) {
  TestHull h;
  for (int i = 0; i < 8; ++i)
    h.vertices.push_back(
        {i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1], i & 4 ? half[2] : -half[2]});
  for (const auto& f : std::vector<std::vector<std::int32_t>>{
           {1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}})
    h.add_face(f);
  return h;
}

inline Solid solid_of(const TestHull& h, const Pose& at) {
  Solid s;
  for (const Point& p : h.vertices) s.vertices.push_back(at.apply(p));
  s.edges = h.edges;
  for (std::size_t f = 0; f + 1 < h.face_start.size(); ++f)
    for (int k = h.face_start[f] + 1; k + 1 < h.face_start[f + 1]; ++k)
      s.triangles.push_back({h.face_vertices[h.face_start[f]], h.face_vertices[k], h.face_vertices[k + 1]});
  return s;
}
/// A cylinder is represented by a prism of 64 sides.
inline Solid solid_of(const Shape& shape, const Pose& body, const std::vector<TestHull>& hulls = {}) {
  const Pose at = body * shape.pose;
  const Point up{0, shape.size[1], 0};
  switch (shape.kind) {
    case ShapeKind::sphere:
      return {{at.x}, {}, {}, shape.size[0]};
    case ShapeKind::capsule:
      return {{at.apply(up), at.apply(-up)}, {{0, 1}}, {}, shape.size[0]};
    case ShapeKind::box:
      return solid_of(box_hull(shape.size), at);
    case ShapeKind::cylinder:
      return solid_of(prism(64, shape.size[0], shape.size[1]), at);
    default:
      return solid_of(hulls[static_cast<std::size_t>(shape.data)], at);
  }
}

/// Gap between a and b along n.
inline double separation_along(const Solid& a, const Solid& b, const Point& n) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Point& p : a.vertices) low = std::min(low, dot(n, p));
  for (const Point& p : b.vertices) high = std::max(high, dot(n, p));
  return low - high - a.radius - b.radius;
}

/// Distance of the cores if they are separate, else minus the least depth (along the normal of a face, or
/// across two edges).
inline double signed_core_distance(const Solid& a, const Solid& b) {
  double s = -std::numeric_limits<double>::infinity();
  const auto offer = [&](const Point& n) {
    if (norm2(n) < 1e-20) return;
    const Point unit = normalized(n);
    s = std::max({s, separation_along(a, b, unit), separation_along(a, b, -unit)});
  };
  for (std::size_t t = 0; t < a.triangles.size(); ++t) offer(a.normal(t));
  for (std::size_t t = 0; t < b.triangles.size(); ++t) offer(b.normal(t));
  for (const auto& ea : a.edges)
    for (const auto& eb : b.edges)
      offer(cross(a.vertices[ea[1]] - a.vertices[ea[0]], b.vertices[eb[1]] - b.vertices[eb[0]]));
  s += a.radius + b.radius;
  if (std::isfinite(s) && s <= 0) return s;
  double d2 = norm2(a.vertices[0] - b.vertices[0]);
  const auto points_on = [&](const Solid& c, const Solid& d) {
    for (const Point& p : c.vertices) {
      for (const Point& q : d.vertices) d2 = std::min(d2, norm2(p - q));
      for (const auto& e : d.edges) d2 = std::min(d2, point_edge_d2(p, d.vertices[e[0]], d.vertices[e[1]]));
      for (const auto& t : d.triangles)
        d2 = std::min(d2, point_triangle_d2(p, d.vertices[t[0]], d.vertices[t[1]], d.vertices[t[2]]));
    }
  };
  points_on(a, b);
  points_on(b, a);
  for (const auto& ea : a.edges)
    for (const auto& eb : b.edges)
      d2 = std::min(d2,
                    edge_edge_d2(a.vertices[ea[0]], a.vertices[ea[1]], b.vertices[eb[0]], b.vertices[eb[1]]));
  return std::sqrt(d2);
}
/// The same minus the radii.
inline double signed_distance(const Solid& a, const Solid& b) {
  return signed_core_distance(a, b) - a.radius - b.radius;
}

inline Pose random_pose(Random& random, double spread) {
  return {spread * random.point(), rotation_by(3 * random.point())};
}
inline double least_gap(const Manifold& m) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < m.count; ++i) least = std::min(least, m.points[i].gap);
  return least;
}
inline bool sound(const Manifold& m) {
  if (m.count < 0 || m.count > Manifold::kMost || !(std::abs(norm(m.normal) - 1) < 1e-12)) return false;
  for (int i = 0; i < m.count; ++i)
    if (!std::isfinite(norm2(m.points[i].point)) || !std::isfinite(m.points[i].gap)) return false;
  return true;
}

}  // namespace stickslip::testing
