#include "gpu/model/convex_hull.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "gpu/model/exact_orientation.h"
#include "gpu/model/finite.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

// In units of the points' extent: what lies this near a plane is in it, for the hull of triangles and for the
// polygons that they make up. Coordinates of files in single precision are good to 1e-7.
constexpr double kInPlane = 2e-7, kOnePolygon = 1e-6;
// Polygons smaller than a tenth of that are flat to this share of their own size: else the planes of the
// small triangles of a finely sampled round shape would lean so far that they cut off their neighbours.
constexpr double kFlat = 1e-5;

[[noreturn]] void refuse_points(const char* what) { throw std::invalid_argument(what); }

std::uint64_t directed(std::int32_t a, std::int32_t b) {
  return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
}

double extent_of(const std::vector<Vec3d>& points) {
  Vec3d low = points[0], high = points[0];
  for (const Vec3d& p : points) {
    low = min(low, p);
    high = max(high, p);
  }
  return norm(high - low);
}

/// Newell's normal, whose length is twice the polygon's area.
template <class Index>
Vec3d area_normal(const std::vector<Vec3d>& points, const Index* polygon, std::size_t count) {
  Vec3d sum = Vec3d::zero();
  for (std::size_t i = 1; i + 1 < count; ++i)
    sum += cross(points[polygon[i]] - points[polygon[0]], points[polygon[i + 1]] - points[polygon[0]]);
  return sum;
}

/// The hull as triangles. Each face keeps the points beyond it; the furthest of them is the next corner.
/// Points within the tolerance are left out; which faces a new corner sees is decided exactly, so that the
/// hull of the corners is convex, however nearly they lie in one plane.
class QuickHull {
 public:
  explicit QuickHull(const std::vector<Vec3d>& points)
      : points_(points), tolerance_(kInPlane * extent_of(points)) {
    start();
    for (std::size_t f = 0; f < faces_.size(); ++f)
      while (faces_[f].alive && !faces_[f].beyond.empty()) grow(f);
  }

  std::vector<Vec3i> triangles() const {
    std::vector<Vec3i> all;
    for (const Face& face : faces_)
      if (face.alive) all.push_back(face.corners);
    return all;
  }

 private:
  struct Face {
    Vec3i corners;
    Vec3d normal;  // unit
    double offset;
    std::vector<std::int32_t> beyond;
    bool alive = true;
  };

  double height(const Face& face, std::int32_t p) const { return dot(face.normal, points_[p]) - face.offset; }

  bool sees(std::int32_t p, const Face& face) const {
    return orientation(points_[face.corners[0]], points_[face.corners[1]], points_[face.corners[2]],
                       points_[p]) > 0;
  }

  void add_face(const Vec3i& corners) {
    const Vec3d& a = points_[corners[0]];
    const Vec3d normal = normalized(cross(points_[corners[1]] - a, points_[corners[2]] - a));
    const std::size_t id = faces_.size();
    faces_.push_back({corners, normal, dot(normal, a), {}, true});
    for (int c = 0; c < 3; ++c) face_of_[directed(corners[c], corners[(c + 1) % 3])] = id;
  }

  /// The point for which `measure` is largest.
  template <class F>
  std::int32_t furthest(F&& measure) const {
    std::int32_t best = 0;
    double most = measure(points_[0]);
    for (std::size_t i = 1; i < points_.size(); ++i)
      if (const double m = measure(points_[i]); m > most) most = m, best = static_cast<std::int32_t>(i);
    return best;
  }

  /// A tet of points far apart.
  void start() {
    const std::int32_t a = furthest([&](const Vec3d& p) { return -p[0]; });
    const std::int32_t b = furthest([&](const Vec3d& p) { return norm2(p - points_[a]); });
    const Vec3d line = normalized(points_[b] - points_[a]);
    const std::int32_t c = furthest([&](const Vec3d& p) { return norm2(cross(line, p - points_[a])); });
    const Vec3d across = cross(line, points_[c] - points_[a]);
    if (!(tolerance_ > 0)) refuse_points("all its points are one");
    if (!(norm(across) > tolerance_)) refuse_points("its points lie on a line");
    const Vec3d normal = normalized(across);
    const std::int32_t d = furthest([&](const Vec3d& p) { return std::abs(dot(normal, p - points_[a])); });
    const double side = dot(normal, points_[d] - points_[a]);
    if (!(std::abs(side) > 4 * tolerance_)) refuse_points("its points lie in a plane");
    const Vec4i t = side < 0 ? Vec4i{a, b, c, d} : Vec4i{a, c, b, d};  // d below the first face
    add_face({t[0], t[1], t[2]});
    add_face({t[0], t[3], t[1]});
    add_face({t[1], t[3], t[2]});
    add_face({t[2], t[3], t[0]});
    std::vector<std::int32_t> all(points_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    share_out(all, 0);
  }

  /// Gives each point to the face, from `first` on, that it is furthest beyond; others are inside.
  void share_out(const std::vector<std::int32_t>& points, std::size_t first) {
    for (const std::int32_t p : points) {
      double most = tolerance_;
      Face* owner = nullptr;
      for (std::size_t f = first; f < faces_.size(); ++f)
        if (const double h = height(faces_[f], p); h > most) most = h, owner = &faces_[f];
      if (owner) owner->beyond.push_back(p);
    }
  }

  /// The furthest point beyond a face becomes a corner: all faces that it sees give way to a cone over their
  /// rim.
  void grow(std::size_t seed) {
    std::vector<std::int32_t>& candidates = faces_[seed].beyond;
    const auto furthest = std::max_element(
        candidates.begin(), candidates.end(),
        [&](std::int32_t p, std::int32_t q) { return height(faces_[seed], p) < height(faces_[seed], q); });
    const std::int32_t apex = *furthest;
    if (!sees(apex, faces_[seed])) {  // the normal of a sliver is rounded
      candidates.erase(furthest);
      return;
    }
    std::vector<std::size_t> seen{seed};
    std::vector<std::pair<std::int32_t, std::int32_t>> rim;
    std::vector<std::int32_t> orphans;
    faces_[seed].alive = false;
    for (std::size_t s = 0; s < seen.size(); ++s) {
      const Vec3i corners = faces_[seen[s]].corners;
      orphans.insert(orphans.end(), faces_[seen[s]].beyond.begin(), faces_[seen[s]].beyond.end());
      faces_[seen[s]].beyond.clear();
      for (int c = 0; c < 3; ++c) {
        const std::int32_t a = corners[c], b = corners[(c + 1) % 3];
        const std::size_t neighbour = face_of_.at(directed(b, a));
        if (!faces_[neighbour].alive) continue;
        if (sees(apex, faces_[neighbour])) {
          faces_[neighbour].alive = false;
          seen.push_back(neighbour);
        }
      }
    }
    for (const std::size_t f : seen)
      for (int c = 0; c < 3; ++c) {
        const std::int32_t a = faces_[f].corners[c], b = faces_[f].corners[(c + 1) % 3];
        if (faces_[face_of_.at(directed(b, a))].alive) rim.emplace_back(a, b);
      }
    const std::size_t first = faces_.size();
    for (const auto& [a, b] : rim) add_face({a, b, apex});
    share_out(orphans, first);
  }

  const std::vector<Vec3d>& points_;
  double tolerance_;
  std::vector<Face> faces_;
  std::unordered_map<std::uint64_t, std::size_t> face_of_;  // of each directed edge
};

/// Which triangles lie in one plane: grown from the largest, whose plane is the surest.
std::vector<std::int32_t> plane_groups(const std::vector<Vec3d>& points, const std::vector<Vec3i>& triangles,
                                       std::int32_t& count) {
  const double widest = kOnePolygon * extent_of(points);
  std::vector<std::pair<double, std::size_t>> by_area;
  std::unordered_map<std::uint64_t, std::size_t> triangle_of;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    by_area.emplace_back(-norm(area_normal(points, triangles[t].v, 3)), t);
    for (int c = 0; c < 3; ++c) triangle_of[directed(triangles[t][c], triangles[t][(c + 1) % 3])] = t;
  }
  std::sort(by_area.begin(), by_area.end());
  std::vector<std::int32_t> group(triangles.size(), -1);
  count = 0;
  for (const auto& [area, seed] : by_area) {
    if (group[seed] >= 0) continue;
    const Vec3d normal = normalized(area_normal(points, triangles[seed].v, 3));
    const Vec3d origin = points[triangles[seed][0]];
    const double tolerance = std::min(widest, kFlat * std::sqrt(-area));
    std::vector<std::size_t> members{seed};
    group[seed] = count;
    for (std::size_t m = 0; m < members.size(); ++m)
      for (int c = 0; c < 3; ++c) {
        const Vec3i& t = triangles[members[m]];
        const std::size_t next = triangle_of.at(directed(t[(c + 1) % 3], t[c]));
        if (group[next] >= 0) continue;
        bool inside = true;
        for (int k = 0; k < 3; ++k)
          inside = inside && std::abs(dot(normal, points[triangles[next][k]] - origin)) <= tolerance;
        // A sliver has any normal; a face behind an edge as thin as the tolerance has the opposite one.
        const Vec3d other = area_normal(points, triangles[next].v, 3);
        if (!inside || dot(normal, other) < -widest * norm(other)) continue;
        group[next] = count;
        members.push_back(next);
      }
    ++count;
  }
  return group;
}

/// The rims of groups of triangles, one loop of points each.
std::vector<std::vector<std::int32_t>> outlines(const std::vector<Vec3i>& triangles,
                                                const std::vector<std::int32_t>& group, std::int32_t groups) {
  std::unordered_map<std::uint64_t, std::int32_t> group_of;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int c = 0; c < 3; ++c) group_of[directed(triangles[t][c], triangles[t][(c + 1) % 3])] = group[t];
  std::vector<std::map<std::int32_t, std::int32_t>> next(groups);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int c = 0; c < 3; ++c) {
      const std::int32_t a = triangles[t][c], b = triangles[t][(c + 1) % 3];
      if (group_of.at(directed(b, a)) == group[t]) continue;
      if (!next[group[t]].emplace(a, b).second)
        refuse_points("its points are too close to a plane for a hull");
    }
  std::vector<std::vector<std::int32_t>> loops(groups);
  for (std::int32_t g = 0; g < groups; ++g) {
    if (next[g].empty()) refuse_points("its points are too close to a plane for a hull");
    std::int32_t at = next[g].begin()->first;
    do {
      loops[g].push_back(at);
      at = next[g].at(at);
    } while (at != loops[g][0] && loops[g].size() <= next[g].size());
    if (loops[g].size() != next[g].size()) refuse_points("its points are too close to a plane for a hull");
  }
  return loops;
}

/// A point that only two polygons share lies on a straight edge between them.
void drop_edge_points(std::vector<std::vector<std::int32_t>>& loops, std::size_t points) {
  std::vector<int> faces(points, 0);
  for (const auto& loop : loops)
    for (const std::int32_t p : loop) ++faces[p];
  for (auto& loop : loops) std::erase_if(loop, [&](std::int32_t p) { return faces[p] < 3; });
}

}  // namespace

ConvexHull convex_hull(const std::vector<Vec3d>& points) {
  for (const Vec3d& p : points)
    if (!is_finite(p)) refuse_points("a point of it is not finite");
  if (points.size() < 4) refuse_points("it needs four points at least");
  const std::vector<Vec3i> triangles = QuickHull(points).triangles();
  std::int32_t groups = 0;
  std::vector<std::int32_t> group = plane_groups(points, triangles, groups);
  std::vector<std::vector<std::int32_t>> loops;
  try {
    loops = outlines(triangles, group, groups);
    drop_edge_points(loops, points.size());
    for (const auto& loop : loops)
      if (loop.size() < 3) refuse_points("its points are too close to a plane for a hull");
  } catch (const std::invalid_argument&) {
    // Flat as they are, faces of one plane do not make up polygons: each triangle stays one.
    loops.clear();
    for (const Vec3i& t : triangles) loops.push_back({t[0], t[1], t[2]});
  }

  ConvexHull hull;
  std::vector<std::int32_t> id(points.size(), -1);
  for (const auto& loop : loops)
    for (const std::int32_t p : loop) id[p] = 0;
  for (std::size_t p = 0; p < points.size(); ++p)
    if (id[p] == 0) {
      id[p] = static_cast<std::int32_t>(hull.vertices.size());
      hull.vertices.push_back(points[p]);
    }
  for (const auto& loop : loops) {
    for (const std::int32_t p : loop) hull.face_vertices.push_back(id[p]);
    hull.face_start.push_back(static_cast<std::int32_t>(hull.face_vertices.size()));
  }
  return hull;
}

std::vector<Vec3i> triangles_of(const ConvexHull& hull) {
  std::vector<Vec3i> triangles;
  for (std::size_t f = 0; f + 1 < hull.face_start.size(); ++f) {
    const std::int32_t* face = hull.face_vertices.data() + hull.face_start[f];
    for (std::int32_t i = 1; i + 1 < hull.face_start[f + 1] - hull.face_start[f]; ++i)
      triangles.push_back({face[0], face[i], face[i + 1]});
  }
  return triangles;
}

std::string hull_fault(const ConvexHull& hull) {
  const std::size_t faces = hull.face_start.size() - 1;
  if (hull.vertices.size() < 4 || faces < 4) return "a convex hull needs four vertices and four faces";
  for (const Vec3d& p : hull.vertices)
    if (!is_finite(p)) return "a vertex of its hull is not finite";
  const double tolerance = 10 * kOnePolygon * extent_of(hull.vertices);
  std::map<std::pair<std::int32_t, std::int32_t>, int> edges;
  for (std::size_t f = 0; f < faces; ++f) {
    const std::int32_t count = hull.face_start[f + 1] - hull.face_start[f];
    const std::string name = "face " + std::to_string(f) + " of its hull ";
    if (count < 3) return name + "has fewer than three corners";
    const std::int32_t* face = hull.face_vertices.data() + hull.face_start[f];
    for (std::int32_t i = 0; i < count; ++i) {
      if (face[i] < 0 || static_cast<std::size_t>(face[i]) >= hull.vertices.size())
        return name + "names a vertex that is not there";
      if (++edges[{face[i], face[(i + 1) % count]}] > 1)
        return name + "shares a side with another in one sense";
    }
    const Vec3d normal = normalized(area_normal(hull.vertices, face, count));
    if (!(norm2(normal) > 0)) return name + "has no area";
    const Vec3d& origin = hull.vertices[face[0]];
    for (std::int32_t i = 0; i < count; ++i) {
      const Vec3d& p = hull.vertices[face[i]];
      const Vec3d side = hull.vertices[face[(i + 1) % count]] - p;
      if (std::abs(dot(normal, p - origin)) > tolerance) return name + "is not plane";
      if (dot(cross(normal, side), hull.vertices[face[(i + 2) % count]] - p) < -tolerance * norm(side))
        return name + "is not convex";
    }
    for (std::size_t v = 0; v < hull.vertices.size(); ++v)
      if (dot(normal, hull.vertices[v] - origin) > tolerance)
        return "it is not convex: vertex " + std::to_string(v) + " lies beyond face " + std::to_string(f);
  }
  for (const auto& [edge, count] : edges)
    if (!edges.contains({edge.second, edge.first})) return "its hull is not closed";
  return "";
}

}  // namespace stickslip
